package main

// The jobs and the peers. main.go runs them and prints a table, and the benchmarks of the go tool
// use the same jobs. A request is passed to the handler without a socket, because the time in the
// kernel would hide the difference.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// peer is one implementation of the service: by hand, Stoa over the same store, or Stoa over
// resource/memory.
type peer struct {
	name string
	make func(b testing.TB, n int) http.Handler
}

// The peers. Each of them serves n sample places.
var (
	byHand = peer{"by hand", func(_ testing.TB, n int) http.Handler { return newHandwritten(newMapStore(n)) }}
	byStoa = peer{"Stoa", func(_ testing.TB, n int) http.Handler { return serve(newMapStore(n)) }}
	// onMemory uses a store with more features than a map: indexes, tombstones, transactions.
	onMemory = peer{"Stoa on memory", func(tb testing.TB, n int) http.Handler {
		places := memory.New[place](nil)
		for i := range n {
			if _, err := places.Create(tb.Context(), samplePlace(i)); err != nil {
				tb.Fatal(err)
			}
		}
		return serve(places)
	}}
)

// serve returns Stoa's handler with its defaults, apart from Public. Nothing that a service would
// have switched on is switched off.
func serve(places resource.Collection[place]) http.Handler {
	return rest.New(
		resource.NewCatalog(nil, resource.New("places", places, &resource.Options[place]{Public: true})), nil)
}

// job is one request, sent repeatedly.
type job struct {
	name        string
	method, url string
	contentType string
	bodies      [][]byte // sent in turn; nil means no body
	conditional bool     // send If-None-Match with the tag of the item
	status      int      // expected status code
	budget      float64  // maximum ratio to the time by hand; 0 means no budget
}

// items is the number of places.
const items = 1000

// The request bodies. Patches alternate, because a patch without a change writes nothing.
var (
	newPlace = [][]byte{[]byte(`{"name":"Shanghai","country":"CN","kind":"PPLA","admin":"23",` +
		`"population":22315474,"lat":31.22222,"lon":121.45806}`)}
	patches = [][]byte{[]byte(`{"population":22315475}`), []byte(`{"population":22315476}`)}
)

// The budgets are maximum ratios to the time by hand: encoding with the
// reflected plan makes up for what negotiation and conditions cost.
var jobs = []job{
	{name: "GET item", method: "GET", url: "/places/500", status: 200, budget: 1.0},
	{name: "GET list of 100", method: "GET", url: "/places?limit=100", status: 200, budget: 0.5},
	{name: "POST with validation", method: "POST", url: "/places", contentType: "application/json",
		bodies: newPlace, status: 201, budget: 1.0},
	{
		name:        "GET, answered 304",
		method:      "GET",
		url:         "/places/500",
		conditional: true,
		status:      304,
		budget:      0.8,
	},
	{name: "PATCH merge", method: "PATCH", url: "/places/500", contentType: patch.MergeType,
		bodies: patches, status: 200},
}

// client sends the request of a job to one peer.
type client struct {
	measure.Client
	job job
}

// newClient returns a client for one job on a new store of one peer, so no job sees the writes of
// another.
func newClient(tb testing.TB, j job, p peer) *client {
	tb.Helper()
	c := &client{job: j}
	c.Handler, c.Request, c.Bodies = p.make(tb, items), httptest.NewRequest(j.method, j.url, nil), j.bodies
	c.Response.Keep = true
	if j.contentType != "" {
		c.Request.Header.Set("Content-Type", j.contentType)
	}
	// The entity tag differs between peers, so it is taken from a first response.
	if j.conditional {
		c.Send()
		c.Request.Header.Set("If-None-Match", c.Response.Header().Get("ETag"))
	}
	return c
}

// check returns an error if the last response has another status than the job expects.
func (c *client) check() error {
	if got := &c.Response; got.Status != c.job.status {
		return fmt.Errorf("%s: status %d, want %d: %s", c.job.name, got.Status, c.job.status, got.Body)
	}
	return nil
}

// run is the benchmark of one job on one peer.
func run(b *testing.B, j job, p peer) {
	c := newClient(b, j, p)
	b.ReportAllocs()
	// The loop only compares the status. check reports the body of an unexpected response later.
	for b.Loop() {
		c.Send()
		if c.Response.Status != j.status {
			break
		}
	}
	if err := c.check(); err != nil {
		b.Fatal(err)
	}
}
