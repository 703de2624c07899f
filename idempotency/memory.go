package idempotency

// The store in memory, for tests and single processes. A heap orders entries by their expiry.

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// MemoryOptions configures a Memory. The zero value selects the defaults.
type MemoryOptions struct {
	// Runner is the runner of collections in memory, a *memory.DB of package resource/memory. It
	// must call [tx.Scope.Rollback]. Their effects are then ExactlyOnce. If it is nil, all effects
	// are below that.
	//
	// Do not use the runner of a persistent database: a restart would lose the records and keep the
	// data.
	Runner tx.Runner
	// Entries limits the number of records and claims. Default 1,000,000.
	Entries int
	// Bytes limits the approximate memory. Default 256 MiB. Results use at most three quarters of
	// it, so large results do not prevent new claims.
	Bytes int64
}

// ErrFull is returned by Memory.Claim if Entries or Bytes is reached. Records are not dropped
// before they expire.
var ErrFull = errors.New("idempotency: memory store is full")

// Memory is a [Store] in memory, for a single process; its records are lost when the process ends.
// It purges expired records itself. It is safe for concurrent use.
type Memory struct {
	runner     tx.Runner
	maxEntries int
	maxBytes   int64

	mu      sync.Mutex
	entries map[[32]byte]*entry
	owned   map[[32]byte]int // live entries per owner
	expiry  expiries
	bytes   int64
}

// NewMemory returns an empty Memory. A nil opts selects the defaults.
func NewMemory(opts *MemoryOptions) *Memory {
	if opts == nil {
		opts = &MemoryOptions{}
	}
	o := *opts
	setDefault(&o.Entries, 1_000_000)
	setDefault(&o.Bytes, 256<<20)
	return &Memory{runner: o.Runner, maxEntries: o.Entries, maxBytes: o.Bytes,
		entries: map[[32]byte]*entry{}, owned: map[[32]byte]int{}}
}

var (
	_ Store      = (*Memory)(nil)
	_ Transactor = (*Memory)(nil)
)

// Transactions returns [MemoryOptions.Runner].
func (m *Memory) Transactions() tx.Runner { return m.runner }

// entry is a claim, or the record that has replaced it.
type entry struct {
	id, fingerprint, owner [32]byte
	members                []byte

	token    string // of the claim
	until    time.Time
	finished bool
	record   Record
	bytes    int64

	purgeAt time.Time // when it may be purged: after its expiry and the end of its lease
	index   int       // index in expiries
}

// entryBytes is the approximate size of an entry without content, including its share of the maps.
const entryBytes = 640

// bytes estimates the memory that a record uses, maps and headers of strings included.
func (r *Record) bytes() int64 {
	n := len(r.Result) + len(r.Media) + len(r.Collection) + len(r.ID) + len(r.Rev) + len(r.Schema)
	for name, lines := range r.Header {
		n += len(name) + 64
		for _, line := range lines {
			n += len(line) + 16
		}
	}
	return int64(n)
}

// Claim implements [Store].
func (m *Memory) Claim(ctx context.Context, id [32]byte, c Claim) (Prior, error) {
	if err := ctx.Err(); err != nil {
		return Prior{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.purge(c.Now, 8) // purge faster than entries are added
	old := m.entries[id]
	if old != nil && !old.purgeAt.After(c.Now) {
		m.remove(old)
		old = nil
	}
	if old != nil {
		if prior := old.prior(c); prior.State != Fresh {
			return prior, nil
		}
		m.remove(old)
	} else if prior, err := m.checkCapacity(c); err != nil || prior.State != Fresh {
		return prior, err
	}
	e := &entry{
		id:          id,
		fingerprint: c.Fingerprint,
		members:     c.Members,
		owner:       c.Owner,
		token:       c.Token,
		until:       c.Until,
		bytes:       entryBytes + int64(len(c.Members)),
	}
	e.purgeAt = latest(c.Expires, c.Until)
	m.add(e)
	if m.inTx(ctx) {
		tx.AfterRollback(ctx, func() { m.undoClaim(e, old) })
	}
	return Prior{}, nil
}

// finished returns the record of an id with the given fingerprint, if there is one.
func (m *Memory) finished(id, fingerprint [32]byte, now time.Time) (Record, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil || !e.finished || e.fingerprint != fingerprint || !e.purgeAt.After(now) {
		return Record{}, false
	}
	return e.record, true
}

// prior returns the state of an existing entry for a claim.
func (e *entry) prior(c Claim) Prior {
	switch {
	case e.fingerprint != c.Fingerprint:
		return Prior{State: Mismatch, Fingerprint: e.fingerprint, Members: e.members}
	case e.finished:
		return Prior{State: Finished, Record: e.record}
	case e.until.After(c.Now):
		return Prior{State: InFlight}
	case c.TakeOver:
		return Prior{State: Fresh}
	}
	return Prior{State: Abandoned}
}

// checkCapacity checks the quota and the limits. If one is reached, it purges expired entries
// first.
func (m *Memory) checkCapacity(c Claim) (Prior, error) {
	const most = 1000
	over := func() bool { return c.Quota > 0 && m.owned[c.Owner] >= c.Quota }
	full := func() bool { return len(m.entries) >= m.maxEntries || m.bytes+entryBytes > m.maxBytes }
	if (over() || full()) && m.purge(c.Now, most) == 0 && full() {
		return Prior{}, ErrFull
	}
	switch {
	case over():
		return Prior{State: OverQuota}, nil
	case full():
		return Prior{}, ErrFull
	}
	return Prior{}, nil
}

// Finish implements [Store]. In a transaction other callers see the claim until the commit, and the
// record after it. If there is no memory for the result, the record is stored without it.
func (m *Memory) Finish(ctx context.Context, id [32]byte, token string, r Record, expires time.Time) error {
	return m.settle(ctx, id, token, func(e *entry) {
		need := r.bytes()
		if m.bytes+need > m.maxBytes/4*3 {
			r = r.limitResult(0)
			need = r.bytes()
		}
		m.bytes += need
		e.bytes += need
		e.finished, e.record, e.purgeAt = true, r, expires
		heap.Fix(&m.expiry, e.index)
	})
}

// Release implements [Store].
func (m *Memory) Release(ctx context.Context, id [32]byte, token string) error {
	return m.settle(ctx, id, token, m.remove)
}

// settle applies change to the claim with the given token, immediately or after the commit.
func (m *Memory) settle(ctx context.Context, id [32]byte, token string, change func(e *entry)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.claimed(id, token)
	if e == nil {
		return ErrLost
	}
	if !m.inTx(ctx) {
		change(e)
		return nil
	}
	tx.AfterCommit(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		// otherwise another call has taken over the claim before the commit
		if m.entries[id] == e && !e.finished {
			change(e)
		}
	})
	return nil
}

// claimed returns the claim with the given token, or nil.
func (m *Memory) claimed(id [32]byte, token string) *entry {
	if e := m.entries[id]; e != nil && !e.finished && e.token == token {
		return e
	}
	return nil
}

// undoClaim undoes a claim that was made in a transaction.
func (m *Memory) undoClaim(e, old *entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[e.id] != e {
		return
	}
	m.remove(e)
	if old != nil {
		m.add(old)
	}
}

// Purge implements [Store].
func (m *Memory) Purge(ctx context.Context, now time.Time, max int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.purge(now, max), nil
}

// purge removes at most max entries that have expired, so that no call holds the lock for long.
func (m *Memory) purge(now time.Time, max int) (n int) {
	for ; n < max && len(m.expiry) > 0 && !m.expiry[0].purgeAt.After(now); n++ {
		m.remove(m.expiry[0])
	}
	return n
}

// add adds an entry to all indexes. The caller holds the lock.
func (m *Memory) add(e *entry) {
	m.entries[e.id] = e
	m.owned[e.owner]++
	m.bytes += e.bytes
	heap.Push(&m.expiry, e)
}

// remove forgets an entry in all three indexes. The caller holds the lock.
func (m *Memory) remove(e *entry) {
	delete(m.entries, e.id)
	if m.owned[e.owner]--; m.owned[e.owner] == 0 {
		delete(m.owned, e.owner)
	}
	m.bytes -= e.bytes
	heap.Remove(&m.expiry, e.index)
}

// inTx reports whether ctx carries a transaction of the runner.
func (m *Memory) inTx(ctx context.Context) bool {
	return m.runner != nil && tx.ActiveFor(ctx, m.runner)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// expiries is a heap of entries, ordered by the time at which they may be purged.
type expiries []*entry

func (x expiries) Len() int           { return len(x) }
func (x expiries) Less(i, j int) bool { return x[i].purgeAt.Before(x[j].purgeAt) }
func (x expiries) Swap(i, j int) {
	x[i], x[j] = x[j], x[i]
	x[i].index, x[j].index = i, j
}

// Push implements [heap.Interface].
func (x *expiries) Push(v any) {
	e := v.(*entry)
	e.index = len(*x)
	*x = append(*x, e)
}

// Pop implements [heap.Interface].
func (x *expiries) Pop() any {
	last := len(*x) - 1
	e := (*x)[last]
	(*x)[last] = nil
	*x = (*x)[:last]
	return e
}
