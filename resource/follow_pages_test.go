package resource_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// desk and note are related in each way that a relation to many can be.
type desk struct {
	ID    string   `json:"id"`
	Floor string   `json:"floor"`
	Pins  []string `json:"pins"`
}

type note struct {
	ID     int64  `json:"id"`
	Desk   string `json:"desk"`
	Floor  string `json:"floor"`
	Color  string `json:"color"`
	Weight int64  `json:"weight"`
	Hidden string `json:"hidden"` // "scope" or "authorize", if one of the two hides it
}

type pin struct {
	ID   string `json:"id" id:"desk,note" readOnly:"true"`
	Desk string `json:"desk"`
	Note int64  `json:"note"`
	Gone bool   `json:"gone"` // hidden by the policy of the pins
}

// office is a catalog of desks with notes.
type office struct {
	catalog *resource.Catalog
	desks   *resource.Resource
	notes   []note
	links   map[string][]int64 // by desk
	calls   map[string]int
	stores  struct {
		notes *memory.Store[note]
		pins  *memory.Store[pin]
	}
}

// officeOptions selects the abilities of the store and the policy of the notes. pins is how some
// pins are hidden: "scope" or "authorize".
type officeOptions struct {
	single, policy bool
	pins           string
	drop           bool // the store of the notes ignores query.Links in Item.Keys
}

const officeDesks = 6

func newOffice(t *testing.T, o officeOptions) *office {
	t.Helper()
	f := &office{links: map[string][]int64{}, calls: map[string]int{}}
	desks, notes, pins := memory.New[desk](nil), memory.New[note](nil), memory.New[pin](&memory.Options[pin]{Recreate: true})
	f.stores.notes, f.stores.pins = notes, pins
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		n := note{ID: int64(i + 1), Desk: fmt.Sprint("d", rng.IntN(officeDesks)), Floor: fmt.Sprint("f", rng.IntN(3)),
			Color: []string{"red", "blue"}[rng.IntN(2)], Weight: int64(rng.IntN(5))}
		if o.policy {
			n.Hidden = []string{"", "scope", "authorize"}[min(rng.IntN(4), 2)]
			if n.Desk == "d1" && n.Weight < 3 {
				n.Hidden = "authorize" // the whole first page
			}
		}
		f.notes = append(f.notes, n)
		if _, err := notes.Insert(t.Context(), fmt.Sprint(n.ID), n); err != nil {
			t.Fatal(err)
		}
	}
	for i := range officeDesks {
		d := desk{ID: fmt.Sprint("d", i), Floor: fmt.Sprint("f", i%2)}
		for range 8 {
			n := int64(rng.IntN(60) + 1)
			d.Pins = append(d.Pins, fmt.Sprint(n))
			key := fmt.Sprintf("%s,%d", d.ID, n)
			gone := o.pins != "" && n%3 == 0
			if _, err := pins.Insert(t.Context(), key, pin{key, d.ID, n, gone}); err == nil && !gone {
				f.links[d.ID] = append(f.links[d.ID], n)
			}
		}
		if _, err := desks.Insert(t.Context(), d.ID, d); err != nil {
			t.Fatal(err)
		}
	}
	noteOps := resource.OpsOf(notes)
	joins := noteOps.FastReads().Joiner
	if f.count(&noteOps); o.drop {
		noteOps.ListByKeys = withoutKey(noteOps.ListByKeys)
	}
	if !o.single {
		noteOps = noteOps.WithFastReads(resource.FastReads{Joiner: joins})
	} else {
		noteOps.ListByKeys, noteOps.CountByKeys, noteOps.GetMany = nil, nil, nil
	}
	all := []query.Op{query.Eq, query.Gte, query.Lt, query.In}
	noteOpts := &resource.Options[note]{Public: !o.policy, Query: query.Support{Sort: []string{"weight", "color"},
		Filter:    map[string][]query.Op{"desk": all, "floor": all, "color": all, "weight": all},
		Relations: []string{"at"}},
		Relations: []resource.Relation[note]{{Name: "at", Target: "desks", Field: "desk"}}}
	if !o.single { // the collections join
		noteOpts.Query.Sort = append(noteOpts.Query.Sort, "at.floor")
	}
	if o.policy {
		noteOpts.Scope = func(context.Context) (query.Filter, error) {
			return query.Where("hidden", query.Ne, "scope"), nil
		}
		noteOpts.Authorize = func(_ context.Context, _ resource.Op, n, _ *note) error {
			if n.Hidden == "authorize" {
				return resource.ErrForbidden
			}
			return nil
		}
	}
	f.desks = resource.New("desks", desks, &resource.Options[desk]{Public: true, Query: query.Support{
		Sort: []string{"floor"}, Filter: map[string][]query.Op{"id": all, "floor": all}}, Relations: []resource.Relation[desk]{
		{Name: "own", Target: "notes", By: "desk", Limit: 3},
		{Name: "floors", Target: "notes", By: "floor", Field: "floor", Limit: 3},
		{Name: "all", Target: "notes", By: "desk", Keys: func(d *desk) []string { return []string{"d0", d.ID} }},
		{Name: "pinned", Target: "notes", Field: "pins", Many: true},
		{Name: "linked", Target: "notes", Through: "pins", By: "desk", To: "note"},
		{Name: "shared", Target: "notes", Through: "pins", By: "desk", To: "note",
			Keys: func(d *desk) []string { return []string{"d0", d.ID} }},
		{Name: "first", Target: "notes", Keys: func(d *desk) []string { return d.Pins[:1] }},
	}})
	pinOpts := &resource.Options[pin]{Public: o.pins == "", AllowRecreate: true,
		Query: query.Support{Filter: map[string][]query.Op{"desk": all}}}
	switch o.pins {
	case "scope":
		pinOpts.Scope = func(context.Context) (query.Filter, error) { return query.Where("gone", query.Eq, false), nil }
	case "authorize":
		pinOpts.Authorize = func(_ context.Context, _ resource.Op, p, _ *pin) error {
			if p.Gone {
				return resource.ErrForbidden
			}
			return nil
		}
	}
	f.catalog = resource.NewCatalog(nil, f.desks, noteOps.Resource("notes", noteOpts), resource.New("pins", pins, pinOpts))
	f.desks = f.catalog.Resource("desks")
	return f
}

// listByKeys is the method of a [resource.BatchLister].
type listByKeys func(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[resource.Item[note], error]

// withoutKey returns list without the last of Item.Keys.
func withoutKey(list listByKeys) listByKeys {
	return func(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[resource.Item[note], error] {
		return func(yield func(resource.Item[note], error) bool) {
			for it, err := range list(ctx, field, keys, q) {
				it.Keys = it.Keys[:max(0, len(it.Keys)-1)]
				if !yield(it, err) {
					return
				}
			}
		}
	}
}

// count counts the calls of the store.
func (f *office) count(ops *resource.Ops[note]) {
	inner := *ops
	ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[note], error] {
		f.calls["List"]++
		return inner.List(ctx, q)
	}
	ops.ListByKeys = func(
		ctx context.Context, field string, keys []string, q query.Query,
	) iter.Seq2[resource.Item[note], error] {
		f.calls["ListByKeys"]++
		return inner.ListByKeys(ctx, field, keys, q)
	}
	ops.CountByKeys = func(ctx context.Context, field string, keys []string, q query.Query) (map[string]int, error) {
		f.calls["CountByKeys"]++
		return inner.CountByKeys(ctx, field, keys, q)
	}
	ops.Count = func(ctx context.Context, q query.Query) (int, error) {
		f.calls["Count"]++
		return inner.Count(ctx, q)
	}
	ops.GetMany = func(ctx context.Context, ids []string) iter.Seq2[resource.Item[note], error] {
		f.calls["GetMany"]++
		return inner.GetMany(ctx, ids)
	}
}

// related returns the notes of a relation of a desk, without those that policy hides.
func (f *office) related(relation string, d *desk) (shown []note, scoped int) {
	for _, n := range f.notes {
		is := false
		switch relation {
		case "own":
			is = n.Desk == d.ID
		case "floors":
			is = n.Floor == d.Floor
		case "all":
			is = n.Desk == "d0" || n.Desk == d.ID
		case "pinned":
			is = slices.Contains(d.Pins, fmt.Sprint(n.ID))
		case "linked":
			is = slices.Contains(f.links[d.ID], n.ID)
		case "shared":
			is = slices.Contains(f.links["d0"], n.ID) || slices.Contains(f.links[d.ID], n.ID)
		}
		if is && n.Hidden == "" {
			shown = append(shown, n)
		}
		if is && n.Hidden != "scope" {
			scoped++
		}
	}
	return shown, scoped
}

// list reads some desks.
func (f *office) list(t *testing.T, limit int) []resource.Entry {
	t.Helper()
	p, err := f.desks.List(t.Context(), query.Query{Limit: limit}, resource.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Entries
}

var officeRelations = []string{"own", "floors", "all", "pinned", "linked", "shared"}

// randomRelated returns a random query, and a function that sorts notes by it.
func randomRelated(rng *rand.Rand) (q query.Query, matches func(note) bool, compare func(a, b note) int) {
	q = query.Query{Limit: rng.IntN(7) + 1}
	matches = func(note) bool { return true }
	switch rng.IntN(4) {
	case 0:
		q.Filter = query.Some("at", query.Where("floor", query.Eq, "f0"))
		matches = func(n note) bool { return slices.Contains([]string{"d0", "d2", "d4"}, n.Desk) }
	case 1:
		q.Filter = query.Where("color", query.Eq, "red")
		matches = func(n note) bool { return n.Color == "red" }
	case 2:
		least := int64(rng.IntN(5))
		q.Filter = query.Where("weight", query.Gte, least)
		matches = func(n note) bool { return n.Weight >= least }
	}
	compare = func(a, b note) int { return cmp.Compare(a.ID, b.ID) }
	if rng.IntN(3) > 0 {
		desc := rng.IntN(2) == 0
		q.Sort = []query.Order{{Field: "weight", Desc: desc}}
		compare = func(a, b note) int {
			c := cmp.Compare(a.Weight, b.Weight)
			if desc {
				c = -c
			}
			return cmp.Or(c, cmp.Compare(a.ID, b.ID))
		}
	}
	return q, matches, compare
}

func idsOf(p *resource.Page, i int) []int64 {
	ids := []int64{}
	for _, end := range p.Ends(i) {
		ids = append(ids, p.Entries[end].Value.(*note).ID)
	}
	return ids
}

// TestFollowPages compares random pages of each kind of relation with a selection from all notes: the first
// page of many desks, and all pages of one desk.
func TestFollowPages(t *testing.T) {
	t.Parallel()
	for _, o := range []officeOptions{{}, {single: true}, {policy: true}, {single: true, policy: true},
		{pins: "scope"}, {pins: "authorize"}, {policy: true, pins: "scope"}, {policy: true, pins: "authorize"}} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			t.Parallel()
			f := newOffice(t, o)
			rng := rand.New(rand.NewPCG(3, 4))
			for range 300 {
				q, matches, compare := randomRelated(rng)
				if !o.single && rng.IntN(4) == 0 {
					q.Sort = []query.Order{{Field: "at.floor", Desc: true}}
					floor := func(n note) int { return int(n.Desk[1]-'0') % 2 }
					compare = func(a, b note) int { return cmp.Or(floor(b)-floor(a), cmp.Compare(a.ID, b.ID)) }
				}
				relation := officeRelations[rng.IntN(len(officeRelations))]
				want := func(e *resource.Entry) (ids []int64) {
					shown, _ := f.related(relation, e.Value.(*desk))
					shown = slices.DeleteFunc(shown, func(n note) bool { return !matches(n) })
					slices.SortFunc(shown, compare)
					ids = []int64{}
					for _, n := range shown {
						ids = append(ids, n.ID)
					}
					return ids
				}
				from := f.list(t, officeDesks)
				f.checkFirst(t, relation, from, q, want, o.policy)
				i := rng.IntN(len(from))
				f.checkWalk(t, relation, from[i:i+1], q, want(&from[i]))
				if t.Failed() {
					t.Fatalf("relation %s, %+v", relation, q)
				}
			}
		})
	}
}

// checkFirst compares the first page of each desk. Items that the policy hides leave no gaps in it. Without
// policy it compares the totals, too.
func (f *office) checkFirst(t *testing.T, relation string, from []resource.Entry, q query.Query,
	want func(*resource.Entry) []int64, policy bool) {
	t.Helper()
	p, err := f.desks.FollowPages(t.Context(), relation, from, resource.RelatedQuery{Query: q, Total: !policy})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	for i := range from {
		all := want(&from[i])
		if diff := gocmp.Diff(all[:min(len(all), q.Limit)], idsOf(&p, i)); diff != "" {
			t.Errorf("desk %d (-want +got):\n%s", i, diff)
		}
		more := len(all) > q.Limit
		if p.MoreOf(i) != more || more != (p.NextOf(i) != "") {
			t.Errorf("desk %d: more is %t, and the next cursor %q, of %v", i, p.MoreOf(i), p.NextOf(i), all)
		}
		if !policy && p.TotalOf(i) != len(all) {
			t.Errorf("desk %d: total %d, want %d", i, p.TotalOf(i), len(all))
		}
	}
}

// checkWalk reads all pages of one desk.
func (f *office) checkWalk(t *testing.T, relation string, from []resource.Entry, q query.Query, want []int64) {
	t.Helper()
	got := []int64{}
	for after, first := "", true; first || after != ""; first = false {
		p, err := f.desks.FollowPages(t.Context(), relation, from, resource.RelatedQuery{Query: q, After: after})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, idsOf(&p, 0)...)
		after = p.NextOf(0)
		p.Release()
		if len(got) > len(want) {
			break
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("pages of one desk (-want +got):\n%s", diff)
	}
}

// TestFollowPagesCalls checks that a level costs one call of the store, whatever the number of items, and one
// more if policy hides some of them.
func TestFollowPagesCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		relation string
		q        resource.RelatedQuery
		items    int
		want     map[string]int
		pins     string
	}{
		{"own", resource.RelatedQuery{}, officeDesks, map[string]int{"ListByKeys": 1}, ""},
		{"own", resource.RelatedQuery{Total: true}, officeDesks, map[string]int{"ListByKeys": 1, "CountByKeys": 1}, ""},
		{"own", resource.RelatedQuery{Total: true, NoItems: true}, officeDesks, map[string]int{"CountByKeys": 1}, ""},
		{"own", resource.RelatedQuery{Total: true}, 1, map[string]int{"List": 1, "Count": 1}, ""},
		{"own", resource.RelatedQuery{Total: true}, 0, map[string]int{}, ""},
		{"floors", resource.RelatedQuery{Total: true}, officeDesks, map[string]int{"ListByKeys": 1, "CountByKeys": 1}, ""},
		{"floors", resource.RelatedQuery{Total: true, NoItems: true}, -3, map[string]int{"CountByKeys": 1}, ""},
		{"all", resource.RelatedQuery{}, -3, map[string]int{"List": 3}, ""},
		{"pinned", resource.RelatedQuery{}, officeDesks, map[string]int{"GetMany": 1}, ""},
		{"linked", resource.RelatedQuery{}, officeDesks, map[string]int{"ListByKeys": 1}, "scope"},
		{"linked", resource.RelatedQuery{Total: true}, officeDesks, map[string]int{"ListByKeys": 1, "CountByKeys": 1}, ""},
		{"linked", resource.RelatedQuery{Total: true, NoItems: true}, officeDesks, map[string]int{"CountByKeys": 1}, ""},
		{"linked", resource.RelatedQuery{Total: true}, 1, map[string]int{"List": 1, "Count": 1}, ""},
		{"linked", resource.RelatedQuery{Total: true}, officeDesks, map[string]int{"GetMany": 1}, "authorize"},
		{"shared", resource.RelatedQuery{}, -3, map[string]int{"List": 3}, ""},
		{"own", resource.RelatedQuery{}, officeDesks, map[string]int{"ListByKeys": 2}, "policy"},
		{"linked", resource.RelatedQuery{Query: query.Query{Limit: 3}}, officeDesks, map[string]int{"ListByKeys": 2}, "policy"},
	} {
		o := officeOptions{pins: tt.pins}
		if tt.pins == "policy" {
			o = officeOptions{policy: true}
		}
		f := newOffice(t, o)
		from := f.list(t, officeDesks)
		if tt.items < 0 { // the same key several times
			from = slices.Repeat(from[1:2], -tt.items)
		} else {
			from = from[:tt.items]
		}
		p, err := f.desks.FollowPages(t.Context(), tt.relation, from, tt.q)
		if err != nil {
			t.Fatal(err)
		}
		p.Release()
		if diff := gocmp.Diff(tt.want, f.calls); diff != "" {
			t.Errorf("%s %+v of %d items (-want +got):\n%s", tt.relation, tt.q, tt.items, diff)
		}
	}
}

// TestFollowThrough compares the items of a relation without pages with a selection from all notes, and counts
// the calls of their store.
func TestFollowThrough(t *testing.T) {
	t.Parallel()
	joined, read := map[string]int{"ListByKeys": 1}, map[string]int{"GetMany": 1}
	const first = "    relation: linked reads pins first, and its pages at most 1000 of an item: "
	for _, tt := range []struct {
		o      officeOptions
		want   map[string]int
		report string
	}{
		{officeOptions{}, joined, ""},
		{officeOptions{policy: true, pins: "scope"}, joined, ""},
		{officeOptions{policy: true, pins: "authorize"}, read, first + "Options.Authorize of pins hides items one by one; " +
			"hide them by Options.Scope, and set Options.ScopeComplete"},
		{officeOptions{single: true}, map[string]int{}, first + "the collection of notes is not a BatchLister"},
	} {
		got := ""
		for line := range strings.Lines(newOffice(t, tt.o).catalog.Report()) {
			if strings.Contains(line, "relation: linked") {
				got += strings.TrimSuffix(line, "\n")
			}
		}
		if diff := gocmp.Diff(tt.report, got); diff != "" {
			t.Errorf("%+v: report (-want +got):\n%s", tt.o, diff)
		}
		for _, relation := range []string{"linked", "shared"} {
			f := newOffice(t, tt.o)
			from := append(f.list(t, officeDesks), f.list(t, 1)...) // an entry may be repeated
			p, err := f.desks.Follow(t.Context(), relation, from, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range from {
				want, got := []int64{}, idsOf(&p, i)
				shown, _ := f.related(relation, from[i].Value.(*desk))
				for _, n := range shown {
					want = append(want, n.ID)
				}
				if relation == "shared" { // in the order of the keys
					slices.Sort(got)
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("%+v: %s of desk %d (-want +got):\n%s", tt.o, relation, i, diff)
				}
			}
			ids := map[string]bool{}
			for i := range p.Entries {
				if ids[p.Entries[i].ID] {
					t.Errorf("%+v: %s has the item %s twice", tt.o, relation, p.Entries[i].ID)
				}
				ids[p.Entries[i].ID] = true
			}
			if diff := gocmp.Diff(tt.want, f.calls); diff != "" {
				t.Errorf("%+v: calls for %s (-want +got):\n%s", tt.o, relation, diff)
			}
			p.Release()
		}
	}
}

// TestFollowManyLinks reads pages of items with more links than are read one by one.
func TestFollowManyLinks(t *testing.T) {
	t.Parallel()
	const n = 1200
	for _, tt := range []struct{ pins, want string }{
		{"scope", ""}, {"authorize", "An item has 1001 linked or more, and at most 1000 can be read to select a page of them."},
	} {
		f := newOffice(t, officeOptions{pins: tt.pins})
		for i := range n {
			id := fmt.Sprint(1000 + i)
			_, err := f.stores.notes.Insert(t.Context(), id, note{ID: int64(1000 + i)})
			_, linked := f.stores.pins.Insert(t.Context(), "d0,"+id, pin{"d0," + id, "d0", int64(1000 + i), false})
			if err = errors.Join(err, linked); err != nil {
				t.Fatal(err)
			}
		}
		p, err := f.desks.FollowPages(t.Context(), "linked", f.list(t, 2), resource.RelatedQuery{Total: true,
			Query: query.Query{Limit: 2, Filter: query.Where("weight", query.Eq, int64(0)),
				Sort: []query.Order{{Field: "weight"}, {Field: "color", Desc: true}}}})
		got := ""
		if err != nil {
			got = resource.Problem(err).Detail
		} else if p.TotalOf(0) < n || len(p.Ends(0)) != 2 {
			t.Errorf("%s: %d items of %d", tt.pins, len(p.Ends(0)), p.TotalOf(0))
		}
		if diff := gocmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.pins, diff)
		}
		p.Release()
	}
}

func TestFollowPagesRefuses(t *testing.T) {
	t.Parallel()
	f := newOffice(t, officeOptions{single: true})
	many := slices.Repeat(f.list(t, officeDesks), 20)
	for i := range many { // the keys of a relation by a field are the ids
		many[i].ID = fmt.Sprint("x", i)
	}
	one := many[:1]
	q := resource.RelatedQuery{Query: query.Query{Limit: 1}}
	first, err := f.desks.FollowPages(t.Context(), "own", f.list(t, 1), q)
	if err != nil {
		t.Fatal(err)
	}
	next := first.NextOf(0)
	for _, tt := range []struct {
		name, relation string
		from           []resource.Entry
		q              resource.RelatedQuery
		want           string
	}{
		{"several items", "own", many[:2], resource.RelatedQuery{After: next}, "request a single item"},
		{"no cursor", "own", one, resource.RelatedQuery{After: "x"}, "cursor"},
		{"other relation", "floors", one, resource.RelatedQuery{After: next}, "cursor"},
		{"other order", "own", one, resource.RelatedQuery{After: next,
			Query: query.Query{Sort: []query.Order{{Field: "weight"}}}}, "cursor"},
		{"search", "own", one, resource.RelatedQuery{Query: query.Query{Search: words("red")}}, "cannot be searched"},
		{"rank", "own", one, resource.RelatedQuery{Query: query.Query{Sort: []query.Order{{Field: query.Rank}}}},
			"cannot be searched"},
		{"many items", "own", many, resource.RelatedQuery{}, "at most 100 items"},
		{"many totals", "own", many, resource.RelatedQuery{Total: true, NoItems: true}, "at most 100 items"},
	} {
		_, err := f.desks.FollowPages(t.Context(), tt.relation, tt.from, tt.q)
		d := resource.Problem(err)
		if d.Kind.Status() != http.StatusBadRequest || !strings.Contains(fmt.Sprint(d.Detail, d.Errors), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if f.desks.Paged("first") || f.desks.Paged("nope") || !f.desks.Paged("own") {
		t.Error("Paged is wrong")
	}
	if _, err := f.desks.FollowPages(t.Context(), "first", one, q); err == nil {
		t.Error("a relation to one has pages")
	}
}

// words returns a search.
func words(text string) query.Search {
	s, _ := query.ParseSearch(text)
	return s
}

// TestFollowPagesFails checks that an error of the store is returned, and the memory released.
func TestFollowPagesFails(t *testing.T) {
	t.Parallel()
	secret := errors.New("secret")
	notes, desks := memory.New[note](nil), memory.New[desk](nil)
	ops := resource.OpsOf(notes)
	ops.ListByKeys = func(context.Context, string, []string, query.Query) iter.Seq2[resource.Item[note], error] {
		return func(yield func(resource.Item[note], error) bool) { yield(resource.Item[note]{}, secret) }
	}
	ops.CountByKeys = func(context.Context, string, []string, query.Query) (map[string]int, error) {
		return nil, secret
	}
	from := resource.New("desks", desks, &resource.Options[desk]{Public: true,
		Relations: []resource.Relation[desk]{{Name: "own", Target: "notes", By: "desk"}}})
	c := resource.NewCatalog(nil, from, ops.Resource("notes", &resource.Options[note]{Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"desk": {query.Eq}}}}))
	two := []resource.Entry{{ID: "a"}, {ID: "b"}}
	for _, q := range []resource.RelatedQuery{{}, {Total: true}} {
		if _, err := c.Resource("desks").FollowPages(t.Context(), "own", two, q); !errors.Is(err, secret) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// TestFollowLinksWithoutKeys checks that a store that accepts links, and then does not return the keys of the
// items, causes an error and not empty lists.
func TestFollowLinksWithoutKeys(t *testing.T) {
	t.Parallel()
	byFloor := query.Query{Sort: []query.Order{{Field: "at.floor"}}} // a text in Item.Keys that is not the key
	for _, tt := range []struct {
		name string
		drop bool
		q    query.Query
		want string
	}{
		{"with keys", false, byFloor, ""},
		{"without keys", true, query.Query{}, "without its key at the end of Item.Keys"},
		{"with a sort key", true, byFloor, "without its key at the end of Item.Keys"},
	} {
		f := newOffice(t, officeOptions{drop: tt.drop})
		p, err := f.desks.FollowPages(t.Context(), "linked", f.list(t, 2), resource.RelatedQuery{Query: tt.q})
		p.Release()
		checkFault(t, tt.name, err, tt.want)
		p, err = f.desks.Follow(t.Context(), "linked", f.list(t, 2), nil)
		p.Release()
		checkFault(t, tt.name, err, tt.want)
	}
}

// checkFault checks for an error of the store, or for none if want is empty.
func checkFault(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" && err == nil {
		return
	}
	if err == nil || want == "" || !strings.Contains(err.Error(), want) ||
		resource.Problem(err).Kind.Status() != http.StatusInternalServerError {
		t.Errorf("%s: the error is %v, want %q", name, err, want)
	}
}
