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

// atOnce runs transactions at the same time. Nothing keeps them apart: the kit locks its items itself.
type atOnce struct {
	late bool // see answer
}

// answer ends a call that has done what it was to do. Where answers are late, the time of whoever has little ends on the way
// back, as it does on a network: the call fails, and what it did is there.
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

// planted is a log in memory with a fault.
type planted struct {
	*feed.Memory
	add   func(ctx context.Context, events []*feed.Event) error
	head  func(ctx context.Context) (feed.Cursor, error)
	tail  func(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error)
	read  func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error)
	purge func(ctx context.Context, before time.Time, keep, max int) (int, error)
	wake  chan struct{}
}

func newPlanted(runner tx.Runner) *planted {
	p := &planted{Memory: feed.NewMemory(&feed.MemoryOptions{Runner: runner})}
	m := p.Memory
	p.add = func(ctx context.Context, events []*feed.Event) error { return m.Append(ctx, events...) }
	p.head, p.tail, p.read, p.purge = m.Head, m.Tail, m.Read, m.Purge
	return p
}

func (p *planted) Append(ctx context.Context, events ...*feed.Event) error { return p.add(ctx, events) }

func (p *planted) Head(ctx context.Context) (feed.Cursor, error) { return p.head(ctx) }

func (p *planted) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	return p.tail(ctx, after, max)
}

func (p *planted) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	return p.read(ctx, after, until, max)
}

func (p *planted) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	return p.purge(ctx, before, keep, max)
}

func (p *planted) Wake() <-chan struct{} {
	if p.wake != nil {
		return p.wake
	}
	return p.Memory.Wake()
}

// copied is an event that can be changed.
func copied(e *feed.Event) *feed.Event {
	return &feed.Event{Kind: e.Kind, Collection: e.Collection, ID: e.ID, Rev: e.Rev, Before: e.Before, After: e.After, Time: e.Time, Cursor: e.Cursor}
}

// keeping plants events that differ from those that were given.
func keeping(change func(e *feed.Event)) func(p *planted) {
	return func(p *planted) {
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

// trusting plants cursors that are changed before they are looked up.
func trusting(change func(p *planted, c feed.Cursor) feed.Cursor) func(p *planted) {
	return func(p *planted) {
		p.tail = func(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
			return p.Memory.Tail(ctx, change(p, after), max)
		}
		p.read = func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
			return p.Memory.Read(ctx, change(p, after), until, max)
		}
	}
}

// purging plants what Purge is told wrongly.
func purging(change func(before time.Time, keep int) (time.Time, int)) func(p *planted) {
	return func(p *planted) {
		p.purge = func(ctx context.Context, before time.Time, keep, max int) (int, error) {
			before, keep = change(before, keep)
			return p.Memory.Purge(ctx, before, keep, max)
		}
	}
}

// faults are what goes wrong in logs, and the case that finds it.
var faults = []struct {
	name  string
	plant func(p *planted)
	found string
}{
	{"Before is lost", keeping(func(e *feed.Event) { e.Before = nil }), "events"},
	{"After is lost of what was deleted only", keeping(func(e *feed.Event) {
		if e.Kind == feed.Deleted {
			e.Before, e.After = nil, e.Before
		}
	}), "events"},
	{"the revision is text", keeping(func(e *feed.Event) { e.Rev = string([]rune(e.Rev)) }), "events"},
	{"ids are cut", keeping(func(e *feed.Event) { e.ID = e.ID[:min(len(e.ID), 255)] }), "events"},
	{"the kind is lost", keeping(func(e *feed.Event) { e.Kind = feed.Updated }), "events"},
	{"times are of seconds", keeping(func(e *feed.Event) { e.Time = e.Time.Truncate(time.Second) }), "events"},
	{"no time is year one", keeping(func(e *feed.Event) { e.Time = e.Time.Add(1) }), "time"},
	{"given events are changed", func(p *planted) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			for _, e := range events {
				e.Cursor = feed.Cursor{Epoch: 1, Seq: 1, Mark: 1}
			}
			return p.Memory.Append(ctx, events...)
		}
	}, "given events"},
	{"equal events are one", func(p *planted) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			return p.Memory.Append(ctx, slices.Compact(slices.Clone(events))...)
		}
	}, "given events"},
	{"contexts do not count", func(p *planted) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			return p.Memory.Append(context.WithoutCancel(ctx), events...)
		}
	}, "context"},
	{"contexts do not count for Purge", func(p *planted) {
		p.purge = func(ctx context.Context, before time.Time, keep, max int) (int, error) {
			return p.Memory.Purge(context.WithoutCancel(ctx), before, keep, max)
		}
	}, "context"},
	{"nobody is woken", func(p *planted) { p.wake = make(chan struct{}) }, "wake"},
	{"events outside of the transaction", func(p *planted) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			return p.Memory.Append(tx.Without(ctx), events...)
		}
	}, "rollback"},
	{"events come before the commit", func(p *planted) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			return p.Memory.Append(tx.Without(ctx), events...)
		}
	}, "commit"},
	{"the order is that of being told", func(p *planted) {
		p.add = func(ctx context.Context, events []*feed.Event) error {
			tx.AfterCommit(ctx, func() { p.Memory.Append(context.WithoutCancel(tx.Without(ctx)), events...) })
			return ctx.Err()
		}
	}, "order of commits"},
	{"the head of a log without events is no place", func(p *planted) {
		p.head = func(ctx context.Context) (feed.Cursor, error) {
			head, err := p.Memory.Head(ctx)
			if head.Seq == 0 {
				head.Mark = 0
			}
			return head, err
		}
	}, "head"},
	{"the head is behind", func(p *planted) {
		first, _ := p.Memory.Head(context.Background())
		p.head = func(ctx context.Context) (feed.Cursor, error) { return first, ctx.Err() }
	}, "head"},
	{"Tail does not count", func(p *planted) {
		p.tail = func(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
			return p.Memory.Tail(ctx, after, max+1)
		}
	}, "pages"},
	{"none is no bound", func(p *planted) {
		p.purge = func(ctx context.Context, before time.Time, keep, max int) (int, error) {
			if max == 0 {
				max = 1000
			}
			return p.Memory.Purge(ctx, before, keep, max)
		}
	}, "bounds"},
	{"Tail says that it has come too far", func(p *planted) {
		p.tail = func(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
			events, next, err := p.Memory.Tail(ctx, after, max)
			if head, herr := p.Memory.Head(ctx); err == nil && herr == nil {
				next = head
			}
			return events, next, err
		}
	}, "pages"},
	{"Tail remembers who was here last", func(p *planted) {
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
	}, "two who tail"},
	{"Read goes too far", func(p *planted) {
		p.read = func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
			until.Seq++
			return p.Memory.Read(ctx, after, until, max)
		}
	}, "reading"},
	{"Read does not go far enough", func(p *planted) {
		p.read = func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
			until.Seq = max1(until.Seq) - 1
			return p.Memory.Read(ctx, after, until, max)
		}
	}, "reading"},
	{"Read of large events ends too early", func(p *planted) {
		p.read = func(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
			events, err := p.Memory.Read(ctx, after, until, max)
			if len(events) > 1 && len(events[0].After) > 1000 {
				events = events[:1]
			}
			return events, err
		}
	}, "large pages"},
	{"epochs do not count", trusting(func(p *planted, c feed.Cursor) feed.Cursor {
		head, _ := p.Memory.Head(context.Background())
		c.Epoch = head.Epoch
		return c
	}), "foreign cursors"},
	{"the future is the head", trusting(func(p *planted, c feed.Cursor) feed.Cursor {
		if head, _ := p.Memory.Head(context.Background()); c.Seq > head.Seq {
			return head
		}
		return c
	}), "forged cursors"},
	{"Purge does not count", func(p *planted) {
		p.purge = func(ctx context.Context, before time.Time, keep, max int) (int, error) {
			return p.Memory.Purge(ctx, before, keep, max*2)
		}
	}, "purge"},
	{"Purge knows no time", func(p *planted) {
		p.purge = func(ctx context.Context, _ time.Time, keep, max int) (int, error) {
			return p.Memory.Purge(ctx, time.Now().Add(time.Hour), keep, max)
		}
	}, "purge"},
	{"Purge does nothing", func(p *planted) {
		p.purge = func(context.Context, time.Time, int, int) (int, error) { return 0, nil }
	}, "purge"},
	{"Purge knows no number", purging(func(before time.Time, _ int) (time.Time, int) { return before, 0 }), "purge by number"},
	{"Purge keeps one more", purging(func(before time.Time, keep int) (time.Time, int) {
		if keep > 0 {
			keep++
		}
		return before, keep
	}), "purge by number"},
	{"a number below 1 is none to be kept", purging(func(before time.Time, keep int) (time.Time, int) { return before, max(keep, 1) }), "purge by number"},
	{"with a number no time counts", purging(func(before time.Time, keep int) (time.Time, int) {
		if keep > 0 {
			before = time.Time{}
		}
		return before, keep
	}), "purge by number"},
}

func max1(n uint64) uint64 { return max(n, 1) }

// toysFaults are those of outboxes.
var toysFaults = []struct {
	name   string
	faults toyFaults
	found  string
}{
	{"seq > last", toyFaults{passes: true}, "slow commit"},
	{"seq > last", toyFaults{passes: true}, "transactions at once"},
	{"the order is that of the ends", toyFaults{byEnd: true}, "order of commits"},
	{"numbers that were rolled back are waited for", toyFaults{holds: true}, "rollback"},
	{"numbers that were rolled back are waited for", toyFaults{holds: true}, "slow rollback"},
	{"marks do not count", toyFaults{unmarked: true}, "forged cursors"},
	{"a number is taken for the event that had it", toyFaults{unmarked: true}, "restored backup"},
	{"what was purged is passed over", toyFaults{skips: true}, "purge"},
	{"what was purged is passed over", toyFaults{skips: true}, "purge while reading"},
	{"a place is looked up before what is behind it is read", toyFaults{looks: true}, "purge while reading"},
	{"the newest is purged", toyFaults{all: true}, "purge of the newest"},
	{"what is behind a place that may be taken is purged", toyFaults{hasty: true}, "purge beside a transaction"},
	{"processes have cursors of their own", toyFaults{renumbered: true}, "another process"},
	{"processes have cursors of their own", toyFaults{renumbered: true}, "processes at once"},
}

// wantFound fails unless a case finds a fault. It runs them in a bubble, where whoever is to do something beside a slow
// transaction does it, however long the machine takes for that.
func wantFound(t *testing.T, name string, newLog func() feed.Log, opts *feedtest.Options) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if found := feedtest.Failing(t, newLog, opts); !slices.Contains(found, name) {
			t.Errorf("the kit found it in %q, want %q among them", found, name)
		}
	})
}

func TestPlantedInATable(t *testing.T) {
	t.Parallel()
	for _, tt := range toysFaults {
		t.Run(tt.name+", "+tt.found, func(t *testing.T) {
			t.Parallel()
			wantFound(t, tt.found, func() feed.Log { return newToy(tt.faults) },
				&feedtest.Options{Transactions: 30, Patience: 100 * time.Millisecond, Another: another, Backup: backup})
		})
	}
}

// TestPlanted proves that the kit can fail: each fault is found by the case that is named.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for _, tt := range faults {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantFound(t, tt.found, func() feed.Log {
				p := newPlanted(&atOnce{})
				tt.plant(p)
				return p
			}, &feedtest.Options{Transactions: 10, Patience: 100 * time.Millisecond})
		})
	}
}

// TestSound: a log without a fault passes, so that the faults are what is found. One whose answers are late has none.
func TestSound(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			found := feedtest.Failing(t, func() feed.Log {
				runner := &atOnce{late: late}
				p := newPlanted(runner)
				p.add = func(ctx context.Context, events []*feed.Event) error {
					if err := p.Memory.Append(ctx, events...); err != nil || tx.Active(ctx) {
						return err // in a transaction it is the end of that whose answer counts
					}
					return runner.answer(ctx)
				}
				return p
			}, nil)
			if len(found) > 0 {
				t.Errorf("late: %t: the kit found faults in %q", late, found)
			}
		})
	}
}

func TestSoundTable(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, func(*testing.T) feed.Log { return newToy(toyFaults{}) }, &feedtest.Options{Another: another, Backup: backup})
}
