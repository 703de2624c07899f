package resource_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// ordersOf returns the orders of a store in the contracts 1.0.0, 1.1.0 and 2.0.0.
func ordersOf(t *testing.T, store *memory.Store[purchase], opts ...func(v11, v10 *resource.ViewOptions)) [3]*resource.Resource {
	t.Helper()
	hub := resource.New("orders", store, &resource.Options[purchase]{Samples: purchaseSamples()})
	v11, v10 := purchaseViews(hub, opts...)
	return [3]*resource.Resource{v10, v11, hub}
}

// TestOneLineOfThree: a client of the contract with one line changes that line, and the order keeps
// the two hidden lines.
func TestOneLineOfThree(t *testing.T) {
	t.Parallel()
	before := purchaseSamples()[1]
	tests := []struct {
		line, doc string
		want      purchase // what changes
	}{
		{"patch 1", `{"qty":40,"status":"paid"}`,
			purchase{Status: "paid", Lines: []purchaseLine{{Item: 7, Qty: 40}}}},
		{"patch 1", `[{"op":"test","path":"/itemId","value":7},{"op":"replace","path":"/itemId","value":8}]`,
			purchase{Status: "placed", Lines: []purchaseLine{{Item: 8, Qty: 2}}}},
		{"put 1", `{"itemId":11,"qty":12}`,
			purchase{Status: "placed", Lines: []purchaseLine{{Item: 11, Qty: 12}}}},
	}
	for _, tt := range tests {
		t.Run(tt.line+tt.doc, func(t *testing.T) {
			t.Parallel()
			store := stocked(t, before)
			r := ordersOf(t, store)
			wantDone(t, do(t.Context(), t, r[0], tt.line, tt.doc, ifMatch(t, tagOf(t, r[0], "1"))))
			after := before
			after.ID, after.Status = 1, tt.want.Status
			after.Lines = append(tt.want.Lines, before.Lines[1:]...)
			same(t, "in the store", after, stored(t, store, "1"))
		})
	}
}

// TestResetHiddenInChains: the contract of a PUT decides what happens to its hidden fields, not the
// contracts between.
func TestResetHiddenInChains(t *testing.T) {
	t.Parallel()
	whole := purchaseSamples()[1]
	whole.ID, whole.Customer = 1, 5
	line := func(item int64, qty int) []purchaseLine { return []purchaseLine{{Item: item, Qty: qty}} }
	put := whole
	put.Lines = append(line(4, 5), whole.Lines[1:]...)
	bare := purchase{ID: 1, Status: "placed", Lines: line(4, 5), CreatedAt: whole.CreatedAt} // readOnly is not a client's
	bareWithNote := bare
	note := "new"
	bareWithNote.Note = &note
	putWithNote := put
	putWithNote.Note = &note
	keep, reset := false, true
	tests := []struct {
		v11, v10 bool
		contract int
		want     purchase
	}{
		{keep, keep, 0, put}, {keep, keep, 1, putWithNote},
		{reset, keep, 0, put}, {reset, keep, 1, bareWithNote},
		{keep, reset, 0, bare}, {keep, reset, 1, putWithNote},
		{reset, reset, 0, bare}, {reset, reset, 1, bareWithNote},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.v11, tt.v10, tt.contract), func(t *testing.T) {
			t.Parallel()
			store := stocked(t, whole)
			r := ordersOf(t, store, func(v11, v10 *resource.ViewOptions) { v11.ResetHidden, v10.ResetHidden = tt.v11, tt.v10 })
			doc := []string{`{"itemId":4,"qty":5}`, `{"itemId":4,"qty":5,"note":"new"}`}[tt.contract]
			wantDone(t, do(t.Context(), t, r[tt.contract], "put 1", doc))
			same(t, "after PUT", tt.want, stored(t, store, "1"))

			store = stocked(t, whole)
			r = ordersOf(t, store, func(v11, v10 *resource.ViewOptions) { v11.ResetHidden, v10.ResetHidden = tt.v11, tt.v10 })
			wantDone(t, do(t.Context(), t, r[tt.contract], "patch 1", `{"itemId":4,"qty":5}`))
			same(t, "after PATCH, which resets nothing", put, stored(t, store, "1"))
		})
	}
}

// TestResetHiddenKeepsTheID: the id is not reset, even if clients choose it.
func TestResetHiddenKeepsTheID(t *testing.T) {
	t.Parallel()
	var seen []string
	store := memory.New[gauge](nil)
	fill(t, store.Create, gauge{ID: "a", Level: 3})
	hub := resource.New("gauges", store, &resource.Options[gauge]{
		Before: func(_ context.Context, _ resource.Op, _, after *gauge) error {
			seen = append(seen, after.ID)
			return nil
		}})
	view := resource.View(hub, toGaugeV1, fromGaugeV1, &resource.ViewOptions{ResetHidden: true})
	id := listAll(t, hub).Entries[0].ID
	wantDone(t, do(t.Context(), t, view, "put "+id, `{"level":4}`))
	same(t, "ids that Before saw", []string{id}, seen)
}

// Types for a chain of three views in which each field has several names: some/path is called
// old~name and then name, and the oldest view renames the field that the middle one adds.
type titled struct {
	ID    string      `json:"id"`
	Name  string      `json:"name" maxLength:"20"`
	Sizes []dimension `json:"sizes,omitempty"`
	Ratio int64       `json:"w/h" maximum:"9"`
}

type dimension struct {
	Width int64 `json:"width" maximum:"9"`
}

type titledV1 struct {
	ID    string      `json:"id"`
	Old   string      `json:"old~name"`
	Extra string      `json:"extra"`
	Sizes []dimension `json:"widths,omitempty"`
	Ratio int64       `json:"w/h"`
}

type titledV0 struct {
	ID    string    `json:"id"`
	Older string    `json:"some/path"`
	Added string    `json:"added"`
	Sizes []oldSize `json:"widths,omitempty"`
	Ratio int64     `json:"ratio~"`
}

type oldSize struct {
	W int64 `json:"w"`
}

// titles returns titles in all contracts, the oldest first.
func titles(t *testing.T) [3]*resource.Resource {
	t.Helper()
	store := memory.New[titled](nil)
	fill(t, store.Create, titled{Name: "x"})
	hub := resource.New("titles", store, nil)
	v1 := resource.View(hub, func(v titled) (titledV1, error) { return titledV1{v.ID, v.Name, "", v.Sizes, v.Ratio}, nil },
		func(v titledV1, base titled) (titled, error) {
			switch v.Extra {
			case "odd":
				return base, errors.Join(resource.Invalid("extra", "odd"), resource.Taken("old~name"),
					resource.Invalid("id", "wrong"), resource.Invalid("unheard", "of"))
			case "broken":
				return base, errors.New("secret")
			}
			base.Name, base.Sizes, base.Ratio = v.Old, v.Sizes, v.Ratio
			return base, nil
		}, &resource.ViewOptions{Fields: map[string]string{"old~name": "name", "widths": "sizes"}})
	v0 := resource.View(v1, func(v titledV1) (titledV0, error) {
		out := titledV0{ID: v.ID, Older: v.Old, Added: v.Extra, Ratio: v.Ratio}
		for _, s := range v.Sizes {
			out.Sizes = append(out.Sizes, oldSize{s.Width})
		}
		return out, nil
	}, func(v titledV0, base titledV1) (titledV1, error) {
		base.Old, base.Extra, base.Sizes, base.Ratio = v.Older, v.Added, nil, v.Ratio
		for _, s := range v.Sizes {
			base.Sizes = append(base.Sizes, dimension{s.W})
		}
		return base, nil
	}, &resource.ViewOptions{Fields: map[string]string{"some/path": "old~name", "added": "extra", "ratio~": "w/h", "widths": "widths"}})
	return [3]*resource.Resource{v0, v1, hub}
}

// TestPointersThroughChains: every error points into the document of the client, whichever layer
// reported it.
func TestPointersThroughChains(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 21)
	tests := []struct {
		name     string
		contract int
		doc      string
		kind     problem.Kind
		places   []string
	}{
		{"schema of the hub", 2, `{"name":"` + long + `"}`, problem.Invalid, []string{"/name maxLength"}},
		{"schema of the hub", 1, `{"old~name":"` + long + `"}`, problem.Invalid, []string{"/old~0name maxLength"}},
		{"schema of the hub", 0, `{"some/path":"` + long + `"}`, problem.Invalid, []string{"/some~1path maxLength"}},
		{"name that is escaped", 2, `{"w/h":10}`, problem.Invalid, []string{"/w~1h maximum"}},
		{"name that is escaped", 1, `{"w/h":10}`, problem.Invalid, []string{"/w~1h maximum"}},
		{"name that is escaped", 0, `{"ratio~":10}`, problem.Invalid, []string{"/ratio~0 maximum"}},
		{"schema of the view", 0, `{"some/path":7}`, problem.Invalid, []string{"/some~1path type"}},
		{"inside a field of one type", 1, `{"widths":[{"width":1},{"width":10}]}`, problem.Invalid,
			[]string{"/widths/1/width maximum"}},
		{"inside a field of another type", 0, `{"widths":[{"w":1},{"w":10}]}`, problem.Invalid, []string{"/widths maximum"}},
		{"up", 1, `{"extra":"odd"}`, problem.Invalid, []string{"/extra odd", "/old~0name taken", "/id wrong", "/unheard of"}},
		{"up of the one between", 0, `{"added":"odd"}`, problem.Invalid,
			[]string{"/added odd", "/some~1path taken", "/id wrong", " of"}},
		{"up that breaks", 0, `{"added":"broken"}`, problem.Internal, nil},
	}
	for _, tt := range tests {
		for _, line := range []string{"create", "put new", "patch "} {
			t.Run(fmt.Sprint(tt.name, tt.contract, line), func(t *testing.T) {
				t.Parallel()
				r := titles(t)
				if line == "patch " {
					line += listAll(t, r[2]).Entries[0].ID
				}
				d := wantProblem(t, do(t.Context(), t, r[tt.contract], line, tt.doc), tt.kind, tt.places...)
				if strings.Contains(d.Detail, "secret") {
					t.Errorf("%s: the client receives %s", line, d.Detail)
				}
			})
		}
	}
}

// TestJSONPatchThroughChains: the paths of a patch and of its errors refer to the document of the
// client.
func TestJSONPatchThroughChains(t *testing.T) {
	t.Parallel()
	r := titles(t)
	id := listAll(t, r[2]).Entries[0].ID
	patch := func(contract int, doc string) *answer { return do(t.Context(), t, r[contract], "patch "+id, doc) }
	wantDone(t, patch(0, `[{"op":"test","path":"/some~1path","value":"x"},{"op":"replace","path":"/some~1path","value":"y"}]`))
	wantDone(t, patch(1, `[{"op":"copy","from":"/old~0name","path":"/old~0name"},{"op":"test","path":"/old~0name","value":"y"}]`))
	wantProblem(t, patch(0, `[{"op":"test","path":"/some~1path","value":"x"}]`), problem.PatchConflict, "/some~1path test")
	for contract, path := range []string{"/name", "/some~1path", "/old~0name"} { // the names of another contract
		a := patch(contract, `[{"op":"replace","path":"`+path+`","value":"z"}]`)
		wantProblem(t, a, problem.PatchConflict, path+" missing")
	}
	wantProblem(t, patch(0, `[{"op":"add","path":"/widths","value":[{"w":10}]}]`), problem.Invalid, "/widths maximum")
}

// TestWhereIsTheSameEverywhere: an item that a contract cannot express is absent from its lists,
// counts and pages.
func TestWhereIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	conditions := []query.Filter{
		{}, query.Where("stars", query.Gte, 0), query.Where("owner", query.Eq, "ann"), query.Where("note", query.IsNull, true),
		query.Not(query.Where("title", query.Eq, "b")), query.Or(), query.Where("id", query.Gt, int64(7)),
	}
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		books := manyBooks(rnd, 20)
		r := contractsOf(t, stocked(t, books...), func(c *contractOptions) {
			c.hub.Query.Filter["id"] = []query.Op{query.Eq}
			c.v1.Where, c.v0.Where = conditions[rnd.IntN(len(conditions))], conditions[rnd.IntN(len(conditions))]
		})
		var above []string
		for contract := range r {
			what := fmt.Sprintf("seed %d, contract %d", seed, contract)
			var byID []string
			for n := range len(books) {
				if id := strconv.Itoa(n + 1); do(t.Context(), t, r[contract], "get "+id, "").err == nil {
					byID = append(byID, id)
				}
			}
			page := listAt(t, r[contract], query.Query{Limit: 200}, resource.Position{})
			same(t, what+", listed", byID, idsOn(&page))
			total, err := r[contract].Count(t.Context(), query.Filter{})
			if err != nil || total != len(byID) {
				t.Errorf("%s: %d items, %v, want %d", what, total, err, len(byID))
			}
			var all []string
			for page, err := range r[contract].Pages(t.Context(), query.Query{}, resource.Position{}) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, idsOn(&resource.Page{Entries: page})...)
			}
			same(t, what+", in pages", byID, all)
			if contract == 2 {
				above = byID
			}
		}
		if len(above) != len(books) {
			t.Errorf("seed %d: the collection itself shows %d of %d", seed, len(above), len(books))
		}
	}
}

// TestBrokenViewsAreInternalErrors: an error of down is neither sent nor skipped in a list, and is
// logged.
func TestBrokenViewsAreInternalErrors(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{
		errors.New("secret"), fmt.Errorf("secret: %w", resource.ErrNotFound), resource.ErrGone, resource.ErrForbidden,
		resource.Invalid("name", "secret"), problem.New(problem.Conflict, "secret"),
	} {
		hub := resource.New("books", stocked(t, shelved()), nil)
		older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
		oldest := resource.View(older, func(bookV1) (bookV0, error) { return bookV0{}, fault }, fromV0,
			&resource.ViewOptions{Fields: map[string]string{"number": "id", "label": "name"}})
		_, listErr := listDocs(t, oldest, "")
		for _, a := range []*answer{
			do(t.Context(), t, oldest, "get 1", ""), do(t.Context(), t, oldest, "delete 1", ""),
			do(t.Context(), t, oldest, "patch 1", `{"label":"x"}`), do(t.Context(), t, oldest, "put 1", `{"label":"x"}`),
			{line: "list", err: listErr},
		} {
			d := wantProblem(t, a, problem.Internal)
			if strings.Contains(d.Detail, "secret") || a.err != nil && !strings.Contains(a.err.Error(), fault.Error()) {
				t.Errorf("%s: the client receives %s, and the log %v", a.line, d.Detail, a.err)
			}
		}
		// The write succeeds although the view cannot show its result. Protocols log that.
		a := do(t.Context(), t, oldest, "create", `{"label":"new"}`)
		if wantDone(t, a); a.doc != "" || !strings.Contains(fmt.Sprint(oldest.Raw().NotShown(&a.entry)), fault.Error()) {
			t.Errorf("%s: %s, and not shown because of %v", a.line, a.doc, oldest.Raw().NotShown(&a.entry))
		}
	}
}

func TestDeleteOfWhatAContractCannotExpress(t *testing.T) {
	t.Parallel()
	store := stocked(t, book{Title: "a", Stars: -1})
	r := contractsOf(t, store, func(c *contractOptions) { c.v1.Where = query.Where("stars", query.Gte, 0) })
	current := ifMatch(t, tagOf(t, r[2], "1"))
	absent := &resource.WriteOptions{If: resource.Preconditions{IfNoneMatch: header.Tags{Any: true}}}
	for _, contract := range r[:2] {
		wantProblem(t, do(t.Context(), t, contract, "delete 1", "", current), problem.NotFound)
		wantProblem(t, do(t.Context(), t, contract, "delete 1", "", ifMatch(t, "*")), problem.NotFound)
		wantProblem(t, do(t.Context(), t, contract, "put 1", `{"name":"b"}`, absent), problem.NotFound)
	}
	same(t, "in the store", "a", stored(t, store, "1").Title)
	wantDone(t, do(t.Context(), t, r[2], "delete 1", "", current))
	for _, contract := range r { // a deleted item is gone in every contract, also in those that never showed it
		wantProblem(t, do(t.Context(), t, contract, "delete 1", ""), problem.Gone)
	}
}

// TestUpNeedNotKnowIDs: a new item has the id that the client chose, whatever up returns.
func TestUpNeedNotKnowIDs(t *testing.T) {
	t.Parallel()
	r := titles(t)
	same(t, "id", "mine", do(t.Context(), t, r[0], "create", `{"id":"mine","some/path":"a"}`).entry.ID)
	same(t, "id", "yours", do(t.Context(), t, r[1], "put yours", `{"old~name":"b"}`).entry.ID)
	wantDoc(t, do(t.Context(), t, r[2], "get yours", ""), `{"id":"yours","name":"b","w/h":0}`)

	type narrow struct {
		ID int8 `json:"id"`
	}
	type wide struct {
		ID int64 `json:"id"`
	}
	view := resource.View(resource.New("narrow", memory.New[narrow](nil), nil),
		func(v narrow) (wide, error) { return wide{int64(v.ID)}, nil },
		func(v wide, base narrow) (narrow, error) { return base, nil },
		&resource.ViewOptions{Fields: map[string]string{"id": "id"}})
	wantProblem(t, do(t.Context(), t, view, "create", `{"id":128}`), problem.Invalid, "/id range")
}

// A shelf had two named books at first, then the books in front, and now all of them.
type shelf struct {
	ID    string   `json:"id"`
	Books []string `json:"books"`
}

type shelfV2 struct {
	ID    string   `json:"id"`
	Front []string `json:"front"`
}

type shelfV1 struct {
	ID     string `json:"id"`
	First  string `json:"first"`
	Second string `json:"second,omitempty"`
}

// TestChainsShareNothing: a view may return a part of its input, and an up that appends to this
// part does not overwrite the data of the next up.
func TestChainsShareNothing(t *testing.T) {
	t.Parallel()
	store := memory.New[shelf](nil)
	fill(t, store.Create, shelf{Books: []string{"a", "b", "c"}})
	hub := resource.New("shelves", store, &resource.Options[shelf]{Samples: []shelf{{ID: "1", Books: []string{"a", "b"}}}})
	v2 := resource.View(hub,
		func(s shelf) (shelfV2, error) { return shelfV2{ID: s.ID, Front: s.Books[:1]}, nil },
		func(v shelfV2, base shelf) (shelf, error) {
			base.Books = append(slices.Clip(v.Front), base.Books[min(1, len(base.Books)):]...)
			return base, nil
		}, nil)
	v1 := resource.View(v2,
		func(s shelfV2) (shelfV1, error) { return shelfV1{ID: s.ID, First: s.Front[0]}, nil },
		func(v shelfV1, base shelfV2) (shelfV2, error) {
			base.Front = append(base.Front[:0], v.First)
			if v.Second != "" {
				base.Front = append(base.Front, v.Second)
			}
			return base, nil
		}, nil)
	id := listAll(t, hub).Entries[0].ID
	wantDone(t, do(t.Context(), t, v1, "patch "+id, `{"first":"x","second":"y"}`))
	same(t, "books", []string{"x", "y", "b", "c"}, stored(t, store, id).Books)
}
