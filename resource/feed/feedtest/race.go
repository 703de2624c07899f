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

func raceCases() []testCase {
	return []testCase{
		{name: "writers at once",
			contract: "Of events that many append at once none is lost and none comes twice, and all who tail or read get " +
				"them in the same order.", try: func(k *kit) {
				w := newWorld(k, k.log, k.log) // two who tail
				w.run(k.log.Append)
			}},
		{name: "transactions at once", needs: transactions,
			contract: "Of transactions that run at once, of which some are slow and some are rolled " +
				"back, all events of those that were committed come once, those of one item in the order of the commits, and no others.", try: func(k *kit) {
				w := newWorld(k, k.log, k.log) // two who tail
				w.run(w.inTx(k.log))
			}},
	}
}

const worldItems = 10

// world is what many writers do, and what those who tail should get of it.
type world struct {
	k     *kit
	logs  []feed.Log // all over the same events; one who tails for each
	start feed.Cursor

	// items are locks, held by who changes an item until the commit: channels, as in a bubble of testing/synctest no time passes
	// while anybody waits for a mutex, and whoever holds one here may sleep.
	items [worldItems]chan struct{}

	mu        sync.Mutex
	committed [worldItems][]string // the revisions of each item, in the order of the commits
	total     int
	over      bool
}

func newWorld(k *kit, logs ...feed.Log) *world {
	w := &world{k: k, logs: logs, start: k.head()}
	for item := range w.items {
		w.items[item] = make(chan struct{}, 1)
	}
	return w
}

type appendFunc func(ctx context.Context, events ...*feed.Event) error

// inTx appends in transactions, one event after the other, and rolls some back.
func (w *world) inTx(log feed.Log) appendFunc {
	return func(ctx context.Context, events ...*feed.Event) error {
		return runnerOf(log).InTx(ctx, func(ctx context.Context) error {
			for _, e := range events {
				if err := log.Append(ctx, e); err != nil {
					return err
				}
				dawdle()
			}
			if rand.N(5) == 0 {
				return errUndo
			}
			return nil
		})
	}
}

// dawdle makes transactions of different length, so that they end in another order than that of their places.
func dawdle() {
	switch rand.N(4) {
	case 0:
		runtime.Gosched()
	case 1:
		time.Sleep(rand.N(500 * time.Microsecond))
	}
}

// run has writers append with each of these functions, and compares what each of those who tail gets.
func (w *world) run(with ...appendFunc) {
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

// write makes transactions about one to three items.
func (w *world) write(writer int, add appendFunc) {
	for n := range w.k.Transactions {
		chosen := rand.Perm(worldItems)[:1+rand.N(3)]
		slices.Sort(chosen) // all lock in the same order
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

func (w *world) note(chosen []int, rev string, err error) {
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

// tail tails until it has everything, and goes on for a moment, as there may be too much.
func (w *world) tail(log feed.Log) (events []*feed.Event) {
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

// read reads in pages what Tail has returned.
func (w *world) read(tailed []*feed.Event) (events []*feed.Event) {
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

func sameOrder(a, b []*feed.Event) bool {
	return slices.EqualFunc(a, b, func(x, y *feed.Event) bool { return x.Cursor == y.Cursor && x.ID == y.ID && x.Rev == y.Rev })
}

// compare compares what one got with what was committed.
func (w *world) compare(events []*feed.Event, who string) {
	var got [worldItems][]string
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
		w.k.errorf("%s: of %d events %d were lost, %d came twice or were not committed, and %d items came in another order than that of their commits",
			who, w.total, lost, surplus, inverted)
	}
}
