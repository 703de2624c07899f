package blob_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
)

func TestNewPanics(t *testing.T) {
	t.Parallel()
	store, err := files.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, tt := range []struct {
		name, collection string
		mediaTypes       []string
		maxSize          int64
		want             string
	}{
		{"no name", "", nil, 0, `blob: invalid collection name ""; use letters, digits and -_.~`},
		{"a path", "a/b", nil, 0, `blob: invalid collection name "a/b"; use letters, digits and -_.~`},
		{"not a media type", "a", []string{"png"}, 0, `blob: a: Options.MediaTypes has "png", which is not a media type`},
		{"negative size", "a", nil, -1, `blob: a: Options.MaxSize is -1; set a number of bytes, or 0 for 1 GiB`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if diff := cmp.Diff(any(tt.want), recover()); diff != "" {
					t.Errorf("panic (-want +got):\n%s", diff)
				}
			}()
			blob.New(tt.collection, store, &blob.Options{MediaTypes: tt.mediaTypes, MaxSize: tt.maxSize})
		})
	}
}

func TestDeclaredType(t *testing.T) {
	t.Parallel()
	all, images := blob.New("a", noStore{}, nil), blob.New("b", noStore{}, &blob.Options{MediaTypes: []string{"image/*"}})
	for _, tt := range []struct {
		name       string
		collection *blob.Collection
		lines      []string
		want       string
		ok         bool
	}{
		{"none", all, nil, "application/octet-stream", true},
		{"none, images only", images, nil, "application/octet-stream", false},
		{"with parameters", all, []string{"text/plain; charset=utf-8"}, "text/plain; charset=utf-8", true},
		{"family", images, []string{"IMAGE/png"}, "IMAGE/png", true},
		{"range", all, []string{"image/*"}, "", false},
		{"two lines", all, []string{"image/png", "image/gif"}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := tt.collection.DeclaredType(tt.lines); got != tt.want || ok != tt.ok {
				t.Errorf("%q, %t, want %q, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// noStore is for tests that do not call the store.
type noStore struct{ blob.Store }

func TestValidID(t *testing.T) {
	t.Parallel()
	c := blob.New("a", noStore{}, nil)
	for id, want := range map[string]bool{
		"photo.jpg": true, "é": true, "": false, ".": false, "..": false, "a/b": false, "a\x00": false, "\xff": false,
		string(make([]byte, 256)): false,
	} {
		if got := c.ValidID(id); got != want {
			t.Errorf("ValidID(%q) = %t, want %t", id, got, want)
		}
	}
}
