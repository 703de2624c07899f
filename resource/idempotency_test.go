package resource_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

var levels = []idempotency.Level{idempotency.AtMostOnce, idempotency.ByIdentity, idempotency.ExactlyOnce}

// keyedMemos returns a collection with the memo "old" and keys of a level, and the calls of its writes.
func keyedMemos(t *testing.T, level idempotency.Level, opts *resource.Options[memo]) (
	c *resource.Catalog, r *resource.Resource, writes *int) {
	t.Helper()
	db := memory.NewDB()
	store := memory.New(&memory.Options[memo]{DB: db})
	if _, err := store.Insert(t.Context(), "old", memo{ID: "old", Title: "a"}); err != nil {
		t.Fatal(err)
	}
	ops, n := resource.OpsOf(store), 0
	ops.Create = func(ctx context.Context, v memo) (resource.Item[memo], error) { n++; return store.Create(ctx, v) }
	ops.Insert = func(ctx context.Context, id string, v memo) (resource.Item[memo], error) {
		n++
		return store.Insert(ctx, id, v)
	}
	ops.Replace = func(ctx context.Context, id string, rev resource.Rev, v memo) (resource.Item[memo], error) {
		n++
		return store.Replace(ctx, id, rev, v)
	}
	ops.Delete = func(ctx context.Context, id string, rev resource.Rev) error { n++; return store.Delete(ctx, id, rev) }
	if level < idempotency.ExactlyOnce {
		ops.Transactions = nil
	}
	if level < idempotency.ByIdentity {
		ops.Insert, ops.InsertMany = nil, nil
	}
	r = ops.Resource("memos", opts)
	c = resource.NewCatalog(&resource.CatalogOptions{
		Logger: testLogger(t), Principal: caller,
		Idempotency: idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil),
	}, r)
	return c, r, &n
}

// TestKeyedWrites: a repeated write under a key has the result of the first and takes effect once, and
// another content under the key is refused.
func TestKeyedWrites(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line, doc, other string
		least            idempotency.Level // at which it is possible
		writes           int
	}{
		{"create", `{"title":"b"}`, `{"title":"c"}`, idempotency.AtMostOnce, 1},
		{"put new", `{"title":"b"}`, `{"title":"c"}`, idempotency.ByIdentity, 1},
		{"put old", `{"title":"b"}`, `{"title":"c"}`, idempotency.AtMostOnce, 1},
		{"patch old", `{"title":"b"}`, `{"title":"c"}`, idempotency.AtMostOnce, 1},
		{"patch old", `[{"op":"replace","path":"/title","value":"b"}]`, `{"title":"c"}`, idempotency.AtMostOnce, 1},
		{"delete old", "", "", idempotency.AtMostOnce, 1},
		{"batch", operations(`{"op":"create","value":{"title":"b"}}`, `{"op":"patch","id":"old","patch":{"title":"b"}}`),
			operations(`{"op":"delete","id":"old"}`), idempotency.ExactlyOnce, 2},
	}
	for _, level := range levels {
		for _, tt := range tests {
			if level < tt.least {
				continue
			}
			t.Run(fmt.Sprint(level, " ", tt.line, tt.doc), func(t *testing.T) {
				t.Parallel()
				c, r, writes := keyedMemos(t, level, nil)
				write := func(doc string) (a *answer, results []string, replayed bool) {
					o := underKey(c, "memos", "k")
					a = do(t.Context(), t, r, tt.line, doc, o)
					for _, result := range a.results {
						results = append(results, fmt.Sprint(result.Op, result.ID, result.Rev, result.Created, string(result.JSON)))
					}
					return a, results, o.Key.Replayed() != nil
				}
				first, results, replayed := write(tt.doc)
				if wantDone(t, first); replayed {
					t.Error("the first write is a replay")
				}
				again, repeated, replayed := write(tt.doc)
				if wantDone(t, again); !replayed {
					t.Error("the second write is no replay")
				}
				same(t, "id", first.entry.ID, again.entry.ID)
				same(t, "results", results, repeated)
				if !strings.HasPrefix(tt.line, "delete") { // of which the replay has the id only
					same(t, "item", first.doc, again.doc)
				}
				if tt.other != "" {
					a, _, _ := write(tt.other)
					wantStatus(t, a, problem.KeyReused.Status())
				}
				same(t, "writes", tt.writes, *writes)
			})
		}
	}
}

// TestKeyedRefusals: a refusal is repeated only if it was recorded. Otherwise the key is free again.
func TestKeyedRefusals(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		for _, recorded := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v recorded=%t", level, recorded), func(t *testing.T) {
				t.Parallel()
				refusal := problem.New(problem.TooManyRequests, "Slowly.")
				refusal.Header = http.Header{"Retry-After": {"7"}}
				calls := 0
				c, r, _ := keyedMemos(t, level, &resource.Options[memo]{
					Before: func(ctx context.Context, _ resource.Op, _, _ *memo) error {
						if calls++; calls > 1 {
							return nil
						}
						if recorded {
							idempotency.RecordRefusal(ctx)
						}
						return refusal
					}})
				wantProblem(t, do(t.Context(), t, r, "put old", `{"title":"b"}`, underKey(c, "memos", "k")), problem.TooManyRequests)
				o := underKey(c, "memos", "k")
				a := do(t.Context(), t, r, "put old", `{"title":"b"}`, o)
				if !recorded {
					wantDoc(t, a, `{"id":"old","title":"b","stars":3}`)
					return
				}
				rec := o.Key.Replayed()
				if a.err == nil || rec == nil {
					t.Fatalf("%v, replayed %v, want the refusal again", a.err, rec)
				}
				same(t, "status", http.StatusTooManyRequests, rec.Status)
				same(t, "Retry-After", http.Header{"Retry-After": {"7"}}, rec.Header)
				same(t, "calls of Before", 1, calls)
				if !strings.Contains(string(rec.Result), "Slowly.") {
					t.Errorf("the record is %s", rec.Result)
				}
			})
		}
	}
}

// TestKeyedReplayIsAuthorized: a replay shows an item only to a caller that may read it now or, after
// its deletion, as it was. A refusal names the key.
func TestKeyedReplayIsAuthorized(t *testing.T) {
	t.Parallel()
	patchTitle := func(doc string) func(context.Context, *resource.Resource) error {
		return func(ctx context.Context, r *resource.Resource) error {
			_, err := r.Patch(ctx, "new", mergePatch(t, doc), nil)
			return err
		}
	}
	remove := func(ctx context.Context, r *resource.Resource) error {
		_, err := r.Delete(ctx, "new", nil)
		return err
	}
	tests := []struct {
		name   string
		change func(context.Context, *resource.Resource) error // between the two requests
		hidden bool
	}{
		{"unchanged", nil, false},
		{"changed", patchTitle(`{"title":"c"}`), false},
		{"hidden", patchTitle(`{"title":"hidden"}`), true},
		{"deleted", remove, false},
	}
	policies := map[string]*resource.Options[memo]{
		"scope": {Scope: func(ctx context.Context) (query.Filter, error) {
			if caller(ctx) == "root" {
				return query.Filter{}, nil
			}
			return query.Where("title", query.Ne, "hidden"), nil
		}},
		"authorize": {Authorize: func(ctx context.Context, op resource.Op, before, _ *memo) error {
			if op == resource.OpGet && before.Title == "hidden" && caller(ctx) != "root" {
				return resource.ErrForbidden
			}
			return nil
		}},
	}
	for name, opts := range policies {
		for _, tt := range tests {
			t.Run(name+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				c, r, _ := keyedMemos(t, idempotency.ExactlyOnce, opts)
				batch := operations(`{"op":"replace","id":"new","value":{"title":"b"}}`)
				first := do(as(t, "ann"), t, r, "batch", batch, underKey(c, "memos", "batch"))
				wantDone(t, first)
				put := do(as(t, "ann"), t, r, "put new", `{"title":"b"}`, underKey(c, "memos", "put"))
				wantDone(t, put)
				doc, guarded := r.Raw().Remember(&put.entry)
				if !guarded {
					t.Error("a resource with a policy has nothing to remember")
				}
				if tt.change != nil {
					if err := tt.change(as(t, "root"), r); err != nil {
						t.Fatal(err)
					}
				}
				a := do(as(t, "ann"), t, r, "put new", `{"title":"b"}`, underKey(c, "memos", "put"))
				again := do(as(t, "ann"), t, r, "batch", batch, underKey(c, "memos", "batch"))
				wantDone(t, again)
				err := r.Raw().Recall(as(t, "ann"), "new", doc)
				if !tt.hidden {
					wantDoc(t, a, `{"id":"new","title":"b","stars":3}`)
					same(t, "batch", string(first.results[0].JSON), string(again.results[0].JSON))
					if err != nil {
						t.Errorf("Recall: %v", err)
					}
					return
				}
				if d := wantProblem(t, a, problem.NotFound, " used"); len(d.Errors) == 1 && d.Errors[0].Header != idempotency.KeyField {
					t.Errorf("the errors are %v", d.Errors)
				}
				same(t, "batch", "", string(again.results[0].JSON))
				if !errors.Is(err, resource.ErrNotFound) {
					t.Errorf("Recall: %v", err)
				}
			})
		}
	}
}

// TestKeyedImport: an import under a key is identified by its content, and its repetition has the same
// result without storing a line.
func TestKeyedImport(t *testing.T) {
	t.Parallel()
	for _, atomic := range []bool{false, true} {
		t.Run(fmt.Sprintf("atomic=%t", atomic), func(t *testing.T) {
			t.Parallel()
			c, r, _ := keyedMemos(t, idempotency.ExactlyOnce, nil)
			run := func(lines string) (string, error) {
				doc, err := r.Import(t.Context(), httpbody.NewPart(strings.NewReader(lines), 1<<20), &resource.ImportOptions{
					WriteOptions: *underKey(c, "memos", "k"), Atomic: atomic})
				return string(doc), err
			}
			const lines = `{"id":"x","title":"x"}` + "\n" + `{"id":"old","title":"b"}` + "\n"
			const result = `{"created":1,"replaced":1,"rejected":[]}`
			for range 2 {
				got, err := run(lines)
				if diff := cmp.Diff(result, got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
			if _, err := run(`{"id":"y","title":"y"}`); err == nil {
				t.Error("another content under the key was imported")
			}
			same(t, "memos", []string{"b", "x"}, texts(t, r, "title"))
			if _, err := r.Import(t.Context(), strings.NewReader(lines),
				&resource.ImportOptions{WriteOptions: *underKey(c, "memos", "plain")}); err == nil {
				t.Error("a reader without a digest was imported under a key")
			}
		})
	}
}
