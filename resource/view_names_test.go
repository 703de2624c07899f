package resource_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// In the older contract a ticket was priced in euros, and cancelled was spelled canceled.
type ticket struct {
	ID    string  `json:"id"`
	State string  `json:"state" enum:"open,cancelled,used"`
	Price int64   `json:"price"`
	Seat  *string `json:"seat"`
}

type ticketV1 struct {
	ID    string  `json:"id"`
	State string  `json:"state" enum:"open,canceled"`
	Price int64   `json:"price"`
	Seat  *string `json:"seat"`
}

func toTicketV1(t ticket) (ticketV1, error) {
	return ticketV1{t.ID, strings.Replace(t.State, "ll", "l", 1), t.Price / 100, t.Seat}, nil
}

func fromTicketV1(v ticketV1, base ticket) (ticket, error) {
	base.State, base.Price, base.Seat = strings.Replace(v.State, "cel", "cell", 1), v.Price*100, v.Seat
	return base, nil
}

func ticketsOf(t *testing.T, samples ...ticket) *resource.Resource {
	t.Helper()
	store := memory.New(&memory.Options[ticket]{Index: []string{"state", "price", "seat"}})
	fill(t, store.Create, ticket{State: "cancelled", Price: 500}, ticket{State: "open", Price: 900})
	ops := []query.Op{query.Eq}
	return resource.New("tickets", store, &resource.Options[ticket]{Samples: samples, Query: query.Support{
		Filter: map[string][]query.Op{"state": ops, "price": ops, "seat": ops}, Sort: []string{"price", "seat", "state"}}})
}

// TestFieldsOfOneNameAreNotOneThing: a filter applies to the field that the client sees.
func TestFieldsOfOneNameAreNotOneThing(t *testing.T) {
	t.Parallel()
	sample := ticket{ID: "1", State: "open", Price: 500}
	wantPanic(t, `resource: View ticketV1 of tickets: Options.Samples[0] has 500 in "price" and 5 after conversion down: `+
		`map "price" in Fields to "" or to its own name`, func() {
		resource.View(ticketsOf(t, sample), toTicketV1, fromTicketV1, nil)
	})
	wantPanic(t, `resource: View ticketV1 of tickets: Fields maps "fee" to ""; both must be fields`, func() {
		resource.View(ticketsOf(t), toTicketV1, fromTicketV1, &resource.ViewOptions{Fields: map[string]string{"fee": ""}})
	})
	view := resource.View(ticketsOf(t, sample), toTicketV1, fromTicketV1,
		&resource.ViewOptions{Fields: map[string]string{"price": ""}})
	// state is not mapped automatically
	same(t, "sorts", []string{"seat"}, slices.Sorted(slices.Values(view.Describe().Query.Sort)))
	for _, q := range []string{"price=5", "price=500", "state=canceled", "state=cancelled", "sort=price", "sort=state"} {
		wantQueryErrors(t, view, q, 1)
	}
	wantQueryErrors(t, view, "sort=-seat", 0)

	// A field in the list is set on purpose.
	meant := resource.View(ticketsOf(t, sample), toTicketV1, fromTicketV1,
		&resource.ViewOptions{Fields: map[string]string{"price": "price", "state": "state"}})
	same(t, "sorts", []string{"price", "seat", "state"}, slices.Sorted(slices.Values(meant.Describe().Query.Sort)))
}

type stallState string

// A stall has other Go types in the older contract, most of them with the same JSON type.
type stall struct {
	ID    int64      `json:"id"`
	State string     `json:"state"`
	Kind  stallState `json:"kind"`
	Rows  int32      `json:"rows"`
	Days  []int64    `json:"days"`
	Ratio float64    `json:"ratio"`
	Since time.Time  `json:"since"`
}

type stallV1 struct {
	ID    int        `json:"id"`
	State stallState `json:"state"`
	Kind  string     `json:"kind"`
	Rows  int64      `json:"rows"`
	Days  []int32    `json:"days"`
	Ratio float32    `json:"ratio"`
	Since string     `json:"since"`
}

// TestViewFieldsOfOneJSONType: a view keeps the filters of fields with another Go type and the same JSON
// type, and the report lists the others.
func TestViewFieldsOfOneJSONType(t *testing.T) {
	t.Parallel()
	store := memory.New[stall](nil)
	fill(t, store.Create, stall{State: "open", Kind: "tea", Rows: 4, Days: []int64{1, 2}, Ratio: 0.5},
		stall{State: "shut", Kind: "tea", Rows: 5, Days: []int64{3}})
	ops := []query.Op{query.Eq}
	stalls := resource.New("stalls", store, &resource.Options[stall]{Public: true, Query: query.Support{
		Filter: map[string][]query.Op{"id": ops, "state": ops, "kind": ops, "rows": {query.Gte},
			"days": {query.Contains}, "ratio": ops, "since": ops},
		Sort: []string{"state", "rows", "ratio"}}})
	view := resource.View(stalls, func(s stall) (stallV1, error) {
		v := stallV1{int(s.ID), stallState(s.State), string(s.Kind), int64(s.Rows), nil, float32(s.Ratio),
			s.Since.String()}
		for _, day := range s.Days {
			v.Days = append(v.Days, int32(day))
		}
		return v, nil
	}, func(_ stallV1, base stall) (stall, error) { return base, nil }, nil)
	for q, want := range map[string][]int64{
		"id=2": {2}, "state=shut": {2}, "kind=tea&sort=-rows": {2, 1}, "rows.gte=5": {2}, "days.contains=2": {1},
		"sort=-state": {2, 1},
	} {
		docs, err := listDocs(t, view, q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []int64
		for _, doc := range docs {
			var v stallV1
			if err := json.Unmarshal([]byte(doc), &v); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, int64(v.ID))
		}
		same(t, q, want, ids)
	}
	for _, q := range []string{"ratio=0.5", "since=2026-01-01T00:00:00Z", "sort=ratio", "rows.gte=x"} {
		wantQueryErrors(t, view, q, 1)
	}
	const lost = "without filters by ratio since, without sorting by ratio"
	if report := newCatalog(t, view).Report(); !strings.Contains(report, lost) {
		t.Errorf("the report lacks %q:\n%s", lost, report)
	}
}

// wantQueryErrors checks how many errors the query of a list has.
func wantQueryErrors(t *testing.T, r *resource.Resource, params string, n int) {
	t.Helper()
	_, err := listDocs(t, r, params)
	var refused query.Errors
	if err != nil && !errors.As(err, &refused) || len(refused) != n {
		t.Errorf("%s: %v, want %d errors", params, err, n)
	}
}
