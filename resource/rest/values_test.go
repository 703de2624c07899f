package rest_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// priced has a decimal, pricedV0 the same member as a plain string and fewer members.
type (
	priced struct {
		ID    int64    `json:"id" readOnly:"true"`
		Price string   `json:"price" format:"decimal"`
		Ships string   `json:"ships,omitempty" format:"duration"`
		Tags  []string `json:"tags"`
	}
	pricedV0 struct {
		ID    int64  `json:"id" readOnly:"true"`
		Price string `json:"price"`
		Ships string `json:"ships,omitempty" format:"duration"`
	}
)

func pricedOptions(scope query.Filter) *resource.Options[priced] {
	o := &resource.Options[priced]{Query: query.Support{
		Filter: map[string][]query.Op{"price": {query.Eq, query.Gt}, "ships": {query.Lt}, "tags": {query.Contains}},
		Sort:   []string{"price"},
	}}
	if !scope.IsZero() {
		o.Scope = func(context.Context) (query.Filter, error) { return scope, nil }
	}
	return o
}

// TestOperandsOfPrograms: a program may write decimals and durations as their texts, and any other
// operand that would match nothing is an error.
func TestOperandsOfPrograms(t *testing.T) {
	t.Parallel()
	store := stocked(t, priced{Price: "9.50", Ships: "P1D"}, priced{Price: "10", Tags: []string{"new"}})
	where := query.Where
	tests := []struct {
		name  string
		scope query.Filter
		want  []int64 // nil for an internal error
	}{
		{"text", where("price", query.Gt, "9.6"), []int64{2}},
		{"other spelling", where("price", query.Eq, "9.500"), []int64{1}},
		{"float64", where("price", query.Eq, 9.5), []int64{1}},
		{"int", where("price", query.Eq, 10), []int64{2}},
		{"texts", where("price", query.In, []string{"10.0", "1"}), []int64{2}},
		{"duration", where("ships", query.Gte, "PT24H"), []int64{1}},
		{"null", query.Not(where("ships", query.Eq, nil)), nil},
		{"isNull", where("ships", query.IsNull, true), []int64{2}},
		{"element", where("tags", query.Contains, "new"), []int64{2}},
		{"a text that is no number", query.Not(where("price", query.Eq, "cheap")), nil},
		{"one of several", query.Not(where("price", query.In, []string{"1", "cheap"})), nil},
		{"a bool", query.Not(where("price", query.Eq, true)), nil},
		{"a number for a duration", query.Not(where("ships", query.Eq, 24)), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := pricedOptions(query.Filter{})
			started := false // New refuses a mistake that it sees
			opts.Scope = func(context.Context) (query.Filter, error) {
				if !started {
					return query.Filter{}, nil
				}
				return tt.scope, nil
			}
			h := catalog(t, resource.New("priced", store, opts))
			started = true
			res := send(t, h, "GET /priced")
			if tt.want == nil {
				same(t, "status", http.StatusInternalServerError, res.status)
				return
			}
			var got []int64
			for _, p := range value[page[priced]](t, res).Items {
				got = append(got, p.ID)
			}
			same(t, "items", tt.want, got)
			one := send(t, h, "GET /priced/1")
			same(t, "item 1 is found", slices.Contains(tt.want, 1), one.status == http.StatusOK)
		})
	}
}

// TestViewsOfValues: a view in which a decimal is a plain string has no filter and no order by it,
// because it would compare texts.
func TestViewsOfValues(t *testing.T) {
	t.Parallel()
	items := resource.New("priced", stocked(t, priced{Price: "9.50"}, priced{Price: "10"}), pricedOptions(query.Filter{}))
	down := func(p priced) (pricedV0, error) { return pricedV0{p.ID, p.Price, p.Ships}, nil }
	up := func(v pricedV0, p priced) (priced, error) { return p, nil }
	view := resource.View(items, down, up, &resource.ViewOptions{Where: query.Where("price", query.Gt, "9.6")})
	same(t, "queries", query.Support{Filter: map[string][]query.Op{"ships": {query.Lt}}}, view.Describe().Query)
	same(t, "items", 1, len(value[page[pricedV0]](t, send(t, catalog(t, view), "GET /priced")).Items))
	wantPanic(t, `resource: View pricedV02 of priced: Where compares price with an operand that must be a decimal number, `+
		`such as 12.5`, func() {
		resource.View(items, down, up, &resource.ViewOptions{Where: query.Where("price", query.Gt, "cheap")})
	})
	wantPanic(t, `resource: View pricedV02 of priced: Where compares ships with an operand that is of type int64; `+
		`use a text or the result of query.ParseDuration`, func() {
		resource.View(items, down, up, &resource.ViewOptions{Where: query.Where("ships", query.Lt, time.Hour)})
	})
}
