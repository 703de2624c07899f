package resource_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
)

// hooked is a library that records the calls of its hooks.
type hooked struct {
	*resource.Resource
	store *memory.Store[book]
	said  []string
}

func (h *hooked) say(hook string, op resource.Op, before, after *book) {
	title := func(b *book) string {
		if b == nil {
			return "-"
		}
		return b.Title
	}
	h.said = append(h.said, fmt.Sprintf("%s %s %s %s", hook, op, title(before), title(after)))
}

// hookedBooks has the book "a". before, if not nil, is called by the hook.
func hookedBooks(
	t testing.TB, before func(op resource.Op, before, after *book) error, opts ...func(*resource.Ops[book]),
) *hooked {
	t.Helper()
	h := &hooked{store: stocked(t, book{Title: "a"})}
	ops := resource.OpsOf(h.store)
	ops.Insert = nil
	for _, opt := range opts {
		opt(&ops)
	}
	h.Resource = ops.Resource("books", &resource.Options[book]{
		Before: func(_ context.Context, op resource.Op, b, after *book) error {
			h.say("before", op, b, after)
			if before == nil {
				return nil
			}
			return before(op, b, after)
		},
		After: func(_ context.Context, op resource.Op, b, after *book) { h.say("after", op, b, after) },
	})
	return h
}

func TestHookArguments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line, doc string
		opts      *resource.WriteOptions
		status    int
		said      []string
	}{
		{"create", `{"title":"b"}`, nil, 201, []string{"before create - b", "after create - b"}},
		{"put 1", `{"title":"b"}`, nil, 200, []string{"before replace a b", "after replace a b"}},
		{"patch 1", `{"title":"b"}`, nil, 200, []string{"before patch a b", "after patch a b"}},
		{"delete 1", "", nil, 204, []string{"before delete a -", "after delete a -"}},
		{"get 1", "", nil, 200, nil},
		{"patch 1", `{"title":"a"}`, nil, 200, nil}, // nothing is written
		{"patch 1", `{"title":""}`, nil, 422, nil},
		{"patch 1", `{"title":"b"}`, ifMatch(t, `"x"`), 412, nil},
		{"put 2", `{"title":"b"}`, nil, 404, nil},
		{"delete 2", "", nil, 404, nil},
	}
	for _, tt := range tests {
		t.Run(tt.line+tt.doc, func(t *testing.T) {
			t.Parallel()
			h := hookedBooks(t, nil)
			wantStatus(t, do(t.Context(), t, h.Resource, tt.line, tt.doc, tt.opts), tt.status)
			same(t, "said", tt.said, h.said)
		})
	}
}

func TestBeforeFillsIn(t *testing.T) {
	t.Parallel()
	h := hookedBooks(t, func(op resource.Op, _, after *book) error {
		after.Owner, after.Shelf = "by "+string(op), "A1"
		return nil
	})
	wantDoc(t, do(t.Context(), t, h.Resource, "create", `{"title":"b"}`),
		`{"id":2,"title":"b","authorId":0,"owner":"by create","stars":0,"note":null}`)
	wantDoc(t, do(t.Context(), t, h.Resource, "patch 1", `{"title":"b"}`),
		`{"id":1,"title":"b","authorId":0,"owner":"by patch","stars":0,"note":null}`)
	same(t, "stored", book{ID: 1, Title: "b", Owner: "by patch", Shelf: "A1"}, stored(t, h.store, "1"))
}

// TestBeforeRefuses: an error of a before hook prevents the write and the after hooks.
func TestBeforeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		err    error
		change func(*book)
		kind   problem.Kind
		places []string
	}{
		{"invalid", resource.Invalid("title", "boring"), nil, problem.Invalid, []string{"/title boring"}},
		{"taken", resource.Taken("title"), nil, problem.Conflict, []string{"/title taken"}},
		{"forbidden", resource.ErrForbidden, nil, problem.Forbidden, nil},
		{"unavailable", resource.ErrUnavailable, nil, problem.Unavailable, nil},
		{"own problem", problem.New(problem.TooManyRequests, "Slowly."), nil, problem.TooManyRequests, nil},
		{"anything", errors.New("secret"), nil, problem.Internal, nil},
		{"leaves an invalid item", nil, func(b *book) { b.Title = "" }, problem.Invalid, []string{"/title minLength"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := hookedBooks(t, func(_ resource.Op, _, after *book) error {
				if tt.change != nil && after != nil {
					tt.change(after)
				}
				return tt.err
			})
			wantProblem(t, do(t.Context(), t, h.Resource, "create", `{"title":"b"}`), tt.kind, tt.places...)
			wantProblem(t, do(t.Context(), t, h.Resource, "put 1", `{"title":"b"}`), tt.kind, tt.places...)
			wantProblem(t, do(t.Context(), t, h.Resource, "patch 1", `{"title":"b"}`), tt.kind, tt.places...)
			if tt.err != nil {
				wantProblem(t, do(t.Context(), t, h.Resource, "delete 1", ""), tt.kind, tt.places...)
			}
			same(t, "stored", book{ID: 1, Title: "a"}, stored(t, h.store, "1"))
			if i := slices.IndexFunc(h.said, func(s string) bool { return s[:5] == "after" }); i >= 0 {
				t.Errorf("said %s", h.said[i])
			}
		})
	}
}

// TestHooksOnConflict: after a concurrent write all checks are repeated with the current item, and
// the hook with side effects runs once.
func TestHooksOnConflict(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"put 1", "patch 1"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			between := 0
			h := hookedBooks(t, nil, func(ops *resource.Ops[book]) {
				ops.Transactions = nil // the concurrent writes below would be part of the transaction
				replace := ops.Replace
				ops.Replace = func(ctx context.Context, id string, rev resource.Rev, v book) (resource.Item[book], error) {
					if between++; between < 3 { // two concurrent writes
						item, err := ops.Get(ctx, id)
						if err != nil {
							return item, err
						}
						item.Value.Title = fmt.Sprint("a", between)
						if _, err := replace(ctx, id, item.Rev, item.Value); err != nil {
							return item, err
						}
					}
					return replace(ctx, id, rev, v)
				}
			})
			op := map[string]string{"put 1": "replace", "patch 1": "patch"}[line]
			wantDone(t, do(t.Context(), t, h.Resource, line, `{"title":"b"}`))
			same(t, "said", []string{"before " + op + " a b", "before " + op + " a1 b", "before " + op + " a2 b",
				"after " + op + " a2 b"}, h.said)
		})
	}
}

// TestHooksInTransaction: inside a transaction After runs after the commit, and never after a
// rollback.
func TestHooksInTransaction(t *testing.T) {
	t.Parallel()
	for _, outcome := range []error{nil, errChanged} {
		t.Run(fmt.Sprint(outcome), func(t *testing.T) {
			t.Parallel()
			h := hookedBooks(t, nil)
			db := h.store.Transactions()
			var within []string
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				if _, err := h.Create(ctx, []byte(`{"title":"b"}`), nil); err != nil {
					return err
				}
				p, err := patch.ParseMergePatch([]byte(`{"title":"c"}`), patch.Limits{})
				if err != nil {
					return err
				}
				if _, err := h.Patch(ctx, "2", p, nil); err != nil {
					return err
				}
				if _, _, err := h.Put(ctx, "2", []byte(`{"title":"d"}`), nil); err != nil {
					return err
				}
				if _, err := h.Delete(ctx, "1", nil); err != nil {
					return err
				}
				within = slices.Clone(h.said)
				return outcome
			})
			if !errors.Is(err, outcome) {
				t.Fatal(err)
			}
			before := []string{"before create - b", "before patch b c", "before replace c d", "before delete a -"}
			same(t, "said within", before, within)
			after := []string{"after create - b", "after patch b c", "after replace c d", "after delete a -"}
			status1, status2 := http.StatusGone, http.StatusOK
			if outcome != nil {
				after, status1, status2 = nil, http.StatusOK, http.StatusNotFound
			}
			same(t, "said", append(before, after...), h.said)
			wantStatus(t, do(t.Context(), t, h.Resource, "get 1", ""), status1)
			wantStatus(t, do(t.Context(), t, h.Resource, "get 2", ""), status2)
		})
	}
}

// TestTransactionOverResources: writes to two collections of one database succeed or fail together.
func TestTransactionOverResources(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	books := resource.New("books", memory.New(&memory.Options[book]{DB: db}), nil)
	authors := resource.New("authors", memory.New(&memory.Options[author]{DB: db}), nil)
	both := func(doc string) error {
		return db.InTx(t.Context(), func(ctx context.Context) error {
			if _, err := authors.Create(ctx, []byte(`{"name":"Ann"}`), nil); err != nil {
				return err
			}
			_, err := books.Create(ctx, []byte(doc), nil)
			return err
		})
	}
	if err := both(`{"title":""}`); err == nil {
		t.Error("an invalid book was accepted")
	}
	same(t, "authors", 0, len(listAll(t, authors).Entries))
	if err := both(`{"title":"a"}`); err != nil {
		t.Error(err)
	}
	same(t, "authors", 1, len(listAll(t, authors).Entries))
	same(t, "books", 1, len(listAll(t, books).Entries))
}

// TestConflictInTransaction: a transaction reads from a snapshot, so a retry inside it cannot
// succeed; the outermost runner receives the error.
func TestConflictInTransaction(t *testing.T) {
	t.Parallel()
	h := hookedBooks(t, nil, func(ops *resource.Ops[book]) {
		ops.Replace = func(context.Context, string, resource.Rev, book) (resource.Item[book], error) {
			return resource.Item[book]{}, resource.ErrStale
		}
	})
	err := h.store.Transactions().InTx(t.Context(), func(ctx context.Context) error {
		_, _, err := h.Put(ctx, "1", []byte(`{"title":"b"}`), nil)
		return err
	})
	if !errors.Is(err, resource.ErrStale) {
		t.Errorf("got %v, want ErrStale", err)
	}
	same(t, "said", []string{"before replace a b"}, h.said)
}

// TestErrorsNameOperation: errors name operation, resource and item, and wrap the error of the hook.
func TestErrorsNameOperation(t *testing.T) {
	t.Parallel()
	secret := errors.New("no more paper")
	h := hookedBooks(t, func(resource.Op, *book, *book) error { return secret })
	_, _, putErr := h.Put(t.Context(), "1", []byte(`{"title":"b"}`), nil)
	_, createErr := h.Create(t.Context(), []byte(`{"title":"b"}`), nil)
	_, getErr := h.Get(t.Context(), "7")
	tests := []struct {
		err, is error
		want    resource.Error
		text    string
	}{
		{putErr, secret, resource.Error{Op: "replace", Resource: "books", ID: "1"}, "replace books/1: no more paper"},
		{createErr, secret, resource.Error{Op: "create", Resource: "books"}, "create books: no more paper"},
		{getErr, resource.ErrNotFound, resource.Error{Op: "get", Resource: "books", ID: "7"}, "get books/7: no such item"},
	}
	for _, tt := range tests {
		var e *resource.Error
		if !errors.As(tt.err, &e) || !errors.Is(tt.err, tt.is) {
			t.Errorf("got %v, want an Error around %v", tt.err, tt.is)
			continue
		}
		same(t, "text", tt.text, e.Error())
		got := *e
		got.Err = nil
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
	}
}

// TestFeedErrorsAreProblems: the errors of a feed are the same problems in every contract.
func TestFeedErrorsAreProblems(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]problem.Kind{
		feed.ErrExpired: problem.CursorExpired, feed.ErrCursor: problem.InvalidCursor, feed.ErrClosed: problem.Unavailable,
	} {
		if got := resource.Problem(fmt.Errorf("place: %w", err)); got.Kind != want {
			t.Errorf("%v is the problem %s, want %s", err, got.Kind, want)
		}
	}
}
