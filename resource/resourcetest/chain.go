package resourcetest

import (
	"context"
	"errors"
	"sync"

	"github.com/stoa-go/stoa/resource"
)

// link is one acknowledged write: the revision it named, the revision it returned, and the value.
type link struct {
	from, to resource.Rev
	value    any // see erase
}

// chain records concurrent writes of one item, to prove that none was lost. It works for values of
// any type because it compares only revisions: no write was lost exactly if the links form one path
// from the first revision to the last.
type chain struct {
	first resource.Item[any]

	mu    sync.Mutex
	links []link
	reads []resource.Item[any] // results of Get before each write
}

// newChain starts a chain at the current state of an item.
func newChain(it resource.Item[any]) *chain { return &chain{first: it} }

// add records a write and the result of Get that it was based on.
func (c *chain) add(l link, read resource.Item[any]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links = append(c.links, l)
	c.reads = append(c.reads, read)
}

// attempt reads the item and replaces it once.
func (k *kit) attempt(ctx context.Context, id string) (l link, read resource.Item[any], err error) {
	read, err = k.ops.Get(ctx, id)
	if err != nil {
		return l, read, err
	}
	read = k.vet(read, "Get")
	next := k.changed(read.Value)
	made, err := k.ops.Replace(ctx, id, read.Rev, next)
	return link{from: read.Rev, to: made.Rev, value: next}, read, err
}

// lengthen repeats Get and Replace until one write is acknowledged, as package resource does.
func (k *kit) lengthen(c *chain) {
	const tries = 10_000
	for range tries {
		l, read, err := k.attempt(k.ctx, c.first.ID)
		switch {
		case err == nil:
			c.add(l, read)
			return
		case errors.Is(err, resource.ErrStale), errors.Is(err, resource.ErrUnavailable):
		default:
			k.fatalf("concurrent Get and Replace failed: %v", err)
		}
	}
	k.fatalf("%d attempts to write one item failed with ErrStale or ErrUnavailable", tries)
}

// checkChain follows the links from the first revision and compares the last one with the stored
// item.
func (k *kit) checkChain(c *chain) {
	next := map[resource.Rev]link{}
	written := map[resource.Rev]any{c.first.Rev: c.first.Value}
	for _, l := range c.links {
		if rival, forked := next[l.from]; forked {
			k.errorf("two acknowledged writes named revision %q and returned %q and %q; one of them "+
				"is lost",
				l.from, rival.to, l.to)
		}
		next[l.from] = l
		written[l.to] = l.value
	}
	end, length := c.first.Rev, 0
	for length <= len(c.links) {
		l, more := next[end]
		if !more {
			break
		}
		end = l.to
		length++
	}
	now := k.get(c.first.ID)
	if length != len(c.links) || now.Rev != end {
		k.errorf("%d writes were acknowledged, of which %d form a chain that ends at revision %q; "+
			"the item has revision %q",
			len(c.links), length, end, now.Rev)
	}
	for _, seen := range append(c.reads, now) {
		value, known := written[seen.Rev]
		if !known {
			k.fatalf("Get returned revision %q, which no acknowledged write returned", seen.Rev)
		}
		if !k.sameValue(value, seen.Value, "the value at revision "+string(seen.Rev)) {
			return
		}
	}
}
