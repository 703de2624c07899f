package version_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/problem"
)

// Odd spellings, and requests that are made to be expensive.

func TestRule016OddHosts(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for host, contract := range map[string]string{
		"api-v1.market.example:": "1.1.0", "market.example.:": "2.0.0", "[::1]:": "2.0.0",
	} {
		ask(t, api, "GET /x", "Host: "+host).saw(t, contract)
	}
	for _, host := range []string{
		"user@market.example", "market.example:80:80", "::1", "[::1", "::1]", ".market.example",
		"[market.example]",
		"market.example,market.example", "api-v1..market.example", ":80", ".", "api-v1.", "market.example]",
	} {
		r := asked(t, "GET /x")
		r.Host = host
		if res := recorded(t, api, r); res.status != http.StatusMisdirectedRequest &&
			res.status != http.StatusNotFound {
			t.Errorf("%q: status %d, want 421 or 404: %s", host, res.status, res.body)
		}
	}
}

func TestRule013OddTargets(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for target, want := range map[string]seen{
		"/v1%2E0/x":                    {Contract: "1.0.0", Path: "/x"},
		"/v1/../v2/x":                  {Contract: "1.1.0", Path: "/../v2/x"},
		"/v1;a=b/x":                    {Contract: "2.0.0", Path: "/v1;a=b/x"},
		"/v1%20/x":                     {Contract: "2.0.0", Path: "/v1 /x"},
		"/v1%00/x":                     {Contract: "2.0.0", Path: "/v1\x00/x"},
		"/v1?version=1":                {Contract: "1.1.0", Path: "/"},
		"/v1/%FF":                      {Contract: "1.1.0", Path: "/\uFFFD"}, // as the echo's JSON has it
		"http://market.example":        {Contract: "2.0.0", Path: ""},
		"http://market.example/v1":     {Contract: "1.1.0", Path: "/"},
		"http://market.example?a=b":    {Contract: "2.0.0", Path: ""},
		"http://API-V1.market.example": {Contract: "1.1.0", Path: ""},
	} {
		if s := ask(t, api, "GET "+target).saw(t, want.Contract); s.Path != want.Path {
			t.Errorf("%s: path %q, want %q", target, s.Path, want.Path)
		}
	}
	r := asked(t, "OPTIONS /x")
	r.URL, r.RequestURI = &url.URL{Path: "*"}, "*"
	recorded(t, api, r).saw(t, "2.0.0")
	r = asked(t, "GET /x")
	r.URL, r.RequestURI = &url.URL{Path: "/v1/x"}, "" // made by hand, as tests and other handlers do
	if got := linkTo(recorded(t, api, r), "successor-version"); got != "/v2/x" {
		t.Errorf("the successor of a request made by hand is %q", got)
	}
}

// A header with many repetitions is read in linear time and memory. The test is not parallel,
// because it counts allocations.
func TestRepetitionsAreCheap(t *testing.T) {
	api, _ := openMarket(t, answering(func(http.ResponseWriter, *http.Request) {}))
	const n = 5000
	tests := []struct {
		name    string
		request []string
	}{
		{"query", []string{"GET /x?a=b&" + strings.Repeat("version=1&", n)}},
		{"query, mixed", []string{"GET /x?" + strings.Repeat("a=b&version=1&", n)}},
		{"query, escaped", []string{"GET /x?" + strings.Repeat("a&version=%31&", n)}},
		{"header", []string{"GET /x", "API-Version: " + strings.Repeat("1,", n)}},
		{"accept", []string{"GET /x", "Accept: " + strings.Repeat(vnd("1.order")+",", n)}},
		{"accept, not served", []string{"GET /x", "Accept: " + strings.Repeat(vnd("7.order")+",", n) +
			vnd("1.order")}},
		{"path", []string{"GET /v1" + strings.Repeat("/v1", n)}},
		{"body", []string{"POST /x", asJSON, "",
			`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"version":"1"}`}},
	}
	for _, tt := range tests {
		r, length := asked(t, tt.request[0], tt.request[1:]...), len(strings.Join(tt.request, ""))
		w := httptest.NewRecorder()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		api.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		if cost := int(after.TotalAlloc - before.TotalAlloc); cost > 10*length+200_000 {
			t.Errorf("%s: %d octets of memory for a request of %d", tt.name, cost, length)
		}
		answered(tt.name, w.Result()).has(t, http.StatusOK, "API-Version: 1.1.0")
	}
}

// A refusal repeats what the client wrote, but not without end.
func TestRefusalsAreShort(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	long := strings.Repeat("9", 50_000)
	for _, rest := range [][]string{
		{"GET /x?version=" + long}, {"GET /x", "API-Version: " + long}, {"GET /v" + long},
		{"GET /x", "Accept: " + vnd(long+".order")}, {"GET /x", "Host: api-v" + long + ".market.example"},
		{"POST /x", asJSON, "", `{"version":"` + long + `"}`},
		{"POST /x", "Content-Type: " + vnd(long+".order"), "", `{}`},
		{"GET /x", "API-Version: " + strings.Repeat("1,2,", 10_000)},
		{"POST /x", asJSON, "", `{"version":[` + long + `]}`},
	} {
		res := ask(t, api, rest[0], rest[1:]...)
		if res.status < 400 || len(res.body) > 2000 || len(fmt.Sprint(res.header)) > 2000 {
			t.Errorf("%.40q: status %d, %d octets, header %.2000v", rest, res.status, len(res.body),
				res.header)
		}
	}
}

// Whatever handlers put into Vary is merged, and not all of it is remembered for ever.
func TestRule036ManyVaries(t *testing.T) {
	t.Parallel()
	next := 0
	api, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Vary", "X-"+strconv.Itoa(next))
	}))
	for next = range 3000 {
		ask(t, api, "GET /x").varies(t, "X-"+strconv.Itoa(next), "Accept", "API-Version")
	}
}

// The default is asked for once, since it may cost a look into a database.
func TestDefaultForIsAskedOnce(t *testing.T) {
	t.Parallel()
	calls := 0
	api, _ := openMarket(t, func(m *market) {
		m.options.DefaultFor = func(*http.Request) string { calls++; return "1.0.0" }
	})
	tests := []struct {
		line, accept, contract string
		calls                  int
	}{
		{"GET /x", "*/*", "1.0.0", 1},
		{"GET /x", vnd("order"), "1.0.0", 1},
		{"GET /x", vnd("1.0.order", "2.order"), "1.0.0", 1},
		{"GET /x", vnd("1.order", "2.order"), "2.0.0", 1}, // it is none of the two
		{"GET /x", vnd("1.order"), "1.1.0", 0},
		{"GET /v1/x", vnd("1.order", "2.order"), "1.1.0", 0},
	}
	for _, tt := range tests {
		calls = 0
		ask(t, api, tt.line, "Accept: "+tt.accept).saw(t, tt.contract)
		if calls != tt.calls {
			t.Errorf("%s with Accept: %s: it was asked %d times, want %d", tt.line, tt.accept, calls,
				tt.calls)
		}
	}
}

// A request that is rejected by its header is rejected before 100 Continue.
func TestRule028RefusedWithoutContent(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	srv := listenTo(t, api)
	const json = "application/json"
	tests := []struct {
		target, typ, field string
		status             int
		kind               problem.Kind
	}{
		{"/v7/x", json, "X: y", http.StatusNotFound, problem.UnsupportedVersion},
		{"/x", json, "API-Version: 7", http.StatusBadRequest, problem.UnsupportedVersion},
		{"/x", json, "API-Version: x", http.StatusBadRequest, problem.MalformedVersion},
		{"/v1/x", json, "API-Version: 2", http.StatusBadRequest, problem.AmbiguousVersion},
		{"/x", json, "API-Version: 0.9", http.StatusGone, problem.VersionRetired},
		{"/x", vnd("7.order"), "X: y", http.StatusUnsupportedMediaType, problem.UnsupportedVersion},
		{"/x", json, "Accept: " + vnd("7.order"), http.StatusNotAcceptable, problem.UnsupportedVersion},
		{"/x", json, "Accept: " + vnd("0.9.order"), http.StatusGone, problem.VersionRetired},
	}
	for _, tt := range tests {
		t.Run(tt.target+" "+tt.typ+" "+tt.field, func(t *testing.T) {
			t.Parallel()
			c := dialTo(t, srv)
			c.send("POST "+tt.target+" HTTP/1.1", "Host: 127.0.0.1", "Content-Type: "+tt.typ, tt.field,
				"Expect: 100-continue", "Content-Length: 15", "", "")
			c.receive("POST "+tt.target).refused(t, tt.status, tt.kind)
		})
	}
}
