package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// creates is orders that are created by POST, sent once and never changed. The note names the attempt, and the line has its number, so
// that each order shows which attempt made it and whether it is whole.
type creates struct {
	mu       sync.Mutex
	attempts []createAttempt
}

type createAttempt struct {
	id      string // that was acknowledged; empty if the outcome is unknown
	refused bool
	seen    int
}

func (c *creates) name() string { return "new orders" }

func (c *creates) prepare(context.Context, *target, *rand.Rand) error { return nil }

// attemptContent returns the note and the line of an attempt.
func attemptContent(n int) (string, orderLine) {
	return "created " + strconv.Itoa(n), countLine(int64(n))
}

func (c *creates) step(ctx context.Context, t *target, _ int, rng *rand.Rand) error {
	c.mu.Lock()
	n := len(c.attempts)
	c.attempts = append(c.attempts, createAttempt{})
	c.mu.Unlock()
	note, line := attemptContent(n)
	body := encode(map[string]any{"note": note, "lines": []any{line}})
	a, err := t.write(ctx, rng, http.MethodPost, "/orders", body, client.JSON)
	if err != nil {
		return err
	}
	var made createAttempt
	switch {
	case a.OK():
		var o order
		if err := a.Decode("POST /orders", &o); err != nil {
			return err
		}
		made.id = o.idText()
	case !a.Acknowledged() && !a.Unknown():
		made.refused = true
		t.unexpected("POST /orders: %d %s", a.Status, a.Body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts[n] = made
	return nil
}

// verify reads all orders: each acknowledged one exists once, with its id, and there is none without an attempt.
func (c *creates) verify(ctx context.Context, t *target, rng *rand.Rand) error {
	orders, err := allOrders(ctx, t, rng)
	if err != nil {
		return err
	}
	for _, o := range orders {
		c.see(t, o)
	}
	for n, made := range c.attempts {
		if made.id != "" && made.seen == 0 {
			t.lost("POST /orders: %s was acknowledged for attempt %d and does not exist", made.id, n)
		}
	}
	return nil
}

func allOrders(ctx context.Context, t *target, rng *rand.Rand) ([]order, error) {
	a, err := t.read(ctx, rng, "/orders", client.NDJSON)
	if err != nil {
		return nil, err
	}
	return client.Lines[order]("GET /orders", a)
}

func (c *creates) see(t *target, o order) {
	var n int
	if o.Note == nil {
		return // of counters, or seeded
	}
	if _, err := fmt.Sscanf(*o.Note, "created %d", &n); err != nil {
		return
	}
	if n < 0 || n >= len(c.attempts) {
		t.torn("an order without an attempt: %s", encode(o))
		return
	}
	made := &c.attempts[n]
	made.seen++
	_, line := attemptContent(n)
	if made.seen > 1 || made.refused || len(o.Lines) != 1 || o.Lines[0] != line {
		t.torn("attempt %d made %s (%d orders)", n, encode(o), made.seen)
	}
	if made.id != "" && made.id != o.idText() {
		t.torn("attempt %d made %s, and %s was acknowledged", n, encode(o), made.id)
	}
}

// keyedOrders is orders that are created by POST with an Idempotency-Key, repeated until one is acknowledged. Some are sent twice
// concurrently. There has to be one order for each key. The note names the key.
type keyedOrders struct {
	naive bool // without keys

	mu  sync.Mutex
	ids []map[string]bool // in responses, by the number of the order
}

func (k *keyedOrders) name() string { return "orders with keys, repeated until acknowledged" }

func (k *keyedOrders) prepare(context.Context, *target, *rand.Rand) error { return nil }

func (k *keyedOrders) step(ctx context.Context, t *target, _ int, rng *rand.Rand) error {
	k.mu.Lock()
	n := len(k.ids)
	k.ids = append(k.ids, map[string]bool{})
	k.mu.Unlock()
	copies := 1
	if rng.IntN(10) == 0 || n == 0 { // the first, so that the control makes two of one for certain
		copies = 2
	}
	errs := make([]error, copies)
	var wg sync.WaitGroup
	for i := range errs {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		wg.Go(func() { errs[i] = k.persist(ctx, t, own, n) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// persist sends an order until the response has its id.
func (k *keyedOrders) persist(ctx context.Context, t *target, rng *rand.Rand, n int) error {
	body := encode(map[string]any{"note": "keyed " + strconv.Itoa(n), "lines": []any{countLine(int64(n))}})
	header := []string{client.JSON}
	if !k.naive {
		header = append(header, fmt.Sprintf("Idempotency-Key: %q", "order-"+strconv.Itoa(n)))
	}
	for {
		a, err := t.write(ctx, rng, http.MethodPost, "/orders", body, header...)
		switch {
		case err != nil:
			return err
		case a.OK():
			var o order
			if err := a.Decode("POST /orders", &o); err != nil {
				return err
			}
			k.mu.Lock()
			defer k.mu.Unlock()
			k.ids[n][o.idText()] = true
			return nil
		case !a.Retry() && a.Status != http.StatusConflict:
			t.unexpected("POST /orders: %d %s", a.Status, a.Body)
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// verify reads all orders: one for each acknowledged key, with the id that all responses had.
func (k *keyedOrders) verify(ctx context.Context, t *target, rng *rand.Rand) error {
	orders, err := allOrders(ctx, t, rng)
	if err != nil {
		return err
	}
	seen := make([]int, len(k.ids))
	for _, o := range orders {
		var n int
		if o.Note == nil {
			continue
		}
		if _, err := fmt.Sscanf(*o.Note, "keyed %d", &n); err != nil || n < 0 || n >= len(k.ids) {
			continue // of another workload
		}
		seen[n]++
		if seen[n] > 1 || !k.ids[n][o.idText()] {
			t.torn("key order-%d made %s (%d orders)", n, encode(o), seen[n])
		}
	}
	for n, ids := range k.ids {
		if len(ids) > 1 {
			t.torn("the responses to key order-%d name %d orders", n, len(ids))
		}
		if len(ids) > 0 && seen[n] == 0 {
			t.lost("key order-%d was acknowledged and its order does not exist", n)
		}
	}
	return nil
}
