package resource_test

// The fixtures of many tests: a library of books and authors, things with ids of the client, and calls
// of a resource with documents.

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
)

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

type thing struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	N    int64  `json:"n"`
}

// modified is the time of the last write of stocked. It is not a whole second.
var modified = time.Date(2024, 3, 1, 12, 0, 0, 123e6, time.UTC)

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

// stored returns an item from the store.
func stored[T any](t testing.TB, c resource.Collection[T], id string) T {
	t.Helper()
	item, err := c.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return item.Value
}

// newCatalog returns a catalog that logs to the test.
func newCatalog(t testing.TB, parts ...resource.Part) *resource.Catalog {
	t.Helper()
	return resource.NewCatalog(&resource.CatalogOptions{Logger: testLogger(t)}, parts...)
}

// testLogger writes the log of the library to the test.
func testLogger(t testing.TB) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// same compares two values. what describes them.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
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

// answer is the result of a call of a resource.
type answer struct {
	line    string // the call
	entry   resource.Entry
	doc     string // the entry as JSON; empty after an error
	created bool
	results []resource.BatchResult
	err     error
}

// do calls a method of a resource. line is its name and the id: "get 1", "create", "put 1", "patch 1",
// "delete 1", "restore 1", "batch", "import" or "import atomic". doc is a document, a JSON merge patch or,
// as a list, a JSON Patch.
func do(ctx context.Context, t testing.TB, r *resource.Resource, line, doc string, opts ...*resource.WriteOptions) *answer {
	t.Helper()
	a := &answer{line: line + " " + doc}
	var o *resource.WriteOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	switch method, id, _ := strings.Cut(line, " "); method {
	case "get":
		a.entry, a.err = r.Get(ctx, id)
	case "create":
		a.entry, a.err = r.Create(ctx, []byte(doc), o)
	case "put":
		a.entry, a.created, a.err = r.Put(ctx, id, []byte(doc), o)
	case "patch":
		media := patch.MergeType
		if strings.HasPrefix(doc, "[") {
			media = patch.JSONType
		}
		p, err := patch.Parse(media, []byte(doc), patch.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		a.entry, a.err = r.Patch(ctx, id, p, o)
	case "delete":
		a.entry, a.err = r.Delete(ctx, id, o)
	case "restore":
		a.entry, a.err = r.Restore(ctx, id, o)
	case "batch":
		a.results, a.err = r.Batch(ctx, []byte(doc), &resource.BatchOptions{WriteOptions: orZero(o)})
	case "import":
		text, err := r.Import(ctx, strings.NewReader(doc), &resource.ImportOptions{WriteOptions: orZero(o), Atomic: id == "atomic"})
		a.doc, a.err = string(text), err
	default:
		t.Fatalf("%q is not a method", line)
	}
	if a.err == nil && a.entry.Value != nil {
		text, err := r.Raw().AppendJSON(ctx, nil, &a.entry)
		a.doc = string(text)
		a.err = err
	}
	return a
}

func mergePatch(t testing.TB, doc string) *patch.Patch {
	t.Helper()
	p, err := patch.ParseMergePatch([]byte(doc), patch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantDoc checks that a call returned this document.
func wantDoc(t testing.TB, a *answer, doc string) {
	t.Helper()
	if a.err != nil {
		t.Errorf("%s: %v", a.line, a.err)
	} else if diff := cmp.Diff(doc, a.doc); diff != "" {
		t.Errorf("%s (-want +got):\n%s", a.line, diff)
	}
}

// wantDone checks that a call has no error.
func wantDone(t testing.TB, a *answer) {
	t.Helper()
	if a.err != nil {
		t.Errorf("%s: %v", a.line, a.err)
	}
}

// wantProblem checks the kind of the problem that a call returned, and its errors, each as "/pointer code".
func wantProblem(t testing.TB, a *answer, kind problem.Kind, places ...string) *problem.Details {
	t.Helper()
	if a.err == nil {
		t.Errorf("%s: %s, want %s", a.line, a.doc, kind)
		return &problem.Details{}
	}
	d := resource.Problem(a.err)
	if d.Kind != kind {
		t.Errorf("%s: %s (%v), want %s", a.line, d.Kind, a.err, kind)
	}
	var got []string
	for _, v := range d.Errors {
		got = append(got, v.Pointer+" "+v.Code)
	}
	if diff := cmp.Diff(places, got); diff != "" {
		t.Errorf("%s: errors (-want +got):\n%s", a.line, diff)
	}
	return d
}

var errChanged = errors.New("changed my mind")

// newFeed returns a Feed with a log in memory. It is closed at the end of the test.
func newFeed(t testing.TB) *feed.Feed {
	t.Helper()
	f := feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { f.Close() })
	return f
}

// listDocs returns the items of a list as JSON. params is its query in the form of a URL.
func listDocs(t testing.TB, r *resource.Resource, params string) (docs []string, err error) {
	t.Helper()
	values, err := url.ParseQuery(params)
	if err != nil {
		t.Fatal(err)
	}
	q, err := query.Parse(values, &query.ParseOptions{Support: r.Describe().Query, ID: r.Describe().ID,
		Value:  func(field, text string) (any, error) { return r.Type().Field(field).ParseOperand(text) },
		IsList: func(field string) bool { return r.Type().Field(field).ComparableElem() }})
	if err != nil {
		return nil, err
	}
	p, err := r.List(t.Context(), q, resource.Position{})
	for i := range p.Entries {
		docs = append(docs, document(r, &p.Entries[i]))
	}
	return docs, err
}

// texts returns a text member of all items.
func texts(t testing.TB, r *resource.Resource, member string) (texts []string) {
	t.Helper()
	for _, e := range listAll(t, r).Entries {
		texts = append(texts, r.Type().Field(member).Get(e.Value).(string))
	}
	return texts
}

// tagOf returns the entity tag of an item.
func tagOf(t testing.TB, r *resource.Resource, id string) string {
	t.Helper()
	e, err := r.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r.ETag(&e)
}

// ifMatch returns the condition that an item has this entity tag, or "*".
func ifMatch(t testing.TB, tag string) *resource.WriteOptions {
	t.Helper()
	tags, err := header.ParseTags([]string{tag})
	if err != nil {
		t.Fatal(err)
	}
	return &resource.WriteOptions{If: resource.Preconditions{IfMatch: tags}}
}

// fill creates items.
func fill[T any](t testing.TB, create func(context.Context, T) (resource.Item[T], error), values ...T) {
	t.Helper()
	for _, v := range values {
		if _, err := create(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
}

func orZero(o *resource.WriteOptions) resource.WriteOptions {
	if o == nil {
		return resource.WriteOptions{}
	}
	return *o
}

// wantStatus checks the HTTP status of the problem that a call returned. Below 300 there must be none.
func wantStatus(t testing.TB, a *answer, status int) {
	t.Helper()
	switch got := resource.Problem(a.err).StatusCode(); {
	case status < 300:
		wantDone(t, a)
	case a.err == nil || got != status:
		t.Errorf("%s: status %d (%v), want %d", a.line, got, a.err, status)
	}
}

// create creates an item and returns its id.
func create(t testing.TB, r *resource.Resource, doc string) string {
	t.Helper()
	a := do(t.Context(), t, r, "create", doc)
	if a.err != nil {
		t.Fatalf("%s: %v", a.line, a.err)
	}
	return a.entry.ID
}

// underKey returns the options of a write of ann under an idempotency key.
func underKey(c *resource.Catalog, part, key string) *resource.WriteOptions {
	return &resource.WriteOptions{Key: c.Key(part,
		idempotency.Operation{Principal: "ann", Method: "POST", Target: part, Key: key})}
}

// operations encodes a batch.
func operations(list ...string) string { return `{"operations":[` + strings.Join(list, ",") + `]}` }

// callerKey is the context key of the caller, as an application would have.
type callerKey struct{}

// as returns the context of a caller.
func as(t testing.TB, name string) context.Context {
	return context.WithValue(t.Context(), callerKey{}, name)
}

func caller(ctx context.Context) string {
	name, _ := ctx.Value(callerKey{}).(string)
	return name
}

var errAgain = errors.New("again")
