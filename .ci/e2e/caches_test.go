package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/server"
)

func TestMeasureCache(t *testing.T) {
	t.Parallel()
	shop := newCachedShop()
	to, err := url.Parse(serveHandler(t, shop))
	if err != nil {
		t.Fatal(err)
	}
	const n = 20
	got, err := measureCache(t.Context(), cachePair{"ours", cached(t, shop), cached(t, server.StripVary(to))}, n)
	if err != nil {
		t.Fatal(err)
	}
	m := got.subject
	if m.requests != n*len(variants) || m.hits != n*5 || m.wrongBodies != 0 || m.wrongHeaders != 0 {
		t.Errorf("measured = %+v, want %d requests, %d hits, nothing wrong", m, n*len(variants), n*5)
	}
	// No version is that of more than three of the eight variants.
	if least := n * 5; got.control.wrongBodies < least {
		t.Errorf("control: %d wrong bodies, want at least %d", got.control.wrongBodies, least)
	}
	want := []staleness{{"PATCH", 5, 5}, {"PUT", 5, 5}}
	if !reflect.DeepEqual(want, got.stale) {
		t.Errorf("stale = %v, want %v", got.stale, want)
	}
	var r trial
	if got.check(&r); r.failure() != nil {
		t.Error(r.failure())
	}
}

func TestFailedRequestEndsTheRun(t *testing.T) {
	t.Parallel()
	base := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	_, err := newCacheClient().requestAll(t.Context(), base, 1)
	if err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("err = %v, want one that names 502", err)
	}
}

func TestCheckBody(t *testing.T) {
	t.Parallel()
	const first, second = `{"id": 1, "itemId": 7, "qty": 2}`, `{"id": 1, "lines": [{"itemId": 7, "qty": 2}]}`
	tests := []struct {
		name    string
		variant variant
		path    string
		status  int
		body    string
		ok      bool
	}{
		{"first", variants[0], "/orders/1", 200, first, true},
		{"first, asked second", variants[1], "/orders/1", 200, first, false},
		{"second", variants[1], "/orders/1", 200, second, true},
		{"second, asked first", variants[2], "/orders/1", 200, second, false},
		{"both at once", variants[0], "/orders/1", 200, `{"id": 1, "itemId": 7, "lines": []}`, false},
		{"neither", variants[1], "/orders/1", 200, `{"id": 1}`, false},
		{"another order", variants[0], "/orders/2", 200, first, false},
		{"no JSON", variants[0], "/orders/1", 200, `<p>`, false},
		{"list", variants[1], "/orders", 200, `{"items": [` + second + `]}`, true},
		{"list of the other", variants[1], "/orders", 200, `{"items": [` + second + `,` + first + `]}`, false},
		{"empty list", variants[1], "/orders", 200, `{"items": []}`, false},
		{"list for an order", variants[1], "/orders/1", 200, `{"items": [` + second + `]}`, false},
		{"order for a list", variants[1], "/orders", 200, second, false},
		{"refusal", variants[5], "/orders/1", 400, `{"status": 400}`, true},
		{"refusal for an order", variants[1], "/orders/1", 400, `{"status": 400}`, false},
		{"order for a refusal", variants[5], "/orders/1", 200, second, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := cacheRequest{tt.variant, tt.path}
			if err := q.checkBody(tt.status, []byte(tt.body)); (err == nil) != tt.ok {
				t.Errorf("%s asks for %s and gets %d %s: %v", tt.variant.name, tt.path, tt.status, tt.body, err)
			}
		})
	}
}

func TestCheckHeader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		head http.Header
		ok   bool
	}{
		{"right", http.Header{"Api-Version": {"1.1.0"}, "Content-Type": {"application/json"}}, true},
		{"another contract", http.Header{"Api-Version": {"2.0.0"}, "Content-Type": {"application/json"}}, false},
		{"two contracts", http.Header{"Api-Version": {"1.1.0", "2.0.0"}, "Content-Type": {"application/json"}}, false},
		{"no contract", http.Header{"Content-Type": {"application/json"}}, false},
		{"another type", http.Header{"Api-Version": {"1.1.0"}, "Content-Type": {"text/html"}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := (cacheRequest{variant: variants[0]}).checkHeader(tt.head); (err == nil) != tt.ok {
				t.Errorf("checkHeader(%v) = %v", tt.head, err)
			}
		})
	}
}

func TestIsHit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, field, value string
		want               bool
	}{
		{"nginx hit", "X-Cache-Status", "HIT", true},
		{"nginx miss", "X-Cache-Status", "MISS", false},
		{"nginx renewed", "X-Cache-Status", "EXPIRED", false},
		{"varnish hit", "X-Varnish", "32770 3", true},
		{"varnish miss", "X-Varnish", "32770", false},
		{"squid hit", "X-Cache", "HIT from localhost", true},
		{"squid miss", "X-Cache", "MISS from localhost", false},
		{"no cache", "Date", "today", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			h.Set(tt.field, tt.value)
			if got := isHit(h); got != tt.want {
				t.Errorf("isHit(%v) = %t, want %t", h, got, tt.want)
			}
		})
	}
}

func TestCachePlan(t *testing.T) {
	t.Parallel()
	const n = 8
	asked := map[string]int{}
	requests := cachePlan(n)
	for i, q := range requests {
		asked[q.variant.name+" "+q.path]++
		if i > 0 && requests[i-1].variant == q.variant {
			t.Errorf("request %d is of the same variant as the one before", i)
		}
	}
	for _, v := range variants {
		for _, p := range cachedPaths {
			if got, want := asked[v.name+" "+p], n/len(cachedPaths); got != want {
				t.Errorf("%s asks for %s %d times, want %d", v.name, p, got, want)
			}
		}
	}
}

func TestStripVaryChangesNothingElse(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		w.Header().Set("Cache-Control", "public, max-age=60")
		w.Header().Set("X-Asked", r.Method+" "+r.Host+r.URL.RequestURI()+" "+r.Header.Get(apiVersion))
		w.WriteHeader(http.StatusTeapot)
		w.Write([]byte("short and stout"))
	}
	to, err := url.Parse(serveHandler(t, http.HandlerFunc(answer)))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(h http.Handler) *http.Response {
		req := httptest.NewRequest(http.MethodPatch, "http://127.0.0.1:1/orders?a=b", nil)
		req.Header.Set(apiVersion, "1")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		return rec.Result()
	}
	want, got := ask(http.HandlerFunc(answer)), ask(server.StripVary(to))
	if got.StatusCode != want.StatusCode || got.Header.Get("Vary") != "" {
		t.Errorf("status %d, Vary %q; want %d and none", got.StatusCode, got.Header.Get("Vary"), want.StatusCode)
	}
	for _, field := range []string{"Cache-Control", "X-Asked"} {
		if got, want := got.Header.Get(field), want.Header.Get(field); got != want {
			t.Errorf("%s = %q, want %q", field, got, want)
		}
	}
}

func TestCacheResult(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		subject, control tally
		want             string // "" for nil
	}{
		{"good", tally{hits: 1}, tally{wrongBodies: 1}, ""},
		{"a wrong body", tally{hits: 1, wrongBodies: 1}, tally{wrongBodies: 1}, "c returned wrong responses"},
		{"a wrong header", tally{hits: 1, wrongHeaders: 1}, tally{wrongBodies: 1}, "c returned wrong responses"},
		{"no hits", tally{}, tally{wrongBodies: 1}, "c never answered from its store"},
		{"the control is right", tally{hits: 1}, tally{wrongHeaders: 1}, "c: without Vary no body was wrong"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := &trial{}
			m := cacheMeasures{cache: "c", subject: tt.subject, control: tt.control, stale: []staleness{{"PUT", 4, 5}}}
			m.check(r)
			if err := r.failure(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("result = %v, want %q", err, tt.want)
			}
			if text := fmt.Sprint(m.row()...); !strings.Contains(text, "c, stale after PUT: 4 of 5") {
				t.Errorf("row = %s", text)
			}
		})
	}
}

func TestFreePorts(t *testing.T) {
	t.Parallel()
	addresses, err := freePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, address := range addresses {
		seen[address] = true
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Errorf("%s is not free: %v", address, err)
			continue
		}
		defer l.Close()
	}
	if len(seen) != 3 {
		t.Errorf("ports = %q, want three", addresses)
	}
}
