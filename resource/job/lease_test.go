package job_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/job"
)

// fleet is two processes that share a store and a clock. One runs Run from the start, the other has a job, and a third
// was killed and has left one. Leases are 30 seconds: Run sweeps at 10, 20, ... seconds, and jobs renew at 15, 25, ...
type fleet struct {
	ops               resource.Ops[job.Job]
	jump              atomic.Int64 // of the clock, in nanoseconds
	away              atomic.Bool  // the store
	sweeper, other    *job.Jobs
	own, theirs, dead string
	finish            chan struct{}
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{ops: store(), finish: make(chan struct{})}
	flaky := f.ops
	flaky.Get = func(ctx context.Context, id string) (resource.Item[job.Job], error) {
		if f.away.Load() {
			return resource.Item[job.Job]{}, errors.New("away")
		}
		return f.ops.Get(ctx, id)
	}
	flaky.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[job.Job], error] {
		if f.away.Load() {
			return func(yield func(resource.Item[job.Job], error) bool) {
				yield(resource.Item[job.Job]{}, errors.New("away"))
			}
		}
		return f.ops.List(ctx, q)
	}
	now := func() time.Time { return time.Now().Add(time.Duration(f.jump.Load())) }
	opts := &job.Options{Lease: 30 * time.Second, Now: now, Logger: slog.New(slog.DiscardHandler)}
	f.sweeper, f.other = job.New("jobs", flaky, opts), job.New("jobs", flaky, opts)
	ctx, end := context.WithCancel(t.Context())
	go f.sweeper.Run(ctx)
	t.Cleanup(func() {
		end()
		close(f.finish)
		synctest.Wait()
	})
	time.Sleep(5 * time.Second)
	f.own, _ = start(t, f.sweeper, t.Context(), until(f.finish))
	f.theirs, _ = start(t, f.other, t.Context(), until(f.finish))
	item, err := f.ops.Create(t.Context(), job.Job{Command: "a/b", State: job.Running, Owner: "killed",
		Lease: now().Add(30 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	f.dead = item.ID
	return f
}

// want checks that the jobs of living processes run, and which state that of the dead process has.
func (f *fleet) want(t *testing.T, dead job.State) {
	t.Helper()
	wantEnd(t, f.ops, f.own, job.Running, "")
	wantEnd(t, f.ops, f.theirs, job.Running, "")
	wantEnd(t, f.ops, f.dead, dead, "")
}

// TestRecoverLeavesOutOwnJobs: a process that was paused may recover before it renews its leases.
func TestRecoverLeavesOutOwnJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.jump.Store(int64(time.Hour))
		n, err := f.sweeper.Recover(t.Context())
		if n != 2 || err != nil {
			t.Errorf("recovered %d, %v, want those of the two other processes", n, err)
		}
		wantEnd(t, f.ops, f.own, job.Running, "")
	})
}

// TestRunAfterAJump: no lease has been renewed when the clock jumps, so an expired one proves nothing until each process
// has had the time to renew.
func TestRunAfterAJump(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.jump.Store(int64(time.Hour))
		time.Sleep(34 * time.Second) // 39
		f.want(t, job.Running)
		time.Sleep(2 * time.Second) // 41
		f.want(t, job.Failed)
		f.jump.Store(0) // back: leases are an hour ahead
		time.Sleep(time.Hour + time.Minute)
		f.want(t, job.Failed)
	})
}

// TestRunAfterAnOutage: processes could not renew their leases while the store was away.
func TestRunAfterAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.away.Store(true)
		time.Sleep(63 * time.Second) // 68
		f.away.Store(false)
		time.Sleep(3 * time.Second) // 71, before the first renewal
		f.want(t, job.Running)
		time.Sleep(18 * time.Second) // 89
		f.want(t, job.Running)
		time.Sleep(2 * time.Second) // 91: a lease after the last failure, at 60
		f.want(t, job.Failed)
	})
}
