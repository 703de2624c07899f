package main

// The measurement of one job. Requests go through the handlers without sockets, and processor time
// is the metric, because the elapsed time includes other processes of the machine.

import (
	"bytes"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
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

// send sends one request and discards the response. It returns an error if that is not 200.
func (c *client) send() error {
	if c.distinct {
		body := c.Bodies[c.Sent%len(c.Bodies)]
		// The digits are written over the last ones in place. A new body for each request would be
		// measured as an allocation of the peer.
		at := bytes.IndexByte(body, '(') // after the number
		digits := strconv.AppendInt(nil, int64(c.Sent+1), 10)
		copy(body[at-len(digits):], digits)
	}
	c.Send()
	if c.Response.Status != http.StatusOK || c.Response.Bytes == 0 {
		return fmt.Errorf("status %d with %d bytes", c.Response.Status, c.Response.Bytes)
	}
	return nil
}

// tableGraphQL is the name of the table in a file of results.
const tableGraphQL = "graphql"

// measureJobs runs every job on every peer, in turn and on one processor, because a second
// processor is no advantage on a busy server.
func measureJobs(jobs []job, rounds int) (*report.Results, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	results := &report.Results{}
	for i := range jobs {
		if err := measureJob(results, &jobs[i], rounds); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// measureJob measures one job on all peers that take part. It first compares the sizes of their
// responses: a peer that answers less than the others must not win.
func measureJob(results *report.Results, j *job, rounds int) error {
	data := shop.New(10_000)
	var runs []func() (measure.Sample, error)
	var names []string
	var pairs [][2]string
	var clients []*client
	size := 0
	for _, p := range j.peers() {
		c, err := newClient(p.handler(data), j)
		if err != nil {
			return err
		}
		if err := c.send(); err != nil {
			return fmt.Errorf("%s, %s: %w", j.name, p.name, err)
		}
		got := int(c.Response.Bytes)
		if len(names) == 0 {
			size = got
		}
		if j.byHand && abs(got-size) > 1 { // some end with a line break
			return fmt.Errorf("%s, %s: %d bytes, and by hand %d", j.name, p.name, got, size)
		}
		runs = append(runs, func() (measure.Sample, error) { return measure.Processor(c.send) })
		names, clients = append(names, p.name), append(clients, c)
		if p.name != stoa.name {
			pairs = append(pairs, [2]string{stoa.name, p.name})
		}
	}
	all, err := measure.InTurn(rounds, runs...)
	if err != nil {
		return err
	}
	results.Compare(tableGraphQL, j.name, names, all, pairs)
	for i, c := range clients {
		if names[i] != byHand.name && names[i] != stoa.name {
			continue // no document states the allocations of the others
		}
		allocs, err := measure.Allocs(c.send)
		if err != nil {
			return err
		}
		results.SetAllocs(tableGraphQL, j.name, names[i], allocs)
	}
	return nil
}

// abs returns the absolute value.
func abs(n int) int { return max(n, -n) }

// peakOfList returns the largest growth of the heap while Stoa sends 10,000 items, and the size of
// the response. The garbage collector runs often, so the growth is mostly live memory.
func peakOfList() (peak, size int, err error) {
	c, err := newClient(stoa.handler(shop.New(10_000)), &list10000)
	if err != nil {
		return 0, 0, err
	}
	// With the default of 100 the heap would grow to twice the live memory before a collection.
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	// The sampling goroutine may miss a peak, so the largest of five requests counts.
	for range 5 {
		if err := c.send(); err != nil {
			return 0, 0, err
		}
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
		err := c.send()
		c.Response.OnWrite = nil
		close(done)
		peak, size = max(peak, int(<-most), int(written)), int(c.Response.Bytes)
		if err != nil {
			return 0, 0, err
		}
	}
	return peak, size, nil
}
