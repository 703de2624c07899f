package rest_test

import (
	"crypto/sha256"
	"encoding/base64"
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

// TestBlobFormRefused: after an error of one file none is stored.
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

// TestBlobFormNames: names in the response are valid JSON, whatever the client sends.
func TestBlobFormNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 1025)
	tests := []struct {
		name, field, filename string
		wantField, want       string
		status                int
	}{
		{"not UTF-8", "\xff", "\xe9t\xe9.txt", "\uFFFD", "\uFFFDt\uFFFD.txt", http.StatusCreated},
		{"a path", "a", "../../etc/passwd", "a", "passwd", http.StatusCreated},
		{"an id of its own", "id", "b.txt", "id", "b.txt", http.StatusCreated},
		{"a long filename", "a", long, "", "", http.StatusBadRequest},
		{"a long field", long, "a", "", "", http.StatusBadRequest},
		{"the longest filename", "a", long[1:], "a", long[1:], http.StatusCreated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := attic(t, folder(t), nil)
			body := "--xyz\r\nContent-Disposition: form-data; name=\"" + tt.field + "\"; filename=\"" + tt.filename +
				"\"\r\n\r\nx\r\n--xyz--\r\n"
			res := send(t, h, "POST /files", formBody, "", body)
			want(t, res, tt.status)
			if tt.status != http.StatusCreated {
				wantBody(t, send(t, h, "GET /files"), http.StatusOK, `{"items":[]}`)
				return
			}
			var got formItems
			decode(t, res.body, &got)
			if item := got.Items[0]; item.Field != tt.wantField || item.Filename != tt.want || item.ID == tt.filename {
				t.Errorf("field %q, file %q, id %q", item.Field, item.Filename, item.ID)
			}
		})
	}
}

// TestBlobFormDigest: the digest of the body includes what follows the last part.
func TestBlobFormDigest(t *testing.T) {
	t.Parallel()
	body := form("a=x", "b=y") + "epilogue"
	sum := sha256.Sum256([]byte(body))
	digest := "Content-Digest: sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	tests := []struct {
		name, field, body string
		kind              problem.Kind // "" if it is stored
	}{
		{"equal", digest, body, ""},
		{"another epilogue", digest, body + "s", problem.DigestMismatch},
		{"another file", digest, strings.Replace(body, "\r\nb\r\n", "\r\nc\r\n", 1), problem.DigestMismatch},
		{"malformed", "Content-Digest: sha-256=x", body, problem.InvalidHeader},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := attic(t, folder(t), nil)
			res := send(t, h, "POST /files", formBody, tt.field, "", tt.body)
			if tt.kind == "" {
				want(t, res, http.StatusCreated)
				return
			}
			wantProblem(t, res, tt.kind)
			wantBody(t, send(t, h, "GET /files"), http.StatusOK, `{"items":[]}`)
		})
	}
}

// TestBlobFormAccept: a response that the client does not accept is refused before anything is stored.
func TestBlobFormAccept(t *testing.T) {
	t.Parallel()
	h := attic(t, folder(t), nil)
	wantProblem(t, send(t, h, "POST /files", formBody, "Accept: image/png", "", form("a=x")), problem.NotAcceptable)
	wantBody(t, send(t, h, "GET /files"), http.StatusOK, `{"items":[]}`)
	browser := "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	want(t, send(t, h, "POST /files", formBody, browser, "", form("a=x")), http.StatusCreated)
}

// FuzzBlobForm: every body is stored completely, or refused as a client error without a trace.
func FuzzBlobForm(f *testing.F) {
	for _, body := range []string{"", "--xyz--\r\n", form("a=x"), form("a", "b=", "c=d:image/png"), form("a=x")[:40],
		"--xyz\r\nContent-Disposition: form-data; name=\"\xff\"; filename*=utf-8''%00\r\n\r\n\r\n--xyz--",
		"--xyz\r\n\r\n--xyz\r\nContent-Disposition: form-data; filename=a\r\nContent-Type: \x00\r\n\r\n\r\n--xyz--"} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		h := attic(t, folder(t), nil)
		res := send(t, h, "POST /files", formBody, "", body)
		var list, created formItems
		decode(t, send(t, h, "GET /files?limit=200").body, &list)
		switch {
		case res.status == http.StatusCreated:
			decode(t, res.body, &created)
		case res.status < 400 || res.status > 499:
			t.Fatalf("status %d: %s", res.status, res.body)
		}
		if len(list.Items) != len(created.Items) {
			t.Errorf("status %d: %d files in the response, %d are stored", res.status, len(created.Items), len(list.Items))
		}
	})
}
