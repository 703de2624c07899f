package rest_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// idsOn returns the ids of the items in a page.
func idsOn(p *resource.Page) []string {
	var ids []string
	for _, e := range p.Entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// TestPageCursor: from every item of every page, in each order, the list continues in both
// directions.
func TestPageCursor(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		r := resource.New("books", stocked(t, manyBooks(rnd, 9)...), &resource.Options[book]{Query: bookSupport()})
		q := query.Query{Limit: 20}
		if rnd.IntN(2) == 0 {
			q.Filter = query.Where("stars", query.Gte, int64(-1))
		}
		for _, field := range []string{"note", "stars", "title"}[rnd.IntN(3):] {
			q.Sort = append(q.Sort, query.Order{Field: field, Desc: rnd.IntN(2) == 0})
		}
		all := listAt(t, r, q, resource.Position{})
		want := idsOn(&all)
		for _, p := range []resource.Page{all, listAt(t, r, q, resource.Position{Before: all.Last})} {
			for i := range p.Entries {
				after := listAt(t, r, q, resource.Position{After: p.Cursor(i)})
				same(t, fmt.Sprintf("seed %d: behind item %d", seed, i), want[i+1:], append([]string{}, idsOn(&after)...))
				before := listAt(t, r, q, resource.Position{Before: p.Cursor(i)})
				same(t, fmt.Sprintf("seed %d: in front of item %d", seed, i), want[:i], append([]string{}, idsOn(&before)...))
			}
		}
		if n := len(want); n > 1 {
			q.Limit = n - 1
			p := listAt(t, r, q, resource.Position{})
			same(t, "cursor of the last item", p.Next, p.Cursor(n-2))
		}
	}
}

// TestPageCursorOfLongFilter: a cursor is bound to its list, whatever the length of the filter.
func TestPageCursorOfLongFilter(t *testing.T) {
	t.Parallel()
	r := resource.New("books", stocked(t, manyBooks(rand.New(rand.NewPCG(1, 3)), 9)...), &resource.Options[book]{Query: bookSupport()})
	asking := func(last string) query.Query {
		long := query.Where("title", query.Eq, strings.Repeat("x", 1<<20)+last)
		return query.Query{Limit: 20, Filter: query.Or(long, query.Where("stars", query.Gte, int64(-1)))}
	}
	all := listAt(t, r, asking("a"), resource.Position{})
	want := idsOn(&all)
	after := listAt(t, r, asking("a"), resource.Position{After: all.Cursor(1)})
	same(t, "behind the second item", want[2:], idsOn(&after))
	if _, err := r.List(t.Context(), asking("b"), resource.Position{After: all.Cursor(1)}); err == nil {
		t.Error("it is a cursor of another list, too")
	}
}

func listAt(t testing.TB, r *resource.Resource, q query.Query, at resource.Position) resource.Page {
	t.Helper()
	p, err := r.List(t.Context(), q, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPageCursorInNaturalOrder: the cursor is the token of the store.
func TestPageCursorInNaturalOrder(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(stocked[book](t))
	ops.List = func(_ context.Context, q query.Query) iter.Seq2[resource.Item[book], error] {
		items := []resource.Item[book]{{ID: "1", Rev: "1", Next: "token 1"}, {ID: "2", Rev: "1"}}
		if q.Token == "token 1" {
			items = items[1:]
		}
		return func(yield func(resource.Item[book], error) bool) {
			for _, it := range items {
				if !yield(it, nil) {
					return
				}
			}
		}
	}
	ops.CheckSupport = nil
	r := ops.Resource("books", &resource.Options[book]{Query: query.Support{Natural: true}})
	p := list(t, r)
	rest := listAt(t, r, query.Query{}, resource.Position{After: p.Cursor(0)})
	same(t, "behind the first", []string{"2"}, idsOn(&rest))
	same(t, "cursor without a token", "", p.Cursor(1))
	same(t, "cursor of a page that is no list", "", (&resource.Page{Entries: p.Entries}).Cursor(0))
}

// TestETag: the tag is that of the JSON representation, and If-Match accepts it.
func TestETag(t *testing.T) {
	t.Parallel()
	books := resource.New("books", stocked(t, shelved()), &resource.Options[book]{Query: bookSupport()})
	older := resource.View(books, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	for i, r := range []*resource.Resource{books, older} {
		e, err := r.Get(t.Context(), "1")
		if err != nil {
			t.Fatal(err)
		}
		p := list(t, r)
		h := catalog(t, r)
		path := "/" + r.Name() + "/1"
		res := send(t, h, "GET "+path)
		same(t, "of the item", res.header.Get("Etag"), r.ETag(&e))
		same(t, "of the item in a list", r.ETag(&e), r.ETag(&p.Entries[0]))
		want(t, send(t, h, "GET "+path, "If-Match: "+r.ETag(&e)), 200)
		want(t, send(t, h, "PATCH "+path, "If-Match: "+r.ETag(&e), mergeBody, "", `{"stars":`+strconv.Itoa(i)+`}`), 200)
		want(t, send(t, h, "PATCH "+path, "If-Match: "+r.ETag(&e), mergeBody, "", `{"stars":5}`), 412)
	}
}

func TestETagOfContent(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(stocked(t, shelved()))
	get := ops.Get
	r := resource.Ops[book]{List: withoutRevs(ops.List),
		Get: func(ctx context.Context, id string) (resource.Item[book], error) {
			it, err := get(ctx, id)
			it.Rev = ""
			return it, err
		}}.Resource("books", nil)
	p := list(t, r)
	same(t, "tag", send(t, catalog(t, r), "GET /books/1").header.Get("Etag"), r.ETag(&p.Entries[0]))
}

// withoutRevs is List for a store without revisions.
func withoutRevs(list func(context.Context, query.Query) iter.Seq2[resource.Item[book], error],
) func(context.Context, query.Query) iter.Seq2[resource.Item[book], error] {
	return func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[book], error] {
		return func(yield func(resource.Item[book], error) bool) {
			for it, err := range list(ctx, q) {
				it.Rev = ""
				if !yield(it, err) {
					return
				}
			}
		}
	}
}
