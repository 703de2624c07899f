package resource_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestRecentDeletes: the process remembers deletions of a store that does not.
func TestRecentDeletes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		opts      resource.Options[thing]
		ids       string // deleted in order
		gone      string // of these
		forgotten string
	}{
		{"by default", resource.Options[thing]{}, "abc", "abc", ""},
		{"more than the limit", resource.Options[thing]{RecentDeletes: 2}, "abc", "bc", "a"},
		{"none", resource.Options[thing]{RecentDeletes: -1}, "abc", "", "abc"},
		{"a caller that may not know", resource.Options[thing]{
			Authorize: func(context.Context, resource.Op, *thing, *thing) error { return nil }}, "abc", "", "abc"},
		{"a caller that may know", resource.Options[thing]{
			Authorize:     func(context.Context, resource.Op, *thing, *thing) error { return nil },
			AuthorizeGone: func(context.Context, string) error { return nil }}, "abc", "abc", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := resource.OpsOf(newThings())
			r := store.Resource("things", &tt.opts)
			other := store.Resource("things", &tt.opts) // as in another process
			call := func(r *resource.Resource, line, doc string) *answer { return do(t.Context(), t, r, line, doc) }
			for _, id := range tt.ids {
				wantDone(t, call(r, "put "+string(id), `{"name":"x"}`))
				wantDone(t, call(r, "delete "+string(id), ""))
			}
			for kind, ids := range map[problem.Kind]string{problem.Gone: tt.gone, problem.NotFound: tt.forgotten} {
				for _, id := range ids {
					for _, method := range []string{"delete", "get", "patch"} {
						wantProblem(t, call(r, method+" "+string(id), "{}"), kind)
					}
					wantProblem(t, call(other, "delete "+string(id), ""), problem.NotFound)
				}
			}
			// An item that exists again is served, whatever is remembered.
			wantDone(t, call(other, "put c", `{"name":"y"}`))
			wantDone(t, call(r, "get c", ""))
			wantDone(t, call(r, "delete c", ""))
			absent := &resource.WriteOptions{If: resource.Preconditions{IfNoneMatch: header.Tags{Any: true}}}
			wantDone(t, do(t.Context(), t, r, "put c", `{"name":"z"}`, absent))
			wantProblem(t, call(r, "get never", ""), problem.NotFound)
		})
	}
}

// TestRecentDeletesOfARollback: a deletion that was rolled back is not remembered.
func TestRecentDeletesOfARollback(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	ops := resource.OpsOf(memory.New[thing](&memory.Options[thing]{DB: db}))
	ops.Deleted = nil
	r := ops.Resource("things", nil)
	wantDone(t, do(t.Context(), t, r, "put a", `{"name":"x"}`))
	failed := errors.New("rolled back")
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		if _, err := r.Delete(ctx, "a", nil); err != nil {
			return err
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	wantDone(t, do(t.Context(), t, r, "get a", ""))
}

// TestRecentDeletesAtOnce: there is no time at which the item is missing and its deletion is not
// remembered yet.
func TestRecentDeletesAtOnce(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(newThings())
	remove := ops.Delete
	var r *resource.Resource
	ops.Delete = func(ctx context.Context, id string, rev resource.Rev) error {
		err := remove(ctx, id, rev)
		wantProblem(t, do(ctx, t, r, "get "+id, ""), problem.Gone) // a concurrent request
		return err
	}
	r = ops.Resource("things", nil)
	wantDone(t, do(t.Context(), t, r, "put a", `{"name":"x"}`))
	wantDone(t, do(t.Context(), t, r, "delete a", ""))
}

// TestRecentDeletesInATransaction: a transaction sees its own deletions. A deletion that has failed is
// not remembered.
func TestRecentDeletesInATransaction(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	ops := resource.OpsOf(memory.New[thing](&memory.Options[thing]{DB: db}))
	ops.Deleted = nil
	r := ops.Resource("things", nil)
	failed := errors.New("rolled back")
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		if _, _, err := r.Put(ctx, "new", []byte(`{"name":"x"}`), nil); err != nil {
			return err
		}
		if _, err := r.Delete(ctx, "new", nil); err != nil {
			return err
		}
		if _, err := r.Delete(ctx, "new", nil); !errors.Is(err, resource.ErrGone) {
			t.Errorf("the second deletion: %v, want ErrGone", err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	wantProblem(t, do(t.Context(), t, r, "get new", ""), problem.NotFound) // it never existed
}

// TestRecentDeletesAreHidden: nothing is remembered if no caller may know of it.
func TestRecentDeletesAreHidden(t *testing.T) {
	t.Parallel()
	r := resource.OpsOf(newThings()).Resource("things", &resource.Options[thing]{
		Authorize: func(context.Context, resource.Op, *thing, *thing) error { return nil }})
	if r.Describe().RemembersRecent {
		t.Error("deletions are remembered that no caller may know of")
	}
	const weak = "no AuthorizeGone: a deleted item is 404 and not 410 for every caller"
	if report := resource.NewCatalog(nil, r).Report(); !strings.Contains(report, weak) ||
		strings.Contains(report, "deletions are") {
		t.Errorf("report:\n%s", report)
	}
}

// TestRecentDeletesInGraphQL: a second deletion has the code GONE, also in one request.
func TestRecentDeletesInGraphQL(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(newThings())
	api := graphql.New(resource.NewCatalog(nil, ops.Resource("things", nil)), nil)
	res := api.Execute(t.Context(), graphql.Request{Query: `mutation {
		createThing(input: {id: "a", name: "x"}) { id }
		first: deleteThing(id: "a") { id }
		second: deleteThing(id: "a") { id }
		never: deleteThing(id: "b") { id }
	}`})
	var codes []string
	for _, e := range res.Errors {
		codes = append(codes, fmt.Sprint(e.Path[0], " ", e.Code()))
	}
	if diff := cmp.Diff([]string{"second GONE", "never NOT_FOUND"}, codes); diff != "" {
		t.Errorf("errors (-want +got):\n%s\n%s", diff, res.Data)
	}
}
