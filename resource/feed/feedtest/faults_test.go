package feedtest_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/feedtest"
	"github.com/stoa-go/stoa/resource/tx"
)

// atOnce is a Runner with concurrent transactions and no isolation. The kit locks its items itself.
type atOnce struct {
	late bool // see answer
}

// answer ends a call that has taken effect. If late is set and the context has a deadline, the call
// fails all the same, as if the response was lost on the network.
func (r *atOnce) answer(ctx context.Context) error {
	if _, little := ctx.Deadline(); !r.late || !little {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (r *atOnce) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	inner, scope := tx.Begin(ctx, r)
	committed := false
	defer func() {
		if !committed {
			scope.Rollback()
		}
	}()
	if err := fn(inner); err != nil {
		return err
	}
	committed = true
	scope.Commit()
	return r.answer(ctx)
}

// faultyLog is a log in memory with a fault.
type faultyLog struct {
	*feed.Memory
	add   func(ctx context.Context, events []*feed.Event) error
	head  func(ctx context.Context) (feed.Cursor, error)
	tail  func(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error)
	read  func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error)
	purge func(ctx context.Context, before time.Time, keep, max int) (int, error)
	wake  chan struct{}
}

func newMutant(runner tx.Runner) *faultyLog {
	p := &faultyLog{Memory: feed.NewMemory(&feed.MemoryOptions{Runner: runner})}
	m := p.Memory
	p.add = func(ctx context.Context, events []*feed.Event) error { return m.Append(ctx, events...) }
	p.head, p.tail, p.read, p.purge = m.Head, m.Tail, m.Read, m.Purge
	return p
}

func (p *faultyLog) Append(ctx context.Context, events ...*feed.Event) error {
	return p.add(ctx, events)
}

func (p *faultyLog) Head(ctx context.Context) (feed.Cursor, error) { return p.head(ctx) }

func (p *faultyLog) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	return p.tail(ctx, after, max)
}

func (p *faultyLog) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	return p.read(ctx, after, until, max)
}

func (p *faultyLog) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	return p.purge(ctx, before, keep, max)
}

func (p *faultyLog) Wake() <-chan struct{} {
	if p.wake != nil {
		return p.wake
	}
	return p.Memory.Wake()
}

// copied returns a copy of an event that may be modified.
func copied(e *feed.Event) *feed.Event {
	return &feed.Event{
		Kind:       e.Kind,
		Collection: e.Collection,
		ID:         e.ID,
		Rev:        e.Rev,
		Before:     e.Before,
		After:      e.After,
		Schema:     e.Schema,
		Time:       e.Time,
		Cursor:     e.Cursor,
	}
}

// keeping returns a fault that changes events as they are appended.
func keeping(change func(e *feed.Event)) func(p *faultyLog) {
	return func(p *faultyLog) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			var kept []*feed.Event
			for _, e := range events {
				e = copied(e)
				change(e)
				kept = append(kept, e)
			}
			return p.Memory.Append(ctx, kept...)
		}
	}
}

// trusting returns a fault that changes cursors before they are looked up.
func trusting(change func(p *faultyLog, c feed.Cursor) feed.Cursor) func(p *faultyLog) {
	return func(p *faultyLog) {
		p.tail = func(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
			return p.Memory.Tail(ctx, change(p, after), max)
		}
		p.read = func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
			return p.Memory.Read(ctx, change(p, after), until, max)
		}
	}
}

// purging returns a fault that changes the arguments of Purge.
func purging(change func(before time.Time, keep int) (time.Time, int)) func(p *faultyLog) {
	return func(p *faultyLog) {
		p.purge = func(ctx context.Context, before time.Time, keep, max int) (int, error) {
			before, keep = change(before, keep)
			return p.Memory.Purge(ctx, before, keep, max)
		}
	}
}

// faults lists faults of logs, and the test case that must find each.
var faults = []struct {
	name   string
	mutate func(p *faultyLog)
	found  string
}{
	{"Before is lost", keeping(func(e *feed.Event) { e.Before = nil }), "events"},
	{"After is lost except for deletions", keeping(func(e *feed.Event) {
		if e.Kind == feed.Deleted {
			e.Before, e.After = nil, e.Before
		}
	}), "events"},
	{
		"the revision is stored as text",
		keeping(func(e *feed.Event) { e.Rev = string([]rune(e.Rev)) }),
		"events",
	},
	{"the schema is lost", keeping(func(e *feed.Event) { e.Schema = "" }), "events"},
	{"ids are truncated", keeping(func(e *feed.Event) { e.ID = e.ID[:min(len(e.ID), 255)] }), "events"},
	{"the kind is lost", keeping(func(e *feed.Event) { e.Kind = feed.Updated }), "events"},
	{
		"times are rounded to seconds",
		keeping(func(e *feed.Event) { e.Time = e.Time.Truncate(time.Second) }),
		"events",
	},
	{
		"a missing time is stored as the year one",
		keeping(func(e *feed.Event) { e.Time = e.Time.Add(1) }),
		"time",
	},
	{"given events are changed", func(p *faultyLog) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			for _, e := range events {
				e.Cursor = feed.Cursor{Epoch: 1, Seq: 1, Mark: 1}
			}
			return p.Memory.Append(ctx, events...)
		}
	}, "given events"},
	{"equal events are one", func(p *faultyLog) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			return p.Memory.Append(ctx, slices.Compact(slices.Clone(events))...)
		}
	}, "given events"},
	{"Append ignores its context", func(p *faultyLog) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			return p.Memory.Append(context.WithoutCancel(ctx), events...)
		}
	}, "context"},
	{"Purge ignores its context", func(p *faultyLog) {
		p.purge = func(ctx context.Context, before time.Time, keep, max int) (int, error) {
			return p.Memory.Purge(context.WithoutCancel(ctx), before, keep, max)
		}
	}, "context"},
	{"Wake receives no value", func(p *faultyLog) { p.wake = make(chan struct{}) }, "wake"},
	{"events outside of the transaction", func(p *faultyLog) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			return p.Memory.Append(tx.Without(ctx), events...)
		}
	}, "rollback"},
	{"events are visible before the commit", func(p *faultyLog) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			return p.Memory.Append(tx.Without(ctx), events...)
		}
	}, "commit"},
	{"the order is that of AfterCommit", func(p *faultyLog) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			tx.AfterCommit(ctx, func() { p.Memory.Append(context.WithoutCancel(tx.Without(ctx)), events...) })
			return ctx.Err()
		}
	}, "order of commits"},
	{"the head of an empty log is the zero cursor", func(p *faultyLog) {
		p.head = func(ctx context.Context) (feed.Cursor, error) {
			head, err := p.Memory.Head(ctx)
			if head.Seq == 0 {
				head.Mark = 0
			}
			return head, err
		}
	}, "head"},
	{"the head is one event too early", func(p *faultyLog) {
		first, _ := p.Memory.Head(context.Background())
		p.head = func(ctx context.Context) (feed.Cursor, error) { return first, ctx.Err() }
	}, "head"},
	{"Tail ignores max", func(p *faultyLog) {
		p.tail = func(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
			return p.Memory.Tail(ctx, after, max+1)
		}
	}, "pages"},
	{"a max of 0 is no limit", func(p *faultyLog) {
		p.purge = func(ctx context.Context, before time.Time, keep, max int) (int, error) {
			if max == 0 {
				max = 1000
			}
			return p.Memory.Purge(ctx, before, keep, max)
		}
	}, "bounds"},
	{"Tail returns a position that is too late", func(p *faultyLog) {
		p.tail = func(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
			events, next, err := p.Memory.Tail(ctx, after, max)
			if head, herr := p.Memory.Head(ctx); err == nil && herr == nil {
				next = head
			}
			return events, next, err
		}
	}, "pages"},
	{"Tail depends on the previous call", func(p *faultyLog) {
		var mu sync.Mutex
		var last feed.Cursor
		p.tail = func(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
			mu.Lock()
			defer mu.Unlock()
			from := after
			if last.Epoch == after.Epoch && last.Seq > after.Seq {
				from = last
			}
			events, next, err := p.Memory.Tail(ctx, from, max)
			if err == nil {
				last = next
			}
			return events, next, err
		}
	}, "two readers"},
	{"Read returns events after until", func(p *faultyLog) {
		p.read = func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
			until.Seq++
			return p.Memory.Read(ctx, after, until, max)
		}
	}, "reading"},
	{"Read misses the last event", func(p *faultyLog) {
		p.read = func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
			until.Seq = max1(until.Seq) - 1
			return p.Memory.Read(ctx, after, until, max)
		}
	}, "reading"},
	{"Read of large events ends too early", func(p *faultyLog) {
		p.read = func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
			events, err := p.Memory.Read(ctx, after, until, max)
			if len(events) > 1 && len(events[0].After) > 1000 {
				events = events[:1]
			}
			return events, err
		}
	}, "large pages"},
	{"epochs are ignored", trusting(func(p *faultyLog, c feed.Cursor) feed.Cursor {
		head, _ := p.Memory.Head(context.Background())
		c.Epoch = head.Epoch
		return c
	}), "foreign cursors"},
	{"a cursor after the head is the head", trusting(func(p *faultyLog, c feed.Cursor) feed.Cursor {
		if head, _ := p.Memory.Head(context.Background()); c.Seq > head.Seq {
			return head
		}
		return c
	}), "forged cursors"},
	{"Purge ignores max", func(p *faultyLog) {
		p.purge = func(ctx context.Context, before time.Time, keep, max int) (int, error) {
			return p.Memory.Purge(ctx, before, keep, max*2)
		}
	}, "purge"},
	{"Purge ignores the time", func(p *faultyLog) {
		p.purge = func(ctx context.Context, _ time.Time, keep, max int) (int, error) {
			return p.Memory.Purge(ctx, time.Now().Add(time.Hour), keep, max)
		}
	}, "purge"},
	{"Purge does nothing", func(p *faultyLog) {
		p.purge = func(context.Context, time.Time, int, int) (int, error) { return 0, nil }
	}, "purge"},
	{
		"Purge ignores keep",
		purging(func(before time.Time, _ int) (time.Time, int) { return before, 0 }),
		"purge by number",
	},
	{"Purge keeps one more", purging(func(before time.Time, keep int) (time.Time, int) {
		if keep > 0 {
			keep++
		}
		return before, keep
	}), "purge by number"},
	{
		"a keep below 1 is 1",
		purging(func(before time.Time, keep int) (time.Time, int) { return before, max(keep, 1) }),
		"purge by number",
	},
	{"keep replaces the time", purging(func(before time.Time, keep int) (time.Time, int) {
		if keep > 0 {
			before = time.Time{}
		}
		return before, keep
	}), "purge by number"},
}

func max1(n uint64) uint64 { return max(n, 1) }

// toysFaults lists faults of outbox tables.
var toysFaults = []struct {
	name   string
	faults toyFaults
	found  string
}{
	{"seq > last", toyFaults{passes: true}, "slow commit"},
	{"seq > last", toyFaults{passes: true}, "concurrent transactions"},
	{"events are ordered by the end of transactions", toyFaults{byEnd: true}, "order of commits"},
	{"numbers that were rolled back are waited for", toyFaults{holds: true}, "rollback"},
	{"numbers that were rolled back are waited for", toyFaults{holds: true}, "slow rollback"},
	{"marks are ignored", toyFaults{unmarked: true}, "forged cursors"},
	{"a reused number is accepted", toyFaults{unmarked: true}, "restored backup"},
	{"purged events are skipped", toyFaults{skips: true}, "purge"},
	{"purged events are skipped", toyFaults{skips: true}, "purge while reading"},
	{"a position is checked before the events are read", toyFaults{looks: true}, "purge while reading"},
	{"a time ahead of the clock ends a purge", toyFaults{trusting: true}, "purge of times ahead"},
	{"the newest is purged", toyFaults{all: true}, "purge of the newest"},
	{"events after an open position are purged", toyFaults{hasty: true}, "purge during a transaction"},
	{"processes have different cursors", toyFaults{renumbered: true}, "another process"},
	{"processes have different cursors", toyFaults{renumbered: true}, "concurrent processes"},
}

// wantFound fails unless the named test case finds the fault. It runs in a synctest bubble, so the
// result does not depend on the speed of the machine.
func wantFound(t *testing.T, name string, newLog func() feed.Log, opts *feedtest.Options) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if found := feedtest.Failing(t, newLog, opts); !slices.Contains(found, name) {
			t.Errorf("detected by %q, want %q among them", found, name)
		}
	})
}

func TestFaultsAreFoundInATable(t *testing.T) {
	t.Parallel()
	for _, tt := range toysFaults {
		t.Run(tt.name+", "+tt.found, func(t *testing.T) {
			t.Parallel()
			wantFound(
				t,
				tt.found,
				func() feed.Log { return newToy(tt.faults) },
				&feedtest.Options{
					Transactions: 30,
					Patience:     100 * time.Millisecond,
					Another:      another,
					Backup:       backup,
				},
			)
		})
	}
}

// TestFaultsAreFound checks that each fault is found by the named test case.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, tt := range faults {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantFound(t, tt.found, func() feed.Log {
				p := newMutant(&atOnce{})
				tt.mutate(p)
				return p
			}, &feedtest.Options{Transactions: 10, Patience: 100 * time.Millisecond})
		})
	}
}

// TestSound: a log without faults passes, also if its responses are late.
func TestSound(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			found := feedtest.Failing(t, func() feed.Log {
				runner := &atOnce{late: late}
				p := newMutant(runner)
				p.add = func(ctx context.Context, events []*feed.Event) error {
					if err := p.Memory.Append(ctx, events...); err != nil || tx.Active(ctx) {
						return err // in a transaction the response of the commit is the late one
					}
					return runner.answer(ctx)
				}
				return p
			}, nil)
			if len(found) > 0 {
				t.Errorf("late: %t: the tests fail %q", late, found)
			}
		})
	}
}

func TestSoundTable(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, func(*testing.T) feed.Log { return newToy(toyFaults{}) },
		&feedtest.Options{Another: another, Backup: backup})
}
