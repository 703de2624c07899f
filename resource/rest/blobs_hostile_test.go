package rest_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/problem"
)

// The grammar of a quoted parameter allows bytes from 0x80 (RFC 9110 section 5.6.4), but JSON does
// not allow invalid UTF-8, and stores and problems write media types into JSON.
func TestRule060BlobTypes(t *testing.T) {
	t.Parallel()
	folder, err := files.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	h := attic(t, folder, nil)
	wantProblem(t, send(t, h, "PUT /files/a", "Content-Type: text/plain; x=\"\xff\"", "", "x"), problem.UnsupportedMediaType)
	wantProblem(t, send(t, h, "GET /files/a"), problem.NotFound)
}
