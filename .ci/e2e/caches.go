package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// The scenario caches puts nginx, Varnish and Squid, as Debian configures them, in front of a shop whose responses may be stored for a
// minute. Clients request the same URLs in all versions of the API, by header and by Accept, in turns and over several connections. Each
// response has to be of the version that was requested.
//
// The control puts the same caches in front of a proxy that removes Vary: there they have to return wrong bodies. Responses after a
// write through the cache are counted and not judged: RFC 9111 section 4.4 wants a cache to invalidate them, and most do not.

// cacheConnections is the number of concurrent requests, so that a cache is filled and read at the same time.
const cacheConnections = 8

// cachePair is a cache that runs twice: in front of the shop, and in front of the shop without Vary.
type cachePair struct{ name, shop, control string }

func sharedCaches(ctx context.Context, e *env) error {
	err := install(ctx, []string{"nginx", "varnishd", "squid"}, "nginx-light", "varnish", "squid")
	if err != nil {
		return err
	}
	t := &trial{title: "shared caches in front of the shop, and without Vary as the control", nodes: 1,
		// At a time at which all versions are served, so that the scenario does not fail when one is retired.
		command: []string{shop, "-now", "2026-12-01T00:00:00Z", "-cache", "public, max-age=60"}}
	t.do = t.measureCaches
	return e.try(ctx, t)
}

// measureCaches starts each cache twice, and requests through both.
func (t *trial) measureCaches(ctx context.Context) error {
	proxy, err := t.startNodes(ctx, 1, nil, "strip-vary", "-to", t.URL(0))
	if err != nil {
		return err
	}
	ports, err := freePorts(6)
	if err != nil {
		return err
	}
	var rows [][]any
	for i, cache := range cachePrograms {
		pair := cachePair{cache.name, "http://" + ports[2*i], "http://" + ports[2*i+1]}
		for j, origin := range []string{t.URL(0), proxy.URL(0)} {
			if err := t.startFront(cache, ports[2*i+j], origin); err != nil {
				return err
			}
		}
		m, err := measureCache(ctx, pair, size(t.env, 1000, 10_000))
		if err != nil {
			return fmt.Errorf("%s: %w", cache.name, err)
		}
		rows = append(rows, m.row())
		m.check(t)
	}
	t.table("requests\thits\twrong bodies\twrong headers\tcontrol: hits\twrong bodies\t", rows...)
	return nil
}

var cachePrograms = []front{
	{"nginx", nginxConfig, []string{"nginx", "-e", "stderr", "-p", "DIR", "-c", "FILE"}},
	{"varnish", "", []string{"varnishd", "-F", "-j", "none", "-n", "DIR", "-a", "ADDRESS", "-b", "127.0.0.1:PORT", "-T", "none",
		"-s", "malloc,16m"}},
	{"squid", squidConfig, []string{"squid", "-N", "-d", "1", "-f", "FILE"}},
}

const nginxConfig = "user USER;\n" + nginxBegin + `	proxy_cache_path DIR/store keys_zone=shop:1m;
	server {
		listen ADDRESS;
		location / {
			proxy_pass http://127.0.0.1:PORT;
			proxy_set_header Host $http_host;
			proxy_cache shop;
			add_header X-Cache-Status $upstream_cache_status always;
		}
	}
}
`

const squidConfig = `http_port ADDRESS accel defaultsite=127.0.0.1:PORT
cache_peer 127.0.0.1 parent PORT 0 no-query no-digest no-netdb-exchange originserver
http_access allow all
cache_effective_user USER
visible_hostname localhost
cache_mem 16 MB
access_log none
cache_log DIR/cache.log
pid_filename none
coredump_dir DIR
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
max_filedescriptors 1024
`

// cacheMeasures is what was measured of one cache.
type cacheMeasures struct {
	cache            string
	subject, control tally
	stale            []staleness
}

// measureCache requests through a cache in front of the shop, then without Vary, and writes at the end.
func measureCache(ctx context.Context, pair cachePair, n int) (cacheMeasures, error) {
	m := cacheMeasures{cache: pair.name}
	c := newCacheClient()
	defer c.HTTP.CloseIdleConnections()
	var err error
	if m.subject, err = c.requestAll(ctx, pair.shop, n); err != nil {
		return m, err
	}
	if m.control, err = c.requestAll(ctx, pair.control, n); err != nil {
		return m, fmt.Errorf("control: %w", err)
	}
	for _, w := range cacheWrites {
		stale, err := c.writeThrough(ctx, pair, w)
		if err != nil {
			return m, fmt.Errorf("%s: %w", w.method, err)
		}
		m.stale = append(m.stale, stale)
	}
	return m, nil
}

func (m cacheMeasures) row() []any {
	text := m.cache
	for _, s := range m.stale {
		text += fmt.Sprintf(", stale after %s: %d of %d", s.method, s.stale, s.requests)
	}
	return []any{m.subject.requests, m.subject.hits, m.subject.wrongBodies, m.subject.wrongHeaders, m.control.hits,
		m.control.wrongBodies, text}
}

// check adds what is wrong to a trial. A control without a wrong body shows that Vary makes no difference.
func (m cacheMeasures) check(t *trial) {
	for _, example := range m.subject.examples {
		t.Add(history.Changed, 1, "%s: %s", m.cache, example)
	}
	t.failIf(m.subject.wrongBodies > 0 || m.subject.wrongHeaders > 0, "%s returned wrong responses", m.cache)
	t.failIf(m.subject.hits == 0, "%s never answered from its store", m.cache)
	t.failIf(m.control.wrongBodies == 0, "%s: without Vary no body was wrong, so this check cannot fail", m.cache)
}

// cacheClient sends requests through a cache. The shop answers for the host 127.0.0.1 only.
type cacheClient struct{ *client.Client }

func newCacheClient() cacheClient { return cacheClient{client.New(cacheConnections)} }

// get returns an error for a status of 500 and above, which cannot be judged.
func (c cacheClient) get(ctx context.Context, url string, v variant) (client.Answer, error) {
	return c.send(ctx, http.MethodGet, url, "", v)
}

func (c cacheClient) send(ctx context.Context, method, url, body string, v variant, header ...string) (client.Answer, error) {
	header = append(header, "Host: 127.0.0.1")
	if v.header != "" {
		header = append(header, v.header+": "+v.value)
	}
	a := c.Send(ctx, method, url, body, header...)
	if a.Err != nil || a.Status >= 500 {
		return a, a.Unexpected(method + " " + url)
	}
	return a, nil
}

// tally is the result of many requests.
type tally struct {
	requests, hits, wrongBodies, wrongHeaders int
	examples                                  []string // of wrong responses
}

// requestAll waits until the cache serves, warms it, and sends n requests of each variant. A wrong response while it is warmed
// counts, too.
func (c cacheClient) requestAll(ctx context.Context, base string, n int) (tally, error) {
	var a client.Answer
	err := client.Await(ctx, base, 50*time.Millisecond, func() bool {
		a = c.Send(ctx, http.MethodGet, base+"/health", "", "Host: 127.0.0.1")
		return a.OK()
	})
	if err != nil {
		return tally{}, errors.Join(a.Unexpected("GET /health"), err)
	}
	warm, err := c.requestEach(ctx, base, cachePlan(len(cachedPaths)))
	if err != nil {
		return tally{}, err
	}
	t, err := c.requestEach(ctx, base, cachePlan(n))
	t.wrongBodies += warm.wrongBodies
	t.wrongHeaders += warm.wrongHeaders
	t.examples = append(warm.examples, t.examples...)
	return t, err
}

// requestEach sends all requests in their order, over all connections.
func (c cacheClient) requestEach(ctx context.Context, base string, requests []cacheRequest) (tally, error) {
	var t tally
	var mu sync.Mutex
	err := share(ctx, cacheConnections, slices.Values(requests), func(_ int, q cacheRequest) error {
		a, err := c.get(ctx, base+q.path, q.variant)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		t.add(q, a)
		return nil
	})
	return t, err
}

func (t *tally) add(q cacheRequest, a client.Answer) {
	t.requests++
	if isHit(a.Header) {
		t.hits++
	}
	bodyErr, headerErr := q.checkBody(a.Status, a.Body), q.checkHeader(a.Header)
	if bodyErr != nil {
		t.wrongBodies++
	}
	if headerErr != nil {
		t.wrongHeaders++
	}
	if (bodyErr != nil || headerErr != nil) && len(t.examples) < 3 {
		t.examples = append(t.examples, fmt.Sprintf("%s %s: body: %v; header: %v\n  %v\n  %.300s",
			q.variant.name, q.path, bodyErr, headerErr, a.Header, a.Body))
	}
}

// isHit reports whether a response is from a store. nginx has a field that its configuration adds, Squid one of its own, and Varnish
// adds the number of the request that filled the store.
func isHit(h http.Header) bool {
	return h.Get("X-Cache-Status") == "HIT" ||
		strings.HasPrefix(h.Get("X-Cache"), "HIT ") ||
		len(strings.Fields(h.Get("X-Varnish"))) == 2
}

// cacheWrites change the note of an order, which all versions show.
var cacheWrites = []struct{ method, path, contentType, body string }{
	{http.MethodPatch, "/orders/1", client.MergePatch, `{"note": %q}`},
	{http.MethodPut, "/orders/2", client.JSON, `{"note": %q, "lines": [{"itemId": 3, "qty": 10}]}`},
}

// staleness is the number of responses after a write that show the state before.
type staleness struct {
	method          string
	stale, requests int
}

// writeThrough fills the store, writes through the cache, and counts stale responses.
func (c cacheClient) writeThrough(ctx context.Context, pair cachePair,
	w struct{ method, path, contentType, body string }) (staleness, error) {
	note := pair.name + " " + w.method
	if _, err := c.countStale(ctx, pair.shop+w.path, note); err != nil {
		return staleness{}, err
	}
	a, err := c.send(ctx, w.method, pair.shop+w.path, fmt.Sprintf(w.body, note), variant{header: apiVersion, value: "2.0.0"},
		w.contentType)
	if err != nil || !a.OK() {
		return staleness{}, errors.Join(err, a.Unexpected(w.method+" "+w.path))
	}
	s, err := c.countStale(ctx, pair.shop+w.path, note)
	s.method = w.method
	return s, err
}

func (c cacheClient) countStale(ctx context.Context, url, note string) (s staleness, err error) {
	for _, v := range variants {
		if v.status != http.StatusOK {
			continue
		}
		a, err := c.get(ctx, url, v)
		if err != nil {
			return s, err
		}
		var got struct {
			Note string `json:"note"`
		}
		if err := json.Unmarshal(a.Body, &got); err != nil {
			return s, err
		}
		s.requests++
		if got.Note != note {
			s.stale++
		}
	}
	return s, nil
}
