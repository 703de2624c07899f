package feed

// A log in memory, with the retention and the errors of one in a database.

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/internal/pace"
	"github.com/stoa-go/stoa/resource/tx"
)

// MemoryOptions configures a Memory. The zero value selects the defaults.
type MemoryOptions struct {
	// Runner is the runner of the collections that share transactions with the events, such as a
	// *memory.DB of package resource/memory or a *sqltx.DB. It must call [tx.Scope.Rollback]. If it
	// is nil, events are visible immediately.
	//
	// In a transaction that is nested in one of another Runner, the events become visible when the
	// outer transaction commits, and are dropped if it rolls back.
	Runner tx.Runner
	// Events and Bytes limit the number of events and their approximate memory. Default 100,000
	// events and 64 MiB. The oldest events are dropped first.
	Events int
	Bytes  int64
	// Wait is how long events, and those after them, wait for the end of their transaction. Default
	// one minute. If the outcome of a transaction is unknown, the Runner reports no end. After this
	// time all cursors expire, subscribers list again, and the waiting events are dropped. If the
	// transaction commits later, all cursors expire again.
	Wait time.Duration
}

// Memory is a [Log] in memory, for a single process. Cursors of a previous process are
// [ErrExpired]. It is safe for concurrent use.
type Memory struct {
	runner    tx.Runner
	maxEvents int
	maxBytes  int64
	wait      time.Duration
	wake      chan struct{}

	mu    sync.Mutex
	floor Cursor // the position before the first slot
	slots []slot // by Seq without gaps; the first has floor.Seq+1
	live  int    // slots of committed events up to head
	bytes int64
	head  Cursor // the position of the last event before which no other can appear
	next  uint64 // the Seq of the first slot after head that may be pending
}

// slot is the position of an event. Append reserves it, before the commit: between a commit and its
// notification another transaction may change the same item, and its event must come later.
type slot struct {
	event *Event    // nil if it was rolled back
	since time.Time // when it was reserved; zero once its transaction has ended
}

func (s *slot) pending() bool { return !s.since.IsZero() }

// NewMemory returns an empty Memory with an epoch of its own. A nil opts selects the defaults.
func NewMemory(opts *MemoryOptions) *Memory {
	if opts == nil {
		opts = &MemoryOptions{}
	}
	m := &Memory{runner: opts.Runner, wake: make(chan struct{}, 1)}
	m.maxEvents = cmp.Or(max(opts.Events, 0), 100_000)
	m.maxBytes = cmp.Or(max(opts.Bytes, 0), 64<<20)
	m.wait = cmp.Or(max(opts.Wait, 0), time.Minute)
	m.startEpoch(0)
	return m
}

var (
	_ Log        = (*Memory)(nil)
	_ Transactor = (*Memory)(nil)
)

// Transactions returns [MemoryOptions.Runner].
func (m *Memory) Transactions() tx.Runner { return m.runner }

// Wake implements [Log]. All calls return the same channel.
func (m *Memory) Wake() <-chan struct{} { return m.wake }

// startEpoch starts a new epoch after seq, which no event has used.
func (m *Memory) startEpoch(seq uint64) {
	m.floor = Cursor{Epoch: 1 + rand.Uint64N(1<<63), Seq: seq, Mark: rand.Uint64()}
	m.head, m.next = m.floor, seq+1
	m.slots, m.live, m.bytes = nil, 0, 0
}

// Append implements [Log].
func (m *Memory) Append(ctx context.Context, events ...*Event) error {
	if err := ctx.Err(); err != nil || len(events) == 0 {
		return err
	}
	epoch, first := m.reserve(events)
	end := first + uint64(len(events))
	if m.runner == nil || !tx.ActiveFor(ctx, m.runner) {
		m.settle(epoch, first, end, true)
		return nil
	}
	tx.AfterCommit(ctx, func() { m.settle(epoch, first, end, true) })
	tx.AfterRollback(ctx, func() { m.settle(epoch, first, end, false) })
	return nil
}

// reserve reserves pending slots for events and returns the Seq of the first.
func (m *Memory) reserve(events []*Event) (epoch, first uint64) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	epoch, first = m.floor.Epoch, m.lastSeq()+1
	for _, e := range events {
		e = e.clone()
		if e.Time.IsZero() {
			e.Time = now
		}
		e.Cursor = Cursor{epoch, m.lastSeq() + 1, rand.Uint64()}
		m.slots = append(m.slots, slot{e, now})
		m.bytes += e.size()
	}
	return epoch, first
}

// lastSeq returns the Seq of the newest slot.
func (m *Memory) lastSeq() uint64 { return m.floor.Seq + uint64(len(m.slots)) }

// slotAt returns the slot with the given Seq, which must exist.
func (m *Memory) slotAt(seq uint64) *slot { return &m.slots[seq-m.floor.Seq-1] }

// settle records the outcome of the transaction that has reserved the slots from first to end,
// exclusive.
func (m *Memory) settle(epoch, first, end uint64, committed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if epoch != m.floor.Epoch {
		// Expiry has dropped these slots. Subscribers that have listed in between may have read the
		// state before the commit, so their cursors expire as well.
		if committed {
			m.startEpoch(m.lastSeq())
			m.hintReader()
		}
		return
	}
	for seq := first; seq < end; seq++ {
		s := m.slotAt(seq)
		s.since = time.Time{}
		if !committed {
			m.bytes -= s.event.size()
			s.event = nil
		}
	}
	m.trimRolledBack()
	m.advance()
	m.drop(func(*Event) bool { return m.live > m.maxEvents || m.bytes > m.maxBytes }, len(m.slots))
}

// advance moves head past all settled slots and wakes the reader.
func (m *Memory) advance() {
	from := m.head
	for ; m.next <= m.lastSeq() && !m.slotAt(m.next).pending(); m.next++ {
		if e := m.slotAt(m.next).event; e != nil {
			m.head = e.Cursor
			m.live++
		}
	}
	if m.head != from {
		m.hintReader()
	}
}

// trimRolledBack removes the newest slots if they were rolled back. No reader has seen them.
func (m *Memory) trimRolledBack() {
	n := len(m.slots)
	for n > 0 && m.slots[n-1].event == nil {
		n--
	}
	m.slots = m.slots[:n]
	m.next = min(m.next, m.lastSeq()+1)
}

func (m *Memory) hintReader() { pace.Hint(m.wake) }

// drop removes events, oldest first, but never the one at head, because readers continue from
// there.
func (m *Memory) drop(old func(*Event) bool, most int) (n int) {
	gone := 0
	for i := 0; i < len(m.slots) && n < most; i++ {
		e := m.slots[i].event
		if e == nil {
			continue
		}
		if e.Cursor.Seq >= m.head.Seq || !old(e) {
			break
		}
		gone, m.floor = i+1, e.Cursor
		m.live--
		m.bytes -= e.size()
		n++
	}
	clear(m.slots[:gone]) // release the events now; append copies the slice only later
	m.slots = m.slots[gone:]
	return n
}

// expirePending starts a new epoch if a transaction has been pending for too long, because its
// events may be missing.
func (m *Memory) expirePending() {
	if m.next > m.lastSeq() {
		return
	}
	if s := m.slotAt(m.next); s.pending() && time.Since(s.since) >= m.wait {
		m.startEpoch(m.lastSeq())
		m.hintReader()
	}
}

// Head implements [Log]. It does not wait.
func (m *Memory) Head(ctx context.Context) (Cursor, error) {
	if err := ctx.Err(); err != nil {
		return Cursor{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expirePending()
	return m.head, nil
}

// Tail implements [Log].
func (m *Memory) Tail(ctx context.Context, after Cursor, max int) ([]*Event, Cursor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expirePending()
	events, err := m.read(ctx, after, m.head.Seq, max)
	if err != nil {
		return nil, Cursor{}, err
	}
	if n := len(events); n > 0 {
		after = events[n-1].Cursor
	}
	return events, after, nil
}

// Read implements [Log].
func (m *Memory) Read(ctx context.Context, after, until Cursor, max int) ([]*Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if until.Epoch != m.floor.Epoch {
		return nil, ErrExpired
	}
	return m.read(ctx, after, min(until.Seq, m.head.Seq), max)
}

// read returns at most max events after a cursor. The caller holds the lock.
func (m *Memory) read(ctx context.Context, after Cursor, until uint64, max int) (events []*Event, _ error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !m.contains(after) {
		return nil, ErrExpired
	}
	for seq := after.Seq + 1; seq <= until && len(events) < max; seq++ {
		if e := m.slotAt(seq).event; e != nil {
			events = append(events, e)
		}
	}
	return events, nil
}

// contains reports whether c is a position of the log and no event after it has been dropped.
func (m *Memory) contains(c Cursor) bool {
	if c == m.floor {
		return true
	}
	if c.Epoch != m.floor.Epoch || c.Seq <= m.floor.Seq || c.Seq > m.head.Seq {
		return false
	}
	e := m.slotAt(c.Seq).event
	return e != nil && e.Cursor == c
}

// Purge implements [Log].
func (m *Memory) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.lastExpired(before, keep, max)
	return m.drop(func(e *Event) bool { return e.Cursor.Seq <= last }, max), nil
}

// lastExpired returns the number of the last event to purge, or of a later one if there are more than most.
func (m *Memory) lastExpired(before time.Time, keep, most int) (last uint64) {
	now, n := time.Now(), 0
	for _, s := range m.slots {
		e := s.event
		if e == nil {
			continue
		}
		if e.Cursor.Seq >= m.head.Seq || n >= most && last > 0 {
			break
		}
		n++
		switch {
		case e.Time.Before(before) || keep > 0 && m.live-n >= keep:
			last = e.Cursor.Seq
		case !e.Time.After(now):
			return last
		}
	}
	return last
}
