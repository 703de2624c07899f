package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/query"
	library "github.com/stoa-go/stoa/resource/client"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// The scenario go-client: writers and a consumer use package resource/client while the shop is killed and every eighth response is
// lost. Every write has to have one effect, and the consumer, which starts again now and then with its last cursor, has to receive
// each change once.
//
// The control sends the same writes without keys, and follows the feed without cursors. It has to have duplicate writes and lost
// changes. The other scenarios use the raw HTTP client of this folder, because a client that repeats can hide a fault of the server.

// shopOrder has the members of an order of the shop that are used.
type shopOrder struct {
	ID         int64      `json:"id,omitempty"`
	Note       string     `json:"note"`
	CustomerID int64      `json:"customerId"`
	Lines      []shopLine `json:"lines"`
}

type shopLine struct {
	ItemID int `json:"itemId"`
	Qty    int `json:"qty"`
}

// libraryUse is a trial with package resource/client. The control is a client that is careless at the same time.
type libraryUse struct {
	trial
	careless      trial
	writes        int
	counters      []string // ids of two orders, because a quantity is at most 1,000
	transport     *lossyTransport
	orders        *library.Resource[shopOrder]
	api           *http.Client
	next, settled atomic.Int64 // number of the next write, and of those that have ended

	mu       sync.Mutex
	seen     map[string]int      // created orders by note, of the consumer
	known    map[int64]shopOrder // what the consumer has
	restarts int
	streamed map[string]bool // created orders that a stream without cursors has delivered
}

func goClient(ctx context.Context, e *env) error {
	t := newLibraryUse(size(e, 600, 10_000))
	t.do = func(ctx context.Context) error { return t.run(ctx, size(e, 5, 50)) }
	return e.try(ctx, &t.trial, &t.careless)
}

func newLibraryUse(writes int) *libraryUse {
	t := &libraryUse{writes: writes, transport: &lossyTransport{}, seen: map[string]int{}, known: map[int64]shopOrder{},
		streamed: map[string]bool{}}
	t.trial = trial{title: "package resource/client", engine: sqlite, command: []string{shop}}
	t.careless = trial{title: "control: no keys and no cursors", control: []history.Kind{history.Duplicate, history.Lost}}
	return t
}

func (t *libraryUse) run(ctx context.Context, kills int) error {
	t.transport.nodes = t.Fleet
	t.api = &http.Client{Transport: t.transport}
	c, err := library.New("http://shop/v2", &library.Options{HTTP: t.api, Attempts: -1, MaxWait: 500 * time.Millisecond})
	if err != nil {
		return err
	}
	t.orders = library.NewResource[shopOrder](c, "orders")
	for range 2 {
		counter, err := t.orders.Create(ctx, newShopOrder("counter"))
		if err != nil {
			return err
		}
		t.counters = append(t.counters, counter.ID)
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	var readers sync.WaitGroup
	listed := make(chan struct{})
	readers.Go(func() { t.consume(following, t.random(subscriberPart), listed) })
	readers.Go(func() { t.streamAll(following) })
	select {
	case <-listed:
	case <-ctx.Done():
		return ctx.Err()
	}
	err = t.write(ctx, load{writers: 16, step: t.step, done: t.settled.Load, total: t.writes,
		faults: []fault{t.killNodes(kills)}})
	if err == nil {
		err = t.drain(ctx)
	}
	if err != nil {
		return err
	}
	stop()
	readers.Wait()
	stored, err := t.stored(ctx)
	if err != nil {
		return err
	}
	t.judge(stored)
	return ctx.Err()
}

// finalNote is the note of the last order.
const finalNote = "final"

// drain creates the last order and waits until the consumer has received it, and so everything before
// it. A duplicate would arrive before it, too.
func (t *libraryUse) drain(ctx context.Context) error {
	if _, err := t.orders.Create(ctx, newShopOrder(finalNote)); err != nil {
		return err
	}
	client.Await(ctx, finalNote, 10*time.Millisecond, func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.seen[finalNote] > 0
	})
	return ctx.Err()
}

func newShopOrder(note string) *shopOrder {
	return &shopOrder{Note: note, CustomerID: 2, Lines: []shopLine{{ItemID: 7, Qty: 1}}}
}

// step makes the next write.
func (t *libraryUse) step(ctx context.Context, _ int, _ *rand.Rand) error {
	n := int(t.next.Add(1)) - 1
	if n >= t.writes {
		return errDone
	}
	if err := t.writeOne(ctx, n); err != nil {
		t.Add(history.Unexpected, 1, "write %d: %v", n, err)
	}
	t.settled.Add(1)
	return nil
}

// writeOne makes one write. Each tenth changes one of the counters, and each third is also made without a key.
func (t *libraryUse) writeOne(ctx context.Context, n int) error {
	if n%10 == 9 {
		counter := t.counters[n/10%len(t.counters)]
		_, err := t.orders.Update(ctx, counter, func(o *shopOrder) error { o.Lines[0].Qty++; return nil })
		return err
	}
	if n%3 == 0 {
		t.postWithoutKey(ctx, fmt.Sprintf("unkeyed-%d", n))
	}
	_, err := t.orders.Create(ctx, newShopOrder(fmt.Sprintf("%s%d", keyedNote, n)))
	return err
}

// keyedNote is how the notes of orders begin that are created with a key.
const keyedNote = "keyed-"

// consume follows the orders. After at most consumed changes it starts again with its last cursor, as
// after a crash.
func (t *libraryUse) consume(ctx context.Context, rng *rand.Rand, listed chan<- struct{}) {
	const consumed = 60
	cursor := ""
	for ; ctx.Err() == nil; t.restarts++ {
		left := 1 + rng.IntN(consumed)
		for change, err := range t.orders.Follow(ctx, cursor, nil) {
			if err != nil {
				if ctx.Err() == nil {
					t.Add(history.Unexpected, 1, "consumer: %v", err)
				}
				break
			}
			t.apply(change)
			if change.Cursor == "" {
				continue // of the list, which has its cursor after its last item
			}
			if cursor == "" {
				close(listed)
			}
			cursor = change.Cursor
			if left--; left == 0 {
				break
			}
		}
	}
}

func (t *libraryUse) apply(change library.Change[shopOrder]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch change.Kind {
	case library.Reset:
		clear(t.known)
	case library.Deleted:
		delete(t.known, change.Value.ID)
	case library.Created:
		t.seen[change.Value.Note]++
		t.known[change.Value.ID] = change.Value
	case library.Listed, library.Updated:
		t.known[change.Value.ID] = change.Value
	}
}

// postWithoutKey repeats a POST until it is answered, as a careless client does.
func (t *libraryUse) postWithoutKey(ctx context.Context, note string) {
	body := fmt.Sprintf(`{"note":%q,"customerId":2,"lines":[{"itemId":7,"qty":1}]}`, note)
	for ctx.Err() == nil {
		resp, err := t.api.Post("http://shop/v2/orders", "application/json", strings.NewReader(body))
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusCreated {
				return
			}
		}
		client.Pause(ctx, 20*time.Millisecond)
	}
}

// streamAll follows the feed without cursors. It closes each stream after 50 created orders. Between two
// streams it waits until another one, which began after the first, has received an order: the first has
// not received it, and the second begins after it, so that an order is lost for certain.
func (t *libraryUse) streamAll(ctx context.Context) {
	for ctx.Err() == nil {
		received := 0
		t.stream(ctx, func(note string) (more bool) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.streamed[note] = true
			received++
			return received < 50
		})
		for missed := false; !missed && ctx.Err() == nil; {
			t.stream(ctx, func(note string) (more bool) {
				missed = strings.HasPrefix(note, keyedNote)
				return !missed
			})
		}
	}
}

// stream opens a stream without a cursor, and calls created with the note of each created order until it
// returns false or the stream ends.
func (t *libraryUse) stream(ctx context.Context, created func(note string) (more bool)) {
	events, err := client.OpenStream(ctx, t.api, http.MethodGet, "http://shop/v2/orders", nil, "")
	if err != nil {
		client.Pause(ctx, 20*time.Millisecond)
		return
	}
	defer events.Close()
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		_, note, _ := strings.Cut(string(event.Data), `"note":"`)
		note, _, _ = strings.Cut(note, `"`)
		if event.Name == "created" && !created(note) {
			return
		}
	}
}

func (t *libraryUse) stored(ctx context.Context) (map[int64]shopOrder, error) {
	all := map[int64]shopOrder{}
	for order, err := range t.orders.List(ctx, query.Query{}) {
		if err != nil {
			return nil, err
		}
		all[order.ID] = order
	}
	return all, nil
}

// judge compares the stored orders with the writes and with what the readers have received.
func (t *libraryUse) judge(stored map[int64]shopOrder) {
	effects := map[string]int{}
	quantity := 0
	for id, order := range stored {
		effects[order.Note]++
		if known, ok := t.known[id]; !ok || fmt.Sprint(known) != fmt.Sprint(order) {
			t.Add(history.Lost, 1, "the consumer has %v, stored is %v", known, order)
		}
		if slices.Contains(t.counters, fmt.Sprint(id)) {
			quantity += order.Lines[0].Qty - 1
		}
	}
	if quantity != t.writes/10 {
		t.Add(history.Lost, 1, "the counters have %d of %d updates", quantity, t.writes/10)
	}
	for n := range t.writes {
		if n%10 == 9 {
			continue
		}
		note := fmt.Sprintf("keyed-%d", n)
		count(&t.Violations, effects[note], note+" was stored")
		count(&t.Violations, t.seen[note], note+" was received")
		if n%3 == 0 {
			count(&t.careless.Violations, effects[fmt.Sprintf("unkeyed-%d", n)], "an order without a key was stored")
		}
		if !t.streamed[note] {
			t.careless.Add(history.Lost, 1, "%s was not received without a cursor", note)
		}
	}
	if t.restarts < 2 || t.transport.lost.Load() == 0 {
		t.Add(history.Unexpected, 1, "%d lives of the consumer and %d lost responses", t.restarts, t.transport.lost.Load())
	}
	t.line("%d writes, %d responses lost, %d lives of the consumer", t.writes, t.transport.lost.Load(), t.restarts)
}

// count adds a violation unless n is one.
func count(v *history.Violations, n int, what string) {
	switch {
	case n == 0:
		v.Add(history.Lost, 1, "%s 0 times", what)
	case n > 1:
		v.Add(history.Duplicate, n-1, "%s %d times", what, n)
	}
}

// lossyTransport sends requests to the node that is up, and loses each eighth response that is not a
// stream. It also loses the first response to an order without a key that was created, so that the
// control makes one twice for certain.
type lossyTransport struct {
	nodes                  *fleet.Fleet
	answers, unkeyed, lost atomic.Int64
}

func (t *lossyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	base, err := url.Parse(t.nodes.URL(0))
	if err != nil || base.Host == "" {
		return nil, errors.New("the shop is down")
	}
	to := req.Clone(req.Context())
	to.URL.Host, to.Host = base.Host, ""
	resp, err := http.DefaultTransport.RoundTrip(to)
	if err != nil || resp.Header.Get("Content-Type") == eventstream.ContentType {
		return resp, err
	}
	unkeyed := resp.StatusCode == http.StatusCreated && req.Header.Get("Idempotency-Key") == ""
	if eighth := t.answers.Add(1)%8 == 0; !eighth && (!unkeyed || t.unkeyed.Add(1) > 1) {
		return resp, nil
	}
	t.lost.Add(1)
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, err
	}
	return nil, errors.New("the response was lost")
}
