package resource_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestAfterMayWrite: After runs after the transaction, so its context has none.
func TestAfterMayWrite(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	audit := memory.New(&memory.Options[vertex]{DB: db})
	var failed error
	nodes := resource.New("nodes", memory.New(&memory.Options[vertex]{DB: db}), &resource.Options[vertex]{
		After: func(ctx context.Context, _ resource.Op, _, after *vertex) {
			_, failed = audit.Create(ctx, vertex{Refs: []int64{after.ID}})
		}})
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		_, err := nodes.Create(ctx, []byte(`{}`), nil)
		return err
	})
	if n, _ := audit.Count(t.Context(), query.Query{}); err != nil || failed != nil || n != 1 {
		t.Errorf("transaction: %v, After: %v, %d audited, want 1", err, failed, n)
	}
}

// TestStaleInTransaction: inside a transaction there is no retry, and a client without a condition
// does not receive 412.
func TestStaleInTransaction(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	ops := resource.OpsOf(memory.New(&memory.Options[vertex]{DB: db}))
	ops.Replace = func(context.Context, string, resource.Rev, vertex) (resource.Item[vertex], error) {
		return resource.Item[vertex]{}, resource.ErrStale
	}
	r := ops.Resource("nodes", nil)
	create(t, r, `{}`)
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		return do(ctx, t, r, "put 1", `{"refs":[1]}`).err
	})
	d := wantProblem(t, &answer{line: "put 1", err: err}, problem.Unavailable)
	same(t, "Retry-After", "1", d.Header.Get("Retry-After"))
}

// secretive is an account in a contract with a write-only pin.
type secretive struct {
	ID  string `json:"id"`
	Pin string `json:"pin,omitempty" writeOnly:"true"`
}

// TestViewKeepsWhatItHides: hidden fields of a view cannot be used in filters and do not affect
// tags.
func TestViewKeepsWhatItHides(t *testing.T) {
	t.Parallel()
	pin := "0042"
	read := resource.Ops[account]{
		Get: func(_ context.Context, id string) (resource.Item[account], error) {
			return resource.Item[account]{Value: account{ID: id, Pin: pin}}, nil
		},
		List: func(context.Context, query.Query) iter.Seq2[resource.Item[account], error] {
			return memory.List([]resource.Item[account]{}, query.Query{})
		},
	}
	accounts := read.Resource("accounts", &resource.Options[account]{Query: query.Support{
		Filter: map[string][]query.Op{"pin": {query.StartsWith}}, Sort: []string{"pin"}}})
	down := func(a account) (secretive, error) { return secretive(a), nil }
	up := func(v secretive, _ account) (account, error) { return account(v), nil }
	view := resource.View(accounts, down, up, nil)
	wantQueryErrors(t, view, "pin.startsWith=0", 1)
	wantQueryErrors(t, view, "sort=pin", 1)
	before := tagOf(t, view, "ann")
	pin = "0043"
	if after := tagOf(t, view, "ann"); before == "" || before != after {
		t.Errorf("the tag was %s and is %s: it tells that a hidden field has changed", before, after)
	}
}

// TestUpNamesFieldsOfTheView: errors of up name the fields of the view.
func TestUpNamesFieldsOfTheView(t *testing.T) {
	t.Parallel()
	users := resource.New("users", stocked[user](t), nil)
	type person struct {
		ID    string `json:"id"`
		Label string `json:"label"`
	}
	down := func(u user) (person, error) { return person{u.ID, u.Name}, nil }
	up := func(person, user) (user, error) { return user{}, resource.Invalid("label", "rude") }
	view := resource.View(users, down, up, &resource.ViewOptions{Fields: map[string]string{"label": "name"}})
	wantProblem(t, do(t.Context(), t, view, "create", `{"label":"x"}`), problem.Invalid, "/label rude")
}

// forgetfulMarks fails to read tombstones.
type forgetfulMarks struct{ *memory.Tombstones }

func (forgetfulMarks) Deleted(context.Context, string) (time.Time, error) {
	return time.Time{}, resource.ErrUnavailable
}

// TestTombstonesFailClosed: if it is unknown whether an id was deleted, it is not created again.
func TestTombstonesFailClosed(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New(&memory.Options[user]{Recreate: true}))
	ops = ops.WithTombstones(forgetfulMarks{memory.NewTombstones()}, false)
	if _, err := ops.Insert(t.Context(), "ann", user{Name: "Ann"}); !errors.Is(err, resource.ErrUnavailable) {
		t.Errorf("Insert: %v, want ErrUnavailable", err)
	}
	if _, err := ops.Get(t.Context(), "ann"); !errors.Is(err, resource.ErrUnavailable) {
		t.Errorf("Get: %v, want ErrUnavailable", err)
	}
}

// TestCountRefusedIfItemsHidden: Count returns an error if Authorize may hide items, also to a
// caller that has not checked Counts.
func TestCountRefusedIfItemsHidden(t *testing.T) {
	t.Parallel()
	hide := func(context.Context, resource.Op, *vertex, *vertex) error { return resource.ErrForbidden }
	r := resource.New("nodes", stocked(t, vertex{}), &resource.Options[vertex]{Authorize: hide})
	if n, err := r.Count(t.Context(), query.Filter{}); err == nil || n != 0 {
		t.Errorf("Count = %d, %v, want an error", n, err)
	}
}

type account struct {
	ID  string `json:"id"`
	Pin string `json:"pin,omitempty"`
}

// vertex refers to other nodes.
type vertex struct {
	ID   int64   `json:"id" readOnly:"true"`
	Refs []int64 `json:"refs"`
}
