package job_test

import (
	"bytes"
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

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// TestRule092NUL: a store such as PostgreSQL refuses U+0000, which is replaced.
func TestRule092NUL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		do    func(context.Context) (jsontext.Value, error)
		state job.State
		text  string
	}{
		{"result", func(context.Context) (jsontext.Value, error) {
			return jsontext.Value(`{"a":"\u0000b\\u0000","c\n":"\\\u0000"}`), nil
		}, job.Succeeded, `{"a":"\ufffdb\\u0000","c\n":"\\\ufffd"}`},
		{"problem", func(context.Context) (jsontext.Value, error) {
			return nil, problem.New(problem.Conflict, "No\x00.")
		}, job.Failed, `"detail":"No\ufffd."`},
		{"unique names", func(context.Context) (jsontext.Value, error) {
			return jsontext.Value(`{"\u0000":1,"\ufffd":2}`), nil
		}, job.Failed, problem.OutcomeUnknown.URI()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ops := store()
				picky := ops
				picky.Replace = func(ctx context.Context, id string, expect resource.Rev,
					v job.Job) (resource.Item[job.Job], error) {
					for _, doc := range []jsontext.Value{v.Result, v.Problem} {
						plain := bytes.ReplaceAll(doc, []byte(`\\`), nil)
						if bytes.Contains(plain, []byte(`\u0000`)) || doc != nil && !doc.IsValid() {
							return resource.Item[job.Job]{}, resource.Invalid("result", "format")
						}
					}
					return ops.Replace(ctx, id, expect, v)
				}
				j := job.New("jobs", picky, &job.Options{Alone: true, Logger: slog.New(slog.DiscardHandler)})
				id, done := start(t, j, t.Context(), tt.do)
				<-done
				wantEnd(t, ops, id, tt.state, tt.text)
			})
		})
	}
}

// TestUnconfirmedInsert: a job that was stored although Start returned an error is reported as failed,
// and the jobs that run are not.
func TestUnconfirmedInsert(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{false, true} {
		for _, assigned := range []bool{false, true} {
			t.Run(fmt.Sprintf("alone %t, ids assigned %t", alone, assigned), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					ops := store()
					lost := ops
					var confirms atomic.Bool
					unconfirmed := func(item resource.Item[job.Job], err error) (resource.Item[job.Job], error) {
						if err == nil && !confirms.Load() {
							return resource.Item[job.Job]{}, tx.ErrOutcomeUnknown
						}
						return item, err
					}
					lost.Insert = func(ctx context.Context, id string, v job.Job) (resource.Item[job.Job], error) {
						return unconfirmed(ops.Insert(ctx, id, v))
					}
					lost.Create = func(ctx context.Context, v job.Job) (resource.Item[job.Job], error) {
						return unconfirmed(ops.Create(ctx, v))
					}
					if assigned {
						lost.Insert = nil
					}
					j := job.New("jobs", lost, &job.Options{Alone: alone, Lease: lease, Limit: 1})
					ctx, end := context.WithCancel(t.Context())
					go j.Run(ctx)
					_, _, err := j.Start(t.Context(), "orders/sweep", succeed)
					if !errors.Is(err, tx.ErrOutcomeUnknown) {
						t.Errorf("error %v, want that of the store", err)
					}
					confirms.Store(true)
					finish := make(chan struct{})
					running, _ := start(t, j, t.Context(), until(finish))
					time.Sleep(10 * time.Minute)
					wantEnd(t, ops, running, job.Running, "")
					for item, err := range ops.List(t.Context(), query.Query{}) {
						if err != nil {
							t.Fatal(err)
						}
						if item.ID != running {
							wantEnd(t, ops, item.ID, job.Failed, problem.OutcomeUnknown.URI())
						}
					}
					end()
					close(finish)
				})
			})
		}
	}
}

// lostRunner is a runner that loses the connection before the database confirms the commit.
type lostRunner struct{}

func (r lostRunner) InTx(ctx context.Context, fn func(context.Context) error) error {
	ctx, _ = tx.Begin(ctx, r)
	return errors.Join(fn(ctx), tx.ErrOutcomeUnknown)
}

// TestLimitInTransactions: jobs count from Start on, until their transaction is rolled back or they have
// ended, and for one lease if the outcome of the transaction is unknown.
func TestLimitInTransactions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops, finish := store(), make(chan struct{})
		j := job.New("jobs", ops, &job.Options{Alone: true, Limit: 2, Lease: lease})
		begin := func(ctx context.Context) int { // returns how many have started
			n := 0
			for range 20 {
				_, _, err := j.Start(ctx, "orders/sweep", until(finish))
				switch {
				case err == nil:
					n++
				case !errors.Is(err, resource.ErrUnavailable):
					t.Error(err)
				}
			}
			return n
		}
		var got []int
		inTx := func(runner tx.Runner, end error) {
			err := runner.InTx(t.Context(), func(ctx context.Context) error {
				got = append(got, begin(ctx))
				return end
			})
			if end != nil && !errors.Is(err, end) {
				t.Errorf("error %v, want %v", err, end)
			}
		}
		inTx(ops.Transactions(), errors.New("rolled back"))
		inTx(lostRunner{}, nil)
		time.Sleep(lease)
		got = append(got, begin(t.Context()))
		time.Sleep(time.Second)
		inTx(ops.Transactions(), nil)
		got = append(got, begin(t.Context()))
		if diff := cmp.Diff([]int{2, 2, 0, 2, 0}, got); diff != "" {
			t.Errorf("started after a rollback, an unknown outcome and a commit (-want +got):\n%s", diff)
		}
		close(finish)
		synctest.Wait()
		if err := j.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestStartPanics: a panic frees the place of the job.
func TestStartPanics(t *testing.T) {
	t.Parallel()
	type table struct {
		name string
		opts job.Options
		ops  func(*resource.Ops[job.Job])
	}
	for _, tt := range []table{
		{"principal", job.Options{Principal: func(context.Context) string { panic("a fault") }}, nil},
		{"insert", job.Options{}, func(ops *resource.Ops[job.Job]) {
			ops.Insert = func(context.Context, string, job.Job) (resource.Item[job.Job], error) {
				panic("a fault")
			}
		}},
		{"create", job.Options{}, func(ops *resource.Ops[job.Job]) {
			ops.Insert = nil
			ops.Create = func(context.Context, job.Job) (resource.Item[job.Job], error) {
				panic("a fault")
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ops := store()
				if tt.ops != nil {
					tt.ops(&ops)
				}
				tt.opts.Alone, tt.opts.Limit = true, 1
				j := job.New("jobs", ops, &tt.opts)
				for range 2 {
					func() {
						defer func() {
							if diff := cmp.Diff(any("a fault"), recover()); diff != "" {
								t.Errorf("panic (-want +got):\n%s", diff)
							}
						}()
						_, _, err := j.Start(t.Context(), "orders/sweep", succeed)
						t.Errorf("Start returned %v", err)
					}()
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begin := time.Now()
				if err := j.Drain(ctx); err != nil || time.Since(begin) > 0 {
					t.Errorf("Drain waited for %v, %v", time.Since(begin), err)
				}
			})
		})
	}
}

// TestStorePanicsLater: a panic of the store in a goroutine of a job or of Run does not end the process.
func TestStorePanicsLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ops, log := store(), &journal{}
		broken := ops
		var faulty atomic.Bool
		faulty.Store(true)
		broken.Get = func(ctx context.Context, id string) (resource.Item[job.Job], error) {
			if faulty.Load() {
				panic("a fault of Get")
			}
			return ops.Get(ctx, id)
		}
		broken.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[job.Job], error] {
			if faulty.Load() {
				panic("a fault of List")
			}
			return ops.List(ctx, q)
		}
		j := job.New("jobs", broken, &job.Options{Lease: lease, Logger: log.logger()})
		ctx, end := context.WithCancel(t.Context())
		go j.Run(ctx)
		id, done := start(t, j, t.Context(), func(context.Context) (jsontext.Value, error) {
			time.Sleep(time.Minute) // its lease is not renewed
			return succeed(t.Context())
		})
		time.Sleep(2 * time.Minute)
		wantEnd(t, ops, id, job.Running, "")
		faulty.Store(false)
		<-done
		wantEnd(t, ops, id, job.Succeeded, `{"n":3}`)
		for _, text := range []string{"a fault of Get", "a fault of List", "job lease not renewed",
			"job outcome not stored", "job maintenance failed", "stack="} {
			if !strings.Contains(log.String(), text) {
				t.Errorf("the log lacks %q:\n%s", text, log)
			}
		}
		end()
	})
}
