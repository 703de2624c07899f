package job_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/problem"
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

// TestRunAfterAJump: leases are renewed whatever the clock shows, and a dead process renews none.
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
		time.Sleep(28 * time.Second) // 99
		f.want(t, job.Running)
		time.Sleep(2 * time.Second) // 101: a lease after the jobs were seen first, at 70
		f.want(t, job.Failed)
	})
}

// lease is that of the processes below.
const lease = 30 * time.Second

// process is a process with a clock of its own, which a test can kill.
type process struct {
	*job.Jobs
	clock  atomic.Int64 // its difference, in nanoseconds
	killed atomic.Bool
	end    context.CancelFunc
}

func newProcess(t *testing.T, ops resource.Ops[job.Job], clock time.Duration) *process {
	t.Helper()
	p := &process{}
	p.clock.Store(int64(clock))
	replace := ops.Replace
	ops.Replace = func(ctx context.Context, id string, rev resource.Rev,
		v job.Job) (resource.Item[job.Job], error) {
		if p.killed.Load() {
			return resource.Item[job.Job]{}, errors.New("killed")
		}
		return replace(ctx, id, rev, v)
	}
	p.Jobs = job.New("jobs", ops, &job.Options{Lease: lease, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Now().Add(time.Duration(p.clock.Load())) }})
	ctx, end := context.WithCancel(t.Context())
	p.end = end
	go p.Run(ctx)
	t.Cleanup(func() { // its jobs end
		end()
		p.killed.Store(false)
	})
	return p
}

func (p *process) kill() {
	p.killed.Store(true)
	p.end()
}

// finishAtEnd returns a channel that is closed at the end of a test, before its processes end.
func finishAtEnd(t *testing.T) chan struct{} {
	finish := make(chan struct{})
	t.Cleanup(func() {
		close(finish)
		synctest.Wait()
	})
	return finish
}

// TestClocksApart: of two processes with different clocks, no living job is ended and no dead one remains.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	for _, percent := range []int{-95, -80, -60, -40, -20, 0, 20, 40, 60, 80, 95} {
		for _, phase := range []time.Duration{0, 3 * time.Second, 8 * time.Second} {
			t.Run(fmt.Sprintf("%d%% %s", percent, phase), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					ops, finish := store(), finishAtEnd(t)
					first := newProcess(t, ops, 0)
					time.Sleep(phase)
					second := newProcess(t, ops, lease*time.Duration(percent)/100)
					one, _ := start(t, first.Jobs, t.Context(), until(finish))
					two, _ := start(t, second.Jobs, t.Context(), until(finish))
					for range 60 {
						time.Sleep(7 * time.Second)
						for _, p := range []*process{first, second} {
							if n, err := p.Recover(t.Context()); n != 0 || err != nil {
								t.Fatalf("Recover ended %d living jobs, %v", n, err)
							}
						}
					}
					wantEnd(t, ops, one, job.Running, "")
					wantEnd(t, ops, two, job.Running, "")

					first.kill()
					time.Sleep(2 * lease)
					wantEnd(t, ops, one, job.Failed, problem.OutcomeUnknown.URI())
					wantEnd(t, ops, two, job.Running, "")

					third := newProcess(t, ops, 0)
					three, _ := start(t, third.Jobs, t.Context(), until(finish))
					time.Sleep(time.Minute)
					second.kill()
					time.Sleep(2 * lease)
					wantEnd(t, ops, two, job.Failed, problem.OutcomeUnknown.URI())
					wantEnd(t, ops, three, job.Running, "")
				})
			})
		}
	}
}

// TestStepOfOneClock: the clock of one of two processes is set while both have a job. After that one is
// killed, its job is reported although its lease is in the future.
func TestStepOfOneClock(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{-24 * time.Hour, -time.Hour, -lease, lease, time.Hour, 24 * time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ops, finish := store(), finishAtEnd(t)
				first := newProcess(t, ops, 0)
				time.Sleep(4 * time.Second)
				second := newProcess(t, ops, 0)
				one, _ := start(t, first.Jobs, t.Context(), until(finish))
				two, _ := start(t, second.Jobs, t.Context(), until(finish))
				time.Sleep(25 * time.Second)
				second.clock.Store(int64(step))
				time.Sleep(10 * time.Minute)
				wantEnd(t, ops, one, job.Running, "")
				wantEnd(t, ops, two, job.Running, "")

				second.kill()
				time.Sleep(2 * lease)
				wantEnd(t, ops, one, job.Running, "")
				wantEnd(t, ops, two, job.Failed, problem.OutcomeUnknown.URI())
			})
		})
	}
}

// ended stores a job that has ended an hour ago.
func ended(t *testing.T, ops resource.Ops[job.Job], id string) {
	t.Helper()
	at := time.Now().Add(-time.Hour)
	v := job.Job{ID: id, Command: "a/b", State: job.Succeeded, Owner: "killed", FinishedAt: &at}
	if _, err := ops.Insert(t.Context(), id, v); err != nil {
		t.Fatal(err)
	}
}

// died stores a job of a process that was killed just now.
func died(t *testing.T, ops resource.Ops[job.Job], id string) {
	t.Helper()
	v := job.Job{ID: id, Command: "a/b", State: job.Running, Owner: "killed", Lease: time.Now().Add(lease)}
	if _, err := ops.Insert(t.Context(), id, v); err != nil {
		t.Fatal(err)
	}
}

// TestErrorsOfOneJob: a job that the store refuses to write or to delete stops neither the recovery nor
// the deletion of the others.
func TestErrorsOfOneJob(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"rejected": resource.ErrForbidden, "failed": errors.New("a bad row"), "panic": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ops, log := store(), &journal{}
				for _, id := range []string{"01", "03", "05"} {
					ended(t, ops, id)
				}
				for _, id := range []string{"02", "04", "06"} {
					died(t, ops, id)
				}
				refuse := func() error {
					if refusal == nil {
						panic("a bad row")
					}
					return refusal
				}
				picky := ops
				var deletions, writes atomic.Int64
				picky.Delete = func(ctx context.Context, id string, rev resource.Rev) error {
					if id == "01" {
						deletions.Add(1)
						return refuse()
					}
					return ops.Delete(ctx, id, rev)
				}
				picky.Replace = func(ctx context.Context, id string, rev resource.Rev,
					v job.Job) (resource.Item[job.Job], error) {
					if id == "02" {
						writes.Add(1)
						return resource.Item[job.Job]{}, refuse()
					}
					return ops.Replace(ctx, id, rev, v)
				}
				ctx, end := context.WithCancel(t.Context())
				opts := &job.Options{Lease: lease, Keep: 24 * time.Minute, Logger: log.logger()}
				go job.New("jobs", picky, opts).Run(ctx)
				time.Sleep(lease + time.Second)
				wantEnd(t, ops, "01", job.Succeeded, "")
				wantEnd(t, ops, "02", job.Running, "")
				for _, id := range []string{"03", "05"} {
					if _, err := ops.Get(t.Context(), id); !errors.Is(err, resource.ErrGone) {
						t.Errorf("job %s is not deleted: %v", id, err)
					}
				}
				wantEnd(t, ops, "04", job.Failed, problem.OutcomeUnknown.URI())
				wantEnd(t, ops, "06", job.Failed, problem.OutcomeUnknown.URI())
				for _, id := range []string{"job 01", "job 02"} {
					if !strings.Contains(log.String(), id) {
						t.Errorf("the log does not name %s: %s", id, log)
					}
				}

				died(t, ops, "07") // later
				time.Sleep(2 * lease)
				wantEnd(t, ops, "07", job.Failed, problem.OutcomeUnknown.URI())
				time.Sleep(10*time.Minute - 3*lease)
				got := []int64{deletions.Load(), writes.Load()}
				if diff := cmp.Diff([]int64{11, 20}, got); diff != "" { // each minute, each lease
					t.Errorf("attempts (-want +got):\n%s", diff)
				}
				end()
			})
		})
	}
}

// TestRecoverReportsTheOthers: Recover continues after an error of one job, and returns it.
func TestRecoverReportsTheOthers(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{false, true} {
		ops := store()
		for _, id := range []string{"1", "2", "3", "4"} {
			v := job.Job{ID: id, Command: "a/b", State: job.Running, Owner: "killed"}
			if _, err := ops.Insert(t.Context(), id, v); err != nil {
				t.Fatal(err)
			}
		}
		picky := ops
		picky.Replace = func(ctx context.Context, id string, rev resource.Rev,
			v job.Job) (resource.Item[job.Job], error) {
			if id < "3" {
				return resource.Item[job.Job]{}, resource.ErrForbidden
			}
			return ops.Replace(ctx, id, rev, v)
		}
		n, err := job.New("jobs", picky, &job.Options{Alone: alone}).Recover(t.Context())
		if n != 2 || !errors.Is(err, resource.ErrForbidden) || !strings.Contains(err.Error(), "job 1:") ||
			!strings.Contains(err.Error(), "(and 1 other jobs)") {
			t.Errorf("alone %t: recovered %d, %v, want 2 and the errors of two jobs", alone, n, err)
		}
		wantEnd(t, ops, "2", job.Running, "")
		wantEnd(t, ops, "3", job.Failed, problem.OutcomeUnknown.URI())
		wantEnd(t, ops, "4", job.Failed, problem.OutcomeUnknown.URI())
	}
}

// TestManyOldJobs: the deletion of many old jobs by a slow store does not delay the recovery.
func TestManyOldJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		const old = 1500
		for i := range old {
			ended(t, ops, fmt.Sprintf("%04d", i))
		}
		slow := ops
		slow.Delete = func(ctx context.Context, id string, rev resource.Rev) error {
			time.Sleep(300 * time.Millisecond)
			return ops.Delete(ctx, id, rev)
		}
		died(t, ops, "dead")
		ctx, end := context.WithCancel(t.Context())
		go job.New("jobs", slow, &job.Options{Lease: lease, Keep: time.Minute}).Run(ctx)
		time.Sleep(lease + lease/3)
		wantEnd(t, ops, "dead", job.Failed, problem.OutcomeUnknown.URI())
		died(t, ops, "another")
		time.Sleep(2 * lease)
		wantEnd(t, ops, "another", job.Failed, problem.OutcomeUnknown.URI())
		time.Sleep(old*300*time.Millisecond - 3*lease)
		if n, err := ops.Count(t.Context(), query.Query{}); n > 30 || err != nil {
			t.Errorf("%d jobs are left, %v", n, err)
		}
		end()
	})
}
