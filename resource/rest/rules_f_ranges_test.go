package rest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/problem"
)

// Ranges of bytes, rules 113 to 115.

func TestRule113Ranges(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, nil)
	get := dialHTTP(t, listen(t, h), false)
	const huge = "99999999999999999999999999"
	tests := []struct {
		name, value, span, body string // span is empty for the whole
	}{
		{"first", "bytes=0-0", "0-0", "0"},
		{"middle", "bytes=2-4", "2-4", "234"},
		{"all", "bytes=0-9", "0-9", digits},
		{"to the end", "bytes=7-", "7-9", "789"},
		{"beyond the end", "bytes=7-100", "7-9", "789"},
		{"beyond any number", "bytes=7-" + huge, "7-9", "789"},
		{"last three", "bytes=-3", "7-9", "789"},
		{"last hundred", "bytes=-100", "0-9", digits},
		{"last of any number", "bytes=-" + huge, "0-9", digits},
		{"unit in capitals", "Bytes=2-4", "2-4", "234"},
		{"blanks around", "bytes= 2-4 ", "2-4", "234"},
		{"empty members", "bytes=,2-4, ,", "2-4", "234"},
		{"leading zeros", "bytes=002-0000004", "2-4", "234"},
		{"backwards", "bytes=5-2", "", digits},
		{"two", "bytes=0-1,4-5", "", digits},
		{"two that overlap", "bytes=0-5,4-7", "", digits},
		{"two, one after the end", "bytes=0-1,100-", "", digits},
		{"other unit", "items=0-1", "", digits},
		{"no unit", "0-1", "", digits},
		{"nothing", "bytes=", "", digits},
		{"a dash", "bytes=-", "", digits},
		{"one number", "bytes=5", "", digits},
		{"blank within", "bytes=2 -4", "", digits},
		{"blank before =", "bytes =2-4", "", digits},
		{"negative", "bytes=--3", "", digits},
		{"plus", "bytes=+2-4", "", digits},
		{"hexadecimal", "bytes=0x2-4", "", digits},
		{"three numbers", "bytes=1-2-3", "", digits},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			whole := get("GET /files/digits")
			res := get("GET /files/digits", "Range: "+tt.value)
			if tt.span == "" {
				wantBody(t, res, http.StatusOK, tt.body)
				want(t, res, http.StatusOK, "Content-Range:", "Content-Length: 10")
				return
			}
			wantBody(t, res, http.StatusPartialContent, tt.body)
			want(t, res, http.StatusPartialContent, "Content-Range: bytes "+tt.span+"/10")
			// the header fields of another time, or of the whole
			for _, h := range []http.Header{whole.header, res.header} {
				h.Del("Date")
				h.Del("Content-Length")
			}
			res.header.Del("Content-Range")
			if diff := cmp.Diff(whole.header, res.header); diff != "" {
				t.Errorf("header of 206 (-200 +206):\n%s", diff)
			}
		})
	}
}

func TestRule113RangeIsForGET(t *testing.T) {
	t.Parallel()
	h, s := filled(t, nil)
	want(t, send(t, h, "HEAD /files/digits", "Range: bytes=0-1"), http.StatusOK, "Content-Length: 10", "Content-Range:",
		"Accept-Ranges: bytes")
	want(t, send(t, h, "HEAD /files/digits", "Range: bytes=100-"), http.StatusOK, "Content-Length: 10")
	want(t, send(t, h, "PUT /files/digits", "Range: bytes=100-", "", "whole"), http.StatusNoContent)
	same(t, "content", "whole", string(s.blobs["digits"].content))
	want(t, send(t, h, "DELETE /files/digits", "Range: bytes=0-1"), http.StatusNoContent)
}

// TestRule113LikeNetHTTP compares with the file server of the standard library. They differ in what
// RFC 9110 leaves open: net/http supports several ranges, and rejects fields with a syntax error,
// which this package ignores.
func TestRule113LikeNetHTTP(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, nil)
	peer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		http.ServeContent(w, r, "", modified, strings.NewReader(digits))
	})
	numbers := []string{"", "0", "1", "4", "9", "10", "11", "00", "9223372036854775807", " 3"}
	compared := 0
	for _, first := range numbers {
		for _, last := range numbers {
			value := "Range: bytes=" + first + "-" + last
			theirs := send(t, peer, "GET /", value)
			ours := send(t, h, "GET /files/digits", value)
			invalid := first == "" && last == "" || first != "" && last != "" && ours.status == http.StatusOK
			blanks := strings.Contains(first, " ") && first != " 3" || strings.Contains(last, " ")
			nothing := first == "" && strings.Trim(last, "0") == "" // bytes=-0: there is no Content-Range for it
			if invalid || blanks || nothing {
				continue
			}
			compared++
			if theirs.status != ours.status || ours.status == 206 && theirs.body != ours.body ||
				theirs.header.Get("Content-Range") != ours.header.Get("Content-Range") {
				t.Errorf("%s: %d %q %q, net/http says %d %q %q", value, ours.status, ours.header.Get("Content-Range"), ours.body,
					theirs.status, theirs.header.Get("Content-Range"), theirs.body)
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d fields compared", compared)
	}
}

func TestRule114Unsatisfiable(t *testing.T) {
	t.Parallel()
	h, s := filled(t, nil)
	want(t, send(t, h, "PUT /files/empty", "Content-Length: 0"), http.StatusCreated)
	for _, fields := range [][]string{nil, {"Range: bytes=0-"}, {"Range: bytes=-1"}, {"Range: bytes=0-1023"}} {
		want(t, send(t, h, "GET /files/empty", fields...), http.StatusOK, "Content-Length: 0", "Accept-Ranges: bytes", "Content-Range:")
	}
	tests := []struct{ name, id, value, answer string }{
		{"after the end", "digits", "bytes=10-", "bytes */10"},
		{"far after the end", "digits", "bytes=100-200", "bytes */10"},
		{"beyond any number", "digits", "bytes=9223372036854775808-", "bytes */10"},
		{"no last bytes", "digits", "bytes=-0", "bytes */10"},
	}
	get := dialHTTP(t, listen(t, h), false)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantProblem(t, get("GET /files/"+tt.id, "Range: "+tt.value), problem.RangeNotSatisfiable,
				"Content-Range: "+tt.answer, "Etag:", "Last-Modified:", "Accept-Ranges: bytes", "Content-Security-Policy:",
				"Vary: Accept, Accept-Encoding")
			want(t, get("GET /files/"+tt.id, "Range: "+tt.value, `If-Range: "other"`), http.StatusOK)
		})
	}
	wantProblem(t, send(t, h, "GET /files/digits", "Range: bytes=10-", `If-Match: "x"`), problem.PreconditionFailed)
	tag := send(t, h, "HEAD /files/digits").header.Get("Etag")
	want(t, send(t, h, "GET /files/digits", "Range: bytes=10-", "If-None-Match: "+tag), http.StatusNotModified,
		"Etag: "+tag, "Cache-Control: private, no-cache", "Vary: Accept, Accept-Encoding", "Content-Range:", "Content-Type:")
	s.blobs["digits"].Size++ // the content is shorter
	if res, err := tryHTTP(t, listen(t, h), false)("GET /files/digits"); err == nil && !strings.Contains(res.body, "EOF") {
		t.Errorf("content that is cut off looks whole: %q", res.body)
	}
}

func TestRule115IfRangeOfBytes(t *testing.T) {
	t.Parallel()
	h, s := filled(t, nil)
	tag := send(t, h, "HEAD /files/digits").header.Get("Etag")
	date := modified.Format(http.TimeFormat)
	tests := []struct {
		name, value string
		holds       bool
	}{
		{"tag", tag, true},
		{"weak tag", "W/" + tag, false},
		{"other tag", `"other"`, false},
		{"two tags", tag + ", " + tag, false},
		{"any", "*", false},
		{"date", date, true},
		{"date of another spelling", modified.Format(time.RFC850), true},
		{"earlier date", modified.Add(-time.Second).Format(http.TimeFormat), false},
		{"later date", modified.Add(time.Second).Format(http.TimeFormat), false},
		{"nonsense", "yesterday", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := send(t, h, "GET /files/digits", "Range: bytes=2-4", "If-Range: "+tt.value)
			if tt.holds {
				wantBody(t, res, http.StatusPartialContent, "234")
			} else {
				wantBody(t, res, http.StatusOK, digits)
			}
		})
	}
	t.Run("date that is not strong yet", func(t *testing.T) {
		now := time.Now().Add(time.Hour)
		s.blobs["digits"].Modified = now
		wantBody(t, send(t, h, "GET /files/digits", "Range: bytes=2-4", "If-Range: "+now.UTC().Format(http.TimeFormat)),
			http.StatusOK, digits)
	})
	t.Run("without a date", func(t *testing.T) {
		s.blobs["digits"].Modified = time.Time{}
		res := send(t, h, "GET /files/digits", "Range: bytes=2-4", "If-Range: "+date)
		wantBody(t, res, http.StatusOK, digits)
		want(t, res, http.StatusOK, "Last-Modified:")
	})
	want(t, send(t, h, "GET /files/digits", "If-Range: "+tag), http.StatusOK)
}

// TestRule109ReproducibleFiles: the seconds 0 and 1 are no dates.
func TestRule109ReproducibleFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		second         int64
		date           string
		since, ifRange int
	}{
		{0, "", http.StatusPartialContent, http.StatusOK},
		{1, "", http.StatusPartialContent, http.StatusOK},
		{2, "Thu, 01 Jan 1970 00:00:02 GMT", http.StatusNotModified, http.StatusPartialContent},
	} {
		h, s := filled(t, nil)
		at := time.Unix(tt.second, 5)
		s.blobs["digits"].Modified = at
		text := at.UTC().Format(http.TimeFormat)
		res := send(t, h, "GET /files/digits", "If-Modified-Since: "+text, "Range: bytes=1-2")
		want(t, res, tt.since)
		want(t, send(t, h, "GET /files/digits", "If-Range: "+text, "Range: bytes=1-2"), tt.ifRange)
		same(t, "date", tt.date, send(t, h, "HEAD /files/digits").header.Get("Last-Modified"))
	}
}

func TestRule095ConditionsOfBytes(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, nil)
	tag := send(t, h, "HEAD /files/digits").header.Get("Etag")
	date, before := modified.Format(http.TimeFormat), modified.Add(-time.Hour).Format(http.TimeFormat)
	tests := []struct {
		name   string
		fields []string
		status int
	}{
		{"same tag", []string{"If-None-Match: " + tag}, 304},
		{"same tag, weak", []string{"If-None-Match: W/" + tag}, 304},
		{"any", []string{"If-None-Match: *"}, 304},
		{"other tag", []string{`If-None-Match: "x"`}, 200},
		{"other tag before date", []string{`If-None-Match: "x"`, "If-Modified-Since: " + date}, 200},
		{"date", []string{"If-Modified-Since: " + date}, 304},
		{"earlier date", []string{"If-Modified-Since: " + before}, 200},
		{"match", []string{"If-Match: " + tag}, 200},
		{"weak match", []string{"If-Match: W/" + tag}, 412},
		{"match any", []string{"If-Match: *"}, 200},
		{"match other", []string{`If-Match: "x"`, "If-None-Match: " + tag}, 412},
		{"unmodified", []string{"If-Unmodified-Since: " + date}, 200},
		{"modified", []string{"If-Unmodified-Since: " + before}, 412},
		{"nonsense", []string{"If-None-Match: x"}, 400},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "HEAD"} {
			t.Run(tt.name+" "+method, func(t *testing.T) {
				want(t, send(t, h, method+" /files/digits", tt.fields...), tt.status)
			})
		}
	}
	wantProblem(t, send(t, h, "GET /files/none", "If-None-Match: *"), problem.NotFound)
}

func TestRule075HeadOfBytes(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, nil)
	for _, target := range []string{"/files/digits", "/files/none", "/files", "/files/digits?x=1"} {
		get, head := send(t, h, "GET "+target), send(t, h, "HEAD "+target)
		same(t, target, get.header, head.header)
		wantBody(t, head, get.status, "")
	}
}

func TestRule072ExpectOfBytes(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, &blob.Options{MaxSize: 20, MediaTypes: []string{"text/plain"}})
	srv := listen(t, h)
	tests := []struct {
		name   string
		target string
		fields []string
		status int
	}{
		{"type", "/files/digits", []string{"Content-Type: image/png", "Content-Length: 5"}, 415},
		{"length", "/files/digits", []string{"Content-Type: text/plain", "Content-Length: 21"}, 413},
		{"condition", "/files/digits", []string{"Content-Type: text/plain", "Content-Length: 5", `If-Match: "x"`}, 412},
		{"name", "/files/%2e%2e", []string{"Content-Type: text/plain", "Content-Length: 5"}, 404},
		{"digest", "/files/digits", []string{"Content-Type: text/plain", "Content-Length: 5", "Repr-Digest: x"}, 400},
		{"method", "/files", []string{"Content-Type: text/plain", "Content-Length: 5"}, 405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, srv)
			c.write("PUT "+tt.target+" HTTP/1.1", append(tt.fields, "Host: x", "Expect: 100-continue", "")...)
			want(t, c.read("PUT"), tt.status)
		})
	}
	c := dial(t, srv)
	c.write("PUT /files/digits HTTP/1.1", "Host: x", "Content-Type: text/plain", "Content-Length: 5", "Expect: 100-continue", "")
	want(t, c.read("PUT"), http.StatusContinue)
	c.send("12345")
	want(t, c.read("PUT"), http.StatusNoContent)
}

// TestRule064HalfAnUpload sends less than its Content-Length.
func TestRule064HalfAnUpload(t *testing.T) {
	t.Parallel()
	h, s := filled(t, nil)
	srv := listen(t, h)
	for _, head := range []string{
		"PUT /files/%s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n12345",
		"PUT /files/%s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
	} {
		for _, id := range []string{"digits", "new"} {
			c := dial(t, srv)
			c.send(strings.Replace(head, "%s", id, 1))
			if err := c.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			wantProblem(t, c.read("PUT"), problem.BadRequest)
		}
	}
	same(t, "content", digits, string(s.blobs["digits"].content))
	wantProblem(t, send(t, h, "GET /files/new"), problem.NotFound)
}

// TestRule064NoLength: a PUT that has neither content nor a length changes nothing.
func TestRule064NoLength(t *testing.T) {
	t.Parallel()
	h, s := filled(t, nil)
	srv := listen(t, middleware.Timeout(nil)(h)) // which wraps the body
	c := dial(t, srv)
	c.write("PUT /files/digits HTTP/1.1", "Host: x", "")
	res := c.read("PUT")
	want(t, res, http.StatusLengthRequired)
	if !strings.Contains(res.body, `"errors":[{"header":"Content-Length","code":"required"`) {
		t.Errorf("the body is %s", res.body)
	}
	same(t, "content", digits, string(s.blobs["digits"].content))
	for _, fields := range [][]string{{"Content-Length: 0", ""}, {"Transfer-Encoding: chunked", "", "0\r\n\r\n"}} {
		c := dial(t, srv)
		c.write("PUT /files/digits HTTP/1.1", append([]string{"Host: x"}, fields...)...)
		want(t, c.read("PUT"), http.StatusNoContent)
		same(t, "content", "", string(s.blobs["digits"].content))
	}
	for _, two := range []bool{false, true} { // clients of Go send Content-Length: 0
		want(t, dialHTTP(t, srv, two)("PUT /files/digits"), http.StatusNoContent)
	}
}

// TestRule128PolicyOfContent: browsers play audio and video, and apply the styles of images. .ci/clients opens them.
func TestRule128PolicyOfContent(t *testing.T) {
	t.Parallel()
	h := attic(t, newCellar(), nil)
	const policy = "Content-Security-Policy: default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox"
	for mediaType, want := range map[string]string{
		"text/html": policy, "image/svg+xml": policy, "application/pdf": policy, "audiovisual/x": policy,
		"audio/wav": policy + " allow-same-origin", "Video/mp4; codecs=x": policy + " allow-same-origin",
	} {
		send(t, h, "PUT /files/a", "Content-Type: "+mediaType, "", "x")
		res := send(t, h, "GET /files/a")
		same(t, mediaType, want, "Content-Security-Policy: "+res.header.Get("Content-Security-Policy"))
	}
}

func TestRule153BytesInEveryHTTP(t *testing.T) {
	t.Parallel()
	h, _ := filled(t, nil)
	srv := listen(t, h)
	one, two, old := dialHTTP(t, srv, false), dialHTTP(t, srv, true), dialHTTP10(t, srv)
	for _, fields := range [][]string{nil, {"Range: bytes=3-"}, {"Range: bytes=30-"}, {"If-None-Match: *"}, {"Accept: image/png"}} {
		want := one("GET /files/digits", fields...)
		for _, get := range []peer{two, old} {
			got := get("GET /files/digits", fields...)
			got.header.Del("Connection")
			for _, h := range []http.Header{got.header, want.header} {
				h.Del("Date")
			}
			if diff := cmp.Diff(want.header, got.header); diff != "" || got.body != want.body || got.status != want.status {
				t.Errorf("%v: %d %q, want %d %q (-want +got):\n%s", fields, got.status, got.body, want.status, want.body, diff)
			}
		}
	}
}

func TestRule152BytesUnderAPrefix(t *testing.T) {
	t.Parallel()
	h := http.StripPrefix("/api", attic(t, newCellar(), nil))
	want(t, send(t, h, "PUT /api/files/a%2520b", "", "x"), http.StatusCreated, "Location: /api/files/a%2520b")
	res := send(t, h, "POST /api/files", "", "x")
	if !strings.HasPrefix(res.header.Get("Location"), "/api/files/") {
		t.Errorf("Location %q", res.header.Get("Location"))
	}
}
