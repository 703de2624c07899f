package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// creates is orders that are created by POST and never changed. The note names the attempt, and the line has its number, so that
// each order shows which attempt made it and whether it is whole. There has to be at most one order of an attempt.
type creates struct {
	// repeat sends an attempt until it is acknowledged, and some twice concurrently. Without, each is sent once.
	repeat bool
	keys   bool // with an Idempotency-Key

	mu       sync.Mutex
	attempts []*createAttempt
}

type createAttempt struct {
	ids     map[string]bool // that responses have acknowledged; empty if the outcome is unknown
	refused bool
	seen    int
}

func (c *creates) name() string {
	if c.repeat {
		return "orders with keys, repeated until acknowledged"
	}
	return "new orders"
}

func (c *creates) prepare(context.Context, *target, *rand.Rand) error { return nil }

func (c *creates) label() string {
	if c.repeat {
		return "repeated "
	}
	return "created "
}

// content returns the note and the line of an attempt.
func (c *creates) content(n int) (string, orderLine) {
	return c.label() + strconv.Itoa(n), countLine(int64(n))
}

func (c *creates) step(ctx context.Context, t *target, _ int, rng *rand.Rand) error {
	c.mu.Lock()
	n := len(c.attempts)
	c.attempts = append(c.attempts, &createAttempt{ids: map[string]bool{}})
	c.mu.Unlock()
	copies := 1
	if c.repeat && (rng.IntN(10) == 0 || n == 0) { // the first, so that the control makes two of one for certain
		copies = 2
	}
	seeds := [2]uint64{rng.Uint64(), rng.Uint64()}
	return concurrently(copies, func(i int) error { return c.send(ctx, t, rand.New(rand.NewPCG(seeds[i], 0)), n) })
}

// send sends an order. If it has to be repeated, send returns when a response has its id.
func (c *creates) send(ctx context.Context, t *target, rng *rand.Rand, n int) error {
	note, line := c.content(n)
	body, header := encode(map[string]any{"note": note, "lines": []any{line}}), []string{client.JSON}
	if c.keys {
		header = append(header, fmt.Sprintf("Idempotency-Key: %q", note))
	}
	for again := true; again; time.Sleep(5 * time.Millisecond) {
		a, err := t.write(ctx, rng, http.MethodPost, "/orders", body, header...)
		if err != nil {
			return err
		}
		if a.OK() {
			var o order
			err := a.Decode("POST /orders", &o)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.attempts[n].ids[o.idText()] = true
			return err
		}
		again = c.repeat && (a.Retry() || a.Status == http.StatusConflict)
		if !again && !a.Acknowledged() && !a.Unknown() {
			t.unexpected("POST /orders: %d %s", a.Status, a.Body)
			c.mu.Lock()
			c.attempts[n].refused = true
			c.mu.Unlock()
		}
	}
	return nil
}

// verify reads all orders: each acknowledged one exists once, with the id that all responses had, and there is none without an
// attempt.
func (c *creates) verify(ctx context.Context, t *target, rng *rand.Rand) error {
	a, err := t.read(ctx, rng, "/orders", client.NDJSON)
	if err != nil {
		return err
	}
	orders, err := client.Lines[order]("GET /orders", a)
	if err != nil {
		return err
	}
	for _, o := range orders {
		c.see(t, o)
	}
	for n, made := range c.attempts {
		if len(made.ids) > 1 {
			t.torn("the responses to attempt %d name %d orders", n, len(made.ids))
		}
		if len(made.ids) > 0 && made.seen == 0 {
			t.lost("POST /orders: %v was acknowledged for attempt %d and does not exist", made.ids, n)
		}
	}
	return nil
}

// see counts an order.
func (c *creates) see(t *target, o order) {
	if o.Note == nil {
		return // of counters, or seeded
	}
	number, ok := strings.CutPrefix(*o.Note, c.label())
	if !ok {
		return // of another workload
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(c.attempts) {
		t.torn("an order without an attempt: %s", encode(o))
		return
	}
	made := c.attempts[n]
	made.seen++
	_, line := c.content(n)
	known := len(made.ids) == 0 || made.ids[o.idText()]
	if made.seen > 1 || made.refused || !known || len(o.Lines) != 1 || o.Lines[0] != line {
		t.torn("attempt %d made %s (%d orders, acknowledged %v)", n, encode(o), made.seen, made.ids)
	}
}
