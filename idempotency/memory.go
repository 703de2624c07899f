package idempotency

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// MemoryOptions adjust a Memory. The zero value is meaningful.
type MemoryOptions struct {
	// Runner is that of the collections whose effects share transactions with the records: a *memory.DB of package
	// resource/memory. Their effects are ExactlyOnce then. It has to call [tx.Scope.Rollback]. Nil is none.
	//
	// It is no way to have records in memory of data that is not: a restart would lose the ones and keep the others.
	Runner tx.Runner
	// Entries is how many records and claims are held; 1,000,000 if zero.
	Entries int
	// Bytes is how much memory they take, roughly; 256 MiB if zero. Results get three quarters of it at most, so that a few
	// callers with large ones do not leave the others without a place for their claims.
	Bytes int64
}

// ErrFull is what a Memory returns to a claim for which there is no room. What it holds it does not forget early.
var ErrFull = errors.New("there is no room for another record")

// Memory is a Store in memory: for one process, and for what may be forgotten when it ends. It purges itself.
type Memory struct {
	runner     tx.Runner
	maxEntries int
	maxBytes   int64

	mu      sync.Mutex
	entries map[[32]byte]*entry
	owned   map[[32]byte]int // live entries of each owner
	expiry  expiries
	bytes   int64
}

// NewMemory returns a Memory without records. opts may be nil.
func NewMemory(opts *MemoryOptions) *Memory {
	if opts == nil {
		opts = &MemoryOptions{}
	}
	o := *opts
	orElse(&o.Entries, 1_000_000)
	orElse(&o.Bytes, 256<<20)
	return &Memory{runner: o.Runner, maxEntries: o.Entries, maxBytes: o.Bytes,
		entries: map[[32]byte]*entry{}, owned: map[[32]byte]int{}}
}

var (
	_ Store      = (*Memory)(nil)
	_ Transactor = (*Memory)(nil)
)

// Transactions returns MemoryOptions.Runner.
func (m *Memory) Transactions() tx.Runner { return m.runner }

// entry is a claim, or the record that took its place.
type entry struct {
	id, fingerprint, owner [32]byte

	token    string // of the claim
	until    time.Time
	finished bool
	record   Record
	bytes    int64

	gone time.Time // when it may be purged: when it has expired, and its lease has ended
	at   int       // in expiries
}

// entryBytes is about what an entry without content takes, with its share of the maps.
const entryBytes = 640

func (r *Record) bytes() int64 {
	n := len(r.Result) + len(r.Media) + len(r.Collection) + len(r.ID) + len(r.Rev)
	for name, lines := range r.Header {
		n += len(name) + 64
		for _, line := range lines {
			n += len(line) + 16
		}
	}
	return int64(n)
}

// Claim is that of Store.
func (m *Memory) Claim(ctx context.Context, id [32]byte, c Claim) (Prior, error) {
	if err := ctx.Err(); err != nil {
		return Prior{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.purge(c.Now, 8) // more than one goes for each that comes
	old := m.entries[id]
	if old != nil && !old.gone.After(c.Now) {
		m.remove(old)
		old = nil
	}
	if old != nil {
		if prior := old.prior(c); prior.State != Fresh {
			return prior, nil
		}
		m.remove(old)
	} else if prior, err := m.room(c); err != nil || prior.State != Fresh {
		return prior, err
	}
	e := &entry{id: id, fingerprint: c.Fingerprint, owner: c.Owner, token: c.Token, until: c.Until, bytes: entryBytes}
	e.gone = latest(c.Expires, c.Until)
	m.add(e)
	if m.inTx(ctx) {
		tx.AfterRollback(ctx, func() { m.takeBack(e, old) })
	}
	return Prior{}, nil
}

// finished returns the record of an id, if it has one under this fingerprint.
func (m *Memory) finished(id, fingerprint [32]byte, now time.Time) (Record, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil || !e.finished || e.fingerprint != fingerprint || !e.gone.After(now) {
		return Record{}, false
	}
	return e.record, true
}

// prior is what is known of an entry that is there.
func (e *entry) prior(c Claim) Prior {
	switch {
	case e.fingerprint != c.Fingerprint:
		return Prior{State: Mismatch}
	case e.finished:
		return Prior{Finished, e.record}
	case e.until.After(c.Now):
		return Prior{State: InFlight}
	case c.TakeOver:
		return Prior{State: Fresh}
	}
	return Prior{State: Abandoned}
}

// room says whether there is room for another entry, and makes some of what has expired before it says no.
func (m *Memory) room(c Claim) (Prior, error) {
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

// Finish is that of Store. In a transaction others see the record once it is committed, and the claim until then. A result
// for which there is no room is not kept, only that it was done.
func (m *Memory) Finish(ctx context.Context, id [32]byte, token string, r Record, expires time.Time) error {
	return m.settle(ctx, id, token, func(e *entry) {
		need := r.bytes()
		if m.bytes+need > m.maxBytes/4*3 {
			r = r.most(0)
			need = r.bytes()
		}
		m.bytes += need
		e.bytes += need
		e.finished, e.record, e.gone = true, r, expires
		heap.Fix(&m.expiry, e.at)
	})
}

// Release is that of Store.
func (m *Memory) Release(ctx context.Context, id [32]byte, token string) error {
	return m.settle(ctx, id, token, m.remove)
}

// settle changes the claim with the token, if it is still there: at once, or when the transaction is committed.
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
		if m.entries[id] == e && !e.finished { // else it was taken over while the transaction was committed
			change(e)
		}
	})
	return nil
}

// claimed returns the claim with the token, or nil.
func (m *Memory) claimed(id [32]byte, token string) *entry {
	if e := m.entries[id]; e != nil && !e.finished && e.token == token {
		return e
	}
	return nil
}

// takeBack undoes a claim that was made in a transaction.
func (m *Memory) takeBack(e, old *entry) {
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

// Purge is that of Store.
func (m *Memory) Purge(ctx context.Context, now time.Time, max int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.purge(now, max), nil
}

func (m *Memory) purge(now time.Time, max int) (n int) {
	for ; n < max && len(m.expiry) > 0 && !m.expiry[0].gone.After(now); n++ {
		m.remove(m.expiry[0])
	}
	return n
}

func (m *Memory) add(e *entry) {
	m.entries[e.id] = e
	m.owned[e.owner]++
	m.bytes += e.bytes
	heap.Push(&m.expiry, e)
}

func (m *Memory) remove(e *entry) {
	delete(m.entries, e.id)
	if m.owned[e.owner]--; m.owned[e.owner] == 0 {
		delete(m.owned, e.owner)
	}
	m.bytes -= e.bytes
	heap.Remove(&m.expiry, e.at)
}

// inTx reports whether ctx carries a transaction that may yet take back what is done.
func (m *Memory) inTx(ctx context.Context) bool {
	return m.runner != nil && tx.ActiveFor(ctx, m.runner)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// expiries are entries in the order of a heap: the first one to go is in front.
type expiries []*entry

func (x expiries) Len() int           { return len(x) }
func (x expiries) Less(i, j int) bool { return x[i].gone.Before(x[j].gone) }
func (x expiries) Swap(i, j int) {
	x[i], x[j] = x[j], x[i]
	x[i].at, x[j].at = i, j
}

// Push is that of heap.Interface.
func (x *expiries) Push(v any) {
	e := v.(*entry)
	e.at = len(*x)
	*x = append(*x, e)
}

// Pop is that of heap.Interface.
func (x *expiries) Pop() any {
	last := len(*x) - 1
	e := (*x)[last]
	(*x)[last] = nil
	*x = (*x)[:last]
	return e
}
