package natsfeed_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/feedtest"
	"github.com/stoa-go/stoa/resource/feed/natsfeed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/tx"
)

// restorable is a log that can be replaced by a restored backup.
type restorable struct {
	now   atomic.Pointer[feed.Memory]
	db    *memory.DB
	start feed.Cursor
}

func newRestorable() *restorable {
	r := &restorable{db: memory.NewDB()}
	first := feed.NewMemory(&feed.MemoryOptions{Runner: r.db})
	r.start, _ = first.Head(context.Background()) // fails only if its context is done
	r.now.Store(first)
	return r
}

func (r *restorable) Append(ctx context.Context, events ...*feed.Event) error {
	return r.now.Load().Append(ctx, events...)
}
func (r *restorable) Head(ctx context.Context) (feed.Cursor, error) { return r.now.Load().Head(ctx) }

func (r *restorable) Tail(ctx context.Context, after feed.Cursor,
	max int) ([]*feed.Event, feed.Cursor, error) {
	return r.now.Load().Tail(ctx, after, max)
}
func (r *restorable) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	return r.now.Load().Read(ctx, after, until, max)
}
func (r *restorable) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	return r.now.Load().Purge(ctx, before, keep, max)
}
func (r *restorable) Wake() <-chan struct{}   { return nil }
func (r *restorable) Transactions() tx.Runner { return r.db }

// restore replaces the log by a new one with the events of a backup.
func (r *restorable) restore(t *testing.T, events []*feed.Event) {
	t.Helper()
	restored := feed.NewMemory(&feed.MemoryOptions{Runner: r.db})
	if err := restored.Append(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	r.now.Store(restored)
}

// TestKit runs the conformance tests with an existing stream, with a lagging one, and without one.
func TestKit(t *testing.T) {
	t.Parallel()
	c := theCluster(t)
	tests := []struct {
		name string
		opts natsfeed.Options
		runs bool
	}{
		{"with a relay", natsfeed.Options{}, true},
		{"with a small window", natsfeed.Options{Events: 3}, true},
		{"without Run", natsfeed.Options{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sources := map[feed.Log]*restorable{}
			names := map[feed.Log]string{}
			start := func(t *testing.T, source *restorable, name string) feed.Log {
				opts := tt.opts
				opts.Stream = name
				log := natsfeed.New(source, c.connect(t), &opts)
				if tt.runs {
					log, _ = run(t, c, source, opts)
				}
				sources[log], names[log] = source, name
				return log
			}
			feedtest.Run(
				t,
				func(t *testing.T) feed.Log { return start(t, newRestorable(), streamName()) },
				&feedtest.Options{
					Another:  func(t *testing.T, log feed.Log) feed.Log { return start(t, sources[log], names[log]) },
					Patience: time.Minute,
					Backup: func(t *testing.T, log feed.Log) func(t *testing.T) feed.Log {
						source := sources[log]
						kept, _, err := source.Tail(t.Context(), source.start, 1000)
						if err != nil {
							t.Fatal(err)
						}
						return func(t *testing.T) feed.Log {
							source.restore(t, kept)
							return start(t, source, names[log])
						}
					},
				},
			)
		})
	}
}
