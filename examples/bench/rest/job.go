package main

// The jobs and the peers. In process, a request is passed to the handler without a socket, because
// the time in the kernel would hide the difference between handlers; processes.go and sockets.go
// measure the same jobs over sockets.

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// peer is one implementation of the service.
type peer struct {
	name string
	// make returns the service with n sample places.
	make func(n int) (http.Handler, error)
}

// The peers. onMemory is Stoa over a store with more features than a map: indexes, tombstones,
// transactions.
var (
	byHand   = peer{report.ByHand, overMap(newHandwritten)}
	byGin    = peer{"gin", overMap(newGin)}
	byEcho   = peer{"echo", overMap(newEcho)}
	byHuma   = peer{"huma", overMap(newHuma)}
	byStoa   = peer{report.Stoa, overMap(func(s *mapStore) http.Handler { return serve(s) })}
	onMemory = peer{report.StoaMemory, func(n int) (http.Handler, error) {
		places := memory.New[place](nil)
		for i := range n {
			if _, err := places.Create(context.Background(), samplePlace(i)); err != nil {
				return nil, err
			}
		}
		return serve(places), nil
	}}
)

// inProcess are the peers of the first table, and overSockets those of the second.
var (
	inProcess   = []peer{byHand, byStoa, onMemory}
	overSockets = []peer{byHand, byGin, byEcho, byHuma, byStoa, onMemory}
)

// overMap returns a constructor of services over a new mapStore.
func overMap(handler func(*mapStore) http.Handler) func(int) (http.Handler, error) {
	return func(n int) (http.Handler, error) { return handler(newMapStore(n)), nil }
}

// serve returns Stoa's handler with its defaults, apart from Public. Nothing that a service would
// have switched on is switched off.
func serve(places resource.Collection[place]) http.Handler {
	return rest.New(
		resource.NewCatalog(nil, resource.New("places", places, &resource.Options[place]{Public: true})), nil)
}

// job is one request, sent repeatedly.
type job struct {
	name        string
	method      string
	path        string // {id} is the id of an item; each connection has one of its own
	contentType string
	bodies      []string // sent in turn; empty means no body
	conditional bool     // send If-None-Match with the tag of the item
	status      int      // expected status code
}

// items is the number of places. sampleID is the id of the item in process, and of the first
// connection over sockets.
const (
	items    = 1000
	sampleID = 500
)

// The request bodies. Patches and the bodies of PUT alternate, because a request without a change writes
// nothing.
var (
	newPlace = []string{`{"name":"Shanghai","country":"CN","kind":"PPLA","admin":"23",` +
		`"population":22315474,"lat":31.22222,"lon":121.45806}`}
	patches   = []string{`{"population":22315475}`, `{"population":22315476}`}
	newValues = []string{newPlace[0], strings.Replace(newPlace[0], "22315474", "22315475", 1)}
)

var jobs = []job{
	{name: report.GetItem, method: "GET", path: "/places/{id}", status: 200},
	{name: report.GetList, method: "GET", path: "/places?limit=100", status: 200},
	{name: report.Post, method: "POST", path: "/places", contentType: "application/json", bodies: newPlace,
		status: 201},
	{name: report.Get304, method: "GET", path: "/places/{id}", conditional: true, status: 304},
	{name: report.PatchMerge, method: "PATCH", path: "/places/{id}", contentType: patch.MergeType,
		bodies: patches, status: 200},
	{name: report.Put, method: "PUT", path: "/places/{id}", contentType: "application/json",
		bodies: newValues, status: 200},
}

// url returns the path and query for an item.
func (j *job) url(id int) string { return strings.ReplaceAll(j.path, "{id}", fmt.Sprint(id)) }

// client sends the request of a job to one peer.
type client struct {
	measure.Client
	job job
}

// newClient returns a client for one job on a new store of one peer, so no job sees the writes of
// another.
func newClient(j job, p peer) (*client, error) {
	handler, err := p.make(items)
	if err != nil {
		return nil, err
	}
	c := &client{job: j}
	c.Handler, c.Request = handler, httptest.NewRequest(j.method, j.url(sampleID), nil)
	c.Response.Keep = true
	for _, body := range j.bodies {
		c.Bodies = append(c.Bodies, []byte(body))
	}
	if j.contentType != "" {
		c.Request.Header.Set("Content-Type", j.contentType)
	}
	// The entity tag differs between peers, so it is taken from a first response.
	if j.conditional {
		c.Send()
		c.Request.Header.Set("If-None-Match", c.Response.Header().Get("ETag"))
	}
	return c, nil
}

// send sends the request, and returns an error if the response has another status than the job
// expects.
func (c *client) send() error {
	c.Send()
	if got := &c.Response; got.Status != c.job.status {
		return fmt.Errorf("%s: status %d, want %d: %s", c.job.name, got.Status, c.job.status, got.Body)
	}
	return nil
}

// measureInProcess measures jobs on the peers in turn, on one processor.
func measureInProcess(jobs []job, peers []peer, rounds int) (*report.Results, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	results := &report.Results{}
	for _, j := range jobs {
		var turns []func() (measure.Sample, error)
		for _, p := range peers {
			turns = append(turns, func() (measure.Sample, error) {
				c, err := newClient(j, p)
				if err != nil {
					return measure.Sample{}, err
				}
				return measure.Processor(c.send)
			})
		}
		samples, err := measure.InTurn(rounds, turns...)
		if err != nil {
			return nil, err
		}
		results.Compare(tableInProcess, j.name, names(peers), samples,
			[][2]string{{report.Stoa, report.ByHand}, {report.StoaMemory, report.ByHand}})
		for _, p := range peers {
			allocs, err := allocations(j, p)
			if err != nil {
				return nil, err
			}
			results.SetAllocs(tableInProcess, j.name, p.name, allocs)
		}
	}
	return results, nil
}

// allocations counts the allocations of a job on a peer.
func allocations(j job, p peer) (int64, error) {
	c, err := newClient(j, p)
	if err != nil {
		return 0, err
	}
	return measure.Allocs(c.send)
}

// names returns the names of peers.
func names(peers []peer) []string {
	var all []string
	for _, p := range peers {
		all = append(all, p.name)
	}
	return all
}
