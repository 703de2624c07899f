package resourcetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// watchCases test feed.Watcher.
func watchCases() []testCase {
	return []testCase{
		{
			name:  "watch-begin",
			needs: watcher,
			contract: "The first event of Watch is a Bookmark with the position at which it starts: " +
				"the current position for the zero Cursor, otherwise the given cursor. A client that " +
				"takes the position before it reads can continue from it without a gap.",
			run: watchBegin,
		},
		{
			name:  "watch-changes",
			needs: watcher | filler,
			contract: "Watch yields each change once, with the item before it (unless it was " +
				"created), the item after it (unless it was deleted), and the revision that Get " +
				"returns. Policies check both items, so that a client that may no longer see an item " +
				"receives a deletion.",
			run: watchChanges,
		},
		{
			name:  "watch-resume",
			needs: watcher | filler,
			contract: "From the cursor of a change, Watch yields exactly the changes after it, with " +
				"the same cursors, and then a Bookmark. It reports to a client that resumes that no " +
				"change is pending.",
			run: watchResume,
		},
		{
			name:  "watch-expired",
			needs: watcher,
			contract: "From a cursor of another store, or one ahead of its position, Watch yields " +
				"only feed.ErrExpired. A client that receives it lists again; without it, the client " +
				"would miss the changes between.",
			run: watchExpired,
		},
		{
			name:  "watch-end",
			needs: watcher,
			contract: "If the context is canceled, Watch ends without an error, before its first " +
				"event and while it waits. The server waits for all streams before it shuts down.",
			run: watchEnd,
		},
		{
			name:  "watch-rollback",
			needs: watcher | transactor | filler,
			contract: "Watch yields the changes of a transaction after it has committed, and never " +
				"if it is rolled back.",
			run: watchRollback,
		},
		{
			name:  "watch-race",
			needs: watcher | replacer | filler,
			contract: "Watch yields the changes of an item in the order of the writes, also during " +
				"concurrent writes. Each change begins with the item that the one before ended with, " +
				"and the last ends with the stored item.",
			run: watchRace,
		},
	}
}

// position returns the current position of the store.
func (k *kit) position() feed.Cursor {
	for c, err := range k.ops.Watch(k.ctx, feed.Cursor{}) {
		k.must(err, "Watch from the zero Cursor")
		k.wantBookmark(c, "Watch from the zero Cursor")
		return c.Cursor
	}
	k.fatalf("Watch from the zero Cursor ended before it yielded a Bookmark")
	return feed.Cursor{}
}

// wantBookmark ends the goroutine unless c is a Bookmark with a cursor.
func (k *kit) wantBookmark(c *feed.Change[any], where string) {
	if c.Kind != feed.Bookmark || c.Cursor.IsZero() {
		k.fatalf("%s yielded id %q, kind %v and cursor %v first, want a Bookmark with a cursor",
			where, c.ID, c.Kind, c.Cursor)
	}
}

// changesAfter returns the n events after a cursor, which have all been written. It waits for the Bookmark
// after them.
func (k *kit) changesAfter(after feed.Cursor, n int) (changes []*feed.Change[any]) {
	ctx, cancel := context.WithTimeout(k.ctx, k.patience/4)
	defer cancel()
	last, begun := after, false
	for c, err := range k.ops.Watch(ctx, after) {
		k.must(err, "Watch")
		switch {
		case !begun:
			if k.wantBookmark(c, "Watch"); c.Cursor != after {
				k.errorf("Watch from %v yielded a Bookmark at %v first", after, c.Cursor)
			}
			begun = true
		case c.Cursor.Epoch != last.Epoch || c.Cursor.Seq < last.Seq ||
			c.Cursor.Seq == last.Seq && c.Kind != feed.Bookmark:
			k.errorf("Watch yielded a %v at %v after %v; cursors must increase", c.Kind, c.Cursor, last)
		}
		last = c.Cursor
		if c.Kind != feed.Bookmark {
			changes = append(changes, k.vetChange(c))
		} else if len(changes) >= n {
			return changes
		}
	}
	k.fatalf("Watch yielded %d of %d changes and no Bookmark after them",
		len(changes), n)
	return nil
}

// vetChange checks the invariants of an event.
func (k *kit) vetChange(c *feed.Change[any]) *feed.Change[any] {
	if (c.Before == nil) != (c.Kind == feed.Created) || (c.After == nil) != (c.Kind == feed.Deleted) {
		k.errorf("Watch yielded that item %q was %v; Before is set: %v, After is set: %v",
			c.ID, c.Kind, c.Before != nil, c.After != nil)
	}
	for _, v := range []*any{c.Before, c.After} {
		if v == nil {
			continue
		}
		it := k.vet(resource.Item[any]{ID: c.ID, Rev: resource.Rev(c.Rev), Value: *v}, "Watch")
		c.ID, *v = it.ID, it.Value
	}
	return c
}

// expectedChange is an expected event.
type expectedChange struct {
	kind          feed.Kind
	before, after resource.Item[any] // an existing item has a revision or an id
}

// sameChanges records a failure unless the events are those expected.
func (k *kit) sameChanges(want []expectedChange, got []*feed.Change[any]) {
	if len(want) != len(got) {
		k.errorf("Watch yielded %d changes, want %d", len(got), len(want))
	}
	for i := range min(len(want), len(got)) {
		w, g := &want[i], got[i]
		it := w.after
		if w.kind == feed.Deleted {
			it = w.before
		}
		if g.Kind != w.kind || g.ID != it.ID || g.Rev != string(it.Rev) {
			k.errorf("change %d has id %q, kind %v and revision %q, want %q, %v and %q",
				i, g.ID, g.Kind, g.Rev, it.ID, w.kind, it.Rev)
			continue
		}
		k.sameVersion(w.kind != feed.Created, &w.before, g.Before, "the item before a change")
		k.sameVersion(w.kind != feed.Deleted, &w.after, g.After, "the item after a change")
	}
}

func (k *kit) sameVersion(there bool, want *resource.Item[any], got *any, where string) {
	if there && got != nil && !k.typ.Equal(want.Value, *got) {
		k.errorf("%s differs: got %s, want %s", where, brief(k.document(*got)), brief(k.document(want.Value)))
	}
}

// act makes changes of all kinds that the store supports, and calls done after each.
func (k *kit) act(done func(expectedChange)) {
	items := make([]resource.Item[any], 3)
	for i := range items {
		items[i] = k.get(k.put(k.fresh()).ID)
		done(expectedChange{kind: feed.Created, after: items[i]})
	}
	if k.able.has(replacer) {
		for i, it := range items[1:] {
			k.replace(it, k.changed(it.Value))
			items[i+1] = k.get(it.ID)
			done(expectedChange{kind: feed.Updated, before: it, after: items[i+1]})
		}
	}
	if k.able.has(deleter) {
		for _, it := range items[:2] {
			k.remove(it)
			done(expectedChange{kind: feed.Deleted, before: it})
		}
	}
}

// watchBegin checks that a Watch from the current position begins with a bookmark.
func watchBegin(k *kit) {
	at := k.position()
	for range 2 {
		for c, err := range k.ops.Watch(k.ctx, at) {
			k.must(err, "Watch from the current position")
			if k.wantBookmark(c, "Watch"); c.Cursor != at {
				k.errorf("Watch from %v yielded a Bookmark at %v first", at, c.Cursor)
			}
			break
		}
		if !k.able.has(filler) {
			return
		}
		k.put(k.fresh())
	}
}

// watchChanges reads while it writes. Each event must arrive before the next change is made.
func watchChanges(k *kit) {
	ctx, cancel := context.WithTimeout(k.ctx, k.patience/4)
	defer cancel()
	next, stop := iter.Pull2(k.ops.Watch(ctx, feed.Cursor{}))
	defer stop()
	c, err, ok := next()
	if k.must(err, "Watch"); !ok {
		k.fatalf("Watch ended before it yielded a Bookmark")
	}
	k.wantBookmark(c, "Watch")
	k.act(func(want expectedChange) {
		for {
			c, err, ok := next()
			if k.must(err, "Watch"); !ok {
				k.fatalf("Watch ended before it yielded that an item was %v", want.kind)
			}
			if c.Kind != feed.Bookmark {
				k.sameChanges([]expectedChange{want}, []*feed.Change[any]{k.vetChange(c)})
				return
			}
		}
	})
}

// watchResume checks that a Watch from each cursor yields exactly the changes after it.
func watchResume(k *kit) {
	start := k.position()
	var want []expectedChange
	k.act(func(c expectedChange) { want = append(want, c) })
	all := k.changesAfter(start, len(want))
	if k.sameChanges(want, all); len(all) != len(want) {
		return
	}
	for i, c := range all {
		rest := k.changesAfter(c.Cursor, len(all)-i-1)
		k.sameChanges(want[i+1:], rest)
		for j := range min(len(rest), len(all)-i-1) {
			if first, then := all[i+1+j].Cursor, rest[j].Cursor; first != then {
				k.errorf("a change has cursor %v in the first Watch and %v in the second", first, then)
			}
		}
	}
}

// watchExpired checks that foreign cursors are refused.
func watchExpired(k *kit) {
	if k.able.has(filler) {
		k.put(k.fresh())
	}
	now := k.position()
	foreign, ahead := now, now
	foreign.Epoch ^= 1 << 40
	ahead.Seq += 1 << 40
	for name, at := range map[string]feed.Cursor{
		"of another store": foreign, "ahead of the store": ahead} {
		ctx, cancel := context.WithTimeout(k.ctx, k.patience/4)
		expired := false
		for c, err := range k.ops.Watch(ctx, at) {
			switch {
			case expired:
				k.errorf("Watch continued after the error")
			case errors.Is(err, feed.ErrExpired):
				expired = true
				continue
			case err != nil:
				k.errorf("Watch from a cursor %s returned %v, want feed.ErrExpired", name, err)
			default:
				k.errorf("Watch from a cursor %s yielded a %v, want feed.ErrExpired", name, c.Kind)
			}
			break
		}
		cancel()
		if !expired {
			k.errorf("Watch from a cursor %s did not end with feed.ErrExpired", name)
		}
	}
}

// watchEnd ends the context before the call, at the first Bookmark, and while Watch waits.
func watchEnd(k *kit) {
	for _, when := range []string{"before Watch", "at the first Bookmark", "while Watch waits"} {
		ctx, cancel := context.WithCancel(k.ctx)
		if when == "before Watch" {
			cancel()
		}
		for _, err := range k.ops.Watch(ctx, feed.Cursor{}) {
			if err != nil {
				k.errorf("Watch with a context that ended %s yielded error %v, want none", when, err)
			}
			if when == "at the first Bookmark" {
				cancel()
			}
			defer time.AfterFunc(time.Millisecond, cancel).Stop()
		}
		cancel()
	}
}

// watchRollback checks that changes of a transaction that rolls back are not reported.
func watchRollback(k *kit) {
	kept := k.put(k.fresh())
	start := k.position()
	for _, end := range []error{errRollback, nil} {
		err := k.inTx(k.ctx, func(ctx context.Context) error {
			if _, err := k.tryPut(ctx, k.fresh()); err != nil {
				return err
			}
			if k.ops.Delete != nil {
				if err := k.ops.Delete(ctx, kept.ID, kept.Rev); err != nil {
					return err
				}
			}
			return end
		})
		if !errors.Is(err, end) {
			k.fatalf("InTx: %v, want %v", quoted(err), quoted(end))
		}
	}
	last := k.put(k.fresh())
	want := []feed.Kind{feed.Created, feed.Deleted, feed.Created}
	if k.ops.Delete == nil {
		want = []feed.Kind{feed.Created, feed.Created}
	}
	changes := k.changesAfter(start, len(want))
	kinds := make([]feed.Kind, len(changes))
	for i, c := range changes {
		kinds[i] = c.Kind
	}
	if !slices.Equal(kinds, want) || changes[len(changes)-1].ID != last.ID {
		k.errorf(
			"after a rollback, a commit and a single write Watch yielded %v, want %v",
			kinds, want)
	}
}

// watchRace checks the events as a chain of revisions, for any type.
func watchRace(k *kit) {
	const rounds = 5
	first := k.get(k.put(k.fresh()).ID)
	start, c := k.position(), newChain(first)
	var writers sync.WaitGroup
	for range k.Writers {
		writers.Go(func() {
			defer k.rec.catch()
			for range rounds {
				k.lengthen(c)
			}
		})
	}
	writers.Wait()
	changes := k.changesAfter(start, k.Writers*rounds)
	next := map[resource.Rev]link{}
	for _, l := range c.links {
		next[l.from] = l
	}
	at, value := first.Rev, first.Value
	for i, ch := range changes {
		l, ok := next[at]
		if !ok || ch.Rev != string(l.to) || ch.Before == nil || ch.After == nil {
			k.fatalf("change %d has revision %q; the write that named %q returned %q",
				i, ch.Rev, at, l.to)
		}
		if !k.typ.Equal(value, *ch.Before) {
			k.fatalf("change %d begins with %s, but the one before ended with %s",
				i, brief(k.document(*ch.Before)), brief(k.document(value)))
		}
		at, value = l.to, *ch.After
	}
	k.sameItem(k.get(first.ID), resource.Item[any]{ID: first.ID, Rev: at, Value: value},
		"the item after the last change")
}
