package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
)

// creates is orders that are made by POST and never touched again. The note names the attempt, and the line has its
// number, so that each order tells whose it is and whether it is whole.
type creates struct {
	found *findings

	mu       sync.Mutex
	attempts []attempt
}

type attempt struct {
	id      string // that was promised; empty if it is unknown whether there is one
	refused bool
	seen    int
}

func (k *creates) name() string { return "new orders" }

func (k *creates) prepare(context.Context, *client, *rand.Rand) error { return nil }

// createdOf is the note and the line of an attempt.
func createdOf(n int) (string, line) { return "created " + strconv.Itoa(n), lane(int64(n)) }

func (k *creates) step(ctx context.Context, c *client, _ int, rng *rand.Rand) error {
	k.mu.Lock()
	n := len(k.attempts)
	k.attempts = append(k.attempts, attempt{})
	k.mu.Unlock()
	note, line := createdOf(n)
	body := encode(map[string]any{"note": note, "lines": []any{line}})
	a, err := c.write(ctx, rng, http.MethodPost, "/orders", body, jsonType) // and never again, whatever comes of it
	if err != nil {
		return err
	}
	var made attempt
	switch a.outcome {
	case refused:
		made.refused = true
		k.found.wrong("POST /orders: %d %s", a.status, a.body)
	case acknowledged:
		var o order
		if err := json.Unmarshal(a.body, &o); err != nil {
			return fmt.Errorf("POST /orders: %d %s", a.status, a.body)
		}
		made.id = strconv.FormatInt(o.ID, 10)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.attempts[n] = made
	return nil
}

// verify reads all orders: each that was promised is there once, under its id, and there is none that nobody made.
func (k *creates) verify(ctx context.Context, c *client, rng *rand.Rand) error {
	a, err := c.read(ctx, rng, "/orders", "Accept: application/x-ndjson")
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return fmt.Errorf("GET /orders: %d %s", a.status, a.body)
	}
	for text := range bytes.Lines(a.body) {
		var o order
		if err := json.Unmarshal(text, &o); err != nil {
			return fmt.Errorf("GET /orders: %w in %s", err, text)
		}
		k.see(o)
	}
	for n, made := range k.attempts {
		if made.id != "" && made.seen == 0 {
			k.found.lose(1, "POST /orders: %s was acknowledged for attempt %d and is not there", made.id, n)
		}
	}
	return nil
}

func (k *creates) see(o order) {
	var n int
	if o.Note == nil {
		return // an order of lanes, or one that was there before
	}
	if _, err := fmt.Sscanf(*o.Note, "created %d", &n); err != nil {
		return
	}
	if n < 0 || n >= len(k.attempts) {
		k.found.tear("an order that nobody made: %s", encode(o))
		return
	}
	made := &k.attempts[n]
	made.seen++
	_, line := createdOf(n)
	if made.seen > 1 || made.refused || len(o.Lines) != 1 || o.Lines[0] != line {
		k.found.tear("attempt %d made %s (%d times)", n, encode(o), made.seen)
	}
	if made.id != "" && made.id != strconv.FormatInt(o.ID, 10) {
		k.found.tear("attempt %d made %s, and %s was acknowledged", n, encode(o), made.id)
	}
}
