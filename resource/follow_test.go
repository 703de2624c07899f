package resource_test

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// keyed is a store of things with these ids, which are also their names.
func keyed(t testing.TB, ids ...string) *memory.Store[thing] {
	t.Helper()
	s := stocked[thing](t)
	for _, id := range ids {
		if _, err := s.Insert(t.Context(), id, thing{ID: id, Name: id}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// pointers is a store of items that refer to others.
func pointers(t testing.TB, items ...pointing) *memory.Store[pointing] {
	t.Helper()
	s := stocked[pointing](t)
	for _, v := range items {
		if _, err := s.Insert(t.Context(), v.ID, v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// listAll returns all items; the page is not released.
func listAll(t testing.TB, r *resource.Resource) resource.Page {
	t.Helper()
	p, err := r.List(t.Context(), query.Query{}, resource.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ends returns the ids of the items related to an item.
func ends(p *resource.Page, i int) string {
	var ids []string
	for _, end := range p.Ends(i) {
		ids = append(ids, p.Entries[end].ID)
	}
	return strings.Join(ids, " ")
}

// allEnds returns the ids of the items related to all items.
func allEnds(p *resource.Page, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = ends(p, i)
	}
	return out
}

// libraryOption changes what linkedBooks serves.
type libraryOption = func(*resource.Ops[book], *resource.Ops[author], *resource.Options[book], *resource.Options[author])

// linkedBooks: Ann (1) wrote the books 1 and 3, Bob (2) wrote 2, and Cat (3) nothing. Book 4 has no
// author. Book 1 is followed by 3, by 2, and by 9, which does not exist.
func linkedBooks(t testing.TB, opts ...libraryOption) (books, authors *resource.Resource) {
	t.Helper()
	bookOps := resource.OpsOf(stocked(t,
		book{Title: "a", Author: 1, Sequels: []int64{3, 2, 9}}, book{Title: "b", Author: 2}, book{Title: "c", Author: 1},
		book{Title: "d", Author: 9}))
	authorOps := resource.OpsOf(stocked(t, author{Name: "Ann"}, author{Name: "Bob"}, author{Name: "Cat"}))
	bookOptions := resource.Options[book]{Query: bookSupport(), Relations: []resource.Relation[book]{
		{Name: "author", Target: "authors", Keys: func(b *book) []string { return []string{strconv.FormatInt(b.Author, 10)} }},
		{Name: "next", Target: "books", Many: true, Keys: func(b *book) []string {
			var keys []string
			for _, id := range b.Sequels {
				keys = append(keys, strconv.FormatInt(id, 10))
			}
			return keys
		}},
	}}
	authorOptions := resource.Options[author]{Relations: []resource.Relation[author]{
		{Name: "books", Target: "books", By: "authorId"},
		{Name: "first", Target: "books", By: "authorId", Limit: 1},
		{Name: "namesakes", Target: "books", By: "title", Keys: func(a *author) []string {
			return []string{strings.ToLower(a.Name[:1])}
		}},
	}}
	for _, opt := range opts {
		opt(&bookOps, &authorOps, &bookOptions, &authorOptions)
	}
	c := newCatalog(t, bookOps.Resource("books", &bookOptions), authorOps.Resource("authors", &authorOptions))
	return c.Resource("books"), c.Resource("authors")
}

func withoutMany(b *resource.Ops[book], a *resource.Ops[author], _ *resource.Options[book], _ *resource.Options[author]) {
	b.GetMany, b.ListByKeys, a.GetMany, a.ListByKeys = nil, nil, nil, nil
}

func TestFollow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		relation string
		from     []int // ids of books or, for the last ones, authors
		want     []string
		entries  int
	}{
		{"author", []int{1, 2, 3, 4}, []string{"1", "2", "1", ""}, 2},
		{"author", []int{1, 1, 4, 1}, []string{"1", "1", "", "1"}, 1},
		{"author", []int{4}, []string{""}, 0},
		{"author", nil, []string{}, 0},
		{"next", []int{1, 2, 1}, []string{"3 2", "", "3 2"}, 2},
		{"next", []int{2, 3}, []string{"", ""}, 0},
		{"books", []int{1, 2, 3}, []string{"1 3", "2", ""}, 3},
		{"books", []int{2, 1, 2}, []string{"2", "1 3", "2"}, 3},
		{"first", []int{1, 2}, []string{"1", "2"}, 2},
		{"namesakes", []int{3, 1}, []string{"3", "1"}, 2},
	}
	for _, opts := range [][]libraryOption{nil, {withoutMany}} {
		books, authors := linkedBooks(t, opts...)
		for _, tt := range tests {
			r := books
			if target, _ := books.Related(tt.relation); target == nil {
				r = authors
			}
			all := listAll(t, r).Entries
			var from []resource.Entry
			for _, id := range tt.from {
				from = append(from, all[id-1])
			}
			p, err := r.Follow(t.Context(), tt.relation, from, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, allEnds(&p, len(from))); diff != "" || len(p.Entries) != tt.entries {
				t.Errorf("%s of %v: %d entries, want %d; ends (-want +got):\n%s", tt.relation, tt.from, len(p.Entries),
					tt.entries, diff)
			}
			p.Release()
			if p.Entries != nil || p.Ends(0) != nil {
				t.Error("something is left on a page that was released")
			}
		}
	}
}

// TestFollowStaysWithinLimits: keys of clients and results of stores beyond the limit are omitted.
func TestFollowStaysWithinLimits(t *testing.T) {
	t.Parallel()
	store := resource.OpsOf(keyed(t, "a", "b", "c", "d"))
	getMany := store.GetMany
	store.GetMany = func(ctx context.Context, _ []string) iter.Seq2[resource.Item[thing], error] {
		return getMany(ctx, []string{"d", "c", "b", "a"}) // whatever the keys are
	}
	store.ListByKeys = func(context.Context, string, []string, query.Query) iter.Seq2[resource.Item[thing], error] {
		return func(yield func(resource.Item[thing], error) bool) {
			for i := range 4 {
				if !yield(resource.Item[thing]{ID: strconv.Itoa(i), Rev: "1", Value: thing{Name: "a"}}, nil) {
					return
				}
			}
		}
	}
	things := store.Resource("things", &resource.Options[thing]{
		Query: query.Support{Filter: map[string][]query.Op{"name": {query.Eq}}}})
	x := pointing{ID: "x", Texts: []string{"c", "c", "a", "b", "d"}}
	from := resource.New("from", pointers(t, x), &resource.Options[pointing]{Relations: []resource.Relation[pointing]{
		{Name: "two", Target: "things", Field: "texts", Many: true, Limit: 2},
		{Name: "by", Target: "things", Field: "texts", By: "name", Limit: 2}}})
	from = newCatalog(t, from, things).Resource("from")
	entries := listAll(t, from).Entries
	tests := []struct {
		relation, ends string
		entries        int
	}{{"two", "c", 1}, {"by", "0 1", 2}}
	for _, tt := range tests {
		p, err := from.Follow(t.Context(), tt.relation, entries, nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, tt.relation, tt.ends, ends(&p, 0))
		same(t, "entries of "+tt.relation, tt.entries, len(p.Entries))
		same(t, "limit of "+tt.relation, 2, mostOf(from, tt.relation))
	}
}

func TestFollowFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	books, authors := linkedBooks(t, func(b *resource.Ops[book], a *resource.Ops[author], _ *resource.Options[book],
		_ *resource.Options[author],
	) {
		a.GetMany = func(context.Context, []string) iter.Seq2[resource.Item[author], error] {
			return func(yield func(resource.Item[author], error) bool) { yield(resource.Item[author]{}, broken) }
		}
		b.ListByKeys = func(context.Context, string, []string, query.Query) iter.Seq2[resource.Item[book], error] {
			return func(yield func(resource.Item[book], error) bool) { yield(resource.Item[book]{}, broken) }
		}
	})
	_, err := books.Follow(t.Context(), "author", listAll(t, books).Entries, nil)
	var at *resource.Error
	if !errors.Is(err, broken) || !errors.As(err, &at) || at.Resource != "authors" || at.ID != "1,2,9" {
		t.Errorf("the error is %v", err)
	}
	if _, err = authors.Follow(t.Context(), "books", listAll(t, authors).Entries, nil); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	if _, err = authors.Follow(t.Context(), "author", nil, nil); err == nil {
		t.Error("a relation of something else was followed")
	}
}

// TestFollowHides: an item that the caller may not see is neither an end nor an entry.
func TestFollowHides(t *testing.T) {
	t.Parallel()
	books, authors := linkedBooks(t, func(_ *resource.Ops[book], _ *resource.Ops[author], b *resource.Options[book],
		a *resource.Options[author],
	) {
		b.Authorize = func(_ context.Context, _ resource.Op, before, _ *book) error {
			if before.ID == 3 {
				return resource.ErrForbidden
			}
			return nil
		}
		a.Scope = func(context.Context) (query.Filter, error) { return query.Where("name", query.Ne, "Ann"), nil }
	})
	tests := []struct {
		r        *resource.Resource
		relation string
		want     []string
	}{
		{books, "author", []string{"", "2", ""}}, // of the books 1, 2 and 4
		{books, "next", []string{"2", "", ""}},
		{authors, "books", []string{"2", ""}}, // of Bob and Cat
	}
	for _, tt := range tests {
		from := listAll(t, tt.r).Entries
		p, err := tt.r.Follow(t.Context(), tt.relation, from, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, allEnds(&p, len(from))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.relation, diff)
		}
		for _, e := range p.Entries {
			if b, ok := e.Value.(*book); ok && b.ID == 3 {
				t.Errorf("%s gives out what is hidden", tt.relation)
			}
		}
	}
}

// TestFollowColumns: the store of the target receives the columns that are used, and those that the
// library needs.
func TestFollowColumns(t *testing.T) {
	t.Parallel()
	var fields [][]string
	books, authors := linkedBooks(t, func(b *resource.Ops[book], _ *resource.Ops[author], o *resource.Options[book],
		a *resource.Options[author],
	) {
		listBy, plain := b.ListByKeys, b.List
		b.ListByKeys = func(ctx context.Context, f string, keys []string, q query.Query) iter.Seq2[resource.Item[book], error] {
			fields = append(fields, q.Fields)
			return listBy(ctx, f, keys, q)
		}
		b.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[book], error] {
			fields = append(fields, q.Fields)
			return plain(ctx, q)
		}
		o.Relations[1] = resource.Relation[book]{Name: "next", Target: "books", Many: true, Field: "sequels"}
	})
	from := listAll(t, authors).Entries
	for _, columns := range [][]string{nil, {}, {"title"}, {"title", "authorId"}} {
		if _, err := authors.Follow(t.Context(), "books", from, columns); err != nil {
			t.Fatal(err)
		}
	}
	q := query.Query{Fields: []string{books.KeyField("next")}, Sort: []query.Order{{Field: "stars"}}}
	if _, err := books.List(t.Context(), q, resource.Position{}); err != nil {
		t.Fatal(err)
	}
	same(t, "fields asked of the store", [][]string{nil, {"id", "authorId"}, {"title", "id", "authorId"},
		{"title", "authorId", "id"}, {"sequels", "stars", "id"}}, fields)
	same(t, "field of a function", "", books.KeyField("author"))
	same(t, "field of what points back", "id", authors.KeyField("books"))
	same(t, "field of no relation", "", authors.KeyField("x"))
	same(t, "limit of no relation", 0, mostOf(authors, "x"))
	same(t, "limit of one", 0, mostOf(books, "author"))
	same(t, "limit of many", 20, mostOf(books, "next"))
}

// TestFollowFromViews: a relation uses the field names of the collection, even if the view renames
// or hides the field.
func TestFollowFromViews(t *testing.T) {
	t.Parallel()
	type renamed struct {
		ID     int64 `json:"id" readOnly:"true"`
		Writer int64 `json:"writer"`
	}
	books := resource.New("books", stocked(t, book{Title: "a", Author: 2}), &resource.Options[book]{
		Relations: []resource.Relation[book]{{Name: "author", Target: "authors", Field: "authorId"}}})
	shows := resource.View(books, func(b book) (renamed, error) { return renamed{b.ID, b.Author}, nil },
		func(v renamed, b book) (book, error) {
			b.Author = v.Writer
			return b, nil
		}, &resource.ViewOptions{Fields: map[string]string{"writer": "authorId"}})
	hides := resource.View(books, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	for _, tt := range []struct {
		r     *resource.Resource
		field string
	}{{books, "authorId"}, {shows, "writer"}, {hides, ""}} {
		c := newCatalog(t, tt.r, resource.New("authors", stocked(t, author{Name: "Ann"}, author{Name: "Bob"}), nil))
		r := c.Resource("books")
		p, err := r.Follow(t.Context(), "author", listAll(t, r).Entries, nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "ends", "2", ends(&p, 0))
		same(t, "key field", tt.field, r.KeyField("author"))
		p.Release()
	}
}

// TestFollowAllocations limits the allocations for the relations of a page. It is not parallel,
// like TestAllocations.
func TestFollowAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	var ids []string
	for i := range 100 {
		ids = append(ids, strconv.Itoa(1000+i))
	}
	var items []pointing
	for i, id := range ids {
		next := ids[(i+1)%len(ids)]
		items = append(items, pointing{ID: id, Text: id, Number: 1000 + i, Texts: []string{next, id}})
	}
	from := resource.New("from", pointers(t, items...), &resource.Options[pointing]{Relations: []resource.Relation[pointing]{
		{Name: "byText", Target: "things", Field: "text"},
		{Name: "byNumber", Target: "things", Field: "number"},
		{Name: "byTexts", Target: "things", Field: "texts", Many: true}}, PageSize: 100})
	from = newCatalog(t, from, resource.New("things", keyed(t, ids...), nil)).Resource("from")
	entries := listAll(t, from).Entries
	for _, relation := range []string{"byText", "byNumber", "byTexts"} {
		follow := func() {
			p, err := from.Follow(t.Context(), relation, entries, nil)
			if err != nil || len(p.Entries) != 100 {
				t.Fatal(len(p.Entries), err)
			}
			p.Release()
		}
		n := testing.AllocsPerRun(100, follow)
		t.Logf("%s: %v allocations", relation, n)
		if n > 12 {
			t.Errorf("%s: %v allocations, want 12 at most", relation, n)
		}
	}
}

func BenchmarkFollow(b *testing.B) {
	for _, relation := range []string{"author", "next"} {
		b.Run(relation, func(b *testing.B) {
			books := stocked[book](b)
			for i := range 100 {
				if _, err := books.Create(b.Context(), book{Title: "x", Author: int64(i%50 + 1),
					Sequels: []int64{int64(i%100 + 1), int64(i%7 + 1)}}); err != nil {
					b.Fatal(err)
				}
			}
			authors := stocked[author](b)
			for range 50 {
				if _, err := authors.Create(b.Context(), author{Name: "Ann"}); err != nil {
					b.Fatal(err)
				}
			}
			r := resource.New("books", books, &resource.Options[book]{PageSize: 100, Relations: []resource.Relation[book]{
				{Name: "author", Target: "authors", Field: "authorId"},
				{Name: "next", Target: "books", Field: "sequels", Many: true}}})
			r = newCatalog(b, r, resource.New("authors", authors, nil)).Resource("books")
			from := listAll(b, r).Entries
			b.ReportAllocs()
			for b.Loop() {
				p, err := r.Follow(b.Context(), relation, from, nil)
				if err != nil {
					b.Fatal(err)
				}
				p.Release()
			}
		})
	}
}

// mostOf returns the limit of a relation.
func mostOf(r *resource.Resource, relation string) int {
	_, most := r.Related(relation)
	return most
}
