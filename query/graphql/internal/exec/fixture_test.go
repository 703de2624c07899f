package exec_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

// book is an item of the library: books have an author, a sequel and reviews; authors have books.

type book struct {
	ID        int64          `json:"id" readOnly:"true"`
	Title     string         `json:"title" required:"true"`
	Genre     string         `json:"genre" enum:"novel,poems,essay" default:"novel"`
	AuthorID  string         `json:"authorId"`
	SequelID  *int64         `json:"sequelId"`
	Pages     int64          `json:"pages" minimum:"0" maximum:"10000"`
	Sold      int64          `json:"sold"`
	Price     float64        `json:"price"`
	Note      *string        `json:"note"`
	Tags      []string       `json:"tags"`
	Moods     []string       `json:"moods" enum:"sad,funny"`
	Editions  []edition      `json:"editions"`
	Cover     *cover         `json:"cover"`
	Extra     map[string]any `json:"extra"`
	Published time.Time      `json:"published"`
	Shelf     shelf          `json:"shelf"`
	Secret    string         `json:"secret" writeOnly:"true"`
}

type edition struct {
	Year  int32  `json:"year"`
	Print *int64 `json:"print" minimum:"1" maximum:"99"`
	Cover cover  `json:"cover"`
}

type cover struct {
	Color string `json:"color" enum:"red,blue"`
}

// shelf implements encoding.TextMarshaler, which fails for one value.
type shelf string

func (s shelf) MarshalText() ([]byte, error) {
	if s == "panic" {
		panic("the shelf has fallen over")
	}
	return []byte(s), nil
}

func (s *shelf) UnmarshalText(text []byte) error {
	*s = shelf(text)
	return nil
}

type author struct {
	ID   string `json:"id"`
	Name string `json:"name" required:"true"`
}

type review struct {
	ID     int64  `json:"id" readOnly:"true"`
	BookID int64  `json:"bookId"`
	Stars  int    `json:"stars" minimum:"0" maximum:"5"`
	Text   string `json:"text"`
}

// world is the library, with records of its calls and hooks for tests.
type world struct {
	mu    sync.Mutex
	calls []string // calls of collections

	books     *memory.Store[book]
	authors   *memory.Store[author]
	reviews   *memory.Store[review]
	hook      func(ctx context.Context, call string) error // called before each call of a collection
	authorize func(ctx context.Context, op resource.Op, before, after *book) error
	visible   func(ctx context.Context, a *author) bool
	log       bytes.Buffer
	onLog     func()
	asked     []string // columns
	scope     func(ctx context.Context) (query.Filter, error)

	feed    *feed.Feed // nil without feed
	events  *countedLog
	cursors []string // cursors of the feed: that of the beginning, and those of messages
	catalog *resource.Catalog
	schema  *model.Schema
	engine  *exec.Engine
}

// call records a call of a collection.
func (w *world) call(ctx context.Context, format string, args ...any) error {
	name := fmt.Sprintf(format, args...)
	w.mu.Lock()
	w.calls = append(w.calls, name)
	hook := w.hook
	w.mu.Unlock()
	if hook != nil {
		return hook(ctx, name)
	}
	return nil
}

// took returns the calls since its last call, sorted.
func (w *world) took() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.calls)
	out := strings.Join(w.calls, ", ")
	w.calls = nil
	return out
}

func (w *world) Write(p []byte) (int, error) {
	if w.onLog != nil {
		w.onLog()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// fails returns an iterator that yields an error.
func fails[T any](err error) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) { yield(resource.Item[T]{}, err) }
}

// spied returns the functions of a collection, which record their calls.
func spied[T any](w *world, name string, c resource.Collection[T]) resource.Ops[T] {
	inner := resource.OpsOf(c)
	ops := inner
	ops.Get = func(ctx context.Context, id string) (resource.Item[T], error) {
		if err := w.call(ctx, "%s get %s", name, id); err != nil {
			return resource.Item[T]{}, err
		}
		return inner.Get(ctx, id)
	}
	ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[T], error] {
		if q.Fields != nil {
			w.mu.Lock()
			w.asked = append(w.asked, name+": "+strings.Join(slices.Sorted(slices.Values(q.Fields)), ","))
			w.mu.Unlock()
		}
		if err := w.call(ctx, "%s list", name); err != nil {
			return fails[T](err)
		}
		return inner.List(ctx, q)
	}
	ops.GetMany = func(ctx context.Context, ids []string) iter.Seq2[resource.Item[T], error] {
		if err := w.call(ctx, "%s many %d", name, len(ids)); err != nil {
			return fails[T](err)
		}
		return inner.GetMany(ctx, ids)
	}
	ops.ListByKeys = func(ctx context.Context, field string, keys []string,
		q query.Query) iter.Seq2[resource.Item[T], error] {
		if err := w.call(ctx, "%s by %s %d", name, field, len(keys)); err != nil {
			return fails[T](err)
		}
		return inner.ListByKeys(ctx, field, keys, q)
	}
	ops.Count = func(ctx context.Context, q query.Query) (int, error) {
		if err := w.call(ctx, "%s count", name); err != nil {
			return 0, err
		}
		return inner.Count(ctx, q)
	}
	ops.Create = func(ctx context.Context, v T) (resource.Item[T], error) {
		if err := w.call(ctx, "%s create", name); err != nil {
			return resource.Item[T]{}, err
		}
		return inner.Create(ctx, v)
	}
	return ops
}

// setting has the options of a world.
type setting struct {
	config exec.Config // without the schema
	fields []*model.CustomField
	size   int // books in addition to the first three
	page   int // maximum page size
	feed   bool
	parts  []resource.Part
}

// newWorld returns a library.
func newWorld(t testing.TB, s setting) *world {
	t.Helper()
	w := &world{}
	w.books = memory.New(&memory.Options[book]{Index: []string{"authorId"}})
	w.authors = memory.New[author](nil)
	w.reviews = memory.New(&memory.Options[review]{Index: []string{"bookId"}})
	w.stock(t, s.size)
	full := query.Support{Filter: map[string][]query.Op{"title": {query.Eq}, "authorId": {query.Eq}},
		Sort: []string{"title", "sold"}}
	books := spied(w, "books", w.books).Resource("books", &resource.Options[book]{
		Query: full, MaxPageSize: max(s.page, 200),
		Relations: []resource.Relation[book]{
			{Name: "author", Target: "authors", Field: "authorId"},
			{Name: "sequel", Target: "books", Field: "sequelId"},
			{Name: "reviews", Target: "reviews", By: "bookId", Limit: 5},
		},
		Scope: func(ctx context.Context) (query.Filter, error) {
			if w.scope != nil {
				return w.scope(ctx)
			}
			return query.Filter{}, nil
		},
		ScopeComplete: true,
		Authorize: func(ctx context.Context, op resource.Op, before, after *book) error {
			if w.authorize == nil {
				return nil
			}
			return w.authorize(ctx, op, before, after)
		},
	})
	authors := spied(w, "authors", w.authors).Resource("authors", &resource.Options[author]{
		Relations: []resource.Relation[author]{{Name: "books", Target: "books", By: "authorId", Limit: 10}},
		Authorize: func(ctx context.Context, _ resource.Op, before, _ *author) error {
			if w.visible == nil || before == nil || w.visible(ctx, before) {
				return nil
			}
			return resource.ErrForbidden
		},
	})
	reviews := spied(w, "reviews", w.reviews).Resource("reviews", &resource.Options[review]{
		Public: true, Query: query.Support{Filter: map[string][]query.Op{"bookId": {query.Eq}}},
		Relations: []resource.Relation[review]{{Name: "book", Target: "books", Field: "bookId"}},
	})
	opts := &resource.CatalogOptions{}
	if s.feed {
		w.begin(t)
		opts.Feed = w.feed
	}
	w.catalog = resource.NewCatalog(opts, append([]resource.Part{books, authors, reviews}, s.parts...)...)
	w.open(t, s)
	return w
}

// open creates the engine of a world.
func (w *world) open(t testing.TB, s setting) {
	t.Helper()
	var err error
	if w.schema, err = model.Reflect(w.catalog, &model.Options{Fields: s.fields}); err != nil {
		t.Fatal(err)
	}
	introspect.Extend(w.schema)
	w.remake(t, s)
}

// remake creates the engine for a schema that a test has modified.
func (w *world) remake(t testing.TB, s setting) {
	t.Helper()
	cfg := s.config
	cfg.Schema, cfg.Catalog = w.schema, w.catalog
	cfg.Logger = slog.New(slog.NewTextHandler(w, nil))
	w.engine = exec.New(&cfg)
}

// stock creates the items.
func (w *world) stock(t testing.TB, more int) {
	t.Helper()
	add := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range []author{{"ann", "Ann"}, {"bob", "Bob \"B\""}, {"cid", "Cïd"}} {
		_, err := w.authors.Insert(t.Context(), a.ID, a)
		add(err)
	}
	one, two, nine, print := int64(1), int64(2), int64(99), int64(7)
	note := "mind the <step>"
	for _, b := range []book{
		{ID: 1, Title: "First", Genre: "novel", AuthorID: "ann", SequelID: &two, Pages: 100, Sold: 1 << 40,
			Price: 9.5, Note: &note,
			Tags: []string{"a", "b"}, Moods: []string{"sad", "funny"}, Cover: &cover{"red"}, Shelf: "A1",
			Editions: []edition{{Year: 1999, Cover: cover{"blue"}},
				{Year: 2003, Print: &print, Cover: cover{"red"}}},
			Extra:     map[string]any{"k": []any{1.0, nil}},
			Published: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)},
		{ID: 2, Title: "Second", Genre: "poems", AuthorID: "ann", SequelID: &nine, Pages: 200},
		{ID: 3, Title: "Third", Genre: "essay", AuthorID: "bob", SequelID: &one, Pages: 300},
	} {
		_, err := w.books.Insert(t.Context(), strconv.FormatInt(b.ID, 10), b)
		add(err)
	}
	for i := range more {
		id := int64(100 + i)
		b := book{ID: id, Title: "Book " + strconv.FormatInt(id, 10), Genre: "novel",
			AuthorID: []string{"ann", "bob", "cid"}[i%3],
			Pages:    id % 500, Sold: id, Price: 1.25, Tags: []string{"x"}}
		_, err := w.books.Insert(t.Context(), strconv.FormatInt(id, 10), b)
		add(err)
	}
	for i := range 4 + 2*more {
		id := int64(1 + i)
		on := int64(i%2 + 1)
		if i >= 4 {
			on = int64(100 + (i-4)/2)
		}
		_, err := w.reviews.Insert(t.Context(), strconv.FormatInt(id, 10),
			review{ID: id, BookID: on, Stars: i % 6, Text: "fine"})
		add(err)
	}
}

// vars returns the members of a JSON object.
func vars(t testing.TB, text string) map[string]jsontext.Value {
	t.Helper()
	out := map[string]jsontext.Value{}
	if text == "" {
		return out
	}
	dec := jsontext.NewDecoder(strings.NewReader(text))
	if _, err := dec.ReadToken(); err != nil {
		t.Fatal(err)
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		out[key] = value.Clone()
	}
	return out
}

// ask executes a document and returns the response.
func (w *world) ask(t testing.TB, document string, variables ...string) string {
	t.Helper()
	out, _ := w.run(t.Context(), t, document, strings.Join(variables, ""))
	return out
}

// run is ask with a context, and returns the outcome as well.
func (w *world) run(ctx context.Context, t testing.TB, document, variables string) (string, exec.Outcome) {
	t.Helper()
	p, errs := w.engine.Plan(document, "")
	if errs != nil {
		var all []string
		for _, e := range errs {
			all = append(all, e.Code+" "+e.Rule+": "+e.Message)
		}
		return strings.Join(all, "\n"), exec.Refused
	}
	out, outcome := w.engine.Run(ctx, p, vars(t, variables), nil)
	if !jsontext.Value(out).IsValid() {
		t.Errorf("not JSON: %s", out)
	}
	return string(out), outcome
}

// typed returns the schema of T.
func typed[T any]() *schema.Type { return schema.For[T]() }

// sorted returns the sorted keys of a map.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
