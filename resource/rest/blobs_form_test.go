package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/problem"
)

// form returns the body of a form. A part is "name", "name=filename" or "name=filename:type", and its
// content is its name.
func form(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		name, file, isFile := strings.Cut(p, "=")
		file, mediaType, _ := strings.Cut(file, ":")
		fmt.Fprintf(&b, "--xyz\r\nContent-Disposition: form-data; name=%q", name)
		if isFile {
			fmt.Fprintf(&b, "; filename=%q", file)
		}
		if mediaType != "" {
			fmt.Fprintf(&b, "\r\nContent-Type: %s", mediaType)
		}
		fmt.Fprintf(&b, "\r\n\r\n%s\r\n", name)
	}
	return b.String() + "--xyz--\r\n"
}

const formBody = "Content-Type: multipart/form-data; boundary=xyz"

// formItems are the entries of a response to a form.
type formItems struct {
	Items []struct {
		Field, Filename, ID, MediaType string
		Size                           int
	}
}

// TestBlobForm: each file of a form is stored as an upload of its own.
func TestBlobForm(t *testing.T) {
	t.Parallel()
	h := attic(t, folder(t), nil)
	res := send(t, h, "POST /files", formBody, "", form("note", "photo=cat.jpg:image/jpeg", "empty=", "data=a b.bin"))
	want(t, res, http.StatusCreated, "Content-Type: application/json", "Cache-Control: no-store", "Location:")
	var got formItems
	decode(t, res.body, &got)
	for i := range got.Items {
		item := &got.Items[i]
		file := send(t, h, "GET /files/"+item.ID)
		want(t, file, http.StatusOK, "Content-Type: "+item.MediaType)
		wantBody(t, file, http.StatusOK, item.Field)
		item.ID = ""
	}
	var wanted formItems
	decode(t, `{"items":[{"field":"photo","filename":"cat.jpg","mediaType":"image/jpeg","size":5},
		{"field":"data","filename":"a b.bin","mediaType":"application/octet-stream","size":4}]}`, &wanted)
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}

	res = send(t, h, "POST /files", formBody, "", form("photo=cat.jpg"))
	decode(t, res.body, &got)
	want(t, res, http.StatusCreated, "Location: /files/"+got.Items[0].ID)
	want(t, send(t, h, "GET "+res.header.Get("Location")), http.StatusOK)
}

// TestBlobFormRefused: an error of one file leaves none behind.
func TestBlobFormRefused(t *testing.T) {
	t.Parallel()
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf("f%d=x:image/png", i)
	}
	fields := make([]string, 1001)
	for i := range fields {
		fields[i] = fmt.Sprintf("f%d", i)
	}
	good := form("photo=cat.png:image/png")
	tests := []struct {
		name   string
		fields []string
		body   string
		kind   problem.Kind
		detail string
	}{
		{"no file", nil, form("a", "b="), problem.BadRequest, "The form has no file."},
		{"no part", nil, "--xyz--\r\n", problem.BadRequest, "The form has no file."},
		{"empty", nil, "", problem.BadRequest, "The form is incomplete or malformed."},
		{"another type", nil, form("photo=cat.png:image/png", "x=y:text/plain"), problem.UnsupportedMediaType,
			`The file of the field "x" has a media type that is not accepted. Accepted are image/*.`},
		{"incomplete", nil, strings.TrimSuffix(good, "--\r\n") + "\r\nContent-Disp", problem.BadRequest, ""},
		{"cut in the content", nil, strings.TrimSuffix(good, "--xyz--\r\n")[:len(good)-20], problem.BadRequest, ""},
		{"too large", nil, form("photo=cat.png:image/png", strings.Repeat("x", 101)+"=y:image/png"), problem.TooLarge, ""},
		{"too many files", nil, form(many...), problem.BadRequest, "The form has more than 100 files."},
		{"too many parts", nil, form(fields...), problem.BadRequest, "The form has more than 1000 parts."},
		{"no boundary", []string{"Content-Type: multipart/form-data"}, good, problem.BadRequest, ""},
		{"a key", []string{formBody, "Idempotency-Key: k"}, good, problem.InvalidHeader, ""},
		{"a parameter", []string{formBody, "?"}, good, problem.InvalidParameter, ""},
		{"a content coding", []string{formBody, "Content-Encoding: gzip"}, good, problem.UnsupportedMediaType, ""},
		{"base64", nil, strings.Replace(good, "\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\n", 1),
			problem.BadRequest, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := attic(t, folder(t), &blob.Options{MediaTypes: []string{"image/*"}, MaxSize: 100})
			line, lines := "POST /files", tt.fields
			if lines == nil {
				lines = []string{formBody}
			}
			if lines[len(lines)-1] == "?" {
				line, lines = line+"?x=1", lines[:len(lines)-1]
			}
			res := send(t, h, line, append(lines, "", tt.body)...)
			wantProblem(t, res, tt.kind)
			if !strings.Contains(res.body, strings.ReplaceAll(tt.detail, `"`, `\"`)) {
				t.Errorf("%s, want %s", res.body, tt.detail)
			}
			wantBody(t, send(t, h, "GET /files"), http.StatusOK, `{"items":[]}`)
		})
	}
}
