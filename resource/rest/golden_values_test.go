package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// ware has a field of each kind of values.
type ware struct {
	ID     int64    `json:"id" readOnly:"true"`
	Title  string   `json:"title" required:"true"`
	Price  string   `json:"price" format:"decimal" precision:"10,2" minimum:"0" default:"0.00"`
	Weight *float32 `json:"weight"`
	From   *string  `json:"from" format:"date"`
	Opens  *string  `json:"opens" format:"time-local"`
	Ships  *string  `json:"ships" format:"duration"`
	Tags   []string `json:"tags" maxItems:"5"`
	Sizes  *[]int32 `json:"sizes"`
}

// wareSupport has all filters and sort keys of a ware.
func wareSupport() query.Support {
	all := []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt, query.Gte, query.IsNull}
	list := []query.Op{query.Contains, query.IsNull}
	return query.Support{
		Filter: map[string][]query.Op{"title": {query.Eq, query.Contains}, "price": all, "weight": all, "from": all,
			"opens": all, "ships": all, "tags": list, "sizes": list},
		Sort: []string{"price", "weight", "from", "opens", "ships"},
	}
}

// goldenValues opens a catalog of products, and of those that cost more than 10.
func goldenValues(t *testing.T) http.Handler {
	t.Helper()
	store := memory.New(&memory.Options[ware]{Now: ticking(), Index: []string{"price", "ships"}})
	text, single := func(s string) *string { return &s }, func(f float32) *float32 { return &f }
	fill(t, store.Create,
		ware{Title: "Pen", Price: "9.50", Weight: single(0.1), From: text("2026-03-01"), Tags: []string{"new", "office"}},
		ware{Title: "Lamp", Price: "100.00", Opens: text("08:30:00"), Ships: text("P1D"), Tags: []string{}},
		ware{Title: "Desk", Price: "10.00", Weight: single(30.5), Ships: text("PT23H"), Tags: []string{"office"},
			Sizes: &[]int32{120, 160}})
	products := resource.New("products", store, &resource.Options[ware]{Query: wareSupport()})
	dear := resource.New("dear-products", store, &resource.Options[ware]{Query: wareSupport(),
		Scope: func(context.Context) (query.Filter, error) { return query.Where("price", query.Gt, "10"), nil }})
	return byToken(rest.New(resource.NewCatalog(&resource.CatalogOptions{Feed: newFeed(t)}, products, dear), nil))
}
