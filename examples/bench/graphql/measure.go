package main

// The measurement of one job. Requests go through the handlers without sockets, and processor time
// is the metric, because the elapsed time includes other processes of the machine.

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// client sends the requests of a job to one peer.
type client struct {
	measure.Client
	distinct bool
}

// numbered follows the name of the operation in documents that must differ from each other.
const numbered = "_00000000"

// newClient prepares the requests of a job. The name of the operation is the place at which
// distinct documents differ, because a change there keeps plan and response the same.
func newClient(h http.Handler, j *job) (*client, error) {
	c := &client{distinct: j.distinct}
	c.Handler, c.Bodies = h, j.bodies()
	if j.distinct {
		for i, b := range c.Bodies {
			at := bytes.IndexByte(b, '(')
			c.Bodies[i] = slices.Concat(b[:at], []byte(numbered), b[at:])
		}
	}
	var err error
	if c.Request, err = http.NewRequest("POST", "http://localhost/graphql", nil); err != nil {
		return nil, err
	}
	c.Request.Header.Set("Content-Type", "application/json")
	c.Request.Header.Set("Accept", "application/json")
	return c, nil
}

// send sends one request and discards the response.
func (c *client) send() {
	if c.distinct {
		body := c.Bodies[c.Sent%len(c.Bodies)]
		// The digits are written over the last ones in place. A new body for each request would be
		// measured as an allocation of the peer.
		at := bytes.IndexByte(body, '(') // after the number
		digits := strconv.AppendInt(nil, int64(c.Sent+1), 10)
		copy(body[at-len(digits):], digits)
	}
	c.Send()
}

// result is one job on one peer.
type result struct {
	job  *job
	peer *peer
	all  []testing.BenchmarkResult // one of each round
	size int                       // bytes of the response
}

// measureJobs runs every job on every peer, in turn and on one processor, because a second
// processor is no advantage on a busy server.
func measureJobs(rounds int) (*table, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	t := &table{}
	for i := range jobs {
		results, err := measureJob(&jobs[i], rounds)
		if err != nil {
			return nil, err
		}
		t.results = append(t.results, results...)
	}
	return t, nil
}

// measureJob measures one job on all peers that take part. It first compares the sizes of their
// responses: a peer that answers less than the others must not win.
func measureJob(j *job, rounds int) ([]*result, error) {
	data := shop.New(10_000)
	var runs []func() (testing.BenchmarkResult, error)
	var results []*result
	for _, p := range peers() {
		if p.name == byHand.name && !j.byHand || p.name != byHand.name && p.name != stoa.name && !j.others {
			continue
		}
		c, err := newClient(p.handler(data), j)
		if err != nil {
			return nil, err
		}
		c.send()
		size := int(c.Response.Bytes)
		if len(results) > 0 && j.byHand && abs(size-results[0].size) > 1 { // some end with a line break
			return nil, fmt.Errorf("%s, %s: %d bytes, and by hand %d", j.name, p.name, size, results[0].size)
		}
		if c.Response.Status != http.StatusOK || size == 0 {
			return nil, fmt.Errorf("%s, %s: status %d with %d bytes", j.name, p.name, c.Response.Status, size)
		}
		runs = append(runs, func() (testing.BenchmarkResult, error) { return run(c), nil })
		results = append(results, &result{job: j, peer: &p, size: size})
	}
	all, err := measure.InTurn(rounds, runs...)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		r.all = all[i]
	}
	return results, nil
}

// abs returns the absolute value.
func abs(n int) int { return max(n, -n) }

// run measures one round. The metric is divided by b.N here, because testing does that only for its
// own metrics.
func run(c *client) testing.BenchmarkResult {
	return testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		began := measure.ProcessorTime()
		for b.Loop() {
			c.send()
		}
		b.ReportMetric(float64(measure.ProcessorTime()-began)/float64(b.N), processorTime)
	})
}

// processorTime is the metric that the budgets use, in nanoseconds per request.
const processorTime = "cpu-ns/op"

// median returns the result of the median processor time.
func (r *result) median() testing.BenchmarkResult {
	return measure.Median(r.all, func(a, b testing.BenchmarkResult) int {
		return cmp.Compare(a.Extra[processorTime], b.Extra[processorTime])
	})
}

// ns is the processor time of one request.
func (r *result) ns() float64 { return r.median().Extra[processorTime] }

// peakOfList returns the largest growth of the heap while Stoa sends 10,000 items, and the size of
// the response. The garbage collector runs often, so the growth is mostly live memory.
func peakOfList() (peak, size int) {
	c, err := newClient(stoa.handler(shop.New(10_000)), &list10000)
	if err != nil {
		panic(err)
	}
	// With the default of 100 the heap would grow to twice the live memory before a collection.
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	// The sampling goroutine may miss a peak, so the largest of five requests counts.
	for range 5 {
		c.send()
		runtime.GC()
		runtime.GC() // the second one empties pools
		read := measure.HeapReader()
		base, done, most := read(), make(chan struct{}), make(chan int64)
		written := int64(0)
		// OnWrite also measures, in case the goroutine below does not run.
		c.Response.OnWrite = func([]byte) { written = max(written, read()-base) }
		go func() {
			high, read := int64(0), measure.HeapReader()
			for {
				select {
				case <-done:
					most <- high
					return
				default:
					high = max(high, read()-base)
					runtime.Gosched()
				}
			}
		}()
		c.send()
		c.Response.OnWrite = nil
		close(done)
		peak, size = max(peak, int(<-most), int(written)), int(c.Response.Bytes)
	}
	return peak, size
}
