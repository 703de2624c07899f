package version_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

func TestRule025TheTextOfANumberCounts(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, serving("1.1.0", "1.10.0", "2.0.0"), withDefault("2.0.0"))
	for value, contract := range map[string]string{
		`1.10`: "1.10.0", `1.1`: "1.1.0", `1`: "1.10.0", `"1.10"`: "1.10.0", `"v1.1"`: "1.1.0",
		`"1.10.0"`:   "1.10.0",
		`"\u0031.1"`: "1.1.0", `2`: "2.0.0",
	} {
		ask(t, api, "POST /orders", asJSON, "", `{"version":`+value+`,"a":1}`).saw(t, contract)
	}
	for _, value := range []string{
		`1e0`, `1.0e1`, `-1`, `1.100000`, `null`, `true`, `""`, `"one"`, `[]`, `["1"]`, `{}`, `{"a":1}`,
		`" 1"`, `"1.1.0.0"`,
	} {
		res := ask(t, api, "POST /orders", asJSON, "", `{"version":`+value+`,"a":1}`)
		r := res.refused(t, http.StatusBadRequest, problem.MalformedVersion)
		if len(r.Errors) != 1 || r.Errors[0].Pointer == nil || *r.Errors[0].Pointer != "/version" {
			t.Errorf("%s: the pointer is not in %s", value, res.body)
		}
	}
	ask(t, api, "POST /orders", asJSON, "", `{"version":7}`).
		refused(t, http.StatusBadRequest, problem.UnsupportedVersion)
}

// The member is removed, and the rest of the document is unchanged.
func TestRule027TheMemberIsCutOut(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := []struct{ name, content, equal string }{
		{"only", `{"version":"1"}`, `{}`},
		{"first", `{"version":"1","a":1.50}`, `{"a":1.50}`},
		{"middle", `{"a":1,"version":"1","b":[{"version":"7"}]}`, `{"a":1,"b":[{"version":"7"}]}`},
		{"last", `{"a":"\u0041","version":"1"}`, `{"a":"\u0041"}`},
		{"escaped name", `{"\u0076ersion":"1","a":1}`, `{"a":1}`},
		{"whitespace", " {\n\t\"a\" : 1 ,\r\n\t\"version\" : \"1\" ,\n\t\"b\" : 2\n} \n", `{"a":1,"b":2}`},
		{"whitespace, first", "{ \"version\" :\n\"1\"\n,\n\"b\":2}", `{"b":2}`},
		{"whitespace, last", "{\"b\":2 , \"version\" :\n\"1\"\n}", `{"b":2}`},
		{"whitespace, only", "{ \"version\" : 1 }", `{}`},
		{"names alike", `{"Version":7,"versions":8,"version":1,"":"version"}`,
			`{"Version":7,"versions":8,"":"version"}`},
		{"large numbers", `{"n":9007199254740993,"version":"1"}`, `{"n":9007199254740993}`},
		{"strings with braces", `{"a":"}{\"version\":\"7\",","version":"1"}`, `{"a":"}{\"version\":\"7\","}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, line := range []string{"POST /orders", "PUT /orders/1"} {
				s := ask(t, api, line, asJSON, "", tt.content).saw(t, "1.1.0")
				if got := squeezed(s.Body); got != tt.equal {
					t.Errorf("%s: the handler saw %q, want %q but for whitespace", line, s.Body, tt.equal)
				}
				if s.Length != int64(len(s.Body)) || s.Stated != strconv.Itoa(len(s.Body)) {
					t.Errorf("%s: lengths %d and %q of %d octets", line, s.Length, s.Stated, len(s.Body))
				}
				if s.Member != "version=1.1" {
					t.Errorf("%s: Member() says %q", line, s.Member)
				}
			}
		})
	}
}

// squeezed leaves out whitespace. No test has any in its strings.
func squeezed(s string) string {
	return strings.NewReplacer(" ", "", "\n", "", "\r", "", "\t", "").Replace(s)
}

// Where the content names nothing it reaches the handler octet by octet, and it is the handler that refuses it.
func TestRule026ContentThatNamesNothing(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := []struct{ name, line, field, content string }{
		{"JSON Patch", "PATCH /orders/1", asPatch, `[{"op":"replace","path":"/version","value":"7"}]`},
		{"merge patch", "PATCH /orders/1", asMerge, `{"version":"7"}`},
		{"PATCH with JSON", "PATCH /orders/1", asJSON, `{"version":"7"}`},
		{"POST with a merge patch", "POST /orders", asMerge, `{"version":"7"}`},
		{"POST with a JSON Patch", "POST /orders", asPatch, `[{"version":"7"}]`},
		{"GET with content", "GET /orders", asJSON, `{"version":"7"}`},
		{"DELETE with content", "DELETE /orders/1", asJSON, `{"version":"7"}`},
		{"QUERY with content", "QUERY /orders", asJSON, `{"version":"7"}`},
		{"an array", "POST /orders", asJSON, `[{"version":"7"}]`},
		{"a string", "POST /orders", asJSON, `"version"`},
		{"null", "POST /orders", asJSON, ` null `},
		{"no JSON", "POST /orders", asJSON, `{version:7}`},
		{"half JSON", "POST /orders", asJSON, `{"a":1,"version":"7"`},
		{"JSON and more", "POST /orders", asJSON, `{"a":1} {"version":"7"}`},
		{"the member and garbage", "POST /orders", asJSON, `{"version":"7",}`},
		{"the member twice", "POST /orders", asJSON, `{"version":"1","version":"1"}`},
		{"bad UTF-8", "POST /orders", asJSON, "{\"version\":\"7\",\"a\":\"\xff\"}"},
		{"deeper", "POST /orders", asJSON, `{"a":{"version":"7"}}`},
		{"text", "POST /orders", "Content-Type: text/plain", `{"version":"7"}`},
		{"form", "POST /orders", "Content-Type: application/x-www-form-urlencoded", `version=7`},
		{"other charset", "POST /orders", "Content-Type: application/json; charset=utf-16",
			`{"version":"7"}`},
		{"no type", "POST /orders", "X: y", `{"version":"7"}`},
		{"two types", "POST /orders", "Content-Type: application/json, text/plain", `{"version":"7"}`},
		{"nonsense for a type", "POST /orders", "Content-Type: json", `{"version":"7"}`},
		{"unknown coding", "POST /orders", "Content-Type: application/json\r\nContent-Encoding: br",
			`{"version":"7"}`},
		{"two codings", "POST /orders", "Content-Type: application/json\r\nContent-Encoding: gzip, gzip",
			`{"version":"7"}`},
		{"gzip that is none", "POST /orders", "Content-Type: application/json\r\nContent-Encoding: gzip",
			`{"version":"7"}`},
		{"escaped content", "POST /orders", asJSON, ` { "a" : "\u0041\/" } `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := ask(t, api, tt.line, tt.field, "", tt.content).saw(t, "2.0.0")
			if s.Body != tt.content || s.Length != int64(len(tt.content)) {
				t.Errorf("the handler saw %q (%d), want it untouched: %q", s.Body, s.Length, tt.content)
			}
			if s.Member != "" || s.Source != "" {
				t.Errorf("member %q, source %q", s.Member, s.Source)
			}
			// Another source still works.
			ask(t, api, tt.line, tt.field, "API-Version: 1", "", tt.content).saw(t, "1.1.0")
		})
	}
	for _, field := range []string{
		"Content-Type: Application/JSON", "Content-Type: application/json; charset=UTF-8",
		"Content-Type: application/hal+json", "Content-Type: application/json;profile=x",
	} {
		ask(t, api, "POST /orders", field, "", `{"version":"1"}`).saw(t, "1.1.0")
	}
}

func TestRule027ReservedNames(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, only(version.Body{Name: "apiVersion"}, version.Query{Name: "v"}))
	s := ask(t, api, "POST /orders?version=7", asJSON, "", `{"version":"7","apiVersion":"1"}`).saw(t, "1.1.0")
	if s.Body != `{"version":"7"}` || s.Query != "version=7" || s.Member != "apiVersion=1.1" {
		t.Errorf("the handler saw %q, %q, %q", s.Body, s.Query, s.Member)
	}
}

// The body may select the contract, up to the limit of its size.
func TestRule028Limit(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, only(version.Body{Limit: 100}, version.Header{Name: "API-Version"}))
	fits := `{"version":"1","a":"` + strings.Repeat("x", 78) + `"}`
	if len(fits) != 100 {
		t.Fatalf("%d octets", len(fits))
	}
	ask(t, api, "POST /orders", asJSON, "", fits).saw(t, "1.1.0")
	long := `{"version":"1","a":"` + strings.Repeat("x", 79) + `"}`
	// the limit holds after decompression, too
	bomb := gzipped(t, `{"a":"`+strings.Repeat("x", 1<<20)+`","version":"1"}`)
	small, _ := openMarket(t, only(version.Body{Limit: 10_000}, version.Header{Name: "API-Version"}))
	tests := []struct {
		name    string
		api     http.Handler
		fields  []string
		content string
		body    string
	}{
		{"length", api, nil, long, long},
		{"chunked", api, []string{"Transfer-Encoding: chunked"}, chunked(long), long},
		{"gzip", small, []string{"Content-Encoding: gzip"}, bomb, bomb},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fields := append([]string{asJSON}, tt.fields...)
			// It might name a contract, so it is not read as the default one.
			res := ask(t, tt.api, "POST /orders", append(slices.Clone(fields), "", tt.content)...)
			if res.status != http.StatusRequestEntityTooLarge || !strings.Contains(res.body, `"limit":`) {
				t.Errorf("status %d, %s", res.status, res.body)
			}
			// It can only agree, so it is left to the handler.
			s := ask(t, tt.api, "POST /orders", append(fields, "API-Version: 1", "", tt.content)...).saw(t,
				"1.1.0")
			if s.Body != tt.body {
				t.Errorf("the handler saw %d octets, want the %d that were sent", len(s.Body), len(tt.body))
			}
		})
	}
}

func TestRule028Codings(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	named, plain := `{"version":"1","a":1}`, `{"a":1}`
	s := ask(t, api, "POST /orders", asJSON, "Content-Encoding: gzip", "", gzipped(t, named)).saw(t, "1.1.0")
	if s.Coding == "" && s.Body != plain {
		t.Errorf("the handler saw %q", s.Body)
	}
	if s.Coding != "" && gunzipped(t, s.Body) != plain {
		t.Errorf("the handler saw %q in coding %s", s.Body, s.Coding)
	}
	if s.Length != int64(len(s.Body)) {
		t.Errorf("length %d of %d octets", s.Length, len(s.Body))
	}
	// Nothing named: as it came.
	sent := gzipped(t, plain)
	s = ask(t, api, "POST /orders", asJSON, "Content-Encoding: gzip", "", sent).saw(t, "2.0.0")
	if s.Coding != "" && s.Body != sent || s.Coding == "" && s.Body != plain {
		t.Errorf("the handler saw %q in coding %q", s.Body, s.Coding)
	}
	s = ask(t, api, "POST /orders", asJSON, "Content-Encoding: identity", "", named).saw(t, "1.1.0")
	if s.Body != plain {
		t.Errorf("the handler saw %q", s.Body)
	}
	s = ask(t, api, "POST /orders", asJSON, "Transfer-Encoding: chunked", "", chunked(named)).saw(t, "1.1.0")
	if s.Body != plain {
		t.Errorf("the handler saw %q", s.Body)
	}
	s = ask(t, api, "POST /orders", asJSON, "Transfer-Encoding: chunked", "", chunked(plain)).saw(t, "2.0.0")
	if s.Body != plain {
		t.Errorf("the handler saw %q", s.Body)
	}
	ask(t, api, "POST /orders", asJSON).saw(t, "2.0.0") // no content at all
}

// The request of the caller is not modified.
func TestRule028TheRequestStaysAsItIs(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	content := `{"version":"1","a":1}`
	r := asked(t, "POST /orders?version=1&x=y", asJSON, "", content)
	recorded(t, api, r).saw(t, "1.1.0")
	if got := r.Header.Get("Content-Length"); got != strconv.Itoa(len(content)) {
		t.Errorf("Content-Length of the caller's request is %s", got)
	}
	if r.URL.String() != "/orders?version=1&x=y" || r.ContentLength != int64(len(content)) {
		t.Errorf("the caller's request is for %s, %d octets", r.URL, r.ContentLength)
	}
	r = asked(t, "GET /v1/a%2Fb")
	recorded(t, api, r).saw(t, "1.1.0")
	if r.URL.Path != "/v1/a/b" || r.URL.RawPath != "/v1/a%2Fb" {
		t.Errorf("the caller's request is for %q, %q", r.URL.Path, r.URL.RawPath)
	}
}

// A client that has gone is noticed by the handler, as it would be without versions.
func TestRule028ErrorsOfTheConnection(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	r := asked(t, "POST /orders", asJSON, "", `{"version":"1"}`)
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"version":`), errReader{}))
	s := recorded(t, api, r).saw(t, "2.0.0")
	if s.Body != `{"version":` || s.ReadErr != io.ErrClosedPipe.Error() {
		t.Errorf("the handler saw %q and %q", s.Body, s.ReadErr)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestRule028Expect(t *testing.T) {
	t.Parallel()
	unread := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusConflict) // without reading
	}
	refusing, _ := openMarket(t, answering(unread))
	reading, _ := openMarket(t)
	content := `{"version":"1"}`
	fields := []string{"Host: 127.0.0.1", asJSON, "Expect: 100-continue", "Content-Length: " +
		strconv.Itoa(len(content))}

	t.Run("only the content can name it", func(t *testing.T) {
		t.Parallel()
		c := dialTo(t, listenTo(t, reading))
		c.send(append(append([]string{"POST /orders HTTP/1.1"}, fields...), "", "")...)
		c.receive("POST").has(t, http.StatusContinue)
		c.send(content)
		c.receive("POST").saw(t, "1.1.0")
	})
	t.Run("another strategy matches, body not read", func(t *testing.T) {
		t.Parallel()
		c := dialTo(t, listenTo(t, refusing))
		c.send(append(append([]string{"POST /v1/orders HTTP/1.1"}, fields...), "", "")...)
		c.receive("POST").has(t, http.StatusConflict, "API-Version: 1.1.0")
	})
	t.Run("another strategy matches, body read late", func(t *testing.T) {
		t.Parallel()
		c := dialTo(t, listenTo(t, reading))
		c.send(append(append([]string{"POST /v1/orders HTTP/1.1"}, fields...), "", "")...)
		c.receive("POST").has(t, http.StatusContinue)
		c.send(content)
		if s := c.receive("POST").saw(t, "1.1.0"); s.Body != `{}` || s.ReadErr != "" ||
			s.Member != "version=1.1" {
			t.Errorf("the handler saw %q, %q, the member %q", s.Body, s.ReadErr, s.Member)
		}
	})
	t.Run("another strategy disagrees", func(t *testing.T) {
		t.Parallel()
		c := dialTo(t, listenTo(t, reading))
		c.send(append(append([]string{"POST /v2/orders HTTP/1.1"}, fields...), "", "")...)
		c.receive("POST").has(t, http.StatusContinue)
		c.send(content)
		if s := c.receive("POST").saw(t, "2.0.0"); !strings.Contains(s.ReadErr,
			string(problem.AmbiguousVersion)) {
			t.Errorf("the handler read %q without an error: %q", s.Body, s.ReadErr)
		}
	})
	t.Run("what is refused is not read", func(t *testing.T) {
		t.Parallel()
		c := dialTo(t, listenTo(t, reading))
		c.send(append(append([]string{"POST /v7/orders HTTP/1.1"}, fields...), "", "")...)
		c.receive("POST").refused(t, http.StatusNotFound, problem.UnsupportedVersion)
	})
}

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := io.WriteString(zw, s); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gunzipped(t testing.TB, s string) string {
	t.Helper()
	zr, err := gzip.NewReader(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// chunked writes content in two chunks.
func chunked(s string) string {
	half := len(s) / 2
	chunk := func(s string) string { return strconv.FormatInt(int64(len(s)), 16) + "\r\n" + s + "\r\n" }
	return chunk(s[:half]) + chunk(s[half:]) + "0\r\n\r\n"
}
