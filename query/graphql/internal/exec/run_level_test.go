package exec_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// loan leads to the books by several relations.
type loan struct {
	ID      string  `json:"id"`
	BookID  int64   `json:"bookId"`
	SpareID int64   `json:"spareId"`
	AlsoIDs []int64 `json:"alsoIds"`
}

// newLoans returns a library with three loans.
func newLoans(t *testing.T, config exec.Config) *world {
	t.Helper()
	var w *world
	store := memory.New[loan](nil)
	for _, l := range []loan{{"1", 1, 3, []int64{3, 1}}, {"2", 2, 1, []int64{2, 77, 1}}, {"3", 77, 2, nil}} {
		if _, err := store.Insert(t.Context(), l.ID, l); err != nil {
			t.Fatal(err)
		}
	}
	ops := resource.OpsOf(store)
	list := ops.List
	ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[loan], error] {
		if err := w.call(ctx, "loans list"); err != nil {
			return fails[loan](err)
		}
		return list(ctx, q)
	}
	loans := ops.Resource("loans", &resource.Options[loan]{Public: true, Relations: []resource.Relation[loan]{
		{Name: "book", Target: "books", Field: "bookId"},
		{Name: "spare", Target: "books", Field: "spareId"},
		{Name: "also", Target: "books", Many: true, Field: "alsoIds"},
	}})
	w = newWorld(t, setting{config: config, parts: []resource.Part{loans}})
	return w
}

// TestCallsOfLevels counts the calls of each store. Relations by id to one resource are one call for each
// level. The first document took 7 calls when each relation was a call, and takes 4.
func TestCallsOfLevels(t *testing.T) {
	t.Parallel()
	const nodes = `"nodes":[`
	tests := []struct{ name, document, variables, calls, want string }{
		{
			name: "three levels",
			document: `{ loans { nodes { book { id author { name } sequel { id } }
				spare { id author { name } sequel { title } } } } }`,
			calls: "authors many 2, books many 3, books many 4, loans list",
			want: `{"loans":{` + nodes +
				`{"book":{"id":"1","author":{"name":"Ann"},"sequel":{"id":"2"}},` +
				`"spare":{"id":"3","author":{"name":"Bob \"B\""},"sequel":{"title":"First"}}},` +
				`{"book":{"id":"2","author":{"name":"Ann"},"sequel":null},` +
				`"spare":{"id":"1","author":{"name":"Ann"},"sequel":{"title":"Second"}}},` +
				`{"book":null,"spare":{"id":"2","author":{"name":"Ann"},"sequel":null}}]}}`,
		},
		{
			name:     "to one and to many, in the order of the keys",
			document: `{ loans { nodes { also { id } book { title } } } }`,
			calls:    "books many 4, loans list",
			want: `{"loans":{` + nodes + `{"also":[{"id":"3"},{"id":"1"}],"book":{"title":"First"}},` +
				`{"also":[{"id":"2"},{"id":"1"}],"book":{"title":"Second"}},{"also":[],"book":null}]}}`,
		},
		{
			name:     "aliases",
			document: `{ loans(first: 1) { nodes { a: book { id } b: book { title } } } }`,
			calls:    "books many 1, loans list",
			want:     `{"loans":{` + nodes + `{"a":{"id":"1"},"b":{"title":"First"}}]}}`,
		},
		{
			name:     "nodes and edges",
			document: `{ loans(first: 1) { nodes { book { id } } edges { node { spare { id } } } } }`,
			calls:    "books many 2, loans list",
			want: `{"loans":{` + nodes + `{"book":{"id":"1"}}],` +
				`"edges":[{"node":{"spare":{"id":"3"}}}]}}`,
		},
		{
			name:     "below several root fields",
			document: `{ loans(first: 1) { nodes { book { id } } } book(id: 3) { sequel { title } author { id } } }`,
			calls:    "authors many 1, books get 3, books many 1, loans list",
			want: `{"loans":{` + nodes + `{"book":{"id":"1"}}]},` +
				`"book":{"sequel":{"title":"First"},"author":{"id":"bob"}}}`,
		},
		{
			name:     "lists by a field, and totals, are calls of their own",
			document: `{ loans(first: 1) { nodes { book { reviews { id } } spare { author { books { id } } } } } }`,
			calls:    "authors many 1, books by authorId 1, books many 2, loans list, reviews by bookId 1",
			want: `{"loans":{` + nodes + `{"book":{"reviews":[{"id":"1"},{"id":"3"}]},` +
				`"spare":{"author":{"books":[{"id":"3"}]}}}]}}`,
		},
		{
			name: "what is skipped",
			document: `query($a: Boolean!) { loans(first: 1) { nodes { book @skip(if: $a) { id }
				spare { author @skip(if: $a) { id } sequel { id } } also { author { id } } } } }`,
			variables: `{"a": true}`,
			calls:     "authors many 2, books many 1, books many 2, loans list",
			want: `{"loans":{` + nodes + `{"spare":{"sequel":{"id":"1"}},` +
				`"also":[{"author":{"id":"bob"}},{"author":{"id":"ann"}}]}]}}`,
		},
		{
			name:     "mutations are separate",
			document: `mutation { a: deleteBook(id: 3) { sequel { id } } b: deleteBook(id: 1) { sequel { id } } }`,
			calls:    "books get 1, books get 3, books many 1, books many 1",
			want:     `{"a":{"sequel":{"id":"1"}},"b":{"sequel":{"id":"2"}}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, most := range []int{1, 8} {
				w := newLoans(t, exec.Config{Parallel: most})
				if diff := cmp.Diff(`{"data":`+tt.want+`}`, w.ask(t, tt.document, tt.variables)); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.calls, w.took()); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestFaultsOfLevels: an error of one item is one of the relations that lead to it. A store that is not
// available is asked once.
func TestFaultsOfLevels(t *testing.T) {
	t.Parallel()
	const document = `{ loans(first: 2) { nodes { book { id } spare { id } } } }`
	const ids = `{"loans":{"nodes":[{"book":{"id":"1"},"spare":`
	policy := func(id int64, err error) func(w *world) {
		return func(w *world) {
			w.authorize = func(_ context.Context, _ resource.Op, before, _ *book) error {
				if before != nil && before.ID == id {
					return err
				}
				return nil
			}
		}
	}
	store := func(err error) func(w *world) {
		return func(w *world) {
			w.hook = func(_ context.Context, call string) error {
				if strings.HasPrefix(call, "books many") {
					return err
				}
				return nil
			}
		}
	}
	boom := func(w *world) {
		w.hook = func(_ context.Context, call string) error {
			if strings.HasPrefix(call, "books many") {
				panic("boom")
			}
			return nil
		}
	}
	both := func(code string) string {
		return "[loans nodes 0 book] " + code + "; [loans nodes 0 spare] " + code + "; [loans nodes 1 book] " + code +
			"; [loans nodes 1 spare] " + code +
			`; {"loans":{"nodes":[{"book":null,"spare":null},{"book":null,"spare":null}]}}`
	}
	tests := []struct {
		name  string
		set   func(w *world)
		calls string
		want  string
	}{
		{"none", func(*world) {}, "books many 3, loans list",
			ids + `{"id":"3"}},{"book":{"id":"2"},"spare":{"id":"1"}}]}}`},
		{"a hidden item", policy(3, resource.ErrForbidden), "books many 3, loans list",
			ids + `null},{"book":{"id":"2"},"spare":{"id":"1"}}]}}`},
		{"the policy of one item", policy(3, errors.New("no answer")),
			"books many 2, books many 2, books many 3, loans list",
			"[loans nodes 0 spare] INTERNAL_SERVER_ERROR; [loans nodes 1 spare] INTERNAL_SERVER_ERROR; " + ids +
				`null},{"book":{"id":"2"},"spare":null}]}}`},
		{"the store", store(errors.New("no answer")), "books many 2, books many 2, books many 3, loans list",
			both("INTERNAL_SERVER_ERROR")},
		{"a store that is not available", store(resource.ErrUnavailable), "books many 3, loans list",
			both("UNAVAILABLE")},
		{"a panic", boom, "books many 3, loans list", both("INTERNAL_SERVER_ERROR")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newLoans(t, exec.Config{})
			tt.set(w)
			if diff := cmp.Diff(tt.want, outline(t, w.ask(t, document))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.calls, w.took()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}
