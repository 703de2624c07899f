package bucket_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	gcblob "gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files/bucket"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/rest"
)

// drivers are what the kit is run over.
func drivers(t testing.TB) map[string]func() *gcblob.Bucket {
	return map[string]func() *gcblob.Bucket{
		"memory": func() *gcblob.Bucket { return memblob.OpenBucket(nil) },
		"folder": func() *gcblob.Bucket {
			b, err := fileblob.OpenBucket(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
		"prefix": func() *gcblob.Bucket { return gcblob.PrefixedBucket(memblob.OpenBucket(nil), "uploads/") },
	}
}

// closing returns a store over a bucket that the end of the test closes.
func closing(t testing.TB, b *gcblob.Bucket) *bucket.Store {
	t.Helper()
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return bucket.New(b)
}

func TestBucketKeepsTheContract(t *testing.T) {
	t.Parallel()
	for name, open := range drivers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resourcetest.RunBlobs(t, func(t *testing.T) blob.Store { return closing(t, open()) },
				&resourcetest.BlobsOptions{Volatile: true})
		})
	}
}

// TestForeignObjects serves what other programs have written.
func TestForeignObjects(t *testing.T) {
	t.Parallel()
	for name, open := range drivers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open()
			s := closing(t, b)
			write := func(text string) *blob.Blob {
				t.Helper()
				if err := b.WriteAll(t.Context(), "a.png", []byte(text),
					&gcblob.WriterOptions{ContentType: "image/png"}); err != nil {
					t.Fatal(err)
				}
				got, err := s.Open(t.Context(), "a.png")
				if err != nil {
					t.Fatal(err)
				}
				defer got.Content.Close()
				content, err := io.ReadAll(got.Content)
				if err != nil || string(content) != text || got.MediaType != "image/png" || got.Rev == "" {
					t.Errorf("%+v with %q, %v", got, content, err)
				}
				return got
			}
			first, second := write("one"), write("other")
			if first.Rev == second.Rev {
				t.Error("two contents have one revision")
			}
			if _, err := s.Put(t.Context(), "a.png", first.Rev, "", strings.NewReader("x")); err == nil {
				t.Error("Put over a stale revision succeeded")
			}
			if _, err := s.Put(t.Context(), "a.png", second.Rev, "TEXT/Plain;  charset=utf-8",
				strings.NewReader("x")); err != nil {
				t.Error(err)
			}
			if got, err := s.Open(t.Context(), "a.png"); err != nil ||
				got.MediaType != "TEXT/Plain;  charset=utf-8" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestOpenIsLazy counts what a look at an object costs: nothing of its content is asked for.
func TestOpenIsLazy(t *testing.T) {
	t.Parallel()
	b := memblob.OpenBucket(nil)
	s := closing(t, b)
	if _, err := s.Put(t.Context(), "a", "", "", strings.NewReader("0123456789")); err != nil {
		t.Fatal(err)
	}
	got, err := s.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Content.Close()
	if err := b.WriteAll(t.Context(), "a", []byte("another"), nil); err != nil {
		t.Fatal(err)
	}
	if at, err := got.Content.Seek(-3, io.SeekEnd); at != 7 || err != nil {
		t.Errorf("Seek: %d, %v", at, err)
	}
	if n, err := got.Content.Read(make([]byte, 3)); err == nil {
		t.Errorf("%d bytes of content that has been replaced", n)
	}
	if _, err := got.Content.Seek(-1, io.SeekStart); err == nil {
		t.Error("a place before the beginning")
	}
}

// TestEncodedObjects: an object that another program has stored with a coding is served with it.
func TestEncodedObjects(t *testing.T) {
	t.Parallel()
	for name, open := range drivers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open()
			h := rest.New(resource.NewCatalog(nil, blob.New("files", closing(t, b), &blob.Options{Public: true})), nil)
			ask := func(fields ...string) *httptest.ResponseRecorder {
				w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/files/a", nil)
				for i := 0; i < len(fields); i += 2 {
					r.Header.Set(fields[i], fields[i+1])
				}
				h.ServeHTTP(w, r)
				return w
			}
			for coding, want := range map[string]string{"gzip": "gzip", "br": "br", "": "", "identity": ""} {
				if err := b.WriteAll(t.Context(), "a", []byte("coded"),
					&gcblob.WriterOptions{ContentType: "text/plain", ContentEncoding: coding}); err != nil {
					t.Fatal(err)
				}
				for _, fields := range [][]string{{}, {"Accept-Encoding", "gzip"}, {"Range", "bytes=0-1"}} {
					w := ask(fields...)
					if got := w.Header().Get("Content-Encoding"); w.Code >= 300 || got != want || !strings.HasPrefix("coded", w.Body.String()) {
						t.Errorf("%s with %v: %d with the coding %q and %q", coding, fields, w.Code, got, w.Body)
					}
				}
			}
		})
	}
}

// TestReservedKeys: no blob can have an id that the driver would reserve, or store and not list.
func TestReservedKeys(t *testing.T) {
	t.Parallel()
	for name, open := range drivers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := closing(t, open())
			h := rest.New(resource.NewCatalog(nil, blob.New("files", s, &blob.Options{Public: true})), nil)
			kept := []string{"__0x2f", "a.attrs.txt"}
			reserved := []string{"a__0x2f__b", "__0x2F__", "__0x41__"}
			if name == "folder" {
				reserved = append(reserved, "a.attrs", ".attrs")
			} else {
				kept = append(kept, "x.attrs")
			}
			for _, id := range reserved {
				for _, method := range []string{"GET", "PUT", "DELETE"} {
					w := httptest.NewRecorder()
					h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/files/"+id, strings.NewReader("x")))
					if w.Code != http.StatusNotFound {
						t.Errorf("%s of %s: %d, want 404", method, id, w.Code)
					}
				}
			}
			for _, id := range kept {
				if _, err := s.Put(t.Context(), id, "", "", strings.NewReader("x")); err != nil {
					t.Errorf("Put of %s: %v", id, err)
				}
			}
			var listed []string
			for b, err := range s.List(t.Context(), blob.ListQuery{}) {
				if err != nil {
					t.Fatal(err)
				}
				listed = append(listed, b.ID)
			}
			if diff := cmp.Diff(kept, listed); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
		})
	}
}

func ExampleNew() {
	b, err := gcblob.OpenBucket(context.Background(), "mem://")
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	api := resource.NewCatalog(nil,
		blob.New("files", bucket.New(b), &blob.Options{Public: true}))
	for _, method := range []string{"PUT", "GET"} {
		w := httptest.NewRecorder()
		rest.New(api, nil).ServeHTTP(w,
			httptest.NewRequest(method, "/files/note", strings.NewReader("hello")))
		fmt.Println(strings.TrimSpace(fmt.Sprintln(w.Code, w.Body)))
	}
	// Output:
	// 201
	// 200 hello
}

// TestReplacedInOneSecond: two contents of one second have dates that differ in whole seconds.
func TestReplacedInOneSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := closing(t, memblob.OpenBucket(nil))
		started := time.Now() // at the beginning of a second
		var rev resource.Rev
		for n, want := range []time.Duration{0, time.Second, time.Second + time.Microsecond} {
			b, err := s.Put(t.Context(), "a", rev, "", strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			opened, err := s.Open(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if rev = b.Rev; !b.Modified.Equal(started.Add(want)) || !opened.Modified.Equal(b.Modified) {
				t.Errorf("content %d: Put returns %v, and Open %v, want %v", n, b.Modified, opened.Modified,
					started.Add(want))
			}
		}
	})
}
