package memory_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/tx"
)

var errUndo = errors.New("undo everything")

// shelf is a collection with every kind of state that a rollback has to restore, and its runner.
func shelf(t *testing.T) (*memory.Store[user], tx.Runner) {
	t.Helper()
	s := memory.New(&memory.Options[user]{Index: []string{"age"}, Recreate: true})
	for i, email := range []string{"ann", "bob", "cat", "dan"} {
		create(t, s, user{Email: email, Age: 10 * i})
	}
	dan, err := s.Get(t.Context(), "4")
	wantErr(t, "Get", err, nil)
	wantErr(t, "Delete", s.Delete(t.Context(), "4", dan.Rev), nil)
	return s, s.Transactions()
}

// everything is what can be seen of a shelf.
func everything(t *testing.T, s *memory.Store[user]) map[string]any {
	t.Helper()
	seen := map[string]any{}
	for name, q := range map[string]query.Query{
		"by id":    {},
		"by age":   {Sort: []query.Order{{Field: "age", Desc: true}, {Field: "id"}}},
		"by email": {Sort: []query.Order{{Field: "email"}, {Field: "id"}}},
		"of age 0": {Filter: query.Where("age", query.Eq, 0)},
	} {
		items, err := collect(s.List(t.Context(), q))
		wantErr(t, name, err, nil)
		seen[name] = items
	}
	n, err := s.Count(t.Context(), query.Query{})
	wantErr(t, "Count", err, nil)
	seen["count"] = n
	for _, id := range []string{"1", "2", "3", "4", "50"} {
		at, err := s.Deleted(t.Context(), id)
		seen["deleted "+id], seen["deleted error "+id] = at, errText(err)
	}
	return seen
}

// upset changes everything about a shelf, as part of ctx's transaction.
func upset(t *testing.T, ctx context.Context, s *memory.Store[user]) {
	t.Helper()
	one, err := s.Get(ctx, "1")
	wantErr(t, "Get", err, nil)
	one, err = s.Replace(ctx, "1", one.Rev, user{Email: "ann at last", Age: 99})
	wantErr(t, "Replace", err, nil)
	_, err = s.Replace(ctx, "1", one.Rev, user{Email: "ann again", Age: 0})
	wantErr(t, "second Replace", err, nil)
	two, err := s.Get(ctx, "2")
	wantErr(t, "Get", err, nil)
	wantErr(t, "Delete", s.Delete(ctx, "2", two.Rev), nil)
	_, err = s.Insert(ctx, "4", user{Email: "dan is back"})
	wantErr(t, "Insert of a deleted id", err, nil)
	_, err = s.Insert(ctx, "50", user{Email: "bob"}) // free since 2 is gone
	wantErr(t, "Insert", err, nil)
	_, err = s.Create(ctx, user{Email: "ann"}) // free since 1 has changed
	wantErr(t, "Create", err, nil)
	_, err = s.Create(ctx, user{Email: "bob"})
	if errText(err) != "the value of email is taken" {
		t.Errorf("Create of what is taken by this transaction: %v", err)
	}
}

func TestRollbackRestoresEverything(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		end  func() error
	}{
		{"error", func() error { return errUndo }},
		{"panic", func() error { panic(errUndo) }},
		{"goexit", func() error { runtime.Goexit(); return nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, runner := shelf(t)
			want := everything(t, s)
			hook, over := false, make(chan struct{})
			var err error
			var panicked any
			go func() { // a goroutine of its own, for Goexit
				defer close(over)
				defer func() { panicked = recover() }()
				err = runner.InTx(t.Context(), func(ctx context.Context) error {
					tx.AfterCommit(ctx, func() { hook = true })
					upset(t, ctx, s)
					return tt.end()
				})
			}()
			<-over
			if tt.name == "error" && err != errUndo || tt.name == "panic" && panicked != any(errUndo) {
				t.Errorf("InTx ended with %v, %v", err, panicked)
			}
			if diff := cmp.Diff(want, everything(t, s)); diff != "" {
				t.Errorf("the rollback left something (-want +got):\n%s", diff)
			}
			if hook {
				t.Error("what waited for the commit was called")
			}
			if got := create(t, s, user{Email: "ann again"}); got.ID < "5" { // also: nothing is locked
				t.Errorf("the id %s was used again", got.ID)
			}
		})
	}
}

func TestRevisionsAreNotReusedAfterRollback(t *testing.T) {
	t.Parallel()
	s, runner := shelf(t)
	seen := map[resource.Rev]bool{}
	for range 3 {
		err := runner.InTx(t.Context(), func(ctx context.Context) error {
			one, err := s.Get(ctx, "1")
			wantErr(t, "Get", err, nil)
			one, err = s.Replace(ctx, "1", one.Rev, one.Value)
			wantErr(t, "Replace", err, nil)
			if seen[one.Rev] {
				t.Errorf("revision %s was given out before", one.Rev)
			}
			seen[one.Rev] = true
			return errUndo
		})
		wantErr(t, "InTx", err, errUndo)
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	users := memory.New(&memory.Options[user]{DB: db})
	notes := memory.New(&memory.Options[note]{DB: db})
	if users.Transactions() != notes.Transactions() || users.Transactions() != tx.Runner(db) {
		t.Fatal("collections of one DB have different runners")
	}
	if users.Transactions() == memory.New[user](nil).Transactions() {
		t.Fatal("collections of different DBs have equal runners")
	}
	var order []string
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		_, err := users.Create(ctx, user{Email: "ann"})
		wantErr(t, "Create", err, nil)
		tx.AfterCommit(ctx, func() {
			order = append(order, "first")
			// The turn has been passed on, so that this does not wait for ever.
			_, err := users.Create(t.Context(), user{Email: "bob"})
			wantErr(t, "Create after the commit", err, nil)
		})
		return db.InTx(ctx, func(ctx context.Context) error { // joins
			tx.AfterCommit(ctx, func() { order = append(order, "second") })
			_, err := notes.Insert(ctx, "n", note{})
			wantErr(t, "Insert", err, nil)
			if got := ids(t, users.List(ctx, query.Query{})) +
				ids(t, notes.List(ctx, query.Query{})); got != "1n" {
				t.Errorf("inside the transaction is %q", got)
			}
			order = append(order, "inside")
			return nil
		})
	})
	wantErr(t, "InTx", err, nil)
	if diff := cmp.Diff([]string{"inside", "first", "second"}, order); diff != "" {
		t.Errorf("order of calls (-want +got):\n%s", diff)
	}
	if got := ids(t, users.List(t.Context(), query.Query{})); got != "1 2" {
		t.Errorf("users are %q", got)
	}
}

func TestRollbackSpansCollections(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	users := memory.New(&memory.Options[user]{DB: db})
	notes := memory.New(&memory.Options[note]{DB: db})
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		_, err := users.Create(ctx, user{Email: "ann"})
		wantErr(t, "Create", err, nil)
		return db.InTx(ctx, func(ctx context.Context) error {
			_, err := notes.Insert(ctx, "n", note{})
			wantErr(t, "Insert", err, nil)
			return errUndo
		})
	})
	wantErr(t, "InTx", err, errUndo)
	if got := ids(t, users.List(t.Context(), query.Query{})) +
		ids(t, notes.List(t.Context(), query.Query{})); got != "" {
		t.Errorf("after the rollback there is %q", got)
	}
}

// TestOthersWait checks what a transaction keeps from others: writing from its beginning, reading from its first
// write on.
func TestOthersWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, runner := shelf(t)
		seen := make(chan string, 3)
		get := func(ctx context.Context) string {
			item, err := s.Get(ctx, "1")
			return item.Value.Email + errText(err)
		}
		err := runner.InTx(t.Context(), func(ctx context.Context) error {
			one, err := s.Get(ctx, "1")
			wantErr(t, "Get", err, nil)
			if got := get(t.Context()); got != "ann" { // nothing to hide yet
				t.Errorf("before the first write others read %q", got)
			}
			go func() {
				one, err := s.Replace(t.Context(), "1", one.Rev, user{Email: "lost update"})
				seen <- "replace " + one.Value.Email + errText(err)
			}()
			synctest.Wait()
			_, err = s.Replace(ctx, "1", one.Rev, user{Email: "changed"})
			wantErr(t, "Replace", err, nil)
			go func() { seen <- "get " + get(t.Context()) }()
			synctest.Wait()
			impatient, cancel := context.WithCancel(t.Context())
			go func() {
				_, err := s.Create(impatient, user{Email: "too late"})
				seen <- "create " + errText(err)
			}()
			synctest.Wait()
			if len(seen) > 0 {
				t.Errorf("somebody did not wait: %s", <-seen)
			}
			cancel()
			synctest.Wait()
			if got := get(ctx); got != "changed" {
				t.Errorf("inside the transaction is %q", got)
			}
			return nil
		})
		wantErr(t, "InTx", err, nil)
		synctest.Wait()
		want := []string{"create context canceled", "get changed",
			"replace the item has been changed since it was read"}
		if diff := cmp.Diff(want,
			slices.Sorted(slices.Values([]string{<-seen, <-seen, <-seen}))); diff != "" {
			t.Errorf("those who waited saw (-want +got):\n%s", diff)
		}
	})
}

func TestWaitingForATransactionEndsWithTheContext(t *testing.T) {
	t.Parallel()
	s, runner := shelf(t)
	err := runner.InTx(t.Context(), func(ctx context.Context) error {
		upset(t, ctx, s)
		outside, cancel := context.WithCancel(t.Context())
		results := make(chan error)
		go func() { _, err := s.Get(outside, "1"); results <- err }()
		go func() { _, err := collect(s.List(outside, query.Query{})); results <- err }()
		go func() { results <- runner.InTx(outside, func(context.Context) error { return nil }) }()
		cancel()
		for range 3 {
			wantErr(t, "a call from outside", <-results, context.Canceled)
		}
		return nil
	})
	wantErr(t, "InTx", err, nil)
}

func TestContextOfAnEndedTransaction(t *testing.T) {
	t.Parallel()
	s, runner := shelf(t)
	var kept context.Context
	wantErr(t, "InTx", runner.InTx(t.Context(), func(ctx context.Context) error {
		kept = ctx
		return nil
	}), nil)
	if _, err := s.Create(kept, user{Email: "eve"}); err == nil {
		t.Error("a write that believes to be in a transaction was done outside of it")
	}
	if err := runner.InTx(kept, func(context.Context) error { return nil }); err == nil {
		t.Error("a transaction that has ended was joined")
	}
	_, err := s.Get(kept, "1")
	wantErr(t, "Get", err, nil)
}

// TestTransactionsOfTwoDBs nests a transaction of one DB in one of another.
func TestTransactionsOfTwoDBs(t *testing.T) {
	t.Parallel()
	a, b := memory.New[user](nil), memory.New[user](nil)
	told := false
	err := a.Transactions().InTx(t.Context(), func(ctx context.Context) error {
		_, err := a.Create(ctx, user{})
		wantErr(t, "Create", err, nil)
		err = b.Transactions().InTx(ctx, func(ctx context.Context) error {
			tx.AfterCommit(ctx, func() { told = true })
			_, err := a.Create(ctx, user{Email: "in both"})
			wantErr(t, "Create through both", err, nil)
			_, err = b.Create(ctx, user{})
			return err
		})
		if told {
			t.Error("the inner commit was announced before the outer one")
		}
		return err
	})
	wantErr(t, "InTx", err, nil)
	if got := ids(t, a.List(t.Context(), query.Query{})); got != "1 2" {
		t.Errorf("the outer collection has %q", got)
	}
	if got := ids(t, b.List(t.Context(), query.Query{})); got != "1" {
		t.Errorf("the inner collection has %q", got)
	}
	if !told {
		t.Error("the inner commit was never announced")
	}
}

// TestNoUpdateIsLost increments a number from many goroutines, by compare-and-swap and in transactions. Every
// increment that was acknowledged must be there.
func TestNoUpdateIsLost(t *testing.T) {
	t.Parallel()
	s, runner := shelf(t)
	increment := func(ctx context.Context) error {
		item, err := s.Get(ctx, "1")
		if err != nil {
			return err
		}
		item.Value.Age++
		_, err = s.Replace(ctx, "1", item.Rev, item.Value)
		return err
	}
	const each = 200
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for done := 0; done < each; {
				err := increment(t.Context())
				if err == nil {
					done++
				} else if err != resource.ErrStale {
					t.Errorf("increment: %v", err)
					return
				}
			}
		})
		wg.Go(func() {
			for i := range each {
				err := runner.InTx(t.Context(), func(ctx context.Context) error {
					if err := increment(ctx); err != nil || i%2 == 0 {
						return err
					}
					return errUndo
				})
				if err != nil && err != errUndo {
					t.Errorf("a transaction must not meet others: %v", err)
					return
				}
			}
		})
		wg.Go(func() { // what will be rolled back must not be seen in part
			for range each {
				items, err := collect(s.List(t.Context(),
					query.Query{Sort: []query.Order{{Field: "age"}, {Field: "id"}}}))
				if err != nil || len(items) != 3 {
					t.Errorf("List: %d items, %v", len(items), err)
					return
				}
			}
		})
	}
	wg.Wait()
	item, err := s.Get(t.Context(), "1")
	if want := 4*each + 4*each/2; err != nil || item.Value.Age != want {
		t.Errorf("the number is %d, %v, want %d", item.Value.Age, err, want)
	}
}

// TestExactlyOneWins lets many do at once what only one may.
func TestExactlyOneWins(t *testing.T) {
	t.Parallel()
	s, runner := shelf(t)
	one, err := s.Get(t.Context(), "1")
	wantErr(t, "Get", err, nil)
	inTx := func(ctx context.Context, write func(context.Context) error) error {
		return runner.InTx(ctx, write)
	}
	alone := func(ctx context.Context, write func(context.Context) error) error { return write(ctx) }
	tests := []struct {
		name  string
		write func(ctx context.Context, i int) error
		lost  string
	}{
		{"unique", func(ctx context.Context, i int) error {
			_, err := s.Create(ctx, user{Email: "the one"})
			return err
		}, "the value of email is taken"},
		{"insert", func(ctx context.Context, i int) error {
			_, err := s.Insert(ctx, "77", user{Email: strconv.Itoa(i)})
			return err
		}, resource.ErrExists.Error()},
		{"replace", func(ctx context.Context, i int) error {
			_, err := s.Replace(ctx, "1", one.Rev, user{Email: "x" + strconv.Itoa(i)})
			return err
		}, resource.ErrStale.Error()},
		{"delete", func(ctx context.Context, i int) error {
			two, err := s.Get(ctx, "2")
			if err != nil {
				return err
			}
			return s.Delete(ctx, "2", two.Rev)
		}, resource.ErrGone.Error()},
	}
	for _, tt := range tests {
		results := make(chan error, 16)
		for i := range cap(results) {
			run := alone
			if i%2 == 0 {
				run = inTx
			}
			go func() {
				results <- run(t.Context(), func(ctx context.Context) error { return tt.write(ctx, i) })
			}()
		}
		won := 0
		for range cap(results) {
			if err := <-results; err == nil {
				won++
			} else if err.Error() != tt.lost {
				t.Errorf("%s: a loser got %v", tt.name, err)
			}
		}
		if won != 1 {
			t.Errorf("%s: %d won", tt.name, won)
		}
	}
}

// TestNested: a nested function that fails leaves nothing, and the transaction continues.
func TestNested(t *testing.T) {
	t.Parallel()
	s, runner := shelf(t)
	nester := runner.(tx.Nester)
	var calls []string
	write := func(ctx context.Context, email string, err error) error {
		_, failed := s.Create(ctx, user{Email: email})
		wantErr(t, "Create", failed, nil)
		tx.AfterCommit(ctx, func() { calls = append(calls, "commit "+email) })
		tx.AfterRollback(ctx, func() { calls = append(calls, "rollback "+email) })
		return err
	}
	nested := func(ctx context.Context, email string, err error) error {
		return nester.Nested(ctx, func(ctx context.Context) error { return write(ctx, email, err) })
	}
	before := everything(t, s)
	err := nester.InTx(t.Context(), func(ctx context.Context) error {
		wantErr(t, "nested", nested(ctx, "eve", errUndo), errUndo)
		return nester.CheckNow(ctx)
	})
	wantErr(t, "InTx", err, nil)
	if diff := cmp.Diff(before, everything(t, s)); diff != "" {
		t.Errorf("after a nested function that failed (-want +got):\n%s", diff)
	}
	err = nester.InTx(t.Context(), func(ctx context.Context) error {
		wantErr(t, "write", write(ctx, "eve", nil), nil)
		wantErr(t, "nested", nested(ctx, "fay", nil), nil)
		return nested(ctx, "gus", nil)
	})
	wantErr(t, "InTx", err, nil)
	wantErr(t, "alone", nested(t.Context(), "hal", nil), nil)
	want := []string{"rollback eve", "commit eve", "commit fay", "commit gus", "commit hal"}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
