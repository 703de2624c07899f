package rest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// cellar is a blob store in memory with configurable behavior.
type cellar struct {
	mu       sync.Mutex
	blobs    map[string]*bottle
	dead     map[string]bool
	modified time.Time
	// open changes the result of Open, and put is called by Put before anything is stored. Both may
	// be nil.
	open func(b *blob.Blob) (*blob.Blob, error)
	put  func(id string, r io.Reader) (*blob.Blob, error)
	// settle is called by Put after the content was read; nil for no call.
	settle func(id string)
}

type bottle struct {
	blob.Blob
	content []byte
}

// closer is content in memory.
type closer struct{ *bytes.Reader }

func (closer) Close() error { return nil }

func newCellar() *cellar {
	return &cellar{blobs: map[string]*bottle{}, dead: map[string]bool{}, modified: modified}
}

func (s *cellar) Open(_ context.Context, id string) (*blob.Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.blobs[id]
	switch {
	case b == nil && s.dead[id]:
		return nil, resource.ErrGone
	case b == nil:
		return nil, resource.ErrNotFound
	}
	out := b.Blob
	out.Content = closer{bytes.NewReader(b.content)}
	if s.open != nil {
		return s.open(&out)
	}
	return &out, nil
}

func (s *cellar) Put(_ context.Context, id string, expect resource.Rev, mediaType string, r io.Reader) (*blob.Blob, error) {
	if s.put != nil {
		return s.put(id, r)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if s.settle != nil {
		s.settle(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch b := s.blobs[id]; {
	case b == nil && expect != "":
		return nil, resource.ErrStale
	case b != nil && expect == "":
		return nil, resource.ErrExists
	case b != nil && b.Rev != expect:
		return nil, resource.ErrStale
	}
	sum := sha256.Sum256(content)
	b := &bottle{blob.Blob{ID: id, Rev: resource.NewRev(), Modified: s.modified, MediaType: mediaType,
		Size: int64(len(content)), SHA256: sum[:]}, content}
	s.blobs[id] = b
	out := b.Blob
	return &out, nil
}

func (s *cellar) Delete(_ context.Context, id string, expect resource.Rev) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch b := s.blobs[id]; {
	case b == nil && s.dead[id]:
		return resource.ErrGone
	case b == nil:
		return resource.ErrNotFound
	case b.Rev != expect:
		return resource.ErrStale
	}
	delete(s.blobs, id)
	s.dead[id] = true // a tombstone
	return nil
}

// digits is the content for the tests of ranges.
const digits = "0123456789"

// attic serves a blob store at /files.
func attic(t testing.TB, store blob.Store, opts *blob.Options) http.Handler {
	t.Helper()
	return byCaller(catalog(t, blob.New("files", store, opts)))
}

// filled serves a blob store that contains /files/digits.
func filled(t testing.TB, opts *blob.Options) (http.Handler, *cellar) {
	t.Helper()
	s := newCellar()
	h := attic(t, s, opts)
	want(t, send(t, h, "PUT /files/digits", "Content-Type: text/plain", "", digits), http.StatusCreated)
	return h, s
}

func TestBlobsRoundTrip(t *testing.T) {
	t.Parallel()
	folder, err := files.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	h := attic(t, folder, nil)
	stored := send(t, h, "PUT /files/a%20b.html", "Content-Type: text/html; charset=utf-8", "", "<p>x</p>")
	want(t, stored, http.StatusCreated, "Location: /files/a%20b.html", "Etag: *", "Last-Modified: *", "Content-Length: 0",
		"Content-Type:", "Cache-Control: private, no-cache")
	tag := stored.header.Get("Etag")
	got := send(t, h, "GET /files/a%20b.html")
	wantBody(t, got, http.StatusOK, "<p>x</p>")
	want(t, got, http.StatusOK, "Content-Type: text/html; charset=utf-8", "Content-Length: 8", "Etag: "+tag, "Last-Modified: *",
		"Accept-Ranges: bytes", "X-Content-Type-Options: nosniff", "Content-Security-Policy: default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
		"Cache-Control: private, no-cache", "Vary: Accept, Accept-Encoding", "Content-Disposition:",
		"Repr-Digest: sha-256=:MdjgfsMFrE4lFdHwscjGA7OFgETrfZeAfW0JcIOMsL4=:")
	again := send(t, h, "PUT /files/a%20b.html", "If-Match: "+tag, "", "more")
	want(t, again, http.StatusNoContent, "Etag: *", "Location:", "Content-Type:")
	if again.header.Get("Etag") == tag {
		t.Error("another content has the same tag")
	}
	want(t, send(t, h, "GET /files/a%20b.html"), http.StatusOK, "Content-Type: application/octet-stream", "Content-Length: 4")
	want(t, send(t, h, "DELETE /files/a%20b.html", "If-Match: "+tag), http.StatusPreconditionFailed,
		"Etag: "+again.header.Get("Etag"))
	want(t, send(t, h, "DELETE /files/a%20b.html"), http.StatusNoContent, "Cache-Control: no-store", "Content-Type:")
	// The process remembers the deletion, and the folder does not.
	wantProblem(t, send(t, h, "GET /files/a%20b.html"), problem.Gone)
	wantProblem(t, send(t, h, "DELETE /files/a%20b.html"), problem.Gone)
	wantProblem(t, send(t, attic(t, folder, nil), "DELETE /files/a%20b.html"), problem.NotFound)
	want(t, send(t, h, "PUT /files/a%20b.html", "If-None-Match: *", "", "again"), http.StatusCreated)
}

func TestBlobsAssignIDs(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, nil)
	res := send(t, h, "POST /files", "Content-Type: image/png", "", "pixels")
	want(t, res, http.StatusCreated, "Etag: *", "Content-Length: 0")
	location := res.header.Get("Location")
	id := strings.TrimPrefix(location, "/files/")
	if len(id) != 36 || id[14] != '7' {
		t.Errorf("Location %q ends with no UUID of version 7", location)
	}
	got := send(t, h, "GET "+location)
	wantBody(t, got, http.StatusOK, "pixels")
	want(t, got, http.StatusOK, "Content-Type: image/png", "Etag: "+res.header.Get("Etag"))
}

func TestBlobsWithOwnIDs(t *testing.T) {
	t.Parallel()
	ids := []string{"digits", "digits", "fresh"}
	h, _ := filled(t, &blob.Options{NewID: func(mediaType string) string {
		if mediaType != "image/png" {
			return "a/b"
		}
		id := ids[0]
		ids = ids[1:]
		return id
	}})
	want(t, send(t, h, "POST /files", "Content-Type: image/png", "", "pixels"), http.StatusCreated, "Location: /files/fresh")
	wantBody(t, send(t, h, "GET /files/fresh"), http.StatusOK, "pixels")
	wantBody(t, send(t, h, "GET /files/digits"), http.StatusOK, digits)
	wantProblem(t, send(t, h, "POST /files", "", "x"), problem.Internal)
}

func TestBlobMethods(t *testing.T) {
	t.Parallel()
	h, s := filled(t, nil)
	ro := attic(t, s, &blob.Options{ReadOnly: true})
	const all = "GET, HEAD, PUT, DELETE, OPTIONS"
	tests := []struct {
		name   string
		h      http.Handler
		line   string
		status int
		fields []string
	}{
		{"list", h, "GET /files", 405, []string{"Allow: POST, OPTIONS"}},
		{"delete all", h, "DELETE /files", 405, []string{"Allow: POST, OPTIONS"}},
		{"patch", h, "PATCH /files/digits", 405, []string{"Allow: " + all}},
		{"post to one", h, "POST /files/digits", 405, []string{"Allow: " + all}},
		{"options of all", h, "OPTIONS /files", 204, []string{"Allow: POST, OPTIONS", "Accept-Post: */*"}},
		{"options of one", h, "OPTIONS /files/digits", 204, []string{"Allow: " + all, "Accept-Ranges: bytes"}},
		{"read-only put", ro, "PUT /files/digits", 405, []string{"Allow: GET, HEAD, OPTIONS"}},
		{"read-only delete", ro, "DELETE /files/digits", 405, []string{"Allow: GET, HEAD, OPTIONS"}},
		{"read-only post", ro, "POST /files", 405, []string{"Allow: OPTIONS"}},
		{"read-only options", ro, "OPTIONS /files", 204, []string{"Allow: OPTIONS", "Accept-Post:"}},
		{"read-only get", ro, "GET /files/digits", 200, nil},
		{"slash", h, "GET /files/", 308, []string{"Location: /files"}},
		{"deeper", h, "GET /files/a/b", 404, nil},
		{"parameter", h, "GET /files/digits?x=1", 400, nil},
		{"parameter of put", h, "PUT /files/digits?x=1", 400, nil},
		{"parameter of delete", h, "DELETE /files/digits?x=1", 400, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { want(t, send(t, tt.h, tt.line), tt.status, tt.fields...) })
	}
	want(t, send(t, h, "GET /files/digits?x=1", "Prefer: handling=lenient"), http.StatusOK)
	lenient := send(t, h, "GET /files/digits?x=1&y=2", "Prefer: handling=lenient")
	want(t, lenient, http.StatusOK, "Preference-Applied: handling=lenient")
}

func TestBlobNames(t *testing.T) {
	t.Parallel()
	h, s := filled(t, nil)
	tests := []struct {
		name, id string
		status   int
	}{
		{"dot", "%2e", 404}, {"dots", "%2e%2e", 404}, {"slash", "a%2Fb", 404}, {"climbing", "..%2F..%2Fetc%2Fpasswd", 404},
		{"nul", "a%00", 400}, {"line feed", "a%0Ab", 400}, {"not UTF-8", "%ff", 400}, {"long", strings.Repeat("n", 256), 404},
		{"longest", strings.Repeat("n", 255), 201}, {"hidden", ".htaccess", 201}, {"umlaut", "%C3%A4", 201},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want(t, send(t, h, "PUT /files/"+tt.id, "", "x"), tt.status)
			got := map[int]int{201: 200}[tt.status]
			if got == 0 {
				got = tt.status
			}
			want(t, send(t, h, "GET /files/"+tt.id), got)
		})
	}
	for id := range s.blobs {
		if strings.ContainsAny(id, "/\x00\n") || id == ".." {
			t.Errorf("%q reached the store", id)
		}
	}
}

func TestBlobTypes(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, &blob.Options{MediaTypes: []string{"text/plain", "image/*"}})
	tests := []struct {
		name, field string
		status      int
		stored      string
	}{
		{"listed", "Content-Type: text/plain;charset=utf-8", 204, "text/plain;charset=utf-8"},
		{"case", "Content-Type: TEXT/Plain", 204, "TEXT/Plain"},
		{"family", "Content-Type: image/svg+xml", 204, "image/svg+xml"},
		{"other", "Content-Type: text/html", 415, ""},
		{"none", "X: y", 415, ""},
		{"wildcard", "Content-Type: image/*", 415, ""},
		{"two", "Content-Type: image/png, image/gif", 415, ""},
		{"no type", "Content-Type: png", 415, ""},
		{"too long", "Content-Type: text/plain; x=" + strings.Repeat("y", 500), 415, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := send(t, h, "PUT /files/digits", tt.field, "", "x")
			if tt.status == 415 {
				wantProblem(t, res, problem.UnsupportedMediaType, "Accept: text/plain, image/*")
				wantProblem(t, send(t, h, "POST /files", tt.field, "", "x"), problem.UnsupportedMediaType,
					"Accept-Post: text/plain, image/*")
				return
			}
			want(t, res, tt.status)
			want(t, send(t, h, "GET /files/digits"), http.StatusOK, "Content-Type: "+tt.stored)
		})
	}
}

func TestBlobIsServedAsItIs(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, nil)
	tests := []struct {
		name, field string
		status      int
	}{
		{"any", "Accept: */*", 200}, {"type", "Accept: text/plain", 200}, {"family", "Accept: text/*;q=0.1", 200},
		{"other type", "Accept: application/json", 406}, {"refused", "Accept: text/plain;q=0, */*", 406},
		{"gzip", "Accept-Encoding: gzip", 200}, {"gzip alone", "Accept-Encoding: gzip, identity;q=0", 406},
		{"nothing", "Accept-Encoding: *;q=0", 406},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := send(t, h, "GET /files/digits", tt.field)
			want(t, res, tt.status, "Vary: Accept, Accept-Encoding", "Content-Encoding:")
			if tt.status == 406 {
				wantProblem(t, res, problem.NotAcceptable)
			}
		})
	}
}

func TestBlobUploadsRefused(t *testing.T) {
	t.Parallel()
	const good, other = "hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII=", "RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o="
	h, s := filled(t, &blob.Options{MaxSize: 20})
	tests := []struct {
		name   string
		fields []string
		kind   problem.Kind
		header []string
	}{
		{"part", []string{"Content-Range: bytes 0-4/10"}, problem.BadRequest, nil},
		{"coded", []string{"Content-Encoding: gzip"}, problem.UnsupportedMediaType, []string{"Accept-Encoding: identity"}},
		{"coded twice", []string{"Content-Encoding: identity, gzip"}, problem.UnsupportedMediaType, nil},
		{"no digest", []string{"Repr-Digest: sha-256"}, problem.InvalidHeader, nil},
		{"short digest", []string{"Repr-Digest: sha-256=:AAAA:"}, problem.InvalidHeader, nil},
		{"other digest", []string{"Repr-Digest: sha-256=:" + other + ":"}, problem.DigestMismatch, nil},
		{"other content digest", []string{"Content-Digest: sha-256=:" + other + ":"}, problem.DigestMismatch, nil},
		{"one of two", []string{"Repr-Digest: sha-256=:" + good + ":", "Content-Digest: sha-256=:" + other + ":"},
			problem.DigestMismatch, nil},
		{"stale", []string{`If-Match: "x"`}, problem.PreconditionFailed, []string{"Etag: *"}},
		{"there is one", []string{"If-None-Match: *"}, problem.PreconditionFailed, []string{"Etag: *"}},
		{"bad condition", []string{"If-Match: x"}, problem.InvalidHeader, nil},
	}
	before := *s.blobs["digits"]
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantProblem(t, send(t, h, "PUT /files/digits", append(tt.fields, "", digits)...), tt.kind, tt.header...)
			same(t, "revision", before.Rev, s.blobs["digits"].Rev)
		})
	}
	want(t, send(t, h, "PUT /files/digits", "Repr-Digest: sha-256=:"+good+":, md5=:AAAA:", "Content-Encoding: identity", "", digits),
		http.StatusNoContent)
}

func TestBlobsAreNotTooLarge(t *testing.T) {
	t.Parallel()
	h, s := filled(t, &blob.Options{MaxSize: 20})
	for _, n := range []int{20, 21, 5000} {
		for _, chunked := range []bool{false, true} {
			t.Run(strconv.Itoa(n)+map[bool]string{true: " in chunks"}[chunked], func(t *testing.T) {
				r := request(t, "PUT /files/new", "", strings.Repeat("x", n))
				if chunked {
					r.ContentLength = -1
				}
				res := sent(h, r)
				if n > 20 {
					if d := wantProblem(t, res, problem.TooLarge); d.Limit != 20 {
						t.Errorf("limit %d", d.Limit)
					}
					wantProblem(t, send(t, h, "GET /files/new"), problem.NotFound)
					return
				}
				want(t, res, http.StatusCreated)
				delete(s.blobs, "new")
			})
		}
	}
}

func TestBlobPolicy(t *testing.T) {
	t.Parallel()
	var asked []string
	opts := &blob.Options{Authorize: func(ctx context.Context, op resource.Op, before, after *blob.Blob) error {
		line := string(op)
		for _, b := range []*blob.Blob{before, after} {
			if line += " -"; b != nil {
				line = strings.TrimSuffix(line, "-") + b.ID + " " + b.MediaType
				if b.Content != nil {
					t.Error("policy has the content")
				}
			}
		}
		asked = append(asked, line)
		switch {
		case caller(ctx) == "admin":
			return nil
		case caller(ctx) == "":
			return resource.ErrUnauthenticated
		case op == resource.OpGet && before.ID == "public":
			return nil
		case op == resource.OpGet || op == resource.OpCreate:
			return resource.ErrForbidden
		}
		return resource.ErrForbidden
	}}
	s := newCellar()
	h := attic(t, s, opts)
	want(t, send(t, h, "PUT /files/secret", asAdmin, "Content-Type: text/plain", "", "x"), http.StatusCreated)
	want(t, send(t, h, "PUT /files/public", asAdmin, "", "x"), http.StatusCreated)
	want(t, send(t, h, "PUT /files/public", asAdmin, "", "y"), http.StatusNoContent)
	same(t, "asked", []string{"create - secret text/plain", "create - public application/octet-stream",
		"get public application/octet-stream -",
		"replace public application/octet-stream public application/octet-stream"}, asked)
	tests := []struct {
		name, line, as string
		status         int
	}{
		{"stranger", "GET /files/public", "Caller:", 401},
		{"visible", "GET /files/public", asMallory, 200},
		{"hidden", "GET /files/secret", asMallory, 404},
		{"hidden from HEAD", "HEAD /files/secret", asMallory, 404},
		{"hidden from PUT", "PUT /files/secret", asMallory, 404},
		{"hidden from DELETE", "DELETE /files/secret", asMallory, 404},
		{"not to be replaced", "PUT /files/public", asMallory, 403},
		{"not to be deleted", "DELETE /files/public", asMallory, 403},
		{"not to be made", "PUT /files/new", asMallory, 403},
		{"not to be posted", "POST /files", asMallory, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want(t, send(t, h, tt.line, tt.as, `If-None-Match: "x"`, "", "z"), tt.status)
		})
	}
	want(t, send(t, h, "DELETE /files/secret", asAdmin), http.StatusNoContent)
	wantProblem(t, send(t, h, "GET /files/secret", asAdmin), problem.Gone)
	wantProblem(t, send(t, h, "GET /files/secret", asMallory), problem.NotFound)
	wantProblem(t, send(t, h, "PUT /files/secret", asMallory, "", "x"), problem.NotFound)
	wantProblem(t, send(t, h, "GET /files/secret"), problem.Unauthenticated)
}

// TestBlobHiddenAsAbsent: a PUT with If-Match has the same response for a hidden blob as for none, whether or
// not the caller may create it.
func TestBlobHiddenAsAbsent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		create error
		want   problem.Kind
	}{{"may create", nil, problem.PreconditionFailed}, {"may not create", resource.ErrForbidden, problem.Forbidden}} {
		h := attic(t, newCellar(), &blob.Options{
			Authorize: func(ctx context.Context, op resource.Op, _, _ *blob.Blob) error {
				switch {
				case caller(ctx) == "admin":
					return nil
				case op == resource.OpCreate:
					return tt.create
				}
				return resource.ErrForbidden
			}})
		for _, id := range []string{"hidden", "deleted"} {
			want(t, send(t, h, "PUT /files/"+id, asAdmin, "", "x"), http.StatusCreated)
		}
		want(t, send(t, h, "DELETE /files/deleted", asAdmin), http.StatusNoContent)
		for _, match := range []string{"If-Match: *", `If-Match: "old"`} {
			absent := send(t, h, "PUT /files/absent", asMallory, match, "", "y")
			wantProblem(t, absent, tt.want)
			for _, id := range []string{"hidden", "deleted"} {
				res := send(t, h, "PUT /files/"+id, asMallory, match, "", "y")
				same(t, tt.name+": "+id, absent.body, res.body)
				same(t, tt.name+": header of "+id, absent.header, res.header)
			}
		}
	}
}

func TestBlobDeleteTable(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, nil)
	again, s := filled(t, &blob.Options{AllowRecreate: true})
	strict := attic(t, s, &blob.Options{RequireIfMatch: true})
	tag := send(t, h, "HEAD /files/digits").header.Get("Etag")
	wantProblem(t, send(t, strict, "DELETE /files/digits"), problem.PreconditionRequired)
	wantProblem(t, send(t, strict, "PUT /files/digits", "", "x"), problem.PreconditionRequired)
	want(t, send(t, strict, "PUT /files/free", "", "x"), http.StatusCreated)
	for _, handler := range []http.Handler{h, again} {
		want(t, send(t, handler, "DELETE /files/digits"), http.StatusNoContent)
		for _, line := range []string{"DELETE", "GET", "HEAD"} {
			wantProblem(t, send(t, handler, line+" /files/digits", "If-Match: "+tag), problem.Gone)
		}
		wantProblem(t, send(t, handler, "DELETE /files/never"), problem.NotFound)
	}
	wantProblem(t, send(t, strict, "DELETE /files/digits"), problem.Gone)
	wantProblem(t, send(t, h, "PUT /files/digits", "", "x"), problem.Gone)
	wantProblem(t, send(t, h, "PUT /files/digits", "If-None-Match: *", "", "x"), problem.Gone)
	wantProblem(t, send(t, again, "PUT /files/digits", "If-Match: *", "", "x"), problem.PreconditionFailed)
	want(t, send(t, again, "PUT /files/digits", "If-None-Match: *", "", "x"), http.StatusCreated)
}

// TestBlobRaces writes concurrently during an upload.
func TestBlobRaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		size   int
		fields []string
		always bool
		status int
	}{
		{"short and blind", 1000, nil, false, 204},
		{"longest that is kept", 64 << 10, nil, false, 204},
		{"long and blind", 64<<10 + 1, nil, false, 503},
		{"conditional", 10, []string{"If-Match: TAG"}, false, 412},
		{"long and conditional", 1 << 20, []string{"If-Match: TAG"}, false, 412},
		{"any", 10, []string{"If-Match: *"}, false, 204},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, s := filled(t, nil)
			tag := send(t, h, "HEAD /files/digits").header.Get("Etag")
			times := 0
			s.settle = func(id string) {
				if times++; times > 1 {
					return
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				s.blobs[id] = &bottle{blob.Blob{ID: id, Rev: resource.NewRev(), Size: 5}, []byte("other")}
			}
			content := strings.Repeat("z", tt.size)
			var fields []string
			for _, f := range tt.fields {
				fields = append(fields, strings.Replace(f, "TAG", tag, 1))
			}
			res := send(t, h, "PUT /files/digits", append(fields, "", content)...)
			want(t, res, tt.status)
			got := send(t, h, "GET /files/digits").body
			if tt.status == 204 {
				same(t, "content", content, got)
			} else {
				same(t, "content", "other", got)
			}
			if tt.status == 503 {
				want(t, res, 503, "Retry-After: 1")
			}
		})
	}
	t.Run("two creators", func(t *testing.T) {
		t.Parallel()
		h, s := filled(t, nil)
		s.settle = func(id string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.blobs[id] = &bottle{blob.Blob{ID: id, Rev: resource.NewRev(), Size: 5}, []byte("other")}
		}
		want(t, send(t, h, "PUT /files/new", "If-None-Match: *", "", "mine"), http.StatusPreconditionFailed, "Etag: *")
	})
}

// A store without space: the client must free some or wait, and may try again.
func TestRule138FullBlobStore(t *testing.T) {
	t.Parallel()
	h, s := filled(t, nil)
	s.put = func(string, io.Reader) (*blob.Blob, error) { return nil, fmt.Errorf("%w: at /srv", blob.ErrFull) }
	for _, line := range []string{"PUT /files/digits", "POST /files"} {
		res := send(t, h, line, "", "x")
		wantProblem(t, res, problem.InsufficientStorage)
		want(t, res, http.StatusInsufficientStorage, "Retry-After: 60", "Connection: close")
		if strings.Contains(res.body, "srv") {
			t.Errorf("the problem has the text of the store: %s", res.body)
		}
	}
}

// TestRule138ExhaustedStore: a process without a free file descriptor or memory recovers, so clients try again.
func TestRule138ExhaustedStore(t *testing.T) {
	t.Parallel()
	h, s := filled(t, nil)
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		s.open = func(*blob.Blob) (*blob.Blob, error) {
			return nil, fmt.Errorf("store: %w", &fs.PathError{Op: "open", Path: "/srv/x", Err: cause})
		}
		for _, line := range []string{"GET", "HEAD", "PUT", "DELETE"} {
			res := send(t, h, line+" /files/digits", "", "x")
			wantProblem(t, res, problem.Unavailable, "Retry-After: 1")
		}
	}
}

// TestBlobStoreFaults uses stores that violate the contract.
func TestBlobStoreFaults(t *testing.T) {
	t.Parallel()
	openFaults := map[string]func(b *blob.Blob) (*blob.Blob, error){
		"no content":    func(b *blob.Blob) (*blob.Blob, error) { b.Content = nil; return b, nil },
		"no blob":       func(*blob.Blob) (*blob.Blob, error) { return nil, nil },
		"no revision":   func(b *blob.Blob) (*blob.Blob, error) { b.Rev = ""; return b, nil },
		"negative size": func(b *blob.Blob) (*blob.Blob, error) { b.Size = -1; return b, nil },
		"error":         func(*blob.Blob) (*blob.Blob, error) { return nil, errors.New("disk on fire") },
	}
	for name, open := range openFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, s := filled(t, nil)
			s.open = open
			for _, line := range []string{"GET", "HEAD", "PUT", "DELETE"} {
				res := send(t, h, line+" /files/digits", "", "x")
				wantProblem(t, res, problem.Internal)
				if strings.Contains(res.body, "fire") {
					t.Errorf("the client is told %s", res.body)
				}
			}
		})
	}
	putFaults := map[string]func(id string, r io.Reader) (*blob.Blob, error){
		"reads nothing": func(id string, _ io.Reader) (*blob.Blob, error) { return &blob.Blob{ID: id, Rev: "1"}, nil },
		"hides errors": func(id string, r io.Reader) (*blob.Blob, error) {
			io.Copy(io.Discard, r)
			return &blob.Blob{ID: id, Rev: "1"}, nil
		},
		"gives no revision": func(id string, r io.Reader) (*blob.Blob, error) {
			_, err := io.Copy(io.Discard, r)
			return &blob.Blob{ID: id}, err
		},
	}
	const wrong = "Repr-Digest: sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:"
	for name, put := range putFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, s := filled(t, nil)
			s.put = put
			var fields []string
			if name == "hides errors" {
				fields = []string{wrong}
			}
			wantProblem(t, send(t, h, "PUT /files/digits", append(fields, "", "x")...), problem.Internal)
			wantProblem(t, send(t, h, "POST /files", append(fields, "", "x")...), problem.Internal)
		})
	}
	t.Run("makes another error of it", func(t *testing.T) {
		t.Parallel()
		h, s := filled(t, nil)
		s.put = func(_ string, r io.Reader) (*blob.Blob, error) {
			io.Copy(io.Discard, r)
			return nil, errors.New("cannot copy")
		}
		wantProblem(t, send(t, h, "PUT /files/digits", wrong, "", "x"), problem.DigestMismatch)
	})
	t.Run("says that no id can be so", func(t *testing.T) {
		t.Parallel()
		h, s := filled(t, nil)
		s.put = func(string, io.Reader) (*blob.Blob, error) { return nil, resource.ErrNotFound }
		wantProblem(t, send(t, h, "PUT /files/never", "", "x"), problem.NotFound)
	})
}

func TestBlobReport(t *testing.T) {
	t.Parallel()
	allow := func(context.Context, resource.Op, *blob.Blob, *blob.Blob) error { return nil }
	c := resource.NewCatalog(nil, blob.New("a", newCellar(), nil),
		blob.New("b", newCellar(), &blob.Options{Public: true, ReadOnly: true, MediaTypes: []string{"image/*"}, MaxSize: 7}),
		blob.New("c", newCellar(), &blob.Options{Authorize: allow}))
	same(t, "report", `/a  POST, OPTIONS
/a/{id}  GET, HEAD, PUT, DELETE, OPTIONS
    bytes: */*, at most 1073741824 bytes each
    deletions: if the store does not record them, a repeated DELETE is 410 in this process and 404 after a restart
    weak: no Authorize: every caller may read and write; set Public if intended
/b  OPTIONS
/b/{id}  GET, HEAD, OPTIONS
    bytes: image/*, at most 7 bytes each
/c  POST, OPTIONS
/c/{id}  GET, HEAD, PUT, DELETE, OPTIONS
    bytes: */*, at most 1073741824 bytes each
    deletions: if the store does not record them, a repeated DELETE is 410 in this process and 404 after a restart
keys: no CatalogOptions.Idempotency: Idempotency-Key is ignored
`, c.Report())
	opts := &rest.Options{Resources: map[string]rest.ResourceOptions{"c": {Cache: "public, max-age=60"}}}
	same(t, "report of REST", "/c\n    weak: Cache-Control is public, but access to the items is restricted\n", rest.New(c, opts).Report())
}

// TestBlobsBesideVersions stores JSON that has a version member.
func TestBlobsBesideVersions(t *testing.T) {
	t.Parallel()
	c := catalog(t, blob.New("files", newCellar(), nil), resource.New("books", stocked[book](t), nil))
	h := version.New([]version.Contract{{Name: "1.0.0", Handler: c}},
		[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}, version.Body{}}, &version.Options{Default: "1.0.0"})
	const content = `{"name": "left-pad", "version": "1.3.0"}`
	for _, target := range []string{"/files/package.json", "/v1/files/package.json", "/%66iles/package.json"} {
		res := send(t, h, "PUT "+target, jsonBody, "", content)
		if res.status != http.StatusCreated && res.status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", target, res.status, res.body)
		}
		wantBody(t, send(t, h, "GET "+target), http.StatusOK, content)
	}
	if location := send(t, h, "POST /v1/files", jsonBody, "", content).header.Get("Location"); !strings.HasPrefix(location, "/v1/files/") {
		t.Errorf("Location %q", location)
	}
	want(t, send(t, h, "POST /books", jsonBody, "", `{"version": "1.3.0", "title": "x"}`), http.StatusBadRequest)
}
