package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
)

// side is one way to serve places: by hand, by Stoa over the same store, or by Stoa over its own store in memory.
type side struct {
	name string
	make func(b testing.TB, n int) http.Handler
}

// The sides. All of them serve n sample places.
var (
	byHand = side{"by hand", func(_ testing.TB, n int) http.Handler { return newHand(newMapStore(n)) }}
	byStoa = side{"Stoa", func(_ testing.TB, n int) http.Handler { return serve(newMapStore(n)) }}
	// onMemory does more than a map does: indexes, tombstones, transactions.
	onMemory = side{"Stoa on memory", func(tb testing.TB, n int) http.Handler {
		places := memory.New[place](nil)
		for i := range n {
			if _, err := places.Create(tb.Context(), samplePlace(i)); err != nil {
				tb.Fatal(err)
			}
		}
		return serve(places)
	}}
)

func serve(places resource.Collection[place]) http.Handler {
	return resource.NewCatalog(nil, resource.New("places", places, &resource.Options[place]{Public: true}))
}

// job is one request, sent again and again.
type job struct {
	name        string
	method, url string
	contentType string
	bodies      [][]byte // sent in turns; nil is none
	conditional bool     // with the tag of the item, so that the answer is 304
	status      int      // what the answer must be
	budget      float64  // the time by hand times this is what Stoa may take; 0 is no budget
}

// items is how many places there are.
const items = 1000

// What clients write. Patches differ from one to the next, since one that changes nothing writes nothing.
var (
	newPlace = [][]byte{[]byte(`{"name":"Shanghai","country":"CN","kind":"PPLA","admin":"23",` +
		`"population":22315474,"lat":31.22222,"lon":121.45806}`)}
	patches = [][]byte{[]byte(`{"population":22315475}`), []byte(`{"population":22315476}`)}
)

var jobs = []job{
	{name: "GET item", method: "GET", url: "/places/500", status: 200, budget: 1.0},
	{name: "GET list of 100", method: "GET", url: "/places?limit=100", status: 200, budget: 0.5},
	{name: "POST with validation", method: "POST", url: "/places", contentType: "application/json",
		bodies: newPlace, status: 201, budget: 1.0},
	{name: "GET, answered 304", method: "GET", url: "/places/500", conditional: true, status: 304, budget: 0.8},
	{name: "PATCH merge", method: "PATCH", url: "/places/500", contentType: patch.MergeType,
		bodies: patches, status: 200},
}

// client sends the requests of one job to one handler, straight into ServeHTTP. Request and response writer are used
// again, so that what is measured is the handler and as little as possible else.
type client struct {
	job     job
	handler http.Handler
	request *http.Request
	body    replayBody
	answer  answer
	sent    int
}

func newClient(tb testing.TB, j job, s side) *client {
	tb.Helper()
	c := &client{job: j, handler: s.make(tb, items), request: httptest.NewRequest(j.method, j.url, nil)}
	c.answer.header = http.Header{}
	if j.contentType != "" {
		c.request.Header.Set("Content-Type", j.contentType)
	}
	if j.conditional {
		c.send()
		c.request.Header.Set("If-None-Match", c.answer.header.Get("ETag"))
	}
	return c
}

// send sends the request once more. The answer is in c.answer until the next one.
func (c *client) send() {
	if n := len(c.job.bodies); n > 0 {
		body := c.job.bodies[c.sent%n]
		c.body.Reset(body)
		c.request.Body, c.request.ContentLength = &c.body, int64(len(body))
	}
	c.sent++
	c.answer.reset()
	c.handler.ServeHTTP(&c.answer, c.request)
}

// check says what is wrong with the last answer.
func (c *client) check() error {
	if c.answer.status != c.job.status {
		return fmt.Errorf("%s is answered with %d, not %d: %s", c.job.name, c.answer.status, c.job.status, c.answer.body)
	}
	return nil
}

// replayBody is a body that can be set to another without allocating.
type replayBody struct{ bytes.Reader }

// Close implements [io.Closer].
func (*replayBody) Close() error { return nil }

// answer is a response writer that is used again.
type answer struct {
	header http.Header
	status int
	body   []byte
}

func (a *answer) reset() {
	clear(a.header)
	a.status, a.body = 0, a.body[:0]
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements [http.ResponseWriter].
func (a *answer) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

// run is the benchmark of one job on one side.
func run(b *testing.B, j job, s side) {
	c := newClient(b, j, s)
	b.ReportAllocs()
	for b.Loop() {
		c.send()
		if c.answer.status != j.status {
			break
		}
	}
	if err := c.check(); err != nil {
		b.Fatal(err)
	}
}
