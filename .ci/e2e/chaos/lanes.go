package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
)

// order is one of the shop's, as contract 2.0.0 has it.
type order struct {
	ID        int64   `json:"id"`
	Status    string  `json:"status"`
	Lines     []line  `json:"lines"`
	Note      *string `json:"note"`
	CreatedAt string  `json:"createdAt"`
}

type line struct {
	ItemID int64 `json:"itemId"`
	Qty    int64 `json:"qty"`
}

// A lane is a line that one writer counts in: how often is in itemId, which has no end, and again in qty, which shows
// whether a line was written as a whole.
func lane(count int64) line { return line{ItemID: count + 1, Qty: count%1000 + 1} }

// Lines of heads.
const (
	jsonType   = "Content-Type: application/json"
	mergePatch = "Content-Type: application/merge-patch+json"
	jsonPatch  = "Content-Type: application/json-patch+json"
)

// lanes is one order in which every writer counts in a lane of its own, all at once. In one kind of order the note is
// the sum of the lanes and each write has a condition, in the other there is no note and no write has one: there it is
// the shop that has to keep writers apart.
type lanes struct {
	found       *findings
	conditional bool
	naive       bool // read, change, put back
	path        string
	writers     []counter
}

// counter is what is known of a lane. The atomics are for the readers of other lanes.
type counter struct {
	known     int64        // what it certainly was once, of which only the owner knows
	pending   bool         // one more may have been written
	floor     atomic.Int64 // no read that begins now shows less
	attempted atomic.Int64 // nor more
}

func newLanes(found *findings, writers int, conditional, naive bool) *lanes {
	return &lanes{found: found, conditional: conditional, naive: naive, writers: make([]counter, writers)}
}

func (l *lanes) name() string {
	if l.conditional {
		return "counters in one order, with conditions"
	}
	return "counters in one order, without conditions"
}

func (l *lanes) prepare(ctx context.Context, c *client, rng *rand.Rand) error {
	o := order{Lines: make([]line, len(l.writers))}
	for i := range o.Lines {
		o.Lines[i] = lane(0)
	}
	body := map[string]any{"lines": o.Lines}
	if l.conditional {
		body["note"] = "0"
	}
	a, err := c.write(ctx, rng, http.MethodPost, "/orders", encode(body), jsonType)
	if err != nil {
		return err
	}
	if a.status != http.StatusCreated || json.Unmarshal(a.body, &o) != nil {
		return fmt.Errorf("POST /orders: %d %s", a.status, a.body)
	}
	l.path = "/orders/" + strconv.FormatInt(o.ID, 10)
	return nil
}

func (l *lanes) step(ctx context.Context, c *client, w int, rng *rand.Rand) error {
	if !l.conditional && !l.naive && rng.IntN(4) > 0 {
		return l.write(ctx, c, w, rng, http.MethodPatch, l.patchOf(w), jsonPatch)
	}
	o, tag, err := l.read(ctx, c, w, rng)
	if err != nil {
		return err
	}
	switch {
	case l.naive:
		return l.write(ctx, c, w, rng, http.MethodPut, l.next(o, w), jsonType, "If-Match: *") // which every state fulfils
	case !l.conditional:
		return nil
	case rng.IntN(2) == 0:
		// Merge patches know no parts of lists, so this one brings all lanes as they were read: the tag keeps those of others.
		next := l.next(o, w)
		patch := map[string]any{"lines": next.Lines, "note": next.Note}
		return l.write(ctx, c, w, rng, http.MethodPatch, patch, mergePatch, "If-Match: "+tag)
	}
	// The sum changes with every count of anybody, so that a test of it is as good as a tag.
	patch := []operation{{"test", "/note", o.Note}, {"replace", "/note", l.next(o, w).Note}}
	return l.write(ctx, c, w, rng, http.MethodPatch, append(patch, l.patchOf(w)...), jsonPatch)
}

// collide has the second writer read before the first one writes, and put that back behind it, until both are told that it was
// done.
func (l *lanes) collide(ctx context.Context, c *client, rng *rand.Rand) error {
	for range 1000 {
		o, _, err := l.read(ctx, c, 1, rng)
		if err != nil {
			return err
		}
		first, second := l.writers[0].known, l.writers[1].known
		mine := o
		mine.Lines = slices.Clone(o.Lines)
		if err := l.write(ctx, c, 0, rng, http.MethodPut, l.next(mine, 0), jsonType, "If-Match: *"); err != nil {
			return err
		}
		if err := l.write(ctx, c, 1, rng, http.MethodPut, l.next(o, 1), jsonType, "If-Match: *"); err != nil {
			return err
		}
		if l.writers[0].known > first && l.writers[1].known > second {
			return nil
		}
	}
	return fmt.Errorf("%s: no two writes in a row are done", l.path)
}

// operation is one of a JSON Patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patchOf puts the next count into the lane of a writer, whatever is there.
func (l *lanes) patchOf(w int) []operation {
	return []operation{{"replace", fmt.Sprintf("/lines/%d", w), lane(l.writers[w].known + 1)}}
}

// next is an order with one more in the lane of a writer.
func (l *lanes) next(o order, w int) order {
	o.Lines[w] = lane(l.writers[w].known + 1)
	if l.conditional {
		note := strconv.FormatInt(sum(o.Lines), 10)
		o.Note = &note
	}
	return o
}

func sum(lines []line) (n int64) {
	for _, line := range lines {
		n += line.ItemID - 1
	}
	return n
}

// write sends the next count of a writer and notes what is known afterwards.
func (l *lanes) write(ctx context.Context, c *client, w int, rng *rand.Rand, method string, body any,
	header ...string) error {
	own := &l.writers[w]
	own.attempted.Store(own.known + 1)
	a, err := c.write(ctx, rng, method, l.path, encode(body), header...)
	if err != nil {
		return err
	}
	switch a.outcome {
	case acknowledged:
		own.known++
		own.pending = false
		own.floor.Store(own.known)
	case unknown:
		// The next attempt writes the same count, which is right whether this one has happened or not. One that happens
		// late, after the next was acknowledged, would take it back: no condition lets it.
		own.pending = true
	case refused:
		if a.status != http.StatusPreconditionFailed && a.status != http.StatusConflict {
			l.found.wrong("%s %s: %d %s", method, l.path, a.status, a.body)
		}
	}
	return nil
}

// read looks at all lanes, and takes what its own one shows for what is known from now on.
func (l *lanes) read(ctx context.Context, c *client, w int, rng *rand.Rand) (order, string, error) {
	floors := make([]int64, len(l.writers))
	for i := range l.writers {
		floors[i] = l.writers[i].floor.Load()
	}
	a, err := c.read(ctx, rng, l.path)
	if err != nil {
		return order{}, "", err
	}
	var o order
	if err := json.Unmarshal(a.body, &o); err != nil || len(o.Lines) != len(l.writers) {
		return o, "", fmt.Errorf("GET %s: %d %s", l.path, a.status, a.body)
	}
	l.judge(o, w, floors)
	l.settle(o.Lines[w].ItemID-1, w)
	return o, a.tag, nil
}

// judge finds what is torn in what the reader w saw. Its own lane is settled by its owner.
func (l *lanes) judge(o order, w int, floors []int64) {
	for i, line := range o.Lines {
		count := line.ItemID - 1
		if line != lane(count) {
			l.found.tear("%s: line %d is half of two writes: %+v", l.path, i, line)
		}
		if highest := l.writers[i].attempted.Load(); i != w && (count < floors[i] || count > highest) {
			l.found.tear("%s: line %d shows %d, which is not between %d and %d", l.path, i, count, floors[i], highest)
		}
	}
	if l.conditional && (o.Note == nil || *o.Note != strconv.FormatInt(sum(o.Lines), 10)) {
		l.found.tear("%s: the note is not the sum of the lines: %s", l.path, encode(o))
	}
}

// settle compares the lane of a writer with what the writer knows. A count that is missing is lost, and is counted once.
func (l *lanes) settle(count int64, w int) {
	own := &l.writers[w]
	switch {
	case count < own.known:
		l.found.lose(own.known-count, "%s: writer %d was told %d and finds %d", l.path, w, own.known, count)
	case count == own.known+1 && own.pending:
		own.pending = false
	case count > own.known:
		l.found.tear("%s: writer %d never wrote %d", l.path, w, count)
	}
	own.known = count
	own.floor.Store(count)
	own.attempted.Store(max(count, own.attempted.Load()))
}

func (l *lanes) verify(ctx context.Context, c *client, rng *rand.Rand) error {
	for w := range l.writers {
		if _, _, err := l.read(ctx, c, w, rng); err != nil {
			return err
		}
	}
	return nil
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // what is encoded here always can be
	}
	return string(text)
}
