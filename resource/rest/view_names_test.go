package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
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
	h := catalog(t, view)
	for _, q := range []string{"price=5", "price=500", "state=canceled", "state=cancelled", "sort=price", "sort=state"} {
		wantProblem(t, send(t, h, "GET /tickets?"+q), problem.InvalidParameter)
	}
	want(t, send(t, h, "GET /tickets?sort=-seat"), http.StatusOK)

	// A field in the list is set on purpose.
	meant := resource.View(ticketsOf(t, sample), toTicketV1, fromTicketV1,
		&resource.ViewOptions{Fields: map[string]string{"price": "price", "state": "state"}})
	same(t, "sorts", []string{"price", "seat", "state"}, slices.Sorted(slices.Values(meant.Describe().Query.Sort)))
}
