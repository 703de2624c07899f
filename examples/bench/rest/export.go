package main

// The export of a million items (the last figure of the program). It shows that memory does not
// grow with the number of items, so the store must not keep them: generator computes each.

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// exportBudget limits the growth of the heap during an export, for any number of items.
const exportBudget = 16 << 20

// generator is a collection of n places that are generated during each call, so it uses no memory
// itself.
type generator struct{ n int64 }

// place returns the item with this id. It is equal in each call, so Get and List agree.
func (g generator) place(id int64) resource.Item[place] {
	p := samplePlace(int(id))
	p.ID = id
	return resource.Item[place]{Value: p}
}

// Get implements [resource.Collection].
func (g generator) Get(_ context.Context, id string) (resource.Item[place], error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n < 1 || n > g.n {
		return resource.Item[place]{}, resource.ErrNotFound
	}
	return g.place(n), nil
}

// List implements [resource.Collection].
func (g generator) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[place], error] {
	return func(yield func(resource.Item[place], error) bool) {
		// Every page is computed from the cursor alone. Nothing is kept between pages.
		var after int64
		if q.After != nil {
			after, _ = q.After[0].(int64)
		}
		end := g.n
		if q.Limit > 0 {
			end = min(end, after+int64(q.Limit))
		}
		for id := after + 1; id <= end; id++ {
			if !yield(g.place(id), nil) {
				return
			}
		}
	}
}

// exported is the result of an export.
type exported struct {
	want, lines int
	bytes       int64
	growth      int64 // of the heap, at its peak
	took        time.Duration
}

// String returns the figures as text.
func (e exported) String() string {
	return fmt.Sprintf("%d lines, %.0f MB, in %.1fs; the heap grew by %.1f MiB at its peak (budget %d MiB)",
		e.lines, float64(e.bytes)/1e6, e.took.Seconds(), float64(e.growth)/(1<<20), exportBudget>>20)
}

// ok reports whether the export is complete and within the budget.
func (e exported) ok() bool { return e.lines == e.want && e.growth <= exportBudget }

// exportOverHTTP exports n items from a real server to a client in this process that only counts
// lines.
func exportOverHTTP(ctx context.Context, n int) (exported, error) {
	server := httptest.NewServer(serve(generator{int64(n)}))
	defer server.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/places", nil)
	if err != nil {
		return exported{}, err
	}
	req.Header.Set("Accept", "application/x-ndjson")
	// Compression would hide the number of bytes and add the buffers of gzip to the heap.
	req.Header.Set("Accept-Encoding", "identity")

	out := exported{want: n}
	// Client and server share the heap that is measured, so the figure is an upper bound for the
	// server.
	stop := watchHeap()
	began := time.Now()
	// watchHeap has to end in every case, because its goroutine holds a ticker.
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		stop()
		return exported{}, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		out.lines++
		out.bytes += int64(len(lines.Bytes())) + 1
	}
	out.took, out.growth = time.Since(began), stop()
	return out, lines.Err()
}

// watchHeap samples the size of the heap, garbage included, every millisecond. stop ends that and
// returns the largest growth.
func watchHeap() (stop func() int64) {
	runtime.GC()
	heapBytes := measure.HeapReader()
	began, peak := heapBytes(), int64(0)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, heapBytes()-began)
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	return func() int64 {
		close(done)
		<-ended
		return peak
	}
}
