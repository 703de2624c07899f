package httpbody_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// request returns a request with a body and header lines such as "Content-Encoding: gzip".
func request(method, body string, lines ...string) *http.Request {
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	_, err := io.WriteString(zw, text)
	if err := errors.Join(err, zw.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func unzip(t *testing.T, zipped []byte) string {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wantProblem checks the kind and the detail of an error.
func wantProblem(t *testing.T, err error, kind problem.Kind, detail string) *problem.Details {
	t.Helper()
	var d *problem.Details
	if !errors.As(err, &d) {
		t.Fatalf("error %v, want a problem", err)
	}
	if d.Kind != kind || d.Detail != detail {
		t.Errorf("problem %v %q, want %v %q", d.Kind, d.Detail, kind, detail)
	}
	return d
}

// A compressed body may have 100 times its size, and any number of times up to 1 MiB, also without a limit.
func TestExpansion(t *testing.T) {
	t.Parallel()
	const detail = "The request body is more than 100 times as large as its compressed form. " +
		"Send it uncompressed or in parts."
	random := make([]byte, 32<<10) // content that cannot be compressed
	rand.NewChaCha8([32]byte{}).Read(random)
	tests := []struct {
		name  string
		plain string
		bad   bool
	}{
		{"1 MiB", strings.Repeat("x", 1<<20), false},
		{"more", strings.Repeat("x", 1<<20+1), true},
		{"less than 100 times", string(random) + strings.Repeat("x", 3<<20), false},
		{"more than 100 times", string(random) + strings.Repeat("x", 4<<20), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := httpbody.Append(nil, request("POST", zip(t, tt.plain), "Content-Encoding: gzip"), -1)
			if tt.bad {
				wantProblem(t, err, problem.TooLarge, detail)
			} else if err != nil || string(got) != tt.plain {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

func TestMediaType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines []string
		want  string
		ok    bool
	}{
		{"plain", []string{"Content-Type: application/json"}, "application/json", true},
		{"upper case", []string{"Content-Type: Application/JSON"}, "application/json", true},
		{"charset", []string{"Content-Type: application/json; charset=UTF-8"}, "application/json", true},
		{"another charset", []string{"Content-Type: application/json; charset=latin1"}, "application/json",
			false},
		{"absent", nil, "", false},
		{"repeated", []string{"Content-Type: application/json", "Content-Type: application/json"}, "", false},
		{"not valid", []string{"Content-Type: json"}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := httpbody.MediaType(request("POST", "{}", tt.lines...))
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("MediaType returns %q, %t, want %q, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestUnsupportedType(t *testing.T) {
	t.Parallel()
	const list = "application/json, text/csv"
	tests := []struct {
		method string
		want   http.Header
	}{
		{"PUT", http.Header{"Accept": {list}}},
		{"POST", http.Header{"Accept": {list}, "Accept-Post": {list}}},
		{"PATCH", http.Header{"Accept-Patch": {list}}},
	}
	for _, tt := range tests {
		d := httpbody.UnsupportedType(request(tt.method, ""), "Send JSON.", "application/json", "text/csv")
		wantProblem(t, d, problem.UnsupportedMediaType, "Send JSON.")
		if diff := cmp.Diff(tt.want, d.Header); diff != "" {
			t.Errorf("%s: fields (-want +got):\n%s", tt.method, diff)
		}
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		declared int64 // ContentLength of the request
		lines    []string
		want     int64
	}{
		{"known", 3, nil, 3},
		{"unknown", -1, nil, -1},
		{"in the field alone", -1, []string{"Content-Length: 7"}, 7},
		{"not a number", -1, []string{"Content-Length: seven"}, -1},
	}
	for _, tt := range tests {
		r := request("POST", "", tt.lines...)
		r.ContentLength = tt.declared
		if got := httpbody.Length(r); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const both = "Content-Encoding must be gzip or identity."
	const none = "Content-Encoding must be identity."
	const long = "The request body is larger than the limit of 1 bytes."
	tests := []struct {
		name             string
		lines            []string
		limit            int64
		decoded, encoded string // the detail of the error of Check and of CheckIdentity; empty if there is none
	}{
		{"no coding", nil, 2, "", ""},
		{"identity", []string{"Content-Encoding: Identity"}, 2, "", ""},
		{"empty", []string{"Content-Encoding: "}, 2, both, ""},
		{"gzip", []string{"Content-Encoding: GZIP"}, 2, "", none},
		{"x-gzip", []string{"Content-Encoding: x-gzip"}, 2, "", none},
		{"another", []string{"Content-Encoding: br"}, 2, both, none},
		{"twice", []string{"Content-Encoding: gzip", "Content-Encoding: gzip"}, 2, both, none},
		{"two", []string{"Content-Encoding: gzip, gzip"}, 2, both, none},
		{"too long", nil, 1, long, long},
		{"too long and another coding", []string{"Content-Encoding: br"}, 1, both, none},
		{"no limit", nil, -1, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request("POST", "{}", tt.lines...)
			for _, c := range []struct {
				want string
				err  error
			}{{tt.decoded, httpbody.Check(r, tt.limit)}, {tt.encoded, httpbody.CheckIdentity(r, tt.limit)}} {
				switch c.want {
				case "":
					if c.err != nil {
						t.Errorf("error %v", c.err)
					}
				case long:
					d := wantProblem(t, c.err, problem.TooLarge, long)
					if d.Extensions["limit"] != tt.limit {
						t.Errorf("extensions %v, want the limit", d.Extensions)
					}
				default:
					d := wantProblem(t, c.err, problem.UnsupportedMediaType, c.want)
					accepted := map[string]string{both: "gzip, identity", none: "identity"}[c.want]
					if got := d.Header.Get("Accept-Encoding"); got != accepted {
						t.Errorf("Accept-Encoding %q, want %q", got, accepted)
					}
				}
			}
		})
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	const long = "The request body is larger than the limit of %d bytes."
	const corrupt = "The request body is not valid gzip, but Content-Encoding is gzip."
	text := strings.Repeat("0123456789", 1000)
	zipped := zip(t, text)
	gz := []string{"Content-Encoding: gzip"}
	tests := []struct {
		name, body string
		lines      []string
		limit      int64
		want       string
		kind       problem.Kind
		detail     string // empty if there is no error
	}{
		{"empty", "", nil, 0, "", "", ""},
		{"exactly the limit", text, nil, 10000, text, "", ""},
		{"one byte more", text, nil, 9999, "", problem.TooLarge, fmt.Sprintf(long, 9999)},
		{"no limit", text, nil, -1, text, "", ""},
		{"gzip", zipped, gz, 10000, text, "", ""},
		{"gzip without limit", zipped, gz, -1, text, "", ""},
		{"gzip becomes too long", zipped, gz, 9999, "", problem.TooLarge, fmt.Sprintf(long, 9999)},
		{"gzip of too many bytes", zipped, gz, int64(len(zipped) - 1), "", problem.TooLarge,
			fmt.Sprintf(long, len(zipped)-1)},
		{"gzip cut off", zipped[:len(zipped)-9], gz, 10000, "", problem.BadRequest, corrupt},
		{"no gzip", text, gz, 10000, "", problem.BadRequest, corrupt},
		{"empty gzip", "", gz, 10000, "", problem.BadRequest, corrupt},
		{"zeros after gzip", zipped + strings.Repeat("\x00", 512), gz, 10000, text, "", ""},
		{"zeros after two streams", zipped + zipped + "\x00", gz, 20000, text + text, "", ""},
		{"zeros and text after gzip", zipped + "\x00\x00text", gz, 10000, "", problem.BadRequest, corrupt},
		{"text after gzip", zipped + "text of ten bytes", gz, 10000, "", problem.BadRequest, corrupt},
		{"too many zeros after gzip", zipped + strings.Repeat("\x00", 2<<20), gz, 10 << 20, "", problem.BadRequest, corrupt},
		{"gzip with a wrong checksum", zipped[:len(zipped)-8] + "\x00\x00\x00\x00" + zipped[len(zipped)-4:],
			gz, 10000, "",
			problem.BadRequest, corrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := httpbody.Append([]byte("before "), request("POST", tt.body, tt.lines...), tt.limit)
			if tt.detail != "" {
				wantProblem(t, err, tt.kind, tt.detail)
				return
			}
			if err != nil || string(got) != "before "+tt.want {
				t.Errorf("%d bytes, error %v, want %d bytes", len(got), err, len("before ")+len(tt.want))
			}
		})
	}
}

// TestAppendReadsNoMore checks that a body that is too long is not read to its end.
func TestAppendReadsNoMore(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]string{nil, {"Content-Encoding: gzip"}} {
		body := strings.NewReader(strings.Repeat(zip(t, ""), 10_000)) // as gzip, empty members
		r := request("POST", "", lines...)
		r.Body = io.NopCloser(body)
		_, err := httpbody.Append(make([]byte, 0, 4096), r, 1000)
		wantProblem(t, err, problem.TooLarge, "The request body is larger than the limit of 1000 bytes.")
		if read := int(body.Size()) - body.Len(); read > 4096 {
			t.Errorf("%q: %d bytes have been read", lines, read)
		}
	}
}

func TestReadError(t *testing.T) {
	t.Parallel()
	const unreadable = "The request body could not be read."
	const corrupt = "The request body is not valid gzip, but Content-Encoding is gzip."
	broken := errors.New("connection reset")
	member := problem.New(problem.Invalid, "The member version names no contract.")
	tests := []struct {
		name    string
		err     error
		gzipped bool
		kind    problem.Kind
		detail  string
		wraps   error
	}{
		{"network", broken, false, problem.BadRequest, unreadable, broken},
		{"network, gzip", broken, true, problem.BadRequest, unreadable, broken},
		{"end too early", io.ErrUnexpectedEOF, false, problem.BadRequest, unreadable, io.ErrUnexpectedEOF},
		{"end too early, gzip", io.ErrUnexpectedEOF, true, problem.BadRequest, corrupt, nil},
		{"limit of an outer handler", &http.MaxBytesError{Limit: 5}, true, problem.TooLarge,
			"The request body is larger than the limit of 5 bytes.", nil},
		{"problem of an outer handler", member, true, problem.Invalid, member.Detail, member},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := httpbody.ReadError(tt.err, tt.gzipped, 10)
			wantProblem(t, err, tt.kind, tt.detail)
			if tt.wraps != nil && !errors.Is(err, tt.wraps) {
				t.Errorf("error %v does not wrap %v", err, tt.wraps)
			}
		})
	}
	r := request("POST", "")
	r.Body = io.NopCloser(iotest.ErrReader(broken))
	if _, err := httpbody.Append(nil, r, 10); !errors.Is(err, broken) {
		t.Errorf("Append returns %v, want an error that wraps %v", err, broken)
	}
}
