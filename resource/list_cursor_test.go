package resource_test

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
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
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
	p := listAll(t, r)
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
		p := listAll(t, r)
		same(t, "of the item in a list", r.ETag(&e), r.ETag(&p.Entries[0]))
		if r.ETag(&e) == "" {
			t.Error("the item has no tag")
		}
		current := &resource.WriteOptions{}
		if current.If.IfMatch, err = header.ParseTags([]string{r.ETag(&e)}); err != nil {
			t.Fatal(err)
		}
		wantDone(t, do(t.Context(), t, r, "patch 1", `{"stars":`+strconv.Itoa(i)+`}`, current))
		wantProblem(t, do(t.Context(), t, r, "patch 1", `{"stars":5}`, current), problem.PreconditionFailed)
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
	e, err := r.Get(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	p := listAll(t, r)
	if tag := r.ETag(&e); tag == "" || tag != r.ETag(&p.Entries[0]) {
		t.Errorf("the tag of the item is %q, and in a list %q", tag, r.ETag(&p.Entries[0]))
	}
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

// manyBooks returns n books with many equal fields, so that the id decides the order.
func manyBooks(rnd *rand.Rand, n int) []book {
	var books []book
	for range n {
		b := book{Title: string(rune('a' + rnd.IntN(3))), Author: rnd.Int64N(3), Stars: rnd.Int64N(5) - 2,
			Owner: []string{"", "ann", "bób", "~%&,\""}[rnd.IntN(4)]}
		if note := fmt.Sprint("n", rnd.IntN(2)); rnd.IntN(3) > 0 {
			b.Note = &note
		}
		books = append(books, b)
	}
	return books
}
