package feedtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// raceCases tests concurrent writers and readers of one Log. They use a workload.
func raceCases() []testCase {
	return []testCase{
		{
			// Two readers of one log must agree, because subscribers on different servers continue
			// from the cursors of each other.
			name: "concurrent writers",
			contract: "Events that are appended concurrently are neither lost nor repeated, and all " +
				"readers see them in the same order.",
			try: func(k *kit) {
				w := newWorkload(k, k.log, k.log) // two readers
				w.race(k.log.Append)
			},
		},
		{
			// A database assigns numbers when rows are inserted, but rows become visible at the
			// commit. A reader that continues after the largest visible number misses the rows of
			// slower transactions. This is the common fault of outbox tables.
			name:  "concurrent transactions",
			needs: transactions,
			contract: "Of concurrent transactions, some slow and some rolled back, exactly the events of " +
				"committed ones are returned, each once, and those of one item in the order of the " +
				"commits.",
			try: func(k *kit) {
				w := newWorkload(k, k.log, k.log) // two readers
				w.race(w.inTx(k.log))
			},
		},
	}
}

// workloadItems is small, so that writers often change the same items and their order matters.
const workloadItems = 10

// workload runs concurrent writers and compares the events that readers receive with the commits.
// The result does not depend on timing: it compares what was committed with what was received, in
// total and for each item.
type workload struct {
	k     *kit
	logs  []feed.Log // over the same events, with one reader each
	start feed.Cursor

	// items are locks, held from a change of an item until its commit. They are channels because in
	// a bubble of testing/synctest time does not advance while a goroutine waits for a mutex, and
	// holders sleep.
	items [workloadItems]chan struct{}

	mu        sync.Mutex
	committed [workloadItems][]string // the revisions of each item, in commit order
	total     int
	over      bool
}

// newWorkload returns a workload that starts at the head of the log.
func newWorkload(k *kit, logs ...feed.Log) *workload {
	w := &workload{k: k, logs: logs, start: k.head()}
	for item := range w.items {
		w.items[item] = make(chan struct{}, 1)
	}
	return w
}

type appendFunc func(ctx context.Context, events ...*feed.Event) error

// inTx returns a function that appends each event in one transaction, and rolls some transactions
// back. The delay between two events of a transaction lets others commit between them.
func (w *workload) inTx(log feed.Log) appendFunc {
	return func(ctx context.Context, events ...*feed.Event) error {
		return runnerOf(log).InTx(ctx, func(ctx context.Context) error {
			for _, e := range events {
				if err := log.Append(ctx, e); err != nil {
					return err
				}
				delay()
			}
			// A rolled back transaction leaves a gap in the numbers. A reader must not wait for it.
			if rand.N(5) == 0 {
				return errUndo
			}
			return nil
		})
	}
}

// delay varies the duration of transactions, so that they commit in another order than they
// append.
func delay() {
	switch rand.N(4) {
	case 0:
		runtime.Gosched()
	case 1:
		time.Sleep(rand.N(500 * time.Microsecond))
	}
}

// race starts writers for each of these functions, and compares what each reader receives. The
// readers start before the writers and stop when they have received every committed event, or none
// for Patience.
func (w *workload) race(with ...appendFunc) {
	var writers, tailers sync.WaitGroup
	got := make([][]*feed.Event, len(w.logs))
	for i, log := range w.logs {
		tailers.Go(func() { got[i] = w.tail(log) })
	}
	for n := range w.k.Writers {
		writers.Go(func() { w.write(n, with[n%len(with)]) })
	}
	writers.Wait()
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	tailers.Wait()
	for i := range w.logs {
		w.compare(got[i], fmt.Sprintf("log %d, Tail", i))
	}
	if read := w.read(got[0]); !sameOrder(got[0], read) {
		w.k.errorf("Read returned other events than Tail, or in another order")
	}
	for i := range got[1:] {
		if !sameOrder(got[0], got[i+1]) {
			w.k.errorf("log 0 and log %d return other events, or in another order", i+1)
		}
	}
}

// write runs transactions of one to three items. It holds the locks of its items until the
// transaction has ended, so the order of the revisions in committed is the order of the commits.
func (w *workload) write(writer int, add appendFunc) {
	for n := range w.k.Transactions {
		chosen := rand.Perm(workloadItems)[:1+rand.N(3)]
		slices.Sort(chosen) // all writers lock in the same order
		rev := fmt.Sprintf("%d of writer %d", n, writer)
		var events []*feed.Event
		for _, item := range chosen {
			w.items[item] <- struct{}{}
			events = append(events, w.k.event(string(rune('0'+item)), rev))
		}
		err := add(w.k.ctx, events...)
		w.note(chosen, rev, err)
		for _, item := range chosen {
			<-w.items[item]
		}
	}
}

// note records the outcome of a transaction. It must be called before the locks are released.
func (w *workload) note(chosen []int, rev string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch err {
	case nil:
		for _, item := range chosen {
			w.committed[item] = append(w.committed[item], rev)
			w.total++
		}
	case errUndo:
	default:
		w.k.errorf("a transaction failed: %v", err)
	}
}

// tail reads until it has all events, and a little longer to detect surplus events. Its page size
// is random, so pages end within transactions as well.
func (w *workload) tail(log feed.Log) (events []*feed.Event) {
	at := w.start
	var last time.Time
	for idle := 0; idle < 3; {
		got := w.k.stepOf(log, &at, 1+rand.N(50))
		events = append(events, got...)
		if len(got) > 0 {
			last = time.Now()
			continue
		}
		w.mu.Lock()
		over, missing := w.over, w.total-len(events)
		w.mu.Unlock()
		if !over {
			last = time.Now()
		} else if missing <= 0 || time.Since(last) > w.k.Patience {
			idle++
		}
		time.Sleep(200 * time.Microsecond)
	}
	return events
}

// read reads the events that Tail has returned, in pages.
func (w *workload) read(tailed []*feed.Event) (events []*feed.Event) {
	if len(tailed) == 0 {
		return nil
	}
	const page = 17
	at, until := w.start, tailed[len(tailed)-1].Cursor
	for {
		got, err := w.k.log.Read(w.k.ctx, at, until, page)
		w.k.must(err, "Read")
		if events = append(events, got...); len(got) < page {
			return events
		}
		at = got[len(got)-1].Cursor
	}
}

// sameOrder reports whether a and b have the same events in the same order.
func sameOrder(a, b []*feed.Event) bool {
	return slices.EqualFunc(a, b,
		func(x, y *feed.Event) bool { return x.Cursor == y.Cursor && x.ID == y.ID && x.Rev == y.Rev })
}

// compare compares the received events with the commits. The message counts the differences,
// because a list of the events would be too long to read. An item counts as inverted only if it has
// exactly the right events in the wrong order.
func (w *workload) compare(events []*feed.Event, reader string) {
	var got [workloadItems][]string
	for _, e := range events {
		item := e.ID[0] - '0'
		got[item] = append(got[item], e.Rev)
	}
	lost, surplus, inverted := 0, 0, 0
	for item, want := range w.committed {
		if slices.Equal(want, got[item]) {
			continue
		}
		left := map[string]int{}
		for _, rev := range want {
			left[rev]++
		}
		for _, rev := range got[item] {
			left[rev]--
		}
		before := lost + surplus
		for _, n := range left {
			lost += max(n, 0)
			surplus += max(-n, 0)
		}
		if lost+surplus == before {
			inverted++
		}
	}
	if lost+surplus+inverted > 0 {
		w.k.errorf(
			"%s: of %d events %d were lost, %d were repeated or not committed, and %d items were not in "+
				"commit order", reader, w.total, lost, surplus, inverted)
	}
}
