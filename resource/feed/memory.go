package feed

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/internal/pace"
	"github.com/stoa-go/stoa/resource/tx"
)

// MemoryOptions adjust a Memory. The zero value is meaningful.
type MemoryOptions struct {
	// Runner is that of the collections whose changes share transactions with the events, such as a *memory.DB of package
	// resource/memory or a *sqltx.DB. It has to call [tx.Scope.Rollback]. Nil is none: events are there at once.
	//
	// Where a transaction of it is inside one of another Runner, its events wait for that one, and go if that is rolled back.
	Runner tx.Runner
	// Events is how many events are held, 100,000 if zero, and Bytes how much memory they take, roughly; 64 MiB if zero. The
	// oldest go first.
	Events int
	Bytes  int64
	// Wait is how long events wait for the end of their transaction; a minute if zero. Where nobody tells how a transaction
	// has ended, as its outcome is unknown, all cursors expire then: who listens lists anew, and sees for itself.
	Wait time.Duration
}

// Memory is a Log in memory: for one process, and for what may be forgotten when it ends, as cursors of the process before
// are [ErrExpired]. It is safe for concurrent use.
type Memory struct {
	runner    tx.Runner
	maxEvents int
	maxBytes  int64
	wait      time.Duration
	wake      chan struct{}

	mu    sync.Mutex
	floor Cursor // the place before the first slot
	slots []slot // by number, without a gap: the first is that of floor.Seq+1
	live  int    // slots with an event of which it is known that it was committed
	bytes int64
	head  Cursor // behind the last event before which nothing can turn up
	next  uint64 // number of the first slot behind head that may be pending
}

// slot is the place of an event. Places are taken when events are appended, as at the commit it would be too late: between
// the commit of a transaction and its being told of, the next may have changed the same item.
type slot struct {
	event *Event    // nil if it was rolled back
	since time.Time // when it was taken, if its transaction is not known to be over
}

func (s *slot) pending() bool { return !s.since.IsZero() }

// NewMemory returns a Memory without events, with an epoch of its own. opts may be nil.
func NewMemory(opts *MemoryOptions) *Memory {
	if opts == nil {
		opts = &MemoryOptions{}
	}
	m := &Memory{runner: opts.Runner, wake: make(chan struct{}, 1)}
	m.maxEvents = cmp.Or(max(opts.Events, 0), 100_000)
	m.maxBytes = cmp.Or(max(opts.Bytes, 0), 64<<20)
	m.wait = cmp.Or(max(opts.Wait, 0), time.Minute)
	m.begin(0)
	return m
}

var (
	_ Log        = (*Memory)(nil)
	_ Transactor = (*Memory)(nil)
)

// Transactions returns MemoryOptions.Runner.
func (m *Memory) Transactions() tx.Runner { return m.runner }

// Wake is that of Log. All calls return the same channel.
func (m *Memory) Wake() <-chan struct{} { return m.wake }

// begin begins an epoch, behind a place that has not been given away.
func (m *Memory) begin(seq uint64) {
	m.floor = Cursor{Epoch: 1 + rand.Uint64N(1<<63), Seq: seq, Mark: rand.Uint64()}
	m.head, m.next = m.floor, seq+1
	m.slots, m.live, m.bytes = nil, 0, 0
}

// Append is that of Log.
func (m *Memory) Append(ctx context.Context, events ...*Event) error {
	if err := ctx.Err(); err != nil || len(events) == 0 {
		return err
	}
	epoch, first := m.take(events)
	behind := first + uint64(len(events))
	if m.runner == nil || !tx.ActiveFor(ctx, m.runner) {
		m.settle(epoch, first, behind, true)
		return nil
	}
	tx.AfterCommit(ctx, func() { m.settle(epoch, first, behind, true) })
	tx.AfterRollback(ctx, func() { m.settle(epoch, first, behind, false) })
	return nil
}

// take takes places for events, all pending, and returns the number of the first.
func (m *Memory) take(events []*Event) (epoch, first uint64) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	epoch, first = m.floor.Epoch, m.last()+1
	for _, e := range events {
		e = e.clone()
		if e.Time.IsZero() {
			e.Time = now
		}
		e.Cursor = Cursor{epoch, m.last() + 1, rand.Uint64()}
		m.slots = append(m.slots, slot{e, now})
		m.bytes += e.size()
	}
	return epoch, first
}

// last is the number of the newest slot.
func (m *Memory) last() uint64 { return m.floor.Seq + uint64(len(m.slots)) }

// at returns the slot with a number, which has to be there.
func (m *Memory) at(seq uint64) *slot { return &m.slots[seq-m.floor.Seq-1] }

// settle says how the transaction has ended that took the places from first to behind.
func (m *Memory) settle(epoch, first, behind uint64, committed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if epoch != m.floor.Epoch {
		// Those places were given up, and whoever lists since may have done so before the commit.
		if committed {
			m.begin(m.last())
			m.hint()
		}
		return
	}
	for seq := first; seq < behind; seq++ {
		s := m.at(seq)
		s.since = time.Time{}
		if !committed {
			m.bytes -= s.event.size()
			s.event = nil
		}
	}
	m.trim()
	m.advance()
	m.drop(func(*Event) bool { return m.live > m.maxEvents || m.bytes > m.maxBytes }, len(m.slots))
}

// advance moves the head as far as it can be, and wakes who tails.
func (m *Memory) advance() {
	from := m.head
	for ; m.next <= m.last() && !m.at(m.next).pending(); m.next++ {
		if e := m.at(m.next).event; e != nil {
			m.head = e.Cursor
			m.live++
		}
	}
	if m.head != from {
		m.hint()
	}
}

// trim gives up the newest places if they were rolled back: nobody has heard of them.
func (m *Memory) trim() {
	n := len(m.slots)
	for n > 0 && m.slots[n-1].event == nil {
		n--
	}
	m.slots = m.slots[:n]
	m.next = min(m.next, m.last()+1)
}

func (m *Memory) hint() { pace.Hint(m.wake) }

// drop removes events, oldest first, but never the one at the head, as that is where to go on from.
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
	clear(m.slots[:gone]) // the slice is moved by and by, and would hold them until then
	m.slots = m.slots[gone:]
	return n
}

// giveUp begins anew if the end of a transaction has not been told for too long: its events may be missing.
func (m *Memory) giveUp() {
	if m.next > m.last() {
		return
	}
	if s := m.at(m.next); s.pending() && time.Since(s.since) >= m.wait {
		m.begin(m.last())
		m.hint()
	}
}

// Head is that of Log. It waits for nobody.
func (m *Memory) Head(ctx context.Context) (Cursor, error) {
	if err := ctx.Err(); err != nil {
		return Cursor{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.giveUp()
	return m.head, nil
}

// Tail is that of Log.
func (m *Memory) Tail(ctx context.Context, after Cursor, max int) ([]*Event, Cursor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.giveUp()
	events, err := m.read(ctx, after, m.head.Seq, max)
	if err != nil {
		return nil, Cursor{}, err
	}
	if n := len(events); n > 0 {
		after = events[n-1].Cursor
	}
	return events, after, nil
}

// Read is that of Log.
func (m *Memory) Read(ctx context.Context, after, until Cursor, max int) ([]*Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if until.Epoch != m.floor.Epoch {
		return nil, ErrExpired
	}
	return m.read(ctx, after, min(until.Seq, m.head.Seq), max)
}

func (m *Memory) read(ctx context.Context, after Cursor, until uint64, max int) (events []*Event, _ error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !m.knows(after) {
		return nil, ErrExpired
	}
	for seq := after.Seq + 1; seq <= until && len(events) < max; seq++ {
		if e := m.at(seq).event; e != nil {
			events = append(events, e)
		}
	}
	return events, nil
}

// knows reports whether a place was given away, and everything behind it is there.
func (m *Memory) knows(c Cursor) bool {
	if c == m.floor {
		return true
	}
	if c.Epoch != m.floor.Epoch || c.Seq <= m.floor.Seq || c.Seq > m.head.Seq {
		return false
	}
	e := m.at(c.Seq).event
	return e != nil && e.Cursor == c
}

// Purge is that of Log.
func (m *Memory) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.drop(func(e *Event) bool { return e.Time.Before(before) || keep > 0 && m.live > keep }, max), nil
}
