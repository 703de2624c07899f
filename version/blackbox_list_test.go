package version_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version"
)

// listed is one contract in the list.
type listEntry struct {
	Name       string   `json:"name"`
	Status     string   `json:"status"`
	Default    bool     `json:"default"`
	Names      []string `json:"names"`
	Deprecated string   `json:"deprecated"`
	Sunset     string   `json:"sunset"`
	Successor  string   `json:"successor"`
	OpenAPI    string   `json:"openapi"`
	URL        string   `json:"url"`
}

func readList(t *testing.T, res *answer) []listEntry {
	t.Helper()
	var doc struct {
		Versions []listEntry `json:"versions"`
	}
	if err := json.Unmarshal([]byte(res.body), &doc); err != nil {
		t.Fatalf("%v: %s", err, res.body)
	}
	return doc.Versions
}

func TestRule041List(t *testing.T) {
	t.Parallel()
	api, clock := openMarket(t)
	list := api.List()
	res := ask(t, list, "GET /versions")
	res.has(t, http.StatusOK, "Content-Type: application/json", "X-Content-Type-Options: nosniff", "ETag: *",
		"Cache-Control: no-cache", "Content-Length: "+strconv.Itoa(len(res.body)))
	const june, sunset = "2026-06-01T00:00:00Z", "2027-06-30T23:59:59Z"
	want := []listEntry{
		{Name: "3.0.0", Status: "preview", Names: []string{"3.0.0"}},
		{Name: "2.0.0", Status: "current", Default: true, Names: []string{"2", "2.0", "2.0.0"},
			OpenAPI: "/openapi/2.0.0.json"},
		{Name: "1.1.0", Status: "deprecated", Names: []string{"1", "1.1", "1.1.0"}, Deprecated: june,
			Sunset:    sunset,
			Successor: "2.0.0", OpenAPI: "/openapi/1.1.0.json"},
		{Name: "1.0.0", Status: "deprecated", Names: []string{"1.0", "1.0.0"}, Deprecated: june,
			Sunset:    sunset,
			Successor: "2.0.0"},
		{Name: "0.9.0", Status: "retired", Deprecated: "2025-07-31T00:00:00Z", Sunset: "2026-01-31T00:00:00Z",
			Successor: "2.0.0"},
	}
	got := readList(t, res)
	for i := range got {
		if len(got[i].Names) == 0 { // absent or empty
			got[i].Names = nil
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	tag := res.header.Get("ETag")
	if again := ask(t, list, "GET /versions"); again.body != res.body || again.header.Get("ETag") != tag {
		t.Errorf("a second time it is %s %s", again.header.Get("ETag"), again.body)
	}
	known := ask(t, list, "GET /versions", "If-None-Match: W/\"x\", "+tag)
	known.has(t, http.StatusNotModified, "ETag: "+tag, "Cache-Control: no-cache")
	if known.body != "" {
		t.Errorf("304 with a body: %s", known.body)
	}
	clock.set(nextJune)
	later := ask(t, list, "GET /versions", "If-None-Match: "+tag)
	later.has(t, http.StatusOK)
	if got := readList(t, later); got[2].Status != "retired" || len(got[2].Names) != 0 {
		t.Errorf("after the sunset the list has %+v", got[2])
	}
	if later.header.Get("ETag") == tag {
		t.Error("another list has the same tag")
	}
}

// The list is of no contract: it accepts any version and none, and names none (rule 40).
func TestRule040ListIsNeutral(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	list := api.List()
	plain := ask(t, list, "GET /versions")
	for _, rest := range [][]string{
		{"GET /versions"}, {"GET /versions", "API-Version: 7"}, {"GET /versions?version=x"},
		{"GET /versions", "API-Version: 0.9"}, {"GET /versions", "Accept: " + vnd("1.order")},
		{"GET /v7/versions"},
		{"GET /versions", "Host: elsewhere.example"},
	} {
		res := ask(t, list, rest[0], rest[1:]...)
		res.has(t, http.StatusOK, "Vary:", "API-Version:", "Deprecation:", "Sunset:")
		if res.body != plain.body {
			t.Errorf("%q: %s", rest, res.body)
		}
	}
	head := ask(t, list, "HEAD /versions")
	head.has(t, http.StatusOK, "Content-Length: "+strconv.Itoa(len(plain.body)),
		"ETag: "+plain.header.Get("ETag"))
	if head.body != "" {
		t.Errorf("HEAD with a body: %s", head.body)
	}
	ask(t, list, "OPTIONS /versions").has(t, http.StatusNoContent, "Allow: *")
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		res := ask(t, list, method+" /versions")
		res.has(t, http.StatusMethodNotAllowed, "Allow: *", "Content-Type: application/problem+json",
			"Cache-Control: no-store")
	}
	for _, method := range []string{"BREW", "get"} {
		ask(t, list, method+" /versions").has(t, http.StatusNotImplemented,
			"Content-Type: application/problem+json")
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	api, clock := openMarket(t, func(m *market) {
		m.options.Principal = func(r *http.Request) string { return r.Header.Get("X-Who") }
	})
	if got := api.Usage(); len(got) != 5 || got[0].Contract != "3.0.0" || got[1].Requests != 0 ||
		!got[1].Last.IsZero() {
		t.Errorf("at the start: %+v", got)
	}
	for _, rest := range [][]string{
		{"GET /v1/x", "X-Who: ann"}, {"GET /v1/x", "X-Who: bob"}, {"GET /x?version=1.1", "X-Who: ann"},
		{"GET /v1/x"},
		{"GET /x", "X-Who: ann"}, {"HEAD /x", "API-Version: 2"},
		{"GET /v0/x", "X-Who: cat"}, {"GET /x", "API-Version: 0.9"},
		// of no contract
		{"GET /v7/x"}, {"GET /x?version=x"}, {"GET /v1/x?version=2"}, {"GET /x", "Host: elsewhere.example"},
	} {
		clock.set(clock.Now().Add(time.Minute))
		ask(t, api, rest[0], rest[1:]...)
	}
	path, query := (version.Path{}).Source(), (version.Query{}).Source()
	header := (version.Header{Name: "API-Version"}).Source()
	want := []version.Usage{
		{Contract: "3.0.0"},
		{Contract: "2.0.0", Requests: 2, Last: today.Add(6 * time.Minute),
			Sources:    map[string]int64{"": 1, header: 1},
			Principals: map[string]int64{"ann": 1, "": 1}},
		{Contract: "1.1.0", Requests: 4, Last: today.Add(4 * time.Minute),
			Sources:    map[string]int64{path: 3, query: 1},
			Principals: map[string]int64{"ann": 2, "bob": 1, "": 1}},
		{Contract: "1.0.0"},
		{Contract: "0.9.0", Requests: 2, Last: today.Add(8 * time.Minute),
			Sources:    map[string]int64{path: 1, header: 1},
			Principals: map[string]int64{"cat": 1, "": 1}},
	}
	got := api.Usage()
	for i := range got { // absent or empty, and zero or absent
		dropZeros(got[i].Sources)
		dropZeros(got[i].Principals)
		if len(got[i].Sources) == 0 {
			got[i].Sources = nil
		}
		if len(got[i].Principals) == 0 {
			got[i].Principals = nil
		}
		got[i].Last = got[i].Last.UTC()
		if got[i].Last.Unix() <= 0 {
			got[i].Last = time.Time{}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if len(got[2].Principals) > 0 {
		got[2].Principals["ann"] = 1000
		if again := api.Usage(); again[2].Principals["ann"] == 1000 {
			t.Error("the report is the account itself")
		}
	}
}

func dropZeros(m map[string]int64) {
	for k, v := range m {
		if v == 0 {
			delete(m, k)
		}
	}
}

// Callers beyond the ones that are remembered are counted, under no name.
func TestUsageIsBounded(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, only(version.Header{Name: "API-Version"}), func(m *market) {
		m.options.Principal = func(r *http.Request) string { return r.Header.Get("X-Who") }
	}, answering(func(http.ResponseWriter, *http.Request) {}))
	const callers = 12_000
	r := asked(t, "GET /x")
	for i := range callers {
		r.Header.Set("X-Who", fmt.Sprint(i))
		recorded(t, api, r)
	}
	u := api.Usage()[1]
	var sum int64
	for _, n := range u.Principals {
		sum += n
	}
	if u.Requests != callers || sum != callers {
		t.Errorf("%d requests, %d by principal, want %d", u.Requests, sum, callers)
	}
	if len(u.Principals) > 10_001 || u.Principals[""] == 0 {
		t.Errorf("%d principals are remembered, and %d are none of them", len(u.Principals), u.Principals[""])
	}
}
