package rest_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

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

// randomList returns the URL of a list with random order and filters.
func randomList(rnd *rand.Rand) string {
	fields := []string{"title", "authorId", "owner", "stars", "note", "id"}
	rnd.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	params := url.Values{}
	if keys := fields[:rnd.IntN(4)]; len(keys) > 0 {
		for i := range keys {
			keys[i] = []string{"", "-"}[rnd.IntN(2)] + keys[i]
		}
		params.Set("sort", strings.Join(keys, ","))
	}
	switch rnd.IntN(6) {
	case 0:
		params.Set("stars.gte", "0")
	case 1:
		params.Set("note.isNull", "true")
	case 2:
		params.Set("owner", "bób")
	case 3:
		params.Set("filter", `{"or":[{"title":{"eq":"a"}},{"not":{"stars":{"gte":0}}}]}`)
	}
	return "/books?" + params.Encode()
}

// TestPagesAreTheList: in every direction and order the pages together are the list.
func TestPagesAreTheList(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		ops := resource.OpsOf(stocked(t, manyBooks(rnd, rnd.IntN(30))...))
		h := catalog(t, ops.Resource("books", &resource.Options[book]{Query: bookSupport()}))
		list := randomList(rnd)
		all := value[page[book]](t, send(t, h, "GET "+list+"&limit=200")).Items
		limit := 1 + rnd.IntN(7)
		paged := fmt.Sprint(list, "&limit=", limit)
		what := fmt.Sprintf("seed %d: %s", seed, paged)

		forward := walk[book](t, h, paged, "next")
		same(t, what+" forward", ids(all), ids(slices.Concat(forward...)))
		for i, p := range forward {
			if len(p) != limit && i < len(forward)-1 {
				t.Errorf("%s: page %d has %d items", what, i, len(p))
			}
		}
		backward := walk[book](t, h, link(send(t, h, "GET "+paged), "last"), "prev")
		slices.Reverse(backward)
		same(t, what+" backward", ids(all), ids(slices.Concat(backward...)))
		lines := send(t, h, "GET "+list, "Accept: application/x-ndjson")
		same(t, what+" lines", len(all), strings.Count(lines.body, "\n"))
		neighbours(t, what, h, paged)
	}
}

// neighbours checks that the page before the next page is the page itself, and that each page leads
// to the first.
func neighbours(t *testing.T, what string, h http.Handler, target string) {
	t.Helper()
	first := send(t, h, "GET "+target)
	if prev := link(first, "prev"); prev != "" {
		t.Errorf("%s: before the first page is %s", what, prev)
	}
	for here := first; ; {
		after := link(here, "next")
		if (after == "") != (value[page[book]](t, here).Next == "") {
			t.Errorf("%s: header and content do not agree about what is next", what)
		}
		if after == "" {
			return
		}
		next := send(t, h, "GET "+after)
		back := send(t, h, "GET "+link(next, "prev"))
		same(t, what+" and back", ids(value[page[book]](t, here).Items), ids(value[page[book]](t, back).Items))
		same(t, what+" to the first", first.body, send(t, h, "GET "+link(next, "first")).body)
		here = next
	}
}

// TestPagesWhileOthersWrite: inserts and deletions before the cursor do not affect the following
// pages.
func TestPagesWhileOthersWrite(t *testing.T) {
	t.Parallel()
	h := catalog(t, resource.New("books", stocked(t, book{Title: "a"}, book{Title: "b"}, book{Title: "c"}, book{Title: "d"}),
		&resource.Options[book]{Query: bookSupport()}))
	first := send(t, h, "GET /books?limit=2&sort=title")
	want(t, send(t, h, "DELETE /books/2"), http.StatusNoContent) // the item of the cursor
	want(t, send(t, h, "POST /books", jsonBody, "", `{"title":"aa"}`), http.StatusCreated)
	second := send(t, h, "GET "+link(first, "next"))
	same(t, "second page", []int64{3, 4}, ids(value[page[book]](t, second).Items))
	same(t, "page before", []int64{1, 5}, ids(value[page[book]](t, send(t, h, "GET "+link(second, "prev"))).Items))
}

func TestPageSizes(t *testing.T) {
	t.Parallel()
	small := resource.Options[book]{PageSize: 2, MaxPageSize: 3}
	tests := []struct {
		name   string
		o      resource.Options[book]
		query  string
		status int
		items  int
	}{
		{"default", resource.Options[book]{}, "", 200, 50},
		{"most", resource.Options[book]{}, "?limit=200", 200, 200},
		{"more", resource.Options[book]{}, "?limit=201", 400, 0},
		{"none", resource.Options[book]{}, "?limit=0", 400, 0},
		{"negative", resource.Options[book]{}, "?limit=-1", 400, 0},
		{"no number", resource.Options[book]{}, "?limit=x", 400, 0},
		{"own default", small, "", 200, 2},
		{"own most", small, "?limit=3", 200, 3},
		{"own more", small, "?limit=4", 400, 0},
		{"most below default", resource.Options[book]{MaxPageSize: 8}, "", 200, 8},
		{"default above most", resource.Options[book]{PageSize: 205}, "?limit=205", 200, 205},
	}
	store := stocked(t, manyBooks(rand.New(rand.NewPCG(1, 1)), 210)...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, catalog(t, resource.New("books", store, &tt.o)), "GET /books"+tt.query)
			want(t, res, tt.status)
			if tt.status == http.StatusOK {
				same(t, "items", tt.items, len(value[page[book]](t, res).Items))
			}
		})
	}
}

// TestCursorsOfOthers: a cursor is only valid for its list.
func TestCursorsOfOthers(t *testing.T) {
	t.Parallel()
	store := stocked(t, manyBooks(rand.New(rand.NewPCG(2, 2)), 20)...)
	books := resource.New("books", store, &resource.Options[book]{Query: bookSupport()})
	others := resource.New("others", store, &resource.Options[book]{Query: bookSupport()})
	older := resource.View(books, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	h, v1 := catalog(t, books, others), catalog(t, older)
	cursor := func(target string) string { return value[page[book]](t, send(t, h, "GET "+target)).Next }
	plain, sorted := cursor("/books?limit=1"), cursor("/books?limit=1&sort=-stars")
	filtered := cursor("/books?limit=1&stars.gte=0")
	own := "book\x00books" // the binding of a cursor is not a secret
	forged := func(values ...any) string { return query.Cursor{Values: values}.Encode(own) }
	tests := []struct {
		name   string
		h      http.Handler
		target string
		status int
	}{
		{"own", h, "/books?after=" + plain, 200},
		{"own, other limit and fields", h, "/books?limit=3&fields=id&after=" + plain, 200},
		{"own, as lines", h, "/books?limit=3&after=" + plain, 200},
		{"own, other order of parameters", h, "/books?after=" + filtered + "&stars.gte=0", 200},
		{"other sort", h, "/books?after=" + sorted, 400},
		{"other direction", h, "/books?sort=stars&after=" + sorted, 400},
		{"no sort", h, "/books?sort=-stars&after=" + plain, 400},
		{"other filter", h, "/books?stars.gte=1&after=" + filtered, 400},
		{"no filter", h, "/books?after=" + filtered, 400},
		{"other resource", h, "/others?after=" + plain, 400},
		{"other contract", v1, "/books?after=" + plain, 400},
		{"garbage", h, "/books?after=AAAA", 400},
		{"cut off", h, "/books?after=" + plain[:len(plain)-1], 400},
		{"damaged", h, "/books?after=" + damage(plain), 400},
		{"not base64", h, "/books?after=%00%ff", 400},
		{"long", h, "/books?after=" + strings.Repeat("A", 4000), 400},
		{"twice", h, "/books?after=" + plain + "&after=" + sorted, 400},
		{"empty", h, "/books?after=", 400},
		{"forged", h, "/books?after=" + forged(int64(3)), 200},
		{"forged kind", h, "/books?after=" + forged("3"), 400},
		{"forged null", h, "/books?after=" + forged(nil), 400},
		{"forged float", h, "/books?after=" + forged(1.5), 400},
		{"forged length", h, "/books?after=" + forged(int64(3), int64(3)), 400},
		{"forged token", h, "/books?after=" + query.Cursor{Token: "x"}.Encode(own), 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"after", "before"} {
				target := strings.Replace(tt.target, "after=", name+"=", 1)
				res := send(t, tt.h, "GET "+target)
				want(t, res, tt.status)
				lines, linesStatus := send(t, tt.h, "GET "+target, "Accept: application/x-ndjson"), tt.status
				if name == "before" { // a whole list is only listed forward
					linesStatus = http.StatusBadRequest
				}
				want(t, lines, linesStatus)
				if tt.status == http.StatusOK {
					continue
				}
				for _, res := range []*response{res, lines} {
					if d := value[details](t, res); len(d.Errors) != 1 || d.Errors[0].Parameter != name {
						t.Errorf("%s: the parameter at fault is not named: %s", res.line, res.body)
					}
				}
			}
		})
	}
}

func TestCursorsExcludeEachOther(t *testing.T) {
	t.Parallel()
	h := catalog(t, resource.New("books", stocked(t, book{Title: "a"}, book{Title: "b"}), nil))
	cursor := value[page[book]](t, send(t, h, "GET /books?limit=1")).Next
	res := send(t, h, "GET /books?after="+cursor+"&before="+cursor)
	wantErrors(t, wantProblem(t, res, problem.InvalidParameter), "?before duplicateParameter")
}

// damage changes one letter in the middle of a cursor.
func damage(cursor string) string {
	i, other := len(cursor)/2, byte('A')
	if cursor[i] == other {
		other = 'B'
	}
	return cursor[:i] + string(other) + cursor[i+1:]
}

// diary is a store with natural order: it lists items in the order of insertion and has its own
// tokens.
type diary struct{ titles []string }

func (d diary) Get(_ context.Context, id string) (resource.Item[book], error) {
	n, err := strconv.Atoi(id)
	if err != nil || n < 1 || n > len(d.titles) {
		return resource.Item[book]{}, resource.ErrNotFound
	}
	return resource.Item[book]{ID: id, Value: book{Title: d.titles[n-1]}}, nil
}

func (d diary) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[book], error] {
	return func(yield func(resource.Item[book], error) bool) {
		begin, _ := strconv.Atoi(strings.TrimPrefix(q.Token, "page "))
		for i := begin; i < len(d.titles) && (q.Limit <= 0 || i < begin+q.Limit); i++ {
			item, err := d.Get(ctx, strconv.Itoa(i+1))
			if i+1 < len(d.titles) {
				item.Next = fmt.Sprint("page ", i+1)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

func TestNaturalOrder(t *testing.T) {
	t.Parallel()
	d := diary{strings.Split("c a d b e", " ")}
	o := &resource.Options[book]{Query: query.Support{Natural: true}}
	h := catalog(t, resource.New("books", d, o), resource.New("others", d, o))
	for limit := 1; limit < 7; limit++ {
		got := slices.Concat(walk[book](t, h, fmt.Sprint("/books?limit=", limit), "next")...)
		same(t, fmt.Sprint("limit ", limit), []int64{1, 2, 3, 4, 5}, ids(got))
	}
	res := send(t, h, "GET /books?limit=2")
	for _, rel := range []string{"last", "prev"} {
		same(t, rel, "", link(res, rel))
	}
	cursor := value[page[book]](t, res).Next
	if strings.Contains(cursor, "page") {
		t.Errorf("the cursor %q is the store's own token", cursor)
	}
	same(t, "lines", 5, strings.Count(send(t, h, "GET /books", "Accept: application/x-ndjson").body, "\n"))
	for target, kind := range map[string]problem.Kind{
		"/books?sort=id":             problem.InvalidParameter,
		"/books?before=" + cursor:    problem.InvalidCursor,
		"/others?after=" + cursor:    problem.InvalidCursor,
		"/books?after=" + cursor[1:]: problem.InvalidCursor,
		"/books?after=" + query.Cursor{Values: []any{int64(1)}}.Encode("book\x00books"): problem.InvalidCursor,
	} {
		wantProblem(t, send(t, h, "GET "+target), kind)
	}
}

// TestNaturalOrderHidden: if policy hides a page, the response has the next page with visible
// items.
func TestNaturalOrderHidden(t *testing.T) {
	t.Parallel()
	h := catalog(t, resource.New("books", diary{strings.Split("x x x a x x b x", " ")}, &resource.Options[book]{
		Query: query.Support{Natural: true},
		Authorize: func(_ context.Context, _ resource.Op, before, _ *book) error {
			if before.Title == "x" {
				return resource.ErrForbidden
			}
			return nil
		}}))
	pages := walk[book](t, h, "/books?limit=1", "next")
	same(t, "books", []int64{4, 7}, ids(slices.Concat(pages...)))
	same(t, "lines", 2, strings.Count(send(t, h, "GET /books", "Accept: application/x-ndjson").body, "\n"))
}

// TestRule129HiddenItems: items that Authorize hides do not change pages, cursors, exports and related items.
func TestRule129HiddenItems(t *testing.T) {
	t.Parallel()
	server := func(hidden bool) http.Handler {
		store := memory.New(&memory.Options[book]{Search: []string{"title"}})
		for i := range int64(60) {
			b := book{ID: i + 1, Title: fmt.Sprint("t ", i%7), Author: i % 2, Stars: i % 5, Owner: "ann"}
			if i/7%3 != 0 {
				b.Owner = "bob"
			}
			if b.Owner == "ann" || hidden {
				if _, err := store.Insert(t.Context(), strconv.FormatInt(b.ID, 10), b); err != nil {
					t.Fatal(err)
				}
			}
		}
		support := bookSupport()
		support.Search = []string{"title"}
		books := resource.New("books", store, &resource.Options[book]{Query: support,
			Authorize: func(_ context.Context, _ resource.Op, before, _ *book) error {
				if before.Owner == "bob" {
					return resource.ErrForbidden
				}
				return nil
			}})
		authors := resource.New("authors", stocked(t, author{Name: "A"}), &resource.Options[author]{
			Relations: []resource.Relation[author]{{Name: "books", Target: "books", By: "authorId", Limit: 4}}})
		return catalog(t, books, authors)
	}
	with, without := server(true), server(false)
	for _, target := range []string{"/books?limit=%d", "/books?limit=%d&sort=-stars", "/books?limit=%d&q=t",
		"/books?limit=%d&stars.gte=3", "/authors/1?expand=books(limit=%d)", "/authors/1?expand=books&n=%d"} {
		for limit := 1; limit < 23; limit += 3 {
			next := strings.Replace(fmt.Sprintf(target, limit), fmt.Sprint("&n=", limit), "", 1)
			for next != "" {
				for _, accept := range []string{"application/json", "application/x-ndjson"} {
					if accept != "application/json" && strings.HasPrefix(next, "/authors") {
						continue
					}
					a, b := send(t, with, "GET "+next, "Accept: "+accept), send(t, without, "GET "+next, "Accept: "+accept)
					wantBody(t, a, http.StatusOK, b.body)
					same(t, next+": Link", b.header["Link"], a.header["Link"])
				}
				next = link(send(t, without, "GET "+next), "next")
			}
			if strings.HasPrefix(target, "/books") {
				backward := func(h http.Handler) [][]book {
					return walk[book](t, h, link(send(t, h, "GET "+fmt.Sprintf(target, limit)), "last"), "prev")
				}
				same(t, target+" backward", backward(without), backward(with))
			}
		}
	}
}

// TestRule129MovedItem: an item that moves while a page is filled past hidden items is on the page once.
func TestRule129MovedItem(t *testing.T) {
	t.Parallel()
	var books []book
	for i, owner := range []string{"ann", "bob", "bob", "ann", "ann", "bob", "bob"} {
		books = append(books, book{Title: "t", Owner: owner, Stars: int64(i)})
	}
	store := stocked(t, books...)
	var once sync.Once
	h := catalog(t, resource.New("books", store, &resource.Options[book]{Query: bookSupport(),
		Authorize: func(ctx context.Context, _ resource.Op, before, _ *book) error {
			if before.Owner == "ann" {
				return nil
			}
			once.Do(func() {
				first, err := store.Get(ctx, "1")
				if err == nil {
					first.Value.Stars = 9
					_, err = store.Replace(ctx, "1", first.Rev, first.Value)
				}
				if err != nil {
					t.Error(err)
				}
			})
			return resource.ErrForbidden
		}}))
	pages := walk[book](t, h, "/books?limit=4&sort=stars", "next")
	same(t, "books", []int64{1, 4, 5}, ids(pages[0]))
}

// TestRule129HiddenItemsAreBounded: a page ends with 503 after 10,000 hidden items. The detail names Scope, which
// has no such limit.
func TestRule129HiddenItemsAreBounded(t *testing.T) {
	t.Parallel()
	titles := append(append(slices.Repeat([]string{"x"}, 9_000), "a"), slices.Repeat([]string{"x"}, 20_000)...)
	h := catalog(t, resource.New("books", diary{titles}, &resource.Options[book]{
		Query: query.Support{Natural: true},
		Authorize: func(_ context.Context, _ resource.Op, before, _ *book) error {
			if before.Title == "x" {
				return resource.ErrForbidden
			}
			return nil
		}}))
	d := wantProblem(t, send(t, h, "GET /books?limit=1"), problem.Unavailable)
	same(t, "detail", "The list could not be read within the limits of one request: Options.Authorize hides "+
		"more than 10000 items. Use a more specific filter, or hide the items by Options.Scope in the server.", d.Detail)
}

// TestPolicyHidesWholePages: only the last page may be empty.
func TestPolicyHidesWholePages(t *testing.T) {
	t.Parallel()
	var books []book
	for i := range 50 {
		books = append(books, book{Title: "x", Stars: int64(i % 10)})
	}
	h := catalog(t, resource.New("books", stocked(t, books...), &resource.Options[book]{Query: bookSupport(),
		Authorize: func(_ context.Context, _ resource.Op, before, _ *book) error {
			if before.Stars != 3 {
				return resource.ErrForbidden
			}
			return nil
		}}))
	pages := walk[book](t, h, "/books?limit=2", "next")
	same(t, "books", []int64{4, 14, 24, 34, 44}, ids(slices.Concat(pages...)))
	for i, p := range pages[:len(pages)-1] {
		if len(p) == 0 {
			t.Errorf("page %d is empty", i)
		}
	}
	back := walk[book](t, h, link(send(t, h, "GET /books?limit=2"), "last"), "prev")
	slices.Reverse(back)
	same(t, "backward", []int64{4, 14, 24, 34, 44}, ids(slices.Concat(back...)))
}

// TestListMethods: a list can be requested without HTTP.
func TestListMethods(t *testing.T) {
	t.Parallel()
	r := resource.New("books", stocked(t, manyBooks(rand.New(rand.NewPCG(3, 3)), 1200)...), nil)
	n := 0
	for page, err := range r.Pages(t.Context(), query.Query{Limit: 1100}, resource.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			if n++; e.Value.(*book).ID != int64(n) || e.ID != strconv.Itoa(n) || e.Rev == "" {
				t.Fatalf("entry %d is %s %v", n, e.ID, e.Value)
			}
		}
	}
	same(t, "entries", 1100, n)
	for range r.Pages(t.Context(), query.Query{}, resource.Position{}) {
		break // the consumer may stop early
	}
	p, err := r.List(t.Context(), query.Query{Limit: 2}, resource.Position{Before: "nonsense"})
	if err == nil {
		t.Errorf("got %d entries for a cursor that is none", len(p.Entries))
	}
	p.Release() // the zero page
}
