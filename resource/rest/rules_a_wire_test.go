package rest_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// exchanges are requests to all parts that the version of HTTP could affect. {tag} represents the
// last entity tag.
var exchanges = [][]string{
	{"GET /orders"},
	{"POST /orders", jsonBody, "", `{"customerId":"u","cents":1}`},
	{"POST /orders", jsonBody, "Prefer: return=minimal", "", `{"customerId":"u","cents":2}`},
	{"POST /orders", jsonBody, "Accept-Encoding: gzip", "", big},
	{"POST /orders", jsonBody, "", `{"cents":-1}`},
	{"POST /orders", "Content-Type: text/plain", "", `x`},
	{"GET /orders/1"},
	{"GET /orders/1", "If-None-Match: {tag}"},
	{"HEAD /orders/1"},
	{"GET /orders/3", "Accept-Encoding: gzip"},
	{"HEAD /orders/3", "Accept-Encoding: gzip"},
	{"GET /orders?limit=2", "Prefer: count=exact"},
	{"HEAD /orders?limit=2", "Prefer: count=exact"},
	{"GET /orders?limit=1&sort=-cents&expand=customer"},
	{"GET /orders", "Accept: application/x-ndjson"},
	{"HEAD /orders", "Accept: application/x-ndjson"},
	{"GET /orders", "Accept: application/x-ndjson", "Accept-Encoding: gzip"},
	{"GET /orders", "Accept: text/html"},
	{"GET /orders/1"},
	{"PUT /orders/1", jsonBody, "If-Match: {tag}", "", `{"customerId":"v"}`},
	{"PATCH /orders/1", mergeBody, "", `{"note":"x"}`},
	{"PATCH /orders/1", patchBody, "", `[{"op":"test","path":"/note","value":"y"}]`},
	{"PATCH /orders/1", mergeBody, "Prefer: return=minimal", "", `{"note":null}`},
	{"PATCH /orders/1", mergeBody, `If-Match: "other"`, "", `{"note":null}`},
	{"PUT /users/a%2Fb", jsonBody, "If-None-Match: *", "", `{"name":"n"}`},
	{"PUT /users/a%2Fb", jsonBody, "If-None-Match: *", "", `{"name":"n"}`},
	{"OPTIONS /orders/1"},
	{"GET /orders/"},
	{"POST /orders/1", jsonBody, "", `{}`},
	{"BREW /orders"},
	{"DELETE /orders/1"},
	{"DELETE /orders/1"},
	{"GET /orders/1"},
	{"HEAD /orders/1"},
	{"HEAD /nothing"},
	{"GET /users/" + strings.Repeat("a", 9000)},
	{"POST /orders", jsonBody, "", `{"note":"` + strings.Repeat("x", 5000) + `"}`},
}

// visit sends all exchanges and returns the responses, with values that differ in each run
// replaced.
func visit(p peer) []response {
	var seen []response
	names := map[string]string{}
	rev := regexp.MustCompile(`"[\w~-]+\.`) // the revision in a tag is random
	tag := ""
	for _, x := range exchanges {
		line, rest := x[0], make([]string, len(x)-1)
		for i, s := range x[1:] {
			rest[i] = strings.ReplaceAll(s, "{tag}", tag)
		}
		res := p(line, rest...)
		if v := res.header.Get("Etag"); v != "" {
			tag = v
			res.header.Set("Etag", rev.ReplaceAllStringFunc(v, func(r string) string {
				if names[r] == "" {
					names[r] = `"rev` + strconv.Itoa(len(names)) + "."
				}
				return names[r]
			}))
		}
		// These fields concern the connection.
		for _, name := range []string{"Date", "Connection", "Transfer-Encoding", "Keep-Alive"} {
			res.header.Del(name)
		}
		seen = append(seen, *res)
	}
	return seen
}

func TestRule153EveryHTTPIsEqual(t *testing.T) {
	t.Parallel()
	open := func() http.Handler { return api(t, func(s *setup) { s.catalog.Limits.Body = 4096 }) }
	h := open()
	direct := visit(func(line string, rest ...string) *response { return send(t, h, line, rest...) })
	tests := []struct {
		name string
		peer peer
	}{
		{"HTTP/1.1", dialHTTP(t, listen(t, open()), false)},
		{"HTTP/2", dialHTTP(t, listen(t, open()), true)},
		{"HTTP/1.0", dialHTTP10(t, listen(t, open()))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, got := range visit(tt.peer) {
				want := direct[i]
				// net/http adds the length if it knows it
				if _, known := want.header["Content-Length"]; !known {
					got.header.Del("Content-Length")
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(response{})); diff != "" {
					t.Errorf("%s (-in process +%s):\n%s", want.line, tt.name, diff)
				}
			}
		})
	}
}

func TestRule014Host(t *testing.T) {
	t.Parallel()
	srv := listen(t, api(t))
	tests := []struct {
		name   string
		line   string
		fields []string
		status int
	}{
		{"HTTP/1.1 without", "GET /places/ath HTTP/1.1", nil, http.StatusBadRequest},
		{"HTTP/1.1 with two", "GET /places/ath HTTP/1.1", []string{"Host: a", "Host: b"}, http.StatusBadRequest},
		{"HTTP/1.1 with an empty one", "GET /places/ath HTTP/1.1", []string{"Host:"}, http.StatusOK},
		{"HTTP/1.1", "GET /places/ath HTTP/1.1", []string{"Host: a"}, http.StatusOK},
		{"HTTP/1.0 without", "GET /places/ath HTTP/1.0", nil, http.StatusOK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, srv)
			c.write(tt.line, append(tt.fields, "")...)
			want(t, c.read(tt.line), tt.status)
		})
	}
}

// The host in the request target takes precedence over Host; no response contains either.
func TestRule015AbsoluteFormOnTheWire(t *testing.T) {
	t.Parallel()
	c := dial(t, listen(t, http.StripPrefix("/api", api(t))))
	line := "POST http://shop.example/api/orders HTTP/1.1"
	c.write(line, "Host: other.example", jsonBody, "Content-Length: 18", "", `{"customerId":"u"}`)
	want(t, c.read(line), http.StatusCreated, "Location: /api/orders/1")
	line = "GET http://shop.example/api/orders/ HTTP/1.1"
	c.write(line, "Host: other.example", "")
	want(t, c.read(line), http.StatusPermanentRedirect, "Location: /api/orders")
}

func TestRule004OptionsOfTheServer(t *testing.T) {
	t.Parallel()
	c := dial(t, listen(t, api(t)))
	c.write("OPTIONS * HTTP/1.1", "Host: a", "")
	want(t, c.read("OPTIONS *"), http.StatusOK, "Content-Length: 0")
	c.write("OPTIONS /orders HTTP/1.1", "Host: a", "")
	want(t, c.read("OPTIONS /orders"), http.StatusNoContent, "Allow: GET, HEAD, QUERY, POST, OPTIONS", "Content-Length:")
}

func TestRule022HugeHeaders(t *testing.T) {
	t.Parallel()
	c := dial(t, listen(t, api(t)))
	c.write("GET /places HTTP/1.1", "Host: a", "X-Long: "+strings.Repeat("a", 8000), "")
	want(t, c.read("GET /places"), http.StatusOK)
	srv := httptest.NewUnstartedServer(api(t))
	srv.Config.MaxHeaderBytes = 1 << 10
	c = dial(t, started(t, srv))
	c.write("GET /places HTTP/1.1", "Host: a", "X-Long: "+strings.Repeat("a", 8000), "")
	want(t, c.read("GET /places"), http.StatusRequestHeaderFieldsTooLarge)
}
