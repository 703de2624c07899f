package resource_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// contractOptions are options for the contracts.
type contractOptions struct {
	hub    resource.Options[book]
	v1, v0 resource.ViewOptions
}

// contractsOf serves books in three contracts, the oldest first.
func contractsOf(t testing.TB, store *memory.Store[book], opts ...func(*contractOptions)) [3]*resource.Resource {
	t.Helper()
	c := contractOptions{hub: resource.Options[book]{Query: bookSupport()}}
	c.v1.Fields = map[string]string{"name": "title"}
	c.v0.Fields = map[string]string{"number": "id", "label": "name"}
	for _, opt := range opts {
		opt(&c)
	}
	hub := resource.New("books", store, &c.hub)
	older := resource.View(hub, toV1, fromV1, &c.v1)
	oldest := resource.View(older, toV0, fromV0, &c.v0)
	return [3]*resource.Resource{oldest, older, hub}
}

func TestViewShowsAndQueries(t *testing.T) {
	t.Parallel()
	store := stocked(t, shelved(), book{Title: "Dune", Stars: 5})
	r := contractsOf(t, store)
	tests := []struct {
		contract int
		params   string
		want     []string
	}{
		{2, "title=Dune", []string{`{"id":2,"title":"Dune","authorId":0,"owner":"","stars":5,"note":null}`}},
		{1, "name=Dune", []string{`{"id":2,"name":"Dune","stars":5}`}},
		{0, "label=Dune", []string{`{"number":2,"label":"Dune"}`}},
		{0, "label.startsWith=E", []string{`{"number":1,"label":"Emma"}`}},
		{0, "sort=label", []string{`{"number":2,"label":"Dune"}`, `{"number":1,"label":"Emma"}`}},
		{0, "sort=-number", []string{`{"number":2,"label":"Dune"}`, `{"number":1,"label":"Emma"}`}},
		{1, "name=Emma&fields=stars", []string{`{"id":1,"name":"Emma","stars":4}`}},
		{1, `filter={"or":[{"name":{"eq":"Dune"}},{"stars":{"lt":1}}]}`, []string{`{"id":2,"name":"Dune","stars":5}`}},
	}
	for _, tt := range tests {
		t.Run(tt.params, func(t *testing.T) {
			t.Parallel()
			docs, err := listDocs(t, r[tt.contract], tt.params)
			if diff := cmp.Diff(tt.want, docs); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	wantDoc(t, do(t.Context(), t, r[2], "get 2", ""),
		`{"id":2,"title":"Dune","authorId":0,"owner":"","stars":5,"note":null}`)
	wantDoc(t, do(t.Context(), t, r[1], "get 2", ""), `{"id":2,"name":"Dune","stars":5}`)
	wantDoc(t, do(t.Context(), t, r[0], "get 2", ""), `{"number":2,"label":"Dune"}`)
}

func TestViewRefusesWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	r := contractsOf(t, stocked(t, shelved()))
	tests := []struct {
		contract          int
		params, parameter string
	}{
		{1, "title=Emma", "title unknownParameter"},
		{1, "sort=title", "sort unsupportedSort"},
		{1, "owner=ann", "owner unknownParameter"},
		{1, "sort=owner", "sort unsupportedSort"},
		{0, "name=Emma", "name unknownParameter"},
		{0, "stars=4", "stars unknownParameter"},
		{0, "sort=stars", "sort unsupportedSort"},
		{0, "id=1", "id unknownParameter"},
	}
	for _, tt := range tests {
		t.Run(tt.params, func(t *testing.T) {
			t.Parallel()
			_, err := listDocs(t, r[tt.contract], tt.params)
			var refused query.Errors
			if !errors.As(err, &refused) || len(refused) != 1 {
				t.Fatalf("the error is %v", err)
			}
			same(t, "error", tt.parameter, refused[0].Parameter+" "+refused[0].Code)
		})
	}
}

func TestViewWritesKeepWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		contract   int
		doc        string
		change     func(*book)
	}{
		{"put", "put 1", 1, `{"name":"Emma 2"}`, func(b *book) { b.Title, b.Stars = "Emma 2", 0 }},
		{"put, one further", "put 1", 0, `{"label":"Emma 2"}`, func(b *book) { b.Title = "Emma 2" }},
		{"merge", "patch 1", 1, `{"stars":1}`, func(b *book) { b.Stars = 1 }},
		{"merge, one further", "patch 1", 0, `{"label":"E"}`, func(b *book) { b.Title = "E" }},
		{"patch", "patch 1", 0, `[{"op":"replace","path":"/label","value":"E"}]`, func(b *book) { b.Title = "E" }},
		{"write only", "patch 1", 1, `{"key":"open sesame"}`, func(b *book) { b.Password = "open sesame" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := stocked(t, shelved())
			r := contractsOf(t, store)
			wantDone(t, do(t.Context(), t, r[tt.contract], tt.line, tt.doc))
			expected := shelved()
			expected.ID = 1
			tt.change(&expected)
			same(t, "in the store", expected, stored(t, store, "1"))
		})
	}
}

func TestViewCreates(t *testing.T) {
	t.Parallel()
	store := stocked[book](t)
	r := contractsOf(t, store)
	a := do(t.Context(), t, r[0], "create", `{"label":"Ulysses"}`)
	wantDoc(t, a, `{"number":1,"label":"Ulysses"}`)
	same(t, "id", "1", a.entry.ID)
	same(t, "in the store", book{ID: 1, Title: "Ulysses"}, stored(t, store, "1"))
}

func TestViewResetHidden(t *testing.T) {
	t.Parallel()
	store := stocked(t, shelved())
	r := contractsOf(t, store, func(c *contractOptions) { c.v1.ResetHidden = true })
	wantDone(t, do(t.Context(), t, r[1], "patch 1", `{"stars":2}`))
	same(t, "after PATCH, which resets nothing", "ann", stored(t, store, "1").Owner)
	wantDone(t, do(t.Context(), t, r[1], "put 1", `{"name":"Emma"}`))
	same(t, "after PUT", book{ID: 1, Title: "Emma", Password: "hush", Shelf: "B3"}, stored(t, store, "1"))
}

func TestViewTags(t *testing.T) {
	t.Parallel()
	store := stocked(t, shelved())
	r := contractsOf(t, store)
	var tags []string
	for _, contract := range r {
		tags = append(tags, tagOf(t, contract, "1"))
	}
	for i, a := range tags {
		for j, b := range tags {
			if i != j && a == b {
				t.Errorf("contracts %d and %d share the tag %s", i, j, a)
			}
		}
	}
	// For a write, the tag of an older contract is valid in a newer one. The older one hides fields.
	wantProblem(t, do(t.Context(), t, r[0], "patch 1", `{"label":"A"}`, ifMatch(t, tags[2])), problem.PreconditionFailed)
	wantDone(t, do(t.Context(), t, r[2], "patch 1", `{"title":"B"}`, ifMatch(t, tags[0])))
	wantProblem(t, do(t.Context(), t, r[2], "patch 1", `{"title":"C"}`, ifMatch(t, tags[0])), problem.PreconditionFailed)
}

// TestViewTagsOfLikeTypes: two contracts with one Go type have different tags.
func TestViewTagsOfLikeTypes(t *testing.T) {
	t.Parallel()
	hub := resource.New("books", stocked(t, shelved()), nil)
	upper := resource.View(hub, func(b book) (book, error) { b.Title = strings.ToUpper(b.Title); return b, nil },
		func(v, _ book) (book, error) { return v, nil }, &resource.ViewOptions{Name: "upper"})
	if tag := tagOf(t, hub, "1"); tag == tagOf(t, upper, "1") {
		t.Errorf("both contracts have the tag %s", tag)
	}
}

func TestViewErrorsAreInItsNames(t *testing.T) {
	t.Parallel()
	before := func(_ context.Context, _ resource.Op, _, after *book) error {
		switch after.Title {
		case "taken":
			return resource.Taken("title")
		case "odd":
			return errors.Join(resource.Invalid("title", "odd"), resource.Invalid("owner", "unknownOwner"))
		}
		return nil
	}
	long := strings.Repeat("x", 41) // the older contracts do not have the limit of 40 letters for a title
	tests := []struct {
		title    string
		contract int
		kind     problem.Kind
		places   []string
	}{
		{"taken", 2, problem.Conflict, []string{"/title taken"}},
		{"taken", 1, problem.Conflict, []string{"/name taken"}},
		{"taken", 0, problem.Conflict, []string{"/label taken"}},
		{"odd", 2, problem.Invalid, []string{"/title odd", "/owner unknownOwner"}},
		{"odd", 0, problem.Invalid, []string{"/label odd", " unknownOwner"}},
		{long, 2, problem.Invalid, []string{"/title maxLength"}},
		{long, 1, problem.Invalid, []string{"/name maxLength"}},
		{long, 0, problem.Invalid, []string{"/label maxLength"}},
	}
	fields := []string{"label", "name", "title"}
	for _, tt := range tests {
		for _, line := range []string{"create", "put 1", "patch 1"} {
			t.Run(line+" "+tt.title+" "+fields[tt.contract], func(t *testing.T) {
				t.Parallel()
				r := contractsOf(t, stocked(t, shelved()), func(c *contractOptions) { c.hub.Before = before })
				a := do(t.Context(), t, r[tt.contract], line, `{"`+fields[tt.contract]+`":"`+tt.title+`"}`)
				wantProblem(t, a, tt.kind, tt.places...)
			})
		}
	}
}

func TestViewWhere(t *testing.T) {
	t.Parallel()
	store := stocked(t, book{Title: "a", Stars: 1}, book{Title: "b", Stars: -1}, book{Title: "c", Stars: 3},
		book{Title: "d", Stars: 5})
	r := contractsOf(t, store, func(c *contractOptions) {
		c.v1.Where = query.Where("stars", query.Gte, 0)
		c.v0.Where = query.Where("stars", query.Lt, 5)
	})
	shown := [][]string{{"a", "c"}, {"a", "c", "d"}, {"a", "b", "c", "d"}}
	for contract, names := range shown {
		field := []string{"label", "name", "title"}[contract]
		same(t, "listed by "+field, names, texts(t, r[contract], field))
		n, err := r[contract].Count(t.Context(), query.Filter{})
		if err != nil || n != len(names) {
			t.Errorf("%d items by %s, %v, want %d", n, field, err, len(names))
		}
	}
	for _, line := range []string{"get 2", "delete 2", "put 2", "patch 2"} {
		wantProblem(t, do(t.Context(), t, r[1], line, `{"name":"x"}`), problem.NotFound)
	}
	wantProblem(t, do(t.Context(), t, r[0], "get 4", ""), problem.NotFound)
	// nor what the contract between cannot express
	wantProblem(t, do(t.Context(), t, r[0], "get 2", ""), problem.NotFound)
	wantDone(t, do(t.Context(), t, r[1], "get 4", ""))
	same(t, "book 2", "b", stored(t, store, "2").Title)
	var pages [][]string
	for at := (resource.Position{}); len(pages) == 0 || at.After != ""; {
		p := listAt(t, r[0], query.Query{Limit: 1}, at)
		pages, at = append(pages, idsOn(&p)), resource.Position{After: p.Next}
	}
	same(t, "pages", [][]string{{"1"}, {"3"}}, pages)
}

// TestViewWhereHoldsForWrites: a view cannot create an item that it would not show.
func TestViewWhereHoldsForWrites(t *testing.T) {
	t.Parallel()
	store := stocked(t, book{Title: "a", Stars: 1})
	r := contractsOf(t, store, func(c *contractOptions) { c.v1.Where = query.Where("stars", query.Gte, 0) })
	wantProblem(t, do(t.Context(), t, r[1], "patch 1", `{"stars":-1}`), problem.Invalid)
	wantProblem(t, do(t.Context(), t, r[1], "put 1", `{"name":"a","stars":-1}`), problem.Invalid)
	wantProblem(t, do(t.Context(), t, r[1], "create", `{"name":"b","stars":-1}`), problem.Invalid)
	wantDone(t, do(t.Context(), t, r[2], "patch 1", `{"stars":-1}`))
	wantProblem(t, do(t.Context(), t, r[1], "get 1", ""), problem.NotFound)
	same(t, "list", []string(nil), texts(t, r[1], "name"))
}

// TestViewThatCannotShow: Where excludes items that a view cannot represent. If such an item is
// listed anyway, the response is an internal error, neither 404 nor a gap, and clients do not see
// its cause.
func TestViewThatCannotShow(t *testing.T) {
	t.Parallel()
	hub := resource.New("books", stocked(t, shelved()), nil)
	view := resource.View(hub, func(book) (bookV1, error) { return bookV1{}, errors.New("secret reason") }, fromV1,
		&resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	_, err := listDocs(t, view, "")
	for _, a := range []*answer{do(t.Context(), t, view, "get 1", ""), do(t.Context(), t, view, "delete 1", ""),
		{line: "list", err: err}} {
		if d := wantProblem(t, a, problem.Internal); strings.Contains(d.Detail, "secret") {
			t.Errorf("%s: the client receives %s", a.line, d.Detail)
		}
	}
}

func TestViewDescribesItself(t *testing.T) {
	t.Parallel()
	o := &resource.Options[book]{Query: bookSupport()}
	hub := resource.New("books", stocked[book](t), o)
	older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	oldest := resource.View(older, toV0, fromV0,
		&resource.ViewOptions{Fields: map[string]string{"number": "id", "label": "name"}})
	same(t, "name", "books", oldest.Name())
	same(t, "type", "bookV0", oldest.Type().Name)
	same(t, "id", "number", oldest.Describe().ID)
	same(t, "query of V1", query.Support{Filter: map[string][]query.Op{"name": {query.Eq, query.StartsWith},
		"stars": {query.Eq, query.Gte, query.Lt}}, Sort: []string{"name", "stars"}}, older.Describe().Query)
	same(t, "query of V0", query.Support{Filter: map[string][]query.Op{"label": {query.Eq, query.StartsWith}},
		Sort: []string{"label"}}, oldest.Describe().Query)
}
