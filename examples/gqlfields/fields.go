package main

// The functions of the custom fields.

import (
	"context"
	"fmt"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
)

// rates are the exchange rates of euros. A service reads them from another system.
var rates = map[string]float64{"EUR": 1, "USD": 1.25, "GBP": 0.8}

// Currency is the argument of price.
type Currency struct {
	In string `json:"in" enum:"EUR,USD,GBP" default:"EUR" doc:"The currency of the price."`
}

// price computes a field of products. It is called once for all products of a response, so a call of
// another system is made once. The result has one value for each product, in the same order.
func price(_ context.Context, products []*Product, arg Currency) ([]float64, error) {
	prices := make([]float64, len(products))
	for i, p := range products {
		prices[i] = float64(p.Cents) * rates[arg.In] / 100
	}
	return prices, nil
}

// Inventory is the value of all products.
type Inventory struct {
	Pieces int64 `json:"pieces" minimum:"0"`
	Cents  int64 `json:"cents" minimum:"0"`
}

// shop has the functions of the query and the mutation.
type shop struct {
	store    *memory.Store[Product]
	products *resource.Resource
}

// inventory is a query. The library does not authorize it, so a function with private data checks the
// caller of ctx first.
func (s shop) inventory(ctx context.Context, _ struct{}) (sum Inventory, err error) {
	for it, err := range s.store.List(ctx, query.Query{}) {
		if err != nil {
			return sum, err
		}
		sum.Pieces += it.Value.Stock
		sum.Cents += it.Value.Stock * it.Value.Cents
	}
	return sum, nil
}

// Restock is the argument of the mutation, and Stock its result.
type Restock struct {
	ID  string `json:"id" required:"true"`
	Add int64  `json:"add" required:"true" minimum:"1" maximum:"1000"`
}

type Stock struct {
	Stock int64 `json:"stock" minimum:"0"`
}

// restock is a mutation. It writes through the resource, so that policy, validation and events apply.
// The test operation makes it atomic: if another writer was faster, it reads again.
func (s shop) restock(ctx context.Context, arg Restock) (*Stock, error) {
	for {
		it, err := s.store.Get(ctx, arg.ID)
		if err != nil {
			return nil, err
		}
		old, sum := it.Value.Stock, it.Value.Stock+arg.Add
		p, err := patch.Parse(patch.JSONType, fmt.Appendf(nil, `[{"op":"test","path":"/stock","value":%d},`+
			`{"op":"replace","path":"/stock","value":%d}]`, old, sum), patch.Limits{})
		if err != nil {
			return nil, err
		}
		_, err = s.products.Patch(ctx, arg.ID, p, nil)
		if err == nil {
			return &Stock{Stock: sum}, nil
		}
		if resource.Problem(err).Kind != problem.PatchConflict {
			return nil, err
		}
	}
}
