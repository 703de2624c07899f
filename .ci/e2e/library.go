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

// libraryRun is one run.
type libraryRun struct {
	writes, kills int      // kills at least
	counters      []string // ids of two orders, because a quantity is at most 1,000
	transport     *lossyTransport
	orders        *library.Resource[shopOrder]
	api           *http.Client
	wrong         history.Violations
	created       atomic.Int64  // orders that Create has returned
	written       chan struct{} // closed after the last write

	mu       sync.Mutex
	seen     map[string]int      // created orders by note, of the consumer
	known    map[int64]shopOrder // what the consumer has
	restarts int
	heard    map[string]bool // created orders that a stream without cursors has delivered
	deaths   int
}

func goClient(ctx context.Context, e *env) error {
	source, err := e.newDatabase(ctx, sqlite)
	if err != nil {
		return err
	}
	nodes, err := e.startShop(ctx, 1, "-db", source)
	if err != nil {
		return err
	}
	t := &libraryRun{writes: size(e, 600, 10_000), kills: size(e, 5, 50), transport: &lossyTransport{nodes: nodes},
		written: make(chan struct{}), seen: map[string]int{}, known: map[int64]shopOrder{}, heard: map[string]bool{}}
	r, control, err := t.run(ctx, e)
	if err != nil {
		return err
	}
	return errors.Join(e.finish(r), e.finish(control))
}

func (t *libraryRun) run(ctx context.Context, e *env) (r, control *result, err error) {
	t.api = &http.Client{Transport: t.transport}
	c, err := library.New("http://shop/v2", &library.Options{HTTP: t.api, Attempts: -1, MaxWait: 500 * time.Millisecond})
	if err != nil {
		return nil, nil, err
	}
	t.orders = library.NewResource[shopOrder](c, "orders")
	for range 2 {
		counter, err := t.orders.Create(ctx, newShopOrder("counter"))
		if err != nil {
			return nil, nil, err
		}
		t.counters = append(t.counters, counter.ID)
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	var readers sync.WaitGroup
	listed := make(chan struct{})
	readers.Go(func() { t.consume(following, e.random(subscriberPart), listed) })
	readers.Go(func() { t.listen(following) })
	select {
	case <-listed:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if err := t.write(ctx, e); err != nil {
		return nil, nil, err
	}
	stored, err := t.stored(ctx)
	if err != nil {
		return nil, nil, err
	}
	for range 600 { // until the consumer has everything
		if t.mu.Lock(); len(t.known) == len(stored) {
			t.mu.Unlock()
			break
		}
		t.mu.Unlock()
		client.Pause(ctx, 100*time.Millisecond)
	}
	client.Pause(ctx, time.Second) // in which a duplicate would arrive
	stop()
	readers.Wait()
	r, control = t.check(stored)
	return r, control, ctx.Err()
}

func newShopOrder(note string) *shopOrder {
	return &shopOrder{Note: note, CustomerID: 2, Lines: []shopLine{{ItemID: 7, Qty: 1}}}
}

const writers = 16

// write lets the writers write while the shop is killed.
func (t *libraryRun) write(ctx context.Context, e *env) error {
	killing, stop := context.WithCancel(ctx)
	var killer sync.WaitGroup
	killer.Go(func() { t.kill(killing, e.random(faultPart)) })
	var next atomic.Int64
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for n := int(next.Add(1)) - 1; n < t.writes && ctx.Err() == nil; n = int(next.Add(1)) - 1 {
				if err := t.writeOne(ctx, n); err != nil {
					t.wrong.Add(history.Unexpected, 1, "write %d: %v", n, err)
				}
			}
		})
	}
	writing.Wait()
	close(t.written)
	killer.Wait()
	stop()
	return ctx.Err()
}

// writeOne makes one write. Each tenth changes one of the counters, and each third is also made without a key.
func (t *libraryRun) writeOne(ctx context.Context, n int) error {
	if n%10 == 9 {
		counter := t.counters[n/10%len(t.counters)]
		_, err := t.orders.Update(ctx, counter, func(o *shopOrder) error { o.Lines[0].Qty++; return nil })
		return err
	}
	if n%3 == 0 {
		t.postWithoutKey(ctx, fmt.Sprintf("unkeyed-%d", n))
	}
	_, err := t.orders.Create(ctx, newShopOrder(fmt.Sprintf("keyed-%d", n)))
	t.created.Add(1)
	return err
}

// kill kills the shop and starts it again until everything is written, and at least t.kills times.
func (t *libraryRun) kill(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		client.Pause(ctx, 300*time.Millisecond+time.Duration(rng.Int64N(int64(900*time.Millisecond))))
		select {
		case <-t.written:
			if t.deaths >= t.kills {
				return
			}
		default:
		}
		if err := t.transport.nodes.Restart(ctx, 0); err != nil {
			t.wrong.Add(history.Unexpected, 1, "restart: %v", err)
			return
		}
		t.deaths++
	}
}

// consume follows the orders. It starts again with its last cursor now and then, as after a crash.
func (t *libraryRun) consume(ctx context.Context, rng *rand.Rand, listed chan<- struct{}) {
	cursor := ""
	for ctx.Err() == nil {
		life, end := context.WithTimeout(ctx, 200*time.Millisecond+time.Duration(rng.Int64N(int64(1500*time.Millisecond))))
		for change, err := range t.orders.Follow(life, cursor, nil) {
			if err != nil {
				if life.Err() == nil {
					t.wrong.Add(history.Unexpected, 1, "consumer: %v", err)
				}
				break
			}
			t.apply(change)
			if change.Cursor != "" {
				if cursor == "" {
					close(listed)
				}
				cursor = change.Cursor
			}
		}
		end()
		t.restarts++
	}
}

func (t *libraryRun) apply(change library.Change[shopOrder]) {
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
func (t *libraryRun) postWithoutKey(ctx context.Context, note string) {
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

// listen follows the feed without cursors. It closes each stream after 50 created orders, and connects again after enough writes
// that one of them began while it was away: each writer has one write in progress.
func (t *libraryRun) listen(ctx context.Context) {
	for ; ctx.Err() == nil; t.awaitWrites(ctx, writers+1) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://shop/v2/orders", nil)
		if err != nil {
			return
		}
		req.Header.Set("Accept", eventstream.ContentType)
		resp, err := t.api.Do(req)
		if err != nil {
			client.Pause(ctx, 20*time.Millisecond)
			continue
		}
		events := eventstream.NewReader(resp.Body, nil)
		created := 0
		for event, err := events.Next(); err == nil && created < 50; event, err = events.Next() {
			_, note, _ := strings.Cut(string(event.Data), `"note":"`)
			note, _, _ = strings.Cut(note, `"`)
			t.mu.Lock()
			if event.Name == "created" {
				t.heard[note] = true
				created++
			}
			t.mu.Unlock()
		}
		resp.Body.Close()
	}
}

// awaitWrites waits until n more orders are created, or nothing more is written.
func (t *libraryRun) awaitWrites(ctx context.Context, n int64) {
	for until := t.created.Load() + n; t.created.Load() < until; {
		select {
		case <-t.written:
			return
		case <-ctx.Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func (t *libraryRun) stored(ctx context.Context) (map[int64]shopOrder, error) {
	all := map[int64]shopOrder{}
	for order, err := range t.orders.List(ctx, query.Query{}) {
		if err != nil {
			return nil, err
		}
		all[order.ID] = order
	}
	return all, nil
}

// check compares the stored orders with the writes and with what the readers have received.
func (t *libraryRun) check(stored map[int64]shopOrder) (r, control *result) {
	effects := map[string]int{}
	quantity := 0
	for id, order := range stored {
		effects[order.Note]++
		if known, ok := t.known[id]; !ok || fmt.Sprint(known) != fmt.Sprint(order) {
			t.wrong.Add(history.Lost, 1, "the consumer has %v, stored is %v", known, order)
		}
		if slices.Contains(t.counters, fmt.Sprint(id)) {
			quantity += order.Lines[0].Qty - 1
		}
	}
	if quantity != t.writes/10 {
		t.wrong.Add(history.Lost, 1, "the counters have %d of %d updates", quantity, t.writes/10)
	}
	var careless history.Violations
	for n := range t.writes {
		if n%10 == 9 {
			continue
		}
		note := fmt.Sprintf("keyed-%d", n)
		count(&t.wrong, effects[note], note+" was stored")
		count(&t.wrong, t.seen[note], note+" was received")
		if n%3 == 0 {
			count(&careless, effects[fmt.Sprintf("unkeyed-%d", n)], "an order without a key was stored")
		}
		if !t.heard[note] {
			careless.Add(history.Lost, 1, "%s was not received without a cursor", note)
		}
	}
	if t.restarts < 2 || t.transport.lost.Load() == 0 {
		t.wrong.Add(history.Unexpected, 1, "%d lives of the consumer and %d lost responses", t.restarts, t.transport.lost.Load())
	}
	r = &result{Violations: &t.wrong, title: "package resource/client"}
	r.line("%d writes, %d kills, %d responses lost, %d lives of the consumer", t.writes, t.deaths, t.transport.lost.Load(), t.restarts)
	control = &result{Violations: &careless, title: "control: no keys and no cursors",
		control: []history.Kind{history.Duplicate, history.Lost}}
	return r, control
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

// lossyTransport sends requests to the node that is up, and loses each eighth response that is not a stream.
type lossyTransport struct {
	nodes         *fleet.Fleet
	answers, lost atomic.Int64
}

func (t *lossyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	base, err := url.Parse(t.nodes.URL(0))
	if err != nil || base.Host == "" {
		return nil, errors.New("the shop is down")
	}
	to := req.Clone(req.Context())
	to.URL.Host, to.Host = base.Host, ""
	resp, err := http.DefaultTransport.RoundTrip(to)
	if err != nil || resp.Header.Get("Content-Type") == eventstream.ContentType || t.answers.Add(1)%8 != 0 {
		return resp, err
	}
	t.lost.Add(1)
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, err
	}
	return nil, errors.New("the response was lost")
}
