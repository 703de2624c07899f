package httpbody_test

import (
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// digestField returns the field value for the SHA-256 of a text.
func digestField(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(header.AppendDigest(nil, header.Digest{Algorithm: "sha-256", Sum: sum[:]}))
}

func upload(t *testing.T, r *http.Request, limit int64) *httpbody.Upload {
	t.Helper()
	u, err := httpbody.NewUpload(r, limit)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestUpload(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 100)
	long := sha512.Sum512([]byte(text))
	mismatch := "The request body does not match Repr-Digest. Nothing was stored."
	tooLarge := "The request body is larger than the limit of 999 bytes."
	tests := []struct {
		name   string
		lines  []string
		limit  int64
		kind   problem.Kind
		detail string // empty if there is no error
	}{
		{"without digest", nil, 1000, "", ""},
		{"without limit", nil, math.MaxInt64, "", ""},
		{"content digest", []string{"Content-Digest: " + digestField(text)}, 1000, "", ""},
		{"long digest",
			[]string{"Repr-Digest: " +
				string(header.AppendDigest(nil, header.Digest{Algorithm: "sha-512", Sum: long[:]}))}, 1000,
			"", ""},
		{"mismatch", []string{"Repr-Digest: " + digestField(text+"x")}, 1000, problem.DigestMismatch,
			mismatch},
		{"one of two", []string{"Content-Digest: " + digestField(text), "Repr-Digest: " + digestField("")},
			1000, problem.DigestMismatch, mismatch},
		{"too long", nil, 999, problem.TooLarge, tooLarge},
		{"too long, with digest", []string{"Content-Digest: " + digestField(text)}, 999, problem.TooLarge,
			tooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := upload(t, request("PUT", text, tt.lines...), tt.limit)
			if u.HasDigest() != (len(tt.lines) > 0) {
				t.Errorf("HasDigest is %t", u.HasDigest())
			}
			if u.Complete() || u.Err() != nil {
				t.Errorf("before Read: Complete is %t, Err %v", u.Complete(), u.Err())
			}
			got, err := io.ReadAll(u)
			if u.Complete() != (err == nil) || u.Err() != err {
				t.Errorf("Complete is %t and Err is %v after the error %v", u.Complete(), u.Err(), err)
			}
			if _, again := u.Read(make([]byte, 1)); again == nil {
				t.Error("Read returns no error after the end")
			}
			if tt.detail != "" {
				wantProblem(t, err, tt.kind, tt.detail)
				return
			}
			if err != nil || string(got) != text {
				t.Errorf("%d bytes, error %v", len(got), err)
			}
		})
	}
}

func TestUploadDigestSyntax(t *testing.T) {
	t.Parallel()
	_, err := httpbody.NewUpload(request("PUT", "", "Repr-Digest: sha-256=abc"), 10)
	d := wantProblem(t, err, problem.InvalidHeader, "Repr-Digest must be a list of digests such as sha-256=:BASE64:.")
	if len(d.Errors) != 1 || d.Errors[0].Header != "Repr-Digest" || d.Errors[0].Code != "syntax" {
		t.Errorf("errors %+v", d.Errors)
	}
}

func TestUploadUnreadable(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	r := request("PUT", "")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(broken)))
	u := upload(t, r, 10)
	_, err := io.ReadAll(u)
	wantProblem(t, err, problem.BadRequest, "The request body could not be read.")
	if !errors.Is(u.Err(), broken) || u.Complete() {
		t.Errorf("Err is %v, Complete %t", u.Err(), u.Complete())
	}
}

func TestRewind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		size, read int
		want       bool
	}{
		{"not read", 100, 0, true},
		{"in part", 100, 40, true},
		{"to the end", 100, 100, true},
		{"as much as is kept", 64 << 10, 64 << 10, true},
		{"one byte more", 64<<10 + 1, 64<<10 + 1, false},
		{"much, in part", 1 << 20, 1 << 19, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat("a", tt.size-1) + "b"
			u := upload(t, request("PUT", text, "Content-Digest: "+digestField(text)), 1<<20)
			if _, err := io.CopyN(io.Discard, u, int64(tt.read)); err != nil {
				t.Fatal(err)
			}
			if got := u.Rewind(); got != tt.want {
				t.Fatalf("Rewind returns %t, want %t", got, tt.want)
			}
			if !tt.want {
				return
			}
			for range 2 { // bytes that are read again are not hashed again
				got, err := io.ReadAll(iotest.OneByteReader(u))
				if err != nil || string(got) != text {
					t.Fatalf("%d bytes, error %v, want %d bytes", len(got), err, len(text))
				}
				u.Rewind()
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	sum, other, long := sha256.Sum256([]byte("hello")), sha256.Sum256([]byte("other")),
		sha512.Sum512([]byte("other"))
	longField := string(header.AppendDigest(nil, header.Digest{Algorithm: "sha-512", Sum: long[:]}))
	tests := []struct {
		name  string
		lines []string
		limit int64
		want  string // empty for an error
	}{
		{"of the content", nil, 5, "sha-256:" + string(sum[:])},
		{"too long", nil, 4, ""},
		{"of the digest", []string{"Content-Digest: " + digestField("other")}, 0, "sha-256:" +
			string(other[:])},
		{"of the long digest", []string{"Content-Digest: " + longField}, 0, "sha-512:" + string(long[:])},
		{"of the shorter digest", []string{"Content-Digest: " + longField, "Repr-Digest: " +
			digestField("hello")}, 0, "sha-256:" + string(sum[:])},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := upload(t, request("PUT", "hello", tt.lines...), 100)
			got, err := u.Fingerprint(tt.limit)
			if tt.want == "" {
				d := wantProblem(t, err, problem.TooLarge,
					"With an Idempotency-Key, a request body of more than 4 bytes needs a Content-Digest.")
				if diff := cmp.Diff(map[string]any{"limit": int64(4)}, d.Extensions); diff != "" {
					t.Errorf("extensions (-want +got):\n%s", diff)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("%q, error %v, want %q", got, err, tt.want)
			}
			if tt.lines == nil {
				if content, err := io.ReadAll(u); err != nil || string(content) != "hello" {
					t.Errorf("Read returns %q, error %v after Fingerprint", content, err)
				}
			}
		})
	}
	r := request("PUT", "")
	r.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))
	_, err := upload(t, r, 100).Fingerprint(5)
	wantProblem(t, err, problem.BadRequest, "The request body could not be read.")
}
