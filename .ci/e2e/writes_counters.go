package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// counters is one order in which each writer counts in a line of its own, all concurrently. In one kind of order the note is the
// sum of the lines and each write has a condition. In the other there is neither, and the shop has to keep the writers apart.
type counters struct {
	conditional bool
	naive       bool // read, change, put back
	path        string
	writers     []counter
}

// counter is what is known of one line. The atomics are for the readers of other lines.
type counter struct {
	known     int64        // the last known value, for the owner only
	pending   bool         // one more may have been written
	floor     atomic.Int64 // a read that begins now shows at least this
	attempted atomic.Int64 // and at most this
}

func newCounters(writers int, conditional, naive bool) *counters {
	return &counters{conditional: conditional, naive: naive, writers: make([]counter, writers)}
}

func (c *counters) name() string {
	if c.conditional {
		return "counters in one order, with conditions"
	}
	return "counters in one order, without conditions"
}

func (c *counters) prepare(ctx context.Context, t *target, rng *rand.Rand) error {
	o := order{Lines: make([]orderLine, len(c.writers))}
	for i := range o.Lines {
		o.Lines[i] = countLine(0)
	}
	body := map[string]any{"lines": o.Lines}
	if c.conditional {
		body["note"] = "0"
	}
	a, err := t.write(ctx, rng, http.MethodPost, "/orders", encode(body), client.JSON)
	if err != nil {
		return err
	}
	if err := a.Decode("POST /orders", &o); err != nil {
		return err
	}
	c.path = "/orders/" + o.idText()
	return nil
}

func (c *counters) step(ctx context.Context, t *target, w int, rng *rand.Rand) error {
	if !c.conditional && !c.naive && rng.IntN(4) > 0 {
		return c.write(ctx, t, w, rng, http.MethodPatch, c.increment(w), client.JSONPatch)
	}
	o, tag, err := c.read(ctx, t, w, rng)
	if err != nil {
		return err
	}
	switch {
	case c.naive:
		return c.put(ctx, t, w, rng, o)
	case !c.conditional:
		return nil
	case rng.IntN(2) == 0:
		// A merge patch replaces the whole list, so it writes back the lines of others. The tag protects these.
		next := c.next(o, w)
		patch := map[string]any{"lines": next.Lines, "note": next.Note}
		return c.write(ctx, t, w, rng, http.MethodPatch, patch, client.MergePatch, "If-Match: "+tag)
	}
	// The sum changes with each write, so a test of it is as good as a tag.
	patch := []operation{{"test", "/note", o.Note}, {"replace", "/note", c.next(o, w).Note}}
	return c.write(ctx, t, w, rng, http.MethodPatch, append(patch, c.increment(w)...), client.JSONPatch)
}

// put writes back an order with one more in the line of a writer, under a condition that each state meets.
func (c *counters) put(ctx context.Context, t *target, w int, rng *rand.Rand, o order) error {
	return c.write(ctx, t, w, rng, http.MethodPut, c.next(o, w), client.JSON, "If-Match: *")
}

// collide lets the second writer read before the first one writes, and write back after that, until both are acknowledged.
func (c *counters) collide(ctx context.Context, t *target, rng *rand.Rand) error {
	for range 1000 {
		o, _, err := c.read(ctx, t, 1, rng)
		if err != nil {
			return err
		}
		first, second := c.writers[0].known, c.writers[1].known
		mine := o
		mine.Lines = slices.Clone(o.Lines)
		if err := c.put(ctx, t, 0, rng, mine); err != nil {
			return err
		}
		if err := c.put(ctx, t, 1, rng, o); err != nil {
			return err
		}
		if c.writers[0].known > first && c.writers[1].known > second {
			return nil
		}
	}
	return fmt.Errorf("%s: no two writes in a row were acknowledged", c.path)
}

// increment writes the next value into the line of a writer, whatever is there.
func (c *counters) increment(w int) []operation {
	return []operation{{"replace", fmt.Sprintf("/lines/%d", w), countLine(c.writers[w].known + 1)}}
}

// next returns an order with the next value in the line of a writer.
func (c *counters) next(o order, w int) order {
	o.Lines[w] = countLine(c.writers[w].known + 1)
	if c.conditional {
		o.Note = new(sum(o.Lines))
	}
	return o
}

func sum(lines []orderLine) string {
	var n int64
	for _, line := range lines {
		n += line.ItemID - 1
	}
	return strconv.FormatInt(n, 10)
}

// write sends the next value of a writer and records what is known afterwards.
func (c *counters) write(ctx context.Context, t *target, w int, rng *rand.Rand, method string, body any, header ...string) error {
	own := &c.writers[w]
	own.attempted.Store(own.known + 1)
	a, err := t.write(ctx, rng, method, c.path, encode(body), header...)
	if err != nil {
		return err
	}
	switch {
	case a.Acknowledged():
		own.known++
		own.pending = false
		own.floor.Store(own.known)
	case a.Unknown():
		// The next attempt writes the same value, which is right whether this one has happened or not. A late one, after the next was
		// acknowledged, would undo that: no condition allows it.
		own.pending = true
	case a.Status != http.StatusPreconditionFailed && a.Status != http.StatusConflict:
		t.unexpected("%s %s: %d %s", method, c.path, a.Status, a.Body)
	}
	return nil
}

// read reads all lines. The line of the reader settles what is known of it.
func (c *counters) read(ctx context.Context, t *target, w int, rng *rand.Rand) (order, string, error) {
	floors := make([]int64, len(c.writers))
	for i := range c.writers {
		floors[i] = c.writers[i].floor.Load()
	}
	a, err := t.read(ctx, rng, c.path)
	if err != nil {
		return order{}, "", err
	}
	var o order
	if err := a.Decode("GET "+c.path, &o); err != nil || len(o.Lines) != len(c.writers) {
		return o, "", a.Unexpected("GET " + c.path)
	}
	c.check(t, o, w, floors)
	c.settle(t, o.Lines[w].ItemID-1, w)
	return o, a.Tag(), nil
}

// check finds torn states in what the reader w got. Its own line is left to settle.
func (c *counters) check(t *target, o order, w int, floors []int64) {
	for i, line := range o.Lines {
		n := line.ItemID - 1
		if line != countLine(n) {
			t.torn("%s: line %d is half of two writes: %+v", c.path, i, line)
		}
		if highest := c.writers[i].attempted.Load(); i != w && (n < floors[i] || n > highest) {
			t.torn("%s: line %d is %d, which is not between %d and %d", c.path, i, n, floors[i], highest)
		}
	}
	if c.conditional && (o.Note == nil || *o.Note != sum(o.Lines)) {
		t.torn("%s: the note is not the sum of the lines: %s", c.path, encode(o))
	}
}

// settle compares the line of a writer with what the writer knows. A missing increment is lost, and counted once.
func (c *counters) settle(t *target, n int64, w int) {
	own := &c.writers[w]
	switch {
	case n < own.known:
		t.Add(history.Lost, int(own.known-n), "%s: writer %d was acknowledged %d and reads %d", c.path, w, own.known, n)
	case n == own.known+1 && own.pending:
		own.pending = false
	case n > own.known:
		t.torn("%s: writer %d never wrote %d", c.path, w, n)
	}
	own.known = n
	own.floor.Store(n)
	own.attempted.Store(max(n, own.attempted.Load()))
}

func (c *counters) verify(ctx context.Context, t *target, rng *rand.Rand) error {
	for w := range c.writers {
		if _, _, err := c.read(ctx, t, w, rng); err != nil {
			return err
		}
	}
	return nil
}
