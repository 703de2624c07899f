package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// gate stops writers inside the store until the test opens it.
type gate struct {
	entered chan string
	open    chan struct{}
}

// gatedBooks serves two books. Each Replace waits at a gate.
func gatedBooks(t testing.TB, c *calls) (http.Handler, *gate) {
	t.Helper()
	g := &gate{entered: make(chan string, 100), open: make(chan struct{})}
	ops := counting(resource.OpsOf(stocked(t,
		book{Title: "a", Sequels: []int64{0}}, book{Title: "b", Sequels: []int64{0}})), c)
	replace := ops.Replace
	ops.Replace = func(ctx context.Context, id string, rev resource.Rev, v book) (resource.Item[book], error) {
		g.entered <- id
		<-g.open
		return replace(ctx, id, rev, v)
	}
	return catalog(t, ops.Resource("books", nil)), g
}

// addSequel adds a sequel to a book, with a timeout unless it is zero.
func addSequel(t testing.TB, h http.Handler, id string, patience time.Duration) *response {
	line := "PATCH /books/" + id
	r := request(t, line, patchBody, "", `[{"op":"add","path":"/sequels/-","value":1}]`)
	if patience > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		r = r.WithContext(ctx)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return received(line, w.Result())
}

// TestWritersOfOneItemQueue: writers of one item wait for each other, so there is one Replace for
// each write, and none is lost.
func TestWritersOfOneItemQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var c calls
		store := stocked(t, book{Title: "a", Sequels: []int64{0}})
		h := catalog(t, counting(resource.OpsOf(store), &c).Resource("books", nil))
		const writers, writes = 16, 20
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range writes {
					want(t, addSequel(t, h, "1", 0), http.StatusOK)
				}
			})
		}
		wg.Wait()
		same(t, "sequels", 1+writers*writes, len(stored(t, store, "1").Sequels))
		n := c.reset()
		same(t, "calls", map[string]int{"Get": writers * writes, "Replace": writers * writes}, n)
	})
}

// TestWritersOfOthersDoNotWait: a slow write delays writes of the same item only.
func TestWritersOfOthersDoNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c calls
		h, g := gatedBooks(t, &c)
		var wg sync.WaitGroup
		for _, id := range []string{"1", "1", "2"} {
			wg.Go(func() { addSequel(t, h, id, 0) })
		}
		synctest.Wait()
		in := map[string]bool{<-g.entered: true, <-g.entered: true}
		same(t, "in the store at once", map[string]bool{"1": true, "2": true}, in)
		same(t, "waiting in the store", 0, len(g.entered)) // the second writer of 1 waits before the store
		close(g.open)
		wg.Wait()
		same(t, "calls", map[string]int{"Get": 3, "Replace": 3}, c.reset())
	})
}

// TestWaitingEnds: a write that waits for another one ends with the timeout of its request and
// without effect, and does not delay those that wait after it.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c calls
		h, g := gatedBooks(t, &c)
		var wg sync.WaitGroup
		wg.Go(func() { want(t, addSequel(t, h, "1", 0), http.StatusOK) })
		synctest.Wait()
		wg.Go(func() { wantProblem(t, addSequel(t, h, "1", time.Second), problem.Unavailable, "Retry-After: *") })
		synctest.Wait()
		wg.Go(func() { want(t, addSequel(t, h, "1", 0), http.StatusOK) })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		close(g.open)
		wg.Wait()
		same(t, "calls", map[string]int{"Get": 2, "Replace": 2}, c.reset())
		want(t, addSequel(t, h, "1", 0), http.StatusOK)
	})
}

// TestWaitingForEverEnds: the wait of a request without a deadline is limited, too.
func TestWaitingForEverEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c calls
		h, g := gatedBooks(t, &c)
		var wg sync.WaitGroup
		wg.Go(func() { addSequel(t, h, "1", 0) })
		synctest.Wait()
		began := time.Now()
		wantProblem(t, addSequel(t, h, "1", 0), problem.Unavailable, "Retry-After: *")
		same(t, "waited", 10*time.Second, time.Since(began))
		close(g.open)
		wg.Wait()
	})
}
