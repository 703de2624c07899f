// Package tally counts what happens inside one request, for its observation. The counters are in the
// context, so that leaves such as sqltx can add to them without knowledge of the catalog.
package tally

import (
	"context"
	"sync/atomic"
	"time"
)

// Tally counts for one request. The methods are safe for concurrent use, and a nil *Tally ignores them.
type Tally struct {
	// Owner is the value that reports the counters. It is set once, before [With].
	Owner any

	retries, items, waited, lag atomic.Int64
}

type key struct{}

// With returns a context that carries t.
func With(ctx context.Context, t *Tally) context.Context { return context.WithValue(ctx, key{}, t) }

// From returns the Tally of the context, or nil if the request is not observed.
func From(ctx context.Context) *Tally {
	t, _ := ctx.Value(key{}).(*Tally)
	return t
}

// AddRetry counts one more attempt of a write or of a transaction after a conflict.
func (t *Tally) AddRetry() {
	if t != nil {
		t.retries.Add(1)
	}
}

// AddItems counts items.
func (t *Tally) AddItems(n int) {
	if t != nil {
		t.items.Add(int64(n))
	}
}

// AddWait adds a time for which the request has waited for a database connection.
func (t *Tally) AddWait(d time.Duration) {
	if t != nil {
		t.waited.Add(int64(d))
	}
}

// SetLag records how late an event was. The longest delay counts.
func (t *Tally) SetLag(d time.Duration) {
	if t == nil {
		return
	}
	for old := t.lag.Load(); int64(d) > old && !t.lag.CompareAndSwap(old, int64(d)); old = t.lag.Load() {
	}
}

// Retries returns the number of repeated attempts.
func (t *Tally) Retries() int { return int(t.retries.Load()) }

// Items returns the number of items.
func (t *Tally) Items() int { return int(t.items.Load()) }

// Waited returns how long the request has waited for database connections.
func (t *Tally) Waited() time.Duration { return time.Duration(t.waited.Load()) }

// Lag returns the longest delay of an event.
func (t *Tally) Lag() time.Duration { return time.Duration(t.lag.Load()) }
