package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// tally counts each response.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(answer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[answer]++
}

func (c *tally) String() string {
	out := ""
	for _, answer := range slices.Sorted(maps.Keys(c.n)) {
		out += fmt.Sprintf("%d x %s\n", c.n[answer], answer)
	}
	return out
}

// TestCopiesWait: up to Waiters concurrent copies wait, and the others receive 409 immediately.
func TestCopiesWait(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		opts  idempotency.Options
		takes time.Duration
		do    func(context.Context) (idempotency.Record, error)
		want  string
	}{
		{
			"done in time",
			idempotency.Options{},
			time.Second,
			created,
			"1 x 201\n8 x 201 again\n11 x 409 request-in-flight 1\n",
		},
		{
			"too slow",
			idempotency.Options{},
			3 * time.Second,
			created,
			"1 x 201\n19 x 409 request-in-flight 1\n",
		},
		{"longer", idempotency.Options{WaitTimeout: 4 * time.Second, Waiters: 18}, 3 * time.Second, created,
			"1 x 201\n18 x 201 again\n1 x 409 request-in-flight 1\n"},
		{
			"no waiters",
			idempotency.Options{WaitTimeout: -1},
			time.Second,
			created,
			"1 x 201\n19 x 409 request-in-flight 1\n",
		},
		// The copies are refused one after the other, until WaitTimeout.
		{
			"refused",
			idempotency.Options{Waiters: 20},
			900 * time.Millisecond,
			failing(problem.New(problem.Conflict, "")),
			"3 x 409 conflict \n17 x 409 request-in-flight 1\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var answers tally
				d := newDesk(idempotency.AtMostOnce, tt.opts)
				for range 20 {
					go func() {
						answers.add(
							d.ask(
								t.Context(),
								anOperation(),
								func(ctx context.Context) (idempotency.Record, error) {
									time.Sleep(tt.takes)
									return tt.do(ctx)
								},
							),
						)
					}()
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if diff := cmp.Diff(tt.want, answers.String()); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestCopiesOfAnUnconfirmedCommit: while commits are not confirmed, also those of replays, no copy gets
// the record.
func TestCopiesOfAnUnconfirmedCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var answers tally
		d := newDesk(idempotency.ExactlyOnce, idempotency.Options{})
		d.engine.commit = tx.ErrOutcomeUnknown
		for range 9 {
			go func() {
				answers.add(d.ask(t.Context(), anOperation(), func(ctx context.Context) (idempotency.Record, error) {
					time.Sleep(time.Second)
					return created(ctx)
				}))
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff("9 x "+isAskAgain+"\n", answers.String()); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
}

// TestCopiesOfAnotherContent: a request with other content does not wait.
func TestCopiesOfAnotherContent(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.AtMostOnce, idempotency.Options{})
	d.ask(t.Context(), anOperation(), func(ctx context.Context) (idempotency.Record, error) {
		other := anOperation()
		other.Fingerprint[0]++
		if got := d.ask(ctx, other, nil); got != isReused {
			t.Errorf("while the first is in flight: %s, want %s", got, isReused)
		}
		return idempotency.Record{}, nil
	})
}

// TestImpatientCopy: a copy stops waiting when its client disconnects.
func TestImpatientCopy(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.AtMostOnce, idempotency.Options{WaitTimeout: time.Hour})
	d.ask(t.Context(), anOperation(), func(ctx context.Context) (idempotency.Record, error) {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if got := d.ask(gone, anOperation(), nil); got != isInFlight {
			t.Errorf("%s, want %s", got, isInFlight)
		}
		return idempotency.Record{}, nil
	})
}

// TestNoWaitingInTransactions: a call inside a transaction does not wait, because others may wait
// for its locks.
func TestNoWaitingInTransactions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(idempotency.ExactlyOnce, idempotency.Options{})
		d.ask(t.Context(), anOperation(), func(ctx context.Context) (idempotency.Record, error) {
			before := time.Now()
			if got := d.ask(ctx, anOperation(), nil); got != isInFlight || time.Since(before) > 0 {
				t.Errorf("%s after %v, want %s at once", got, time.Since(before), isInFlight)
			}
			return idempotency.Record{}, nil
		})
	})
}

// TestBounds: the time limits of do.
func TestBounds(t *testing.T) {
	t.Parallel()
	for i, want := range []time.Duration{time.Minute, time.Minute, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			before := time.Now()
			d := newDesk(levels[i], idempotency.Options{})
			d.ask(t.Context(), anOperation(), func(ctx context.Context) (idempotency.Record, error) {
				<-ctx.Done()
				return idempotency.Record{}, ctx.Err()
			})
			if got := time.Since(before); got != want {
				t.Errorf("%s: the context lasted %v, want %v", levels[i], got, want)
			}
		})
	}
}

// TestRule142OneEffect sends 64 concurrent copies of each of 1,000 requests, and repeats some: each
// has one effect.
func TestRule142OneEffect(t *testing.T) {
	t.Parallel()
	const keys, copies = 1000, 64
	for _, level := range []idempotency.Level{idempotency.AtMostOnce, idempotency.ExactlyOnce} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			db := memory.NewDB()
			g := idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil)
			effects := make([]atomic.Int32, keys)
			var odd tally
			ask := func(n int) {
				op := anOperation()
				op.Key = strconv.Itoa(n)
				rec, _, err := g.Do(
					t.Context(),
					op,
					level,
					db,
					func(context.Context) (idempotency.Record, error) {
						effects[n].Add(1)
						runtime.Gosched()
						return idempotency.Record{Status: http.StatusCreated, ID: op.Key}, nil
					},
				)
				var d *problem.Details
				switch {
				case errors.As(err, &d) && d.Kind == problem.InFlight:
				case err != nil:
					odd.add(err.Error())
				case rec.ID != op.Key:
					odd.add("wrong replay")
				}
			}
			order := rand.Perm(keys * copies)
			var wg sync.WaitGroup
			for worker := range 256 {
				wg.Go(func() {
					for i := worker; i < len(order); i += 256 {
						ask(order[i] / copies)
					}
				})
			}
			wg.Wait()
			for n := range effects {
				if got := effects[n].Load(); got != 1 {
					t.Errorf("key %d had %d effects", n, got)
				}
			}
			if got := odd.String(); got != "" {
				t.Errorf("odd answers:\n%s", got)
			}
		})
	}
}

// TestNothingIsLeft: copies leave no goroutines and no flights. A synctest bubble does not end
// before its goroutines.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(idempotency.AtMostOnce, idempotency.Options{Waiters: 100})
		for n := range 100 {
			go func() {
				defer func() { _ = recover() }()
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*10*time.Millisecond)
				defer cancel()
				d.ask(ctx, anOperation(), func(context.Context) (idempotency.Record, error) {
					time.Sleep(500 * time.Millisecond)
					panic("odd")
				})
			}()
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := d.ask(t.Context(), anOperation(), nil); got != isUnknown {
			t.Errorf("after all: %s, want %s", got, isUnknown)
		}
	})
}
