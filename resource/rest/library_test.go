package rest_test

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// The catalog of tests that are not about HTTP: a library of books and authors.

type book struct {
	ID       int64   `json:"id" readOnly:"true"`
	Title    string  `json:"title" required:"true" minLength:"1" maxLength:"40"`
	Author   int64   `json:"authorId"`
	Owner    string  `json:"owner"`
	Stars    int64   `json:"stars"`
	Note     *string `json:"note"`
	Sequels  []int64 `json:"sequels,omitempty"`
	Password string  `json:"password,omitempty" writeOnly:"true" maxLength:"40"`
	Shelf    string  `json:"-"`
}

type author struct {
	ID   int64  `json:"id" readOnly:"true"`
	Name string `json:"name" required:"true"`
	Born int64  `json:"born"`
}

// bookSupport has all filters and sort keys of a book.
func bookSupport() query.Support {
	return query.Support{
		Filter: map[string][]query.Op{"title": {query.Eq, query.StartsWith}, "authorId": {query.Eq, query.In},
			"owner": {query.Eq}, "stars": {query.Eq, query.Gte, query.Lt}, "note": {query.IsNull, query.Eq}},
		Sort: []string{"title", "authorId", "owner", "stars", "note"},
	}
}

// stocked returns a store with these items.
func stocked[T any](t testing.TB, items ...T) *memory.Store[T] {
	t.Helper()
	s := memory.New(&memory.Options[T]{Now: func() time.Time { return modified }})
	for _, v := range items {
		if _, err := s.Create(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// catalog serves parts and logs to the test.
func catalog(t testing.TB, parts ...resource.Part) *rest.Handler {
	t.Helper()
	return rest.New(newCatalog(t, parts...), nil)
}

// catalogWith serves parts with options of REST.
func catalogWith(t testing.TB, opts *rest.Options, parts ...resource.Part) *rest.Handler {
	t.Helper()
	return rest.New(newCatalog(t, parts...), opts)
}

// newCatalog returns a catalog that logs to the test.
func newCatalog(t testing.TB, parts ...resource.Part) *resource.Catalog {
	t.Helper()
	return resource.NewCatalog(&resource.CatalogOptions{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}, parts...)
}

// stored returns an item from the store.
func stored[T any](t testing.TB, c resource.Collection[T], id string) T {
	t.Helper()
	item, err := c.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return item.Value
}

// value decodes the body of a response.
func value[T any](t testing.TB, res *response) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(res.body), &v); err != nil {
		t.Fatalf("%s: %v: %s", res.line, err, res.body)
	}
	return v
}

// page is a page of a list.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
	Total *int   `json:"total"`
}

// link returns the target of a relation in Link, or "".
func link(res *response, rel string) string {
	for one := range strings.SplitSeq(res.header.Get("Link"), ", ") {
		if target, ok := strings.CutSuffix(one, `>; rel="`+rel+`"`); ok {
			return strings.TrimPrefix(target, "<")
		}
	}
	return ""
}

// walk follows the links of a relation and returns all items, page by page.
func walk[T any](t testing.TB, h http.Handler, target, rel string, fields ...string) [][]T {
	t.Helper()
	var pages [][]T
	for target != "" {
		res := send(t, h, "GET "+target, fields...)
		want(t, res, http.StatusOK)
		pages = append(pages, value[page[T]](t, res).Items)
		if len(pages) > 1000 {
			t.Fatal("the list has no end")
		}
		target = link(res, rel)
	}
	return pages
}

// same compares two values. what describes them.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// ids returns the ids of books.
func ids(books []book) []int64 {
	var out []int64
	for _, b := range books {
		out = append(out, b.ID)
	}
	return out
}

// calls counts the calls of a collection by the name of the method.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *calls) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[name]++
}

// reset returns the counts and sets them to zero.
func (c *calls) reset() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.n
	c.n = nil
	return n
}

// counting wraps ops to count calls. Absent functions remain absent.
func counting[T any](ops resource.Ops[T], c *calls) resource.Ops[T] {
	inner := ops
	ops.Get = func(ctx context.Context, id string) (resource.Item[T], error) {
		c.add("Get")
		return inner.Get(ctx, id)
	}
	ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[T], error] {
		c.add("List")
		return inner.List(ctx, q)
	}
	if inner.Replace != nil {
		ops.Replace = func(ctx context.Context, id string, expect resource.Rev, v T) (resource.Item[T], error) {
			c.add("Replace")
			return inner.Replace(ctx, id, expect, v)
		}
	}
	if inner.Count != nil {
		ops.Count = func(ctx context.Context, q query.Query) (int, error) {
			c.add("Count")
			return inner.Count(ctx, q)
		}
	}
	if inner.GetMany != nil {
		ops.GetMany = func(ctx context.Context, ids []string) iter.Seq2[resource.Item[T], error] {
			c.add("GetMany")
			return inner.GetMany(ctx, ids)
		}
	}
	if inner.ListByKeys != nil {
		ops.ListByKeys = func(
			ctx context.Context, field string, keys []string, q query.Query,
		) iter.Seq2[resource.Item[T], error] {
			c.add("ListByKeys")
			return inner.ListByKeys(ctx, field, keys, q)
		}
	}
	if inner.CountByKeys != nil {
		ops.CountByKeys = func(
			ctx context.Context, field string, keys []string, q query.Query,
		) (map[string]int, error) {
			c.add("CountByKeys")
			return inner.CountByKeys(ctx, field, keys, q)
		}
	}
	return ops
}

// thing is an item with an id of the client.
type thing struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	N    int64  `json:"n"`
}

// readOnly is a collection with only the required methods.
type readOnly[T any] struct{}

func (readOnly[T]) Get(context.Context, string) (resource.Item[T], error) {
	return resource.Item[T]{}, resource.ErrNotFound
}

func (readOnly[T]) List(context.Context, query.Query) iter.Seq2[resource.Item[T], error] {
	return func(func(resource.Item[T], error) bool) {}
}

// wantPanic checks the message of a panic of fn.
func wantPanic(t *testing.T, want string, fn func()) {
	t.Helper()
	defer func() {
		t.Helper()
		same(t, "panic", any(want), recover())
	}()
	fn()
}

// bookV1 is a book of an older contract.
type bookV1 struct {
	ID    int64  `json:"id" readOnly:"true"`
	Name  string `json:"name" required:"true"`
	Stars int64  `json:"stars"`
	Key   string `json:"key,omitempty" writeOnly:"true"`
}

func toV1(b book) (bookV1, error) { return bookV1{ID: b.ID, Name: b.Title, Stars: b.Stars}, nil }

func fromV1(v bookV1, base book) (book, error) {
	base.Title, base.Stars = v.Name, v.Stars
	if v.Key != "" {
		base.Password = v.Key
	}
	return base, nil
}

func shelved() book {
	note := "signed"
	return book{Title: "Emma", Author: 7, Owner: "ann", Stars: 4, Note: &note, Sequels: []int64{2}, Password: "hush",
		Shelf: "B3"}
}
