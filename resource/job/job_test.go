package job_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// journal is a log that a test can read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

type principalKey struct{}

func principal(ctx context.Context) string {
	name, _ := ctx.Value(principalKey{}).(string)
	return name
}

func as(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, principalKey{}, name)
}

// store is where the processes of a test keep their jobs.
func store() resource.Ops[job.Job] { return resource.OpsOf(memory.New[job.Job](nil)) }

func start(
	t *testing.T, j *job.Jobs, ctx context.Context, do func(context.Context) (jsontext.Value, error),
) (id string, done <-chan struct{}) {
	t.Helper()
	id, done, err := j.Start(ctx, "orders/sweep", do)
	if err != nil {
		t.Fatal(err)
	}
	return id, done
}

// state returns the stored job.
func state(t *testing.T, ops resource.Ops[job.Job], id string) job.Job {
	t.Helper()
	item, err := ops.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return item.Value
}

// wantEnd checks what became of a job: its result, or the kind of its problem.
func wantEnd(t *testing.T, ops resource.Ops[job.Job], id string, want job.State, text string) {
	t.Helper()
	got := state(t, ops, id)
	said := string(got.Result)
	if got.Problem != nil {
		said = string(got.Problem)
	}
	if got.State != want || !strings.Contains(said, text) ||
		(got.FinishedAt == nil) != (want == job.Running) {
		t.Errorf("it is %s at %v and says %q, want %s and %q", got.State, got.FinishedAt, said, want, text)
	}
}

func succeed(context.Context) (jsontext.Value, error) { return jsontext.Value(`{"n":3}`), nil }

// until waits for ch, and reports if the job is canceled first.
func until(ch <-chan struct{}) func(context.Context) (jsontext.Value, error) {
	return func(ctx context.Context) (jsontext.Value, error) {
		select {
		case <-ch:
			return jsontext.Value(`{"n":3}`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func TestRule092OutcomesAreKept(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		do    func(context.Context) (jsontext.Value, error)
		state job.State
		says  string
		logs  string
	}{
		{"result", succeed, job.Succeeded, `{"n":3}`, ""},
		{"nothing", func(context.Context) (jsontext.Value, error) { return nil, nil }, job.Succeeded, "", ""},
		{"refusal", func(context.Context) (jsontext.Value, error) { return nil, resource.ErrForbidden },
			job.Failed,
			problem.Forbidden.URI(), ""},
		{"problem", func(context.Context) (jsontext.Value, error) {
			return nil, problem.New(problem.Conflict, "No.")
		},
			job.Failed, `"detail":"No."`, ""},
		{"fault", func(context.Context) (jsontext.Value, error) { return nil, errors.New("secret cause") },
			job.Failed,
			problem.Internal.URI(), "secret cause"},
		{"panic", func(context.Context) (jsontext.Value, error) { panic("secret cause") }, job.Failed,
			problem.Internal.URI(), "secret cause"},
		{"exit", func(context.Context) (jsontext.Value, error) {
			runtime.Goexit()
			return nil, nil
		}, job.Failed, problem.Internal.URI(), "runtime.Goexit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ops, log := store(), &journal{}
				j := job.New("jobs", ops, &job.Options{Alone: true, Logger: log.logger()})
				begin := time.Now()
				id, done := start(t, j, t.Context(), func(ctx context.Context) (jsontext.Value, error) {
					time.Sleep(3 * time.Second)
					return tt.do(ctx)
				})
				wantEnd(t, ops, id, job.Running, "")
				<-done
				wantEnd(t, ops, id, tt.state, tt.says)
				got := state(t, ops, id)
				if !got.CreatedAt.Equal(begin) || got.FinishedAt.Sub(begin) != 3*time.Second ||
					got.Command != "orders/sweep" {
					t.Errorf("%s from %v to %v", got.Command, got.CreatedAt, got.FinishedAt)
				}
				if strings.Contains(string(got.Problem), "secret") || !strings.Contains(log.String(),
					tt.logs) ||
					(tt.logs == "") != (log.String() == "") {
					t.Errorf("the problem is %s and the log %q", got.Problem, log)
				}
			})
		})
	}
}

// TestOutlivesItsRequest: a job continues after a disconnect, with the values of its context.
func TestOutlivesItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		j := job.New("jobs", ops, &job.Options{Alone: true, Principal: principal})
		ctx, leave := context.WithCancel(as(t.Context(), "ann"))
		id, done := start(t, j, ctx, func(ctx context.Context) (jsontext.Value, error) {
			time.Sleep(time.Minute)
			return jsontext.Value(`"` + principal(ctx) + `"`), ctx.Err()
		})
		leave()
		<-done
		wantEnd(t, ops, id, job.Succeeded, `"ann"`)
	})
}

func TestStoresThatAssignIDs(t *testing.T) {
	t.Parallel()
	ops := store()
	ops.Insert = nil
	j := job.New("jobs", ops, &job.Options{Alone: true})
	id, done := start(t, j, t.Context(), succeed)
	<-done
	wantEnd(t, ops, id, job.Succeeded, `{"n":3}`)
}

// TestReportsTheDead: the job of a killed process is reported as failed by another one, after its
// lease.
func TestReportsTheDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		killed := ops // from now on it cannot reach the store, so it gives no sign of life
		var silent atomic.Bool
		killed.Replace = func(ctx context.Context, id string, rev resource.Rev,
			v job.Job) (resource.Item[job.Job], error) {
			if silent.Load() {
				return resource.Item[job.Job]{}, errors.New("killed")
			}
			return ops.Replace(ctx, id, rev, v)
		}
		opts := &job.Options{Lease: 30 * time.Second, Logger: slog.New(slog.DiscardHandler)}
		first, second := job.New("jobs", killed, opts), job.New("jobs", ops, opts)
		ctx, end := context.WithCancel(t.Context())
		end1, end2 := make(chan struct{}), make(chan struct{})
		dead, _ := start(t, first, t.Context(), until(end1))
		living, done := start(t, second, t.Context(), until(end2))
		go second.Run(ctx)

		time.Sleep(5*time.Minute + time.Second) // both give signs of life
		wantEnd(t, ops, dead, job.Running, "")
		silent.Store(true)
		time.Sleep(15 * time.Second)
		wantEnd(t, ops, dead, job.Running, "")
		time.Sleep(45 * time.Second)
		wantEnd(t, ops, dead, job.Failed, problem.OutcomeUnknown.URI())
		wantEnd(t, ops, living, job.Running, "")

		silent.Store(false) // it was not killed, but away: its job is canceled, and the reported result is kept
		time.Sleep(15 * time.Second)
		wantEnd(t, ops, dead, job.Failed, problem.OutcomeUnknown.URI())
		close(end2)
		<-done
		wantEnd(t, ops, living, job.Succeeded, `{"n":3}`)
		end()
		close(end1)
		synctest.Wait()
	})
}

// TestLostJobIsCanceled: a process that was believed to be dead stops what is no longer its own.
func TestLostJobIsCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		opts := &job.Options{Lease: 30 * time.Second}
		first := job.New("jobs", ops, opts)
		id, done := start(t, first, t.Context(), func(ctx context.Context) (jsontext.Value, error) {
			<-ctx.Done()
			return jsontext.Value(`{}`), nil
		})
		item, err := ops.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		item.Value.Lease = time.Now().Add(-31 * time.Second)
		if _, err := ops.Replace(t.Context(), id, item.Rev, item.Value); err != nil {
			t.Fatal(err)
		}
		n, err := job.New("jobs", ops, opts).Recover(t.Context())
		if n != 1 || err != nil {
			t.Errorf("recovered %d, %v, want 1", n, err)
		}
		<-done // the next sign of life is refused
		wantEnd(t, ops, id, job.Failed, problem.OutcomeUnknown.URI())
	})
}

// TestAlone: a process that does not share its store reports dead jobs at once.
func TestAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		opts := &job.Options{Alone: true}
		end := make(chan struct{})
		defer close(end)
		first := job.New("jobs", ops, opts)
		var left []string
		for range 3 {
			id, _ := start(t, first, t.Context(), until(end))
			left = append(left, id)
		}
		second := job.New("jobs", ops, opts)
		own, _ := start(t, second, t.Context(), until(end))
		n, err := second.Recover(t.Context())
		if n != 3 || err != nil {
			t.Errorf("recovered %d, %v, want 3", n, err)
		}
		for _, id := range left {
			wantEnd(t, ops, id, job.Failed, problem.OutcomeUnknown.URI())
		}
		wantEnd(t, ops, own, job.Running, "")
	})
}

// TestRecoversMoreThanAPage: and a store that fails is not taken for an empty one.
func TestRecoversMoreThanAPage(t *testing.T) {
	t.Parallel()
	ops := store()
	for range 250 {
		if _, err := ops.Create(t.Context(),
			job.Job{Command: "a/b", State: job.Running, Owner: "gone"}); err != nil {
			t.Fatal(err)
		}
	}
	broken := ops
	broken.Replace = func(context.Context, string, resource.Rev, job.Job) (resource.Item[job.Job], error) {
		return resource.Item[job.Job]{}, errors.New("away")
	}
	if n, err := job.New("jobs", broken, &job.Options{Alone: true}).Recover(t.Context()); n != 0 ||
		err == nil {
		t.Errorf("recovered %d, %v with a broken store", n, err)
	}
	if n, err := job.New("jobs", ops, &job.Options{Alone: true}).Recover(t.Context()); n != 250 ||
		err != nil {
		t.Errorf("recovered %d, %v, want 250", n, err)
	}
	n, err := ops.Count(t.Context(), query.Query{Filter: query.Where("state", query.Eq, job.Running)})
	if n != 0 || err != nil {
		t.Errorf("%d are running, %v", n, err)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := job.New("jobs", store(), &job.Options{Alone: true, Limit: 2})
		end := make(chan struct{})
		_, first := start(t, j, t.Context(), until(end))
		start(t, j, t.Context(), until(end))
		if _, _, err := j.Start(t.Context(), "orders/sweep", succeed); !errors.Is(err,
			resource.ErrUnavailable) {
			t.Errorf("a third is begun: %v", err)
		}
		close(end)
		<-first
		synctest.Wait()
		start(t, j, t.Context(), succeed)
		synctest.Wait()
	})
}

// TestAStoreThatFails: what cannot be noted is not begun, and its place is free again.
func TestAStoreThatFails(t *testing.T) {
	t.Parallel()
	ops := store()
	ops.Insert = func(context.Context, string, job.Job) (resource.Item[job.Job], error) {
		return resource.Item[job.Job]{}, errors.New("away")
	}
	j := job.New("jobs", ops, &job.Options{Alone: true, Limit: 1})
	for range 2 {
		_, _, err := j.Start(t.Context(), "orders/sweep", func(context.Context) (jsontext.Value, error) {
			t.Error("it is done")
			return nil, nil
		})
		if err == nil || err.Error() != "away" {
			t.Errorf("error %v, want that of the store", err)
		}
	}
}

// TestRule092WhatCannotBeKept: a job ends even if the store refuses what it gave, or why it failed.
func TestRule092WhatCannotBeKept(t *testing.T) {
	t.Parallel()
	ends := map[string]func(context.Context) (jsontext.Value, error){
		"result": succeed,
		"problem": func(context.Context) (jsontext.Value, error) {
			return nil, problem.New(problem.Conflict, `{"n":3}`)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ops, log := store(), &journal{}
				picky := ops
				picky.Replace = func(ctx context.Context, id string, expect resource.Rev,
					v job.Job) (resource.Item[job.Job], error) {
					if bytes.Contains(v.Result, []byte(`n`)) || bytes.Contains(v.Problem, []byte(`\"n\"`)) {
						return resource.Item[job.Job]{}, resource.Invalid(name, "format")
					}
					return ops.Replace(ctx, id, expect, v)
				}
				j := job.New("jobs", picky, &job.Options{Alone: true, Logger: log.logger()})
				id, done := start(t, j, t.Context(), end)
				select {
				case <-done:
				case <-time.After(time.Minute):
					t.Fatal("it has not ended after a minute")
				}
				wantEnd(t, ops, id, job.Failed, string(problem.OutcomeUnknown.URI()))
				if !strings.Contains(log.String(), "outcome not stored") {
					t.Errorf("the log does not say why: %s", log)
				}
			})
		})
	}
}

// TestTheEndIsNotedLater: a store that is away when a job ends learns of it when it is back.
func TestTheEndIsNotedLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops, log := store(), &journal{}
		flaky := ops
		var back atomic.Bool
		flaky.Get = func(ctx context.Context, id string) (resource.Item[job.Job], error) {
			if !back.Load() {
				return resource.Item[job.Job]{}, errors.New("away")
			}
			return ops.Get(ctx, id)
		}
		j := job.New("jobs", flaky, &job.Options{Alone: true, Logger: log.logger()})
		id, done := start(t, j, t.Context(), succeed)
		time.Sleep(time.Hour)
		wantEnd(t, ops, id, job.Running, "")
		back.Store(true)
		<-done
		wantEnd(t, ops, id, job.Succeeded, `{"n":3}`)
		if !strings.Contains(log.String(), "away") {
			t.Errorf("the log does not say why: %s", log)
		}
	})
}

func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		j := job.New("jobs", ops, &job.Options{Alone: true})
		id, _ := start(t, j, t.Context(), func(context.Context) (jsontext.Value, error) {
			time.Sleep(time.Minute)
			return succeed(t.Context())
		})
		drained := make(chan error)
		go func() { drained <- j.Drain(t.Context()) }()
		synctest.Wait()
		if _, _, err := j.Start(t.Context(), "orders/sweep", succeed); !errors.Is(err,
			resource.ErrUnavailable) {
			t.Errorf("a job is begun: %v", err)
		}
		if err := <-drained; err != nil {
			t.Error(err)
		}
		wantEnd(t, ops, id, job.Succeeded, `{"n":3}`)
		if err := j.Drain(t.Context()); err != nil {
			t.Errorf("the second time: %v", err)
		}
	})
}

// TestDrainWithoutPatience: what does not end in time is cancelled and reported, whether it notices or not.
func TestDrainWithoutPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		j := job.New("jobs", ops, &job.Options{Alone: true})
		never := make(chan struct{})
		polite, ended := start(t, j, t.Context(), until(never))
		deaf, _ := start(t, j, t.Context(), func(context.Context) (jsontext.Value, error) {
			<-never
			return succeed(t.Context())
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := j.Drain(ctx)
		if !errors.Is(err, context.DeadlineExceeded) ||
			err.Error() != "job: canceled 2 running jobs: context deadline exceeded" {
			t.Errorf("error %v", err)
		}
		<-ended
		wantEnd(t, ops, polite, job.Failed, problem.OutcomeUnknown.URI())
		wantEnd(t, ops, deaf, job.Failed, problem.OutcomeUnknown.URI())
		close(never)
		synctest.Wait()
		wantEnd(t, ops, deaf, job.Failed, problem.OutcomeUnknown.URI()) // the reported result is kept
	})
}

func TestKeep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		ctx, end := context.WithCancel(t.Context())
		never := make(chan struct{})
		j := job.New("jobs", ops, &job.Options{Alone: true, Keep: time.Hour})
		old, _ := start(t, j, t.Context(), succeed)
		running, _ := start(t, j, t.Context(), until(never))
		go j.Run(ctx)
		time.Sleep(59 * time.Minute)
		young, _ := start(t, j, t.Context(), succeed)
		wantEnd(t, ops, old, job.Succeeded, "")
		time.Sleep(2 * time.Minute)
		if _, err := ops.Get(t.Context(), old); !errors.Is(err, resource.ErrGone) {
			t.Errorf("the old one: %v", err)
		}
		wantEnd(t, ops, young, job.Succeeded, "")
		wantEnd(t, ops, running, job.Running, "")
		end()
		close(never)
	})
}

// TestInATransaction: a job begins with the commit, and a rollback leaves nothing of it.
func TestInATransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		j := job.New("jobs", ops, &job.Options{Alone: true, Limit: 1})
		runner, stop := ops.Transactions(), errors.New("stop")
		for range 2 {
			err := runner.InTx(t.Context(), func(ctx context.Context) error {
				start(t, j, ctx, func(context.Context) (jsontext.Value, error) {
					t.Error("it is done though it was rolled back")
					return nil, nil
				})
				return stop
			})
			if !errors.Is(err, stop) {
				t.Errorf("error %v, want that of the transaction", err)
			}
		}
		var id string
		var done <-chan struct{}
		err := runner.InTx(t.Context(), func(ctx context.Context) error {
			id, done = start(t, j, ctx, succeed)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		wantEnd(t, ops, id, job.Succeeded, `{"n":3}`)
		if n, err := ops.Count(t.Context(), query.Query{}); n != 1 || err != nil {
			t.Errorf("%d jobs, %v, want 1", n, err)
		}
		for item, err := range ops.List(t.Context(), query.Query{}) {
			if diff := cmp.Diff(id, item.ID); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		}
	})
}

// TestDrainBesideATransaction: what is committed after the drain is not begun.
func TestDrainBesideATransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		j := job.New("jobs", ops, &job.Options{Alone: true})
		var id string
		var done <-chan struct{}
		err := ops.Transactions().InTx(t.Context(), func(ctx context.Context) error {
			id, done = start(t, j, ctx, func(context.Context) (jsontext.Value, error) {
				t.Error("it is done after the drain")
				return nil, nil
			})
			return j.Drain(t.Context())
		})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		wantEnd(t, ops, id, job.Failed, problem.OutcomeUnknown.URI())
	})
}

// TestDrainBesideASlowStore: what is still being noted when the patience ends is cancelled before it does anything.
func TestDrainBesideASlowStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops := store()
		slow := ops
		slow.Insert = func(ctx context.Context, id string, v job.Job) (resource.Item[job.Job], error) {
			time.Sleep(time.Minute)
			return ops.Insert(ctx, id, v)
		}
		j := job.New("jobs", slow, &job.Options{Alone: true})
		noted := make(chan string)
		go func() {
			id, done, err := j.Start(t.Context(), "orders/sweep",
				func(context.Context) (jsontext.Value, error) {
					t.Error("it is done after the drain")
					return nil, nil
				})
			if err != nil {
				t.Error(err)
			}
			<-done
			noted <- id
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := j.Drain(ctx); err != nil {
			t.Errorf("there is nothing to cancel yet: %v", err)
		}
		wantEnd(t, ops, <-noted, job.Failed, problem.OutcomeUnknown.URI())
	})
}

// TestDrainBesideABrokenStore: if the outcome cannot be stored, another process reports the job
// later.
func TestDrainBesideABrokenStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops, log := store(), &journal{}
		broken := ops
		broken.Replace = func(context.Context, string, resource.Rev, job.Job) (resource.Item[job.Job],
			error) {
			return resource.Item[job.Job]{}, errors.New("away")
		}
		j := job.New("jobs", broken, &job.Options{Alone: true, Logger: log.logger()})
		id, done := start(t, j, t.Context(), succeed)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := j.Drain(ctx); err == nil || !strings.Contains(log.String(), "away") {
			t.Errorf("error %v, log %s", err, log)
		}
		<-done
		wantEnd(t, ops, id, job.Running, "")
		if n, err := job.New("jobs", ops, &job.Options{Alone: true}).Recover(t.Context()); n != 1 ||
			err != nil {
			t.Errorf("recovered %d, %v, want 1", n, err)
		}
	})
}

// TestRunBesideABrokenStore: the loop continues, and logs the error.
func TestRunBesideABrokenStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops, log := store(), &journal{}
		broken := ops
		broken.List = func(context.Context, query.Query) iter.Seq2[resource.Item[job.Job], error] {
			return func(yield func(resource.Item[job.Job], error) bool) {
				yield(resource.Item[job.Job]{}, errors.New("away"))
			}
		}
		ctx, end := context.WithCancel(t.Context())
		go job.New("jobs", broken, &job.Options{Lease: time.Minute, Logger: log.logger()}).Run(ctx)
		time.Sleep(59 * time.Second)
		end()
		synctest.Wait()
		if n := strings.Count(log.String(), "job maintenance failed"); n != 3 {
			t.Errorf("it has complained %d times, want 3:\n%s", n, log)
		}
	})
}
