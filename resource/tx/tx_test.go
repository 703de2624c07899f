package tx_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/tx"
)

// engine is a Runner without a database. It makes a number of attempts and records the calls.
type engine struct {
	tries int
	log   *[]string
}

func (e *engine) InTx(ctx context.Context, fn func(context.Context) error) error {
	if tx.ActiveFor(ctx, e) {
		return fn(ctx)
	}
	var err error
	for range e.tries {
		inner, scope := tx.Begin(ctx, e)
		if err = fn(inner); err == nil {
			*e.log = append(*e.log, "commit")
			scope.Commit()
			return nil
		}
		*e.log = append(*e.log, "rollback")
		scope.Rollback()
	}
	return err
}

var errConflict = errors.New("conflict")

func TestAfterCommit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(ctx context.Context, a, b *engine, note func(string)) error
		want []string
	}{
		{"without a transaction at once", func(ctx context.Context, _, _ *engine, note func(string)) error {
			tx.AfterCommit(ctx, func() { note("told") })
			note("end")
			return nil
		}, []string{"told", "end"}},
		{"after the commit, in order", func(ctx context.Context, a, _ *engine, note func(string)) error {
			return a.InTx(ctx, func(ctx context.Context) error {
				tx.AfterCommit(ctx, func() { note("first") })
				tx.AfterCommit(ctx, func() { note("second") })
				return nil
			})
		}, []string{"commit", "first", "second"}},
		{"never after a rollback", func(ctx context.Context, a, _ *engine, note func(string)) error {
			a.InTx(ctx, func(ctx context.Context) error {
				tx.AfterCommit(ctx, func() { note("told") })
				return errConflict
			})
			return nil
		}, []string{"rollback", "rollback"}},
		{"once for the attempt that commits",
			func(ctx context.Context, a, _ *engine, note func(string)) error {
				first := true
				return a.InTx(ctx, func(ctx context.Context) error {
					tx.AfterCommit(ctx, func() { note("told") })
					if first {
						first = false
						return errConflict
					}
					return nil
				})
			}, []string{"rollback", "commit", "told"}},
		{"a joined transaction waits for the outer one",
			func(ctx context.Context, a, _ *engine, note func(string)) error {
				return a.InTx(ctx, func(ctx context.Context) error {
					err := a.InTx(ctx, func(ctx context.Context) error {
						tx.AfterCommit(ctx, func() { note("told") })
						return nil
					})
					note("joined")
					return err
				})
			}, []string{"joined", "commit", "told"}},
		{"another engine inside waits for the outer one",
			func(ctx context.Context, a, b *engine, note func(string)) error {
				return a.InTx(ctx, func(ctx context.Context) error {
					return b.InTx(ctx, func(ctx context.Context) error {
						tx.AfterCommit(ctx, func() { note("told") })
						return nil
					})
				})
			}, []string{"commit", "commit", "told"}},
		{"and is forgotten with it", func(ctx context.Context, a, b *engine, note func(string)) error {
			a.InTx(ctx, func(ctx context.Context) error {
				b.InTx(ctx, func(ctx context.Context) error {
					tx.AfterCommit(ctx, func() { note("told") })
					return nil
				})
				return errConflict
			})
			return nil
		}, []string{"commit", "rollback", "commit", "rollback"}},
		{"what is taken back, the last first, at each attempt",
			func(ctx context.Context, a, _ *engine, note func(string)) error {
				a.InTx(ctx, func(ctx context.Context) error {
					tx.AfterRollback(ctx, func() { note("first") })
					tx.AfterRollback(ctx, func() { note("second") })
					return errConflict
				})
				return nil
			}, []string{"rollback", "second", "first", "rollback", "second", "first"}},
		{"nothing of the committed part is undone",
			func(ctx context.Context, a, _ *engine, note func(string)) error {
				tx.AfterRollback(ctx, func() { note("without a transaction") })
				return a.InTx(ctx, func(ctx context.Context) error {
					tx.AfterRollback(ctx, func() { note("taken back") })
					return nil
				})
			}, []string{"commit"}},
		{"what is inside is taken back with the outer one",
			func(ctx context.Context, a, b *engine, note func(string)) error {
				a.tries = 1
				a.InTx(ctx, func(ctx context.Context) error {
					tx.AfterRollback(ctx, func() { note("outer") })
					b.InTx(ctx, func(ctx context.Context) error {
						tx.AfterRollback(ctx, func() { note("inner") })
						return nil
					})
					return errConflict
				})
				return nil
			}, []string{"commit", "rollback", "inner", "outer"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log []string
			a, b := &engine{2, &log}, &engine{2, &log}
			if err := tt.do(t.Context(), a, b, func(s string) { log = append(log, s) }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, log); diff != "" {
				t.Errorf("what happened (-want +got):\n%s", diff)
			}
		})
	}
}

func TestActiveInOutside(t *testing.T) {
	t.Parallel()
	var log []string
	a, b := &engine{1, &log}, &engine{1, &log}
	type state struct{ Active, InA, InB, IsOutside bool }
	ctx := t.Context()
	look := func(c context.Context) state {
		return state{tx.Active(c), tx.ActiveFor(c, a), tx.ActiveFor(c, b), tx.Without(c) == ctx}
	}
	got := []state{look(ctx)}
	err := a.InTx(ctx, func(c context.Context) error {
		got = append(got, look(c))
		return b.InTx(c, func(c context.Context) error {
			got = append(got, look(c))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []state{{false, false, false, true}, {true, true, false, true}, {true, true, true, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outside, in a, in b in a (-want +got):\n%s", diff)
	}
}

// store shows the implementation of a Runner: begin, call, commit or roll back.
type store struct{}

func (s *store) InTx(ctx context.Context, fn func(context.Context) error) error {
	if tx.ActiveFor(ctx, s) {
		return fn(ctx) // joins the transaction of ctx
	}
	ctx, scope := tx.Begin(ctx, s)
	if err := fn(ctx); err != nil {
		fmt.Println("rolled back")
		scope.Rollback()
		return err
	}
	fmt.Println("committed")
	scope.Commit()
	return nil
}

func ExampleAfterCommit() {
	var orders store
	orders.InTx(context.Background(), func(ctx context.Context) error {
		tx.AfterCommit(ctx, func() { fmt.Println("mail is sent") })
		fmt.Println("order is stored")
		return nil
	})
	// Output:
	// order is stored
	// committed
	// mail is sent
}

func ExampleAfterRollback() {
	cache := map[string]string{}
	var orders store
	err := orders.InTx(context.Background(), func(ctx context.Context) error {
		cache["7"] = "paid"
		tx.AfterRollback(ctx, func() { delete(cache, "7") })
		return errors.New("out of stock")
	})
	fmt.Println(err, cache)
	// Output:
	// rolled back
	// out of stock map[]
}

// TestAfterCommitPanics checks that all functions are called, even if some panic.
func TestAfterCommitPanics(t *testing.T) {
	t.Parallel()
	var log []string
	func() {
		defer func() { log = append(log, fmt.Sprint("panic: ", recover())) }()
		_ = (&engine{tries: 1, log: &log}).InTx(t.Context(), func(ctx context.Context) error {
			for _, name := range []string{"first", "broken", "third", "broken, too", "last"} {
				tx.AfterCommit(ctx, func() {
					log = append(log, name)
					if name == "broken" || name == "broken, too" {
						panic(name)
					}
				})
			}
			return nil
		})
	}()
	want := []string{"commit", "first", "broken", "third", "broken, too", "last", "panic: broken, too"}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("what happened (-want +got):\n%s", diff)
	}
}
