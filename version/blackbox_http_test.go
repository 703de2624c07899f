package version_test

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version"
)

// visits touch everything that a version of HTTP could change.
var visits = [][]string{
	{"GET /v1/orders?limit=5"}, {"HEAD /v1/orders"}, {"GET /orders"}, {"GET /orders?version=1&a=b"},
	{"GET /orders", "Host: api-v1.market.example"}, {"GET /orders", "Host: API-V1-0.market.example.:99"},
	{"GET /orders", "API-Version: 1", "API-Version: 1.1"}, {"GET /orders", "API-Version: 1, 2"},
	{"GET /orders", "Accept: " + vnd("1.order"), "Accept: text/html;q=0.1"},
	{"GET /orders", "Accept: " + vnd("7.order")},
	{"GET /v7/orders"}, {"GET /v0/orders"}, {"HEAD /v0/orders"}, {"GET /v01/orders"}, {"GET /v1/a%2Fb/%41"},
	{"GET /orders?version=x"}, {"GET /v1/orders?version=2"}, {"GET /orders", "Host: elsewhere.example"},
	{"POST /orders", asJSON, "", `{"version":"1","a":1}`}, {"PUT /orders/1", asJSON, "", `{"a":1}`},
	{"POST /orders", "Content-Type: " + vnd("1.order"), "", `{}`},
	{"POST /orders", "Content-Type: " + vnd("7.order"), "", `{}`},
	{"PATCH /v1/orders/1", asMerge, "", `{"version":"7"}`}, {"DELETE /v1/orders/1"}, {"OPTIONS /v1/orders"},
	{"BREW /v1/orders"}, {"POST /v1/orders", asJSON, "", `{"version":"2"}`},
}

// TestRule153EveryHTTPAlike makes the same requests without a wire, in HTTP/1.1, HTTP/2 and HTTP/1.0.
func TestRule153EveryHTTPAlike(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	srv := listenTo(t, api)
	ways := map[string]func(line string, rest ...string) *answer{
		"HTTP/1.1": func(line string, rest ...string) *answer {
			return askOver(t, srv, false, line, rest...)
		},
		"HTTP/2": func(line string, rest ...string) *answer { return askOver(t, srv, true, line, rest...) },
		"HTTP/1.0": func(line string, rest ...string) *answer {
			return askIn10(t, dialTo(t, srv), line, rest...)
		},
	}
	for _, visit := range visits {
		want := comparable153(ask(t, api, visit[0], visit[1:]...))
		for name, way := range ways {
			if diff := cmp.Diff(want, comparable153(way(visit[0], visit[1:]...))); diff != "" {
				t.Errorf("%q in %s (-without a wire +%s):\n%s", visit, name, name, diff)
			}
		}
	}
}

// askIn10 is ask in HTTP/1.0, but with a Host: without one most of these requests would be others.
func askIn10(t *testing.T, c *wire, line string, rest ...string) *answer {
	t.Helper()
	lines, content := []string{line + " HTTP/1.0"}, ""
	if !slices.ContainsFunc(rest, func(s string) bool { return strings.HasPrefix(s, "Host:") }) {
		lines = append(lines, "Host: market.example")
	}
	for i, s := range rest {
		if s == "" {
			content = strings.Join(rest[i+1:], "")
			lines = append(lines, "Content-Length: "+strconv.Itoa(len(content)))
			break
		}
		lines = append(lines, s)
	}
	c.send(append(lines, "", content)...)
	return c.receive(line)
}

// comparable153 is an answer without what the connection adds.
func comparable153(a *answer) map[string]string {
	got := map[string]string{"status": strconv.Itoa(a.status), "body": a.body}
	for name := range maps.Keys(a.header) {
		if name != "Date" && name != "Connection" && name != "Content-Length" && name != "Transfer-Encoding" {
			got[name] = strings.Join(a.header[name], ", ")
		}
	}
	return got
}

// Many concurrent requests of every kind, while the clock moves past a sunset and back.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	api, clock := openMarket(t, func(m *market) {
		m.options.Principal = func(r *http.Request) string { return r.Header.Get("X-Who") }
		m.options.DefaultFor = func(r *http.Request) string { return r.Header.Get("X-Account") }
	})
	// None of these depends on the clock but the last.
	requests := []struct {
		rest     []string
		contract string
	}{
		{[]string{"GET /v2/orders"}, "2.0.0"}, {[]string{"GET /orders", "API-Version: 3.0.0"}, "3.0.0"},
		{[]string{"GET /orders?version=2"}, "2.0.0"},
		{[]string{"GET /orders", "Accept: " + vnd("3.0.0.order")}, "3.0.0"},
		{[]string{"POST /orders", asJSON, "", `{"version":"2","a":1}`}, "2.0.0"},
		{[]string{"GET /orders"}, "2.0.0"},
		{[]string{"GET /orders", "Host: api-v2.market.example", "X-Who: ann"}, "2.0.0"},
		{[]string{"GET /orders", "X-Account: 3.0.0", "X-Who: bob"}, "3.0.0"},
		{[]string{"GET /v1/orders", "X-Who: cat"}, ""},
	}
	const clients, rounds = 8, 20
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for j := range rounds {
				for k := range requests {
					tt := requests[(i+k)%len(requests)]
					res := ask(t, api, tt.rest[0], tt.rest[1:]...)
					if tt.contract != "" {
						res.saw(t, tt.contract)
					} else if res.status != http.StatusOK && res.status != http.StatusGone {
						t.Errorf("%q: status %d", tt.rest, res.status)
					}
					res.varies(t, "Accept", "API-Version")
				}
				_, _, _ = api.Usage(), api.Names("1.1.0"), api.Status("1.1.0")
				ask(t, api.List(), "GET /versions").has(t, http.StatusOK)
				clock.set(nextJune.Add(time.Duration(j%3-1) * time.Second))
			}
		})
	}
	wg.Wait()
	var sum int64
	for _, u := range api.Usage() {
		sum += u.Requests
	}
	if want := int64(clients * rounds * len(requests)); sum != want {
		t.Errorf("%d requests were counted, want %d", sum, want)
	}
}

// A clock that is not asked cannot be wrong: what has no dates does not depend on it.
func TestClocksThatAreNil(t *testing.T) {
	t.Parallel()
	api := version.New([]version.Contract{
		{Name: "1.0.0", Handler: seenBy("1.0.0"), Deprecated: sinceJune, Sunset: time.Now().Add(time.Hour)},
		{Name: "0.1.0", Sunset: time.Now().Add(-time.Hour)},
	}, []version.Strategy{version.Path{}}, nil)
	ask(t, api, "GET /v1/x").saw(t, "1.0.0")
	ask(t, api, "GET /v0/x").has(t, http.StatusGone)
}
