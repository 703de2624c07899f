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
	"time"
)

// keyed is orders that are made by POST with an Idempotency-Key, again and again until somebody answers; some of them
// are sent twice at once. However often, there is one order for each. The note tells the key.
type keyed struct {
	found *findings
	naive bool // without keys

	mu   sync.Mutex
	told []map[string]bool // ids, by the number of the order
	seen []int
}

func (k *keyed) name() string { return "orders with keys, repeated until answered" }

func (k *keyed) prepare(context.Context, *client, *rand.Rand) error { return nil }

func (k *keyed) step(ctx context.Context, c *client, _ int, rng *rand.Rand) error {
	k.mu.Lock()
	n := len(k.told)
	k.told = append(k.told, map[string]bool{})
	k.mu.Unlock()
	copies := 1
	if rng.IntN(10) == 0 || n == 0 { // so that the control makes two of one for certain
		copies = 2
	}
	errs := make([]error, copies)
	var wg sync.WaitGroup
	for i := range errs {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		wg.Go(func() { errs[i] = k.persist(ctx, c, own, n) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// persist sends an order until it is told which one it has become.
func (k *keyed) persist(ctx context.Context, c *client, rng *rand.Rand, n int) error {
	body := encode(map[string]any{"note": "keyed " + strconv.Itoa(n), "lines": []any{lane(int64(n))}})
	header := []string{jsonType}
	if !k.naive {
		header = append(header, fmt.Sprintf("Idempotency-Key: %q", "order-"+strconv.Itoa(n)))
	}
	for {
		a, err := c.write(ctx, rng, http.MethodPost, "/orders", body, header...)
		switch {
		case err != nil:
			return err
		case a.outcome == acknowledged:
			var o order
			if err := json.Unmarshal(a.body, &o); err != nil {
				return fmt.Errorf("POST /orders: %d %s", a.status, a.body)
			}
			k.mu.Lock()
			defer k.mu.Unlock()
			k.told[n][strconv.FormatInt(o.ID, 10)] = true
			return nil
		case a.outcome == refused && a.status != http.StatusConflict: // that is: somebody is at it
			k.found.wrong("POST /orders: %d %s", a.status, a.body)
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// verify reads all orders: one for each that was told of, under the id that everybody was told.
func (k *keyed) verify(ctx context.Context, c *client, rng *rand.Rand) error {
	a, err := c.read(ctx, rng, "/orders", "Accept: application/x-ndjson")
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return fmt.Errorf("GET /orders: %d %s", a.status, a.body)
	}
	k.seen = make([]int, len(k.told))
	for text := range bytes.Lines(a.body) {
		var o order
		if err := json.Unmarshal(text, &o); err != nil {
			return fmt.Errorf("GET /orders: %w in %s", err, text)
		}
		k.see(o)
	}
	for n, told := range k.told {
		if len(told) > 1 {
			k.found.tear("key order-%d was told of %d orders", n, len(told))
		}
		if len(told) > 0 && k.seen[n] == 0 {
			k.found.lose(1, "key order-%d was told of an order that is not there", n)
		}
	}
	return nil
}

func (k *keyed) see(o order) {
	var n int
	if o.Note == nil {
		return
	}
	if _, err := fmt.Sscanf(*o.Note, "keyed %d", &n); err != nil || n < 0 || n >= len(k.told) {
		return // another workload's
	}
	k.seen[n]++
	if k.seen[n] > 1 || !k.told[n][strconv.FormatInt(o.ID, 10)] {
		k.found.tear("key order-%d made %s (%d orders)", n, encode(o), k.seen[n])
	}
}
