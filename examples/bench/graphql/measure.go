package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"testing"

	"github.com/stoa-go/stoa/examples/bench/internal/cputime"
	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// sink is a response writer that is used again, as that of a server is, and forgets the content.
type sink struct {
	header http.Header
	status int
	bytes  int
	look   func() // before content is forgotten; nil is not at all
}

func (s *sink) Header() http.Header  { return s.header }
func (s *sink) WriteHeader(code int) { s.status = code }
func (s *sink) Write(b []byte) (int, error) {
	if s.look != nil {
		s.look()
	}
	s.bytes += len(b)
	return len(b), nil
}

// client sends the same few requests again and again.
type client struct {
	handler  http.Handler
	bodies   [][]byte
	distinct bool
	sent     int
	request  *http.Request
	body     bytes.Reader
	answer   sink
}

// numbered stands in documents where each is to be another, right behind the name of the operation.
const numbered = "_00000000"

func newClient(h http.Handler, j *job) (*client, error) {
	c := &client{handler: h, bodies: j.bodies(), distinct: j.distinct, answer: sink{header: http.Header{}}}
	if j.distinct {
		for i, b := range c.bodies {
			at := bytes.IndexByte(b, '(')
			c.bodies[i] = slices.Concat(b[:at], []byte(numbered), b[at:])
		}
	}
	var err error
	if c.request, err = http.NewRequest("POST", "http://localhost/graphql", nil); err != nil {
		return nil, err
	}
	c.request.Header.Set("Content-Type", "application/json")
	c.request.Header.Set("Accept", "application/json")
	c.request.Body = io.NopCloser(&c.body)
	return c, nil
}

// send sends one request and forgets the answer.
func (c *client) send() {
	body := c.bodies[c.sent%len(c.bodies)]
	c.sent++
	if c.distinct {
		at := bytes.Index(body, []byte("(")) // behind the number
		digits := strconv.AppendInt(nil, int64(c.sent), 10)
		copy(body[at-len(digits):], digits)
	}
	c.body.Reset(body)
	c.request.ContentLength = int64(len(body))
	clear(c.answer.header)
	c.answer.status, c.answer.bytes = http.StatusOK, 0
	c.handler.ServeHTTP(&c.answer, c.request)
}

// result is one job on one side.
type result struct {
	job  *job
	side *side
	all  []testing.BenchmarkResult // one of each round
	size int                       // of the answer
}

// measure runs every job on every side, in turns, and on one processor: a side that uses two has no advantage on a server
// that is busy.
func measure(rounds int) (*table, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	t := &table{}
	for i := range jobs {
		j := &jobs[i]
		data := shop.New(10_000)
		var clients []*client
		var results []*result
		for k := range sides {
			s := &sides[k]
			if s.name != stoa.name && (s.name == floor.name && !j.floor || s.name != floor.name && !j.others) {
				continue
			}
			c, err := newClient(s.handler(data), j)
			if err != nil {
				return nil, err
			}
			c.send()
			if len(results) > 0 && j.floor && abs(c.answer.bytes-results[0].size) > 1 { // some end with a line break
				return nil, fmt.Errorf("%s, %s: %d bytes, and by hand %d", j.name, s.name, c.answer.bytes, results[0].size)
			}
			if c.answer.status != http.StatusOK || c.answer.bytes == 0 {
				return nil, fmt.Errorf("%s, %s: status %d with %d bytes", j.name, s.name, c.answer.status, c.answer.bytes)
			}
			clients = append(clients, c)
			results = append(results, &result{job: j, side: s, size: c.answer.bytes})
		}
		for range rounds {
			for k, c := range clients {
				results[k].all = append(results[k].all, run(c))
			}
		}
		t.results = append(t.results, results...)
	}
	return t, nil
}

func abs(n int) int { return max(n, -n) }

func run(c *client) testing.BenchmarkResult {
	return testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		began := cputime.Now()
		for b.Loop() {
			c.send()
		}
		b.ReportMetric(float64(cputime.Now()-began)/float64(b.N), processorTime)
	})
}

// processorTime is the metric that counts, in nanoseconds for each request.
const processorTime = "cpu-ns/op"

// median returns the result in the middle by time.
func (r *result) median() testing.BenchmarkResult {
	all := slices.Clone(r.all)
	slices.SortFunc(all, func(a, b testing.BenchmarkResult) int {
		return cmp.Compare(a.Extra[processorTime], b.Extra[processorTime])
	})
	return all[len(all)/2]
}

// ns is the processor time of one request.
func (r *result) ns() float64 { return r.median().Extra[processorTime] }

// peakOfList returns by how much the heap grows at most while Stoa answers with 10,000 items, and the size of the answer.
// The collector is kept busy, so that garbage counts as little as it may: what is held at a time is to be seen.
func peakOfList() (peak, size int) {
	c, err := newClient(stoa.handler(shop.New(10_000)), &list10000)
	if err != nil {
		panic(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	for range 5 {
		c.send()
		runtime.GC()
		runtime.GC() // the second one empties pools
		base, done, most := heap()(), make(chan struct{}), make(chan int)
		written, read := 0, heap()
		c.answer.look = func() { written = max(written, read()-base) } // where the other looks in vain, as it gets no turn
		go func() {
			high, read := 0, heap()
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
		close(done)
		peak, size = max(peak, <-most, written), c.answer.bytes
	}
	return peak, size
}

// heap returns a function that says how many bytes objects on the heap take, dead ones included that have not been swept.
// It allocates nothing itself, however often it is asked.
func heap() func() int {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	return func() int {
		metrics.Read(sample)
		return int(sample[0].Value.Uint64())
	}
}
