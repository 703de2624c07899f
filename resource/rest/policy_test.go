package rest_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
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

// asked records the calls of a policy.
type asked struct {
	mu   sync.Mutex
	list []string
}

func (a *asked) authorize(_ context.Context, op resource.Op, before, after *book) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	title := func(b *book) string {
		if b == nil {
			return "-"
		}
		return b.Title
	}
	a.list = append(a.list, fmt.Sprintf("%s %s %s", op, title(before), title(after)))
	return nil
}

// TestAuthorizeIsAsked: Authorize is called for every item, in every operation.
func TestAuthorizeIsAsked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		rest []string
		want []string
	}{
		{"GET /books/1", nil, []string{"get a -"}},
		{"HEAD /books/1", nil, []string{"get a -"}},
		{"GET /books", nil, []string{"get a -", "get b -", "get c -"}},
		{"GET /books?limit=1", nil, []string{"get a -", "get b -"}}, // is there a next page?
		{"GET /books", []string{"Accept: application/x-ndjson"}, []string{"get a -", "get b -", "get c -"}},
		{"GET /books/3?expand=next", nil, []string{"get c -", "get a -"}},
		{"GET /authors/1?expand=books", nil, []string{"get a -", "get b -", "get c -"}},
		{"GET /first", nil, []string{"get a -"}},
		{"POST /books", []string{jsonBody, "", `{"title":"d"}`}, []string{"create - d"}},
		{"PUT /books/1", []string{jsonBody, "", `{"title":"d"}`}, []string{"get a -", "replace a d"}},
		{"PATCH /books/1", []string{mergeBody, "", `{"title":"d"}`}, []string{"get a -", "patch a d"}},
		{"PATCH /books/1", []string{mergeBody, "", `{"title":"a"}`}, []string{"get a -", "patch a a"}},
		{"DELETE /books/1", nil, []string{"get a -", "delete a -"}},
		{"GET /books/9", nil, nil},
		{"PUT /books/9", []string{jsonBody, "", `{"title":"d"}`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.line+strings.Join(tt.rest, " "), func(t *testing.T) {
			t.Parallel()
			var a asked
			store := stocked(t, book{Title: "a"}, book{Title: "b"}, book{Title: "c", Sequels: []int64{1}})
			ops := resource.OpsOf(store)
			ops.Insert = nil
			h := catalog(t, ops.Resource("books", &resource.Options[book]{
				Query: bookSupport(), Authorize: a.authorize, Relations: []resource.Relation[book]{
					{Name: "next", Target: "books", Many: true, Keys: func(b *book) []string {
						return []string{strconv.FormatInt(b.Sequels[0], 10)}
					}}}}),
				resource.New("authors", stocked(t, author{Name: "Ann"}), &resource.Options[author]{
					Relations: []resource.Relation[author]{{Name: "books", Target: "books", By: "authorId",
						Keys: func(*author) []string { return []string{"0"} }}}}),
				resource.NewLookup("first", "books", func(context.Context, struct{}) (string, error) { return "1", nil }))
			send(t, h, tt.line, tt.rest...)
			same(t, "asked", tt.want, a.list)
		})
	}
}

// The callers of a library in which every caller has private books.
var readers = []string{"ann", "bob", "cat"}

// policies are several ways to restrict callers to their own books.
func policies() map[string]resource.Options[book] {
	mine := func(ctx context.Context, _ resource.Op, before, after *book) error {
		for _, b := range []*book{before, after} {
			if b != nil && b.Owner != caller(ctx) {
				return resource.ErrForbidden
			}
		}
		return nil
	}
	scope := func(ctx context.Context) (query.Filter, error) {
		return query.Where("owner", query.Eq, caller(ctx)), nil
	}
	return map[string]resource.Options[book]{
		"scope":     {Scope: scope},
		"authorize": {Authorize: mine},
		"both":      {Scope: scope, Authorize: mine, ScopeComplete: true},
	}
}

// keptApart is a library of n books with random owners and titles. A title contains its owner, to
// detect leaks.
func keptApart(
	t *testing.T, o resource.Options[book], n int, few bool,
) (h http.Handler, store *memory.Store[book], own map[string][]int64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(uint64(n), 7))
	store, own = stocked[book](t), map[string][]int64{}
	for i := range n {
		owner := readers[rnd.IntN(len(readers))]
		note := "of-" + owner
		item, err := store.Create(t.Context(), book{Title: fmt.Sprintf("%03d-of-%s", rnd.IntN(1000), owner), Owner: owner,
			Author: rnd.Int64N(5), Stars: rnd.Int64N(4), Note: &note, Sequels: []int64{rnd.Int64N(int64(n)) + 1, int64(i)}})
		if err != nil {
			t.Fatal(err)
		}
		own[owner] = append(own[owner], item.Value.ID)
	}
	ops := resource.OpsOf(store)
	if few {
		ops.GetMany, ops.ListByKeys = nil, nil
	}
	o.Query = bookSupport()
	o.Relations = []resource.Relation[book]{
		{Name: "next", Target: "books", Many: true, Keys: func(b *book) []string {
			return []string{strconv.FormatInt(b.Sequels[0], 10), strconv.FormatInt(b.Sequels[1], 10)}
		}},
		{Name: "alike", Target: "books", By: "stars", Keys: func(b *book) []string {
			return []string{strconv.FormatInt(b.Stars, 10)}
		}},
	}
	type in struct {
		ID string `json:"id"`
	}
	find := func(_ context.Context, in in) (string, error) { return in.ID, nil }
	return byCaller(catalog(t, ops.Resource("books", &o), resource.NewLookup("find", "books", find))), store, own
}

// leaks fails the test if a response contains text of another caller's book.
func leaks(t *testing.T, res *response, reader string) {
	t.Helper()
	text := res.body + fmt.Sprint(res.header)
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(`"<>&=; []{}`, r) }) {
		if raw, err := base64.RawURLEncoding.DecodeString(word); err == nil { // cursors are no secret
			text += string(raw)
		}
	}
	for _, other := range readers {
		if other != reader && strings.Contains(text, "of-"+other) {
			t.Fatalf("%s for %s tells of a book of %s: %s %v", res.line, reader, other, res.body, res.header)
		}
	}
}

// TestReadsOfOthersBooks sends every kind of read.
func TestReadsOfOthersBooks(t *testing.T) {
	t.Parallel()
	for name, o := range policies() {
		for _, few := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, few=%t", name, few), func(t *testing.T) {
				t.Parallel()
				h, _, own := keptApart(t, o, 60, few)
				for _, reader := range readers {
					readItems(t, h, reader, own[reader])
					readLists(t, h, reader, own[reader], name != "authorize")
				}
			})
		}
	}
}

// readItems requests every possible item.
func readItems(t *testing.T, h http.Handler, reader string, own []int64) {
	t.Helper()
	for id := range int64(62) {
		status := http.StatusNotFound
		if slices.Contains(own, id) {
			status = http.StatusOK
		}
		for _, target := range []string{"/books/%d", "/books/%d?expand=next,alike", "/find?id=%d"} {
			res := send(t, h, fmt.Sprintf("GET "+target, id), "Caller: "+reader)
			leaks(t, res, reader)
			want(t, res, status)
		}
	}
}

// readLists follows every list to its end, in both directions, as pages and as lines.
func readLists(t *testing.T, h http.Handler, reader string, own []int64, totals bool) {
	t.Helper()
	as := "Caller: " + reader
	for _, target := range []string{"/books?limit=7", "/books?limit=7&sort=stars,-id", "/books?limit=3&expand=next,alike",
		"/books?limit=1&sort=-note", "/books?limit=5&stars.gte=0&sort=title"} {
		for _, direction := range []string{"next", "prev"} {
			at := target
			if direction == "prev" {
				at = link(send(t, h, "GET "+target, as), "last")
			}
			var got []int64
			for at != "" {
				res := send(t, h, "GET "+at, as, "Prefer: count=exact")
				want(t, res, http.StatusOK)
				leaks(t, res, reader)
				p := value[page[book]](t, res)
				got = append(got, ids(p.Items)...)
				if totals != (p.Total != nil) || totals && *p.Total != len(own) {
					t.Errorf("%s: total %v for %s, who has %d", at, p.Total, reader, len(own))
				}
				at = link(res, direction)
			}
			slices.Sort(got)
			same(t, direction+" of "+target+" for "+reader, own, got)
		}
		lines := send(t, h, "GET "+target+"&limit=7", as, "Accept: application/x-ndjson")
		leaks(t, lines, reader)
	}
	res := send(t, h, "GET /books?expand=next,alike", as, "Accept: application/x-ndjson")
	leaks(t, res, reader)
	same(t, "lines", len(own), strings.Count(res.body, "\n"))
}

// TestWritesOfOthersBooks: the response is 404, or 412 with If-Match, as for a missing item, and the store is
// not modified.
func TestWritesOfOthersBooks(t *testing.T) {
	t.Parallel()
	for name, o := range policies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, store, own := keptApart(t, o, 12, false)
			for _, reader := range readers {
				for id := range int64(12) {
					if path := fmt.Sprintf("/books/%d", id+1); !slices.Contains(own[reader], id+1) {
						writeAnothers(t, h, store, path, reader)
					}
				}
				giveAway(t, h, own[reader], reader)
			}
			n, err := store.Count(t.Context(), query.Query{})
			if err != nil || n != 12 {
				t.Errorf("%d books, %v; want 12", n, err)
			}
		})
	}
}

func writeAnothers(t *testing.T, h http.Handler, store *memory.Store[book], path, reader string) {
	t.Helper()
	id, as := strings.TrimPrefix(path, "/books/"), "Caller: "+reader
	before := stored(t, store, id)
	res := send(t, h, "PUT "+path, as, jsonBody, "If-Match: *", "", `{"title":"mine","owner":"`+reader+`"}`)
	leaks(t, res, reader)
	wantProblem(t, res, problem.PreconditionFailed)
	for _, res := range []*response{
		send(t, h, "PUT "+path, as, jsonBody, "", `{"title":"mine"}`),
		send(t, h, "PUT "+path, as, jsonBody, "If-None-Match: *", "", `{"title":"mine","owner":"`+reader+`"}`),
		send(t, h, "PATCH "+path, as, mergeBody, "", `{"owner":"`+reader+`"}`),
		send(t, h, "PATCH "+path, as, patchBody, "", `[{"op":"test","path":"/stars","value":77}]`),
		send(t, h, "DELETE "+path, as),
	} {
		leaks(t, res, reader)
		wantProblem(t, res, problem.NotFound)
	}
	same(t, path, before, stored(t, store, id))
}

// giveAway tries to change the owner of the caller's books.
func giveAway(t *testing.T, h http.Handler, own []int64, reader string) {
	t.Helper()
	for _, other := range readers {
		if other == reader {
			continue
		}
		doc := `{"title":"gift","owner":"` + other + `"}`
		for _, id := range own {
			path := fmt.Sprintf("/books/%d", id)
			wantProblem(t, send(t, h, "PATCH "+path, "Caller: "+reader, mergeBody, "", doc), problem.Forbidden)
			wantProblem(t, send(t, h, "PUT "+path, "Caller: "+reader, jsonBody, "", doc), problem.Forbidden)
		}
		wantProblem(t, send(t, h, "POST /books", "Caller: "+reader, jsonBody, "", doc), problem.Forbidden)
	}
}

// TestTotalsNeedScope: with Authorize there is no total unless Scope is complete, because it would count items
// that the list hides.
func TestTotalsNeedScope(t *testing.T) {
	t.Parallel()
	all := policies()
	incomplete := all["both"]
	incomplete.ScopeComplete = false
	all["incomplete"] = incomplete
	for name, o := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _, own := keptApart(t, o, 20, false)
			res := send(t, h, "GET /books?limit=1", "Caller: ann", "Prefer: count=exact")
			total, applied := value[page[book]](t, res).Total, "Preference-Applied: count=exact"
			if name == "authorize" || name == "incomplete" {
				applied = "Preference-Applied:"
				same(t, "total", (*int)(nil), total)
			} else {
				n := len(own["ann"])
				same(t, "total", &n, total)
			}
			want(t, res, http.StatusOK, applied)
		})
	}
}
