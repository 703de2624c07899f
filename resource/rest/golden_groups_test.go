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

// sale has a field with the name of a parameter of groups.
type sale struct {
	ID     int64   `json:"id" readOnly:"true"`
	Status string  `json:"status"`
	Region *string `json:"region"`
	Total  string  `json:"total" format:"decimal"`
	Count  int64   `json:"count"`
}

// goldenGroups opens a catalog of sales, of which the callers of own-sales see those of the north.
func goldenGroups(t *testing.T) http.Handler {
	t.Helper()
	store := memory.New(&memory.Options[sale]{Now: ticking()})
	north, south := "north", "south"
	fill(t, store.Create,
		sale{Status: "paid", Region: &north, Total: "10.50", Count: 2},
		sale{Status: "paid", Region: &south, Total: "2", Count: 3},
		sale{Status: "paid", Region: &north, Total: "0.10", Count: 3},
		sale{Status: "open", Total: "7", Count: 1})
	numbers := []query.Func{query.Sum, query.Avg, query.Min, query.Max}
	support := query.Support{
		Filter:    map[string][]query.Op{"status": {query.Eq}, "count": {query.Eq, query.Gt}},
		Group:     []string{"status", "region"},
		Aggregate: map[string][]query.Func{"total": numbers, "count": numbers, "region": {query.Distinct}},
	}
	sales := resource.New("sales", store, &resource.Options[sale]{Query: support, MaxPageSize: 20, Public: true})
	own := resource.New("own-sales", store, &resource.Options[sale]{Query: support,
		Scope:     func(context.Context) (query.Filter, error) { return query.Where("region", query.Eq, "north"), nil },
		Authorize: func(context.Context, resource.Op, *sale, *sale) error { return nil }, ScopeComplete: true})
	return byToken(rest.New(resource.NewCatalog(nil, sales, own), nil))
}
