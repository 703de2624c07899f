package resource_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/tx"
)

// things is a minimal store: a map with the methods of writes and without tombstones.
type things struct {
	mu    sync.Mutex
	items map[string]resource.Item[thing]
}

func newThings() *things { return &things{items: map[string]resource.Item[thing]{}} }

func (s *things) Get(ctx context.Context, id string) (resource.Item[thing], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, ok := s.items[id]
	if !ok {
		return item, cmp.Or(ctx.Err(), resource.ErrNotFound)
	}
	return item, ctx.Err()
}

func (s *things) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[thing], error] {
	s.mu.Lock()
	all := slices.SortedFunc(maps.Values(s.items), func(a, b resource.Item[thing]) int { return cmp.Compare(a.ID, b.ID) })
	s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return func(yield func(resource.Item[thing], error) bool) { yield(resource.Item[thing]{}, err) }
	}
	return memory.List(all, q)
}

// write calls fn with the current state under a lock. fn returns the new state; nil deletes it.
func (s *things) write(
	ctx context.Context, id string, fn func(old *resource.Item[thing]) (*thing, error),
) (item resource.Item[thing], err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var old *resource.Item[thing]
	if item, ok := s.items[id]; ok {
		old = &item
	}
	v, err := fn(old)
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return item, err
	}
	if v == nil {
		delete(s.items, id)
		return item, nil
	}
	v.ID = id
	s.items[id] = resource.Item[thing]{ID: id, Rev: resource.NewRev(), Value: *v}
	return s.items[id], nil
}

func (s *things) Create(ctx context.Context, v thing) (resource.Item[thing], error) {
	return s.Insert(ctx, string(resource.NewRev()), v)
}

func (s *things) Insert(ctx context.Context, id string, v thing) (resource.Item[thing], error) {
	return s.write(ctx, id, func(old *resource.Item[thing]) (*thing, error) {
		if old != nil {
			return nil, resource.ErrExists
		}
		return &v, nil
	})
}

// compare returns an error unless the revision is current.
func compare(old *resource.Item[thing], expect resource.Rev) error {
	switch {
	case old == nil:
		return resource.ErrNotFound
	case old.Rev != expect:
		return resource.ErrStale
	}
	return nil
}

func (s *things) Replace(ctx context.Context, id string, expect resource.Rev, v thing) (resource.Item[thing], error) {
	return s.write(ctx, id, func(old *resource.Item[thing]) (*thing, error) { return &v, compare(old, expect) })
}

func (s *things) Delete(ctx context.Context, id string, expect resource.Rev) error {
	_, err := s.write(ctx, id, func(old *resource.Item[thing]) (*thing, error) { return nil, compare(old, expect) })
	return err
}

func TestTombstonesConform(t *testing.T) {
	t.Parallel()
	for _, recreate := range []bool{false, true} {
		t.Run(fmt.Sprint("recreate=", recreate), func(t *testing.T) {
			t.Parallel()
			resourcetest.RunOps(t, func(t *testing.T) resource.Ops[thing] {
				return resource.OpsOf(newThings()).WithTombstones(memory.NewTombstones(), recreate)
			}, &resourcetest.Options[thing]{
				Recreates: recreate, Items: 50,
				Support: query.Support{Filter: map[string][]query.Op{"n": {query.Eq, query.Gte}}, Sort: []string{"n"}},
				Require: []string{"Tombstoner", "Creator", "Inserter", "Replacer", "Deleter"},
			})
		})
	}
}

// TestTombstonesRefuse: a deleted id is known as such, and is used again only if the adapter allows it.
func TestTombstonesRefuse(t *testing.T) {
	t.Parallel()
	serve := func(ops resource.Ops[thing]) *resource.Resource {
		return ops.Resource("things", &resource.Options[thing]{AllowRecreate: true})
	}
	remember := func(recreate bool) *resource.Resource {
		return serve(resource.OpsOf(newThings()).WithTombstones(memory.NewTombstones(), recreate))
	}
	tests := []struct {
		name  string
		r     *resource.Resource
		again error // of a creation under the deleted id
	}{
		{"without", serve(resource.OpsOf(newThings())), nil},
		{"with", remember(false), resource.ErrGone},
		{"with, recreating", remember(true), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			call := func(line, doc string) *answer { return do(t.Context(), t, tt.r, line, doc) }
			wantDone(t, call("put a", `{"name":"x"}`))
			wantDone(t, call("delete a", ""))
			for _, line := range []string{"get a", "delete a", "patch a"} {
				wantProblem(t, call(line, "{}"), problem.Gone)
			}
			wantProblem(t, call("get b", ""), problem.NotFound)
			for _, a := range []*answer{call("put a", `{"name":"y"}`), call("get a", "")} {
				if !errors.Is(a.err, tt.again) {
					t.Errorf("%s: %v, want %v", a.line, a.err, tt.again)
				}
			}
		})
	}
}

// TestTombstonesInTransaction: in a shared transaction the item and its tombstone change together.
func TestTombstonesInTransaction(t *testing.T) {
	t.Parallel()
	store := memory.New[thing](nil)
	inner := resource.OpsOf(store)
	ops := inner.WithTombstones(memory.NewTombstones(), false)
	item, err := ops.Insert(t.Context(), "a", thing{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Transactions().InTx(t.Context(), func(ctx context.Context) error {
		if err := ops.Delete(ctx, "a", item.Rev); err != nil {
			return err
		}
		return errChanged
	})
	if !errors.Is(err, errChanged) {
		t.Fatal(err)
	}
	if _, err := ops.Get(t.Context(), "a"); err != nil {
		t.Errorf("after the rollback: %v", err)
	}
	if _, err := ops.Deleted(t.Context(), "a"); !errors.Is(err, resource.ErrNotFound) {
		t.Errorf("a mark was left behind: %v", err)
	}
}

// staleMarks are tombstones for every id, as after a crash.
type staleMarks struct{}

func (staleMarks) Mark(context.Context, string, time.Time) error { return nil }
func (staleMarks) Unmark(context.Context, string) error          { return nil }
func (staleMarks) Deleted(context.Context, string) (time.Time, error) {
	return modified, nil
}

// TestTombstonesOfTheLiving: an existing item is never 410, whatever the tombstones contain.
func TestTombstonesOfTheLiving(t *testing.T) {
	t.Parallel()
	store := newThings()
	if _, err := store.Insert(t.Context(), "a", thing{}); err != nil {
		t.Fatal(err)
	}
	ops := resource.OpsOf(store).WithTombstones(staleMarks{}, false)
	if _, err := ops.Deleted(t.Context(), "a"); !errors.Is(err, resource.ErrNotFound) {
		t.Errorf("Deleted: %v", err)
	}
	r := ops.Resource("things", nil)
	wantDone(t, do(t.Context(), t, r, "get a", ""))
	wantDone(t, do(t.Context(), t, r, "patch a", `{"n":1}`))
	wantProblem(t, do(t.Context(), t, r, "get b", ""), problem.Gone)
}

// TestTombstonesWithoutDeleter: absent capabilities remain absent.
func TestTombstonesWithoutDeleter(t *testing.T) {
	t.Parallel()
	inner := resource.OpsOf(newThings())
	inner.Delete, inner.Replace, inner.Insert = nil, nil, nil
	ops := inner.WithTombstones(memory.NewTombstones(), false)
	same(t, "Delete, Replace, Insert", []bool{false, false, false},
		[]bool{ops.Delete != nil, ops.Replace != nil, ops.Insert != nil})
}

// TestTombstonesWithoutRunner: a nil Runner means that there are no transactions.
func TestTombstonesWithoutRunner(t *testing.T) {
	t.Parallel()
	inner := resource.OpsOf(newThings())
	inner.Transactions = func() tx.Runner { return nil }
	ops := inner.WithTombstones(memory.NewTombstones(), false)
	item, err := ops.Insert(t.Context(), "a", thing{})
	if err == nil {
		err = ops.Delete(t.Context(), "a", item.Rev)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ops.Get(t.Context(), "a"); !errors.Is(err, resource.ErrGone) {
		t.Errorf("Get: %v", err)
	}
}

func ExampleOps_WithTombstones() {
	// newThings returns a store that does not record deletions.
	ops := resource.OpsOf(newThings()).WithTombstones(memory.NewTombstones(), false)
	h := rest.New(resource.NewCatalog(nil, ops.Resource("things", nil)), nil)
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodGet} {
		r := httptest.NewRequest(method, "/things/1", strings.NewReader(`{"name":"water the plants"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(method, w.Code)
	}
	// Output:
	// PUT 201
	// DELETE 204
	// GET 410
}
