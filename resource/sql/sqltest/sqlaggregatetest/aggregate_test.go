// Package sqlaggregatetest tests groups of rows on all engines: the groups of random requests beside those
// of resource/memory, and the plans of large tables.
package sqlaggregatetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// sale has a field of each kind that can be grouped or computed.
type sale struct {
	ID      string    `json:"id"`
	Status  string    `json:"status" enum:"placed,paid,shipped"`
	Country *string   `json:"country"`
	Gift    bool      `json:"gift"`
	Items   int       `json:"items"`
	Points  *int64    `json:"points"`
	Total   string    `json:"total" format:"decimal" precision:"12,2"`
	At      time.Time `json:"at"`
}

// support declares all groups and aggregates of sales.
func support(s query.Support) query.Support {
	s.Group = []string{"status", "country", "gift", "items", "at"}
	s.Aggregate = map[string][]query.Func{}
	for _, field := range []string{"items", "points", "total"} {
		s.Aggregate[field] = []query.Func{query.Distinct, query.Sum, query.Avg, query.Min, query.Max}
	}
	for _, field := range []string{"status", "country", "at"} {
		s.Aggregate[field] = []query.Func{query.Distinct, query.Min, query.Max}
	}
	return s
}

// resourceOf returns the resource of sales, with a Scope that hides gifts of more than 7 items.
func resourceOf(ops resource.Ops[sale], s query.Support) *resource.Resource {
	hidden := query.And(query.Where("gift", query.Eq, true), query.Where("items", query.Gt, 7))
	r := ops.Resource("sales", &resource.Options[sale]{Query: support(s), PageSize: 7,
		Scope: func(context.Context) (query.Filter, error) { return query.Not(hidden), nil }})
	r = resource.NewCatalog(nil, r).Resource(r.Name())
	return r
}

// randomSale returns a sale from few values, so that groups have several, with some that are NULL.
func randomSale(rng *rand.Rand, id string) sale {
	v := sale{ID: id, Status: pick(rng, "placed", "paid", "shipped"), Gift: rng.IntN(3) == 0, Items: rng.IntN(10),
		Total: fmt.Sprintf("%d.%02d", rng.IntN(2000)-500, rng.IntN(100)),
		At:    time.Date(2026, 11, 1+rng.IntN(5), 0, 0, 0, 0, time.UTC)}
	if rng.IntN(4) > 0 {
		v.Country = new(pick(rng, "FR", "DE", "de", "é", ""))
	}
	if rng.IntN(3) > 0 {
		v.Points = new(rng.Int64N(1 << 62))
	}
	return v
}

func pick[E any](rng *rand.Rand, from ...E) E { return from[rng.IntN(len(from))] }

// randomAggregation returns a request that support declares.
func randomAggregation(rng *rand.Rand, s query.Support) query.Aggregation {
	var a query.Aggregation
	for _, i := range rng.Perm(len(s.Group))[:rng.IntN(4)] {
		a.Group = append(a.Group, s.Group[i])
	}
	possible := []query.Aggregate{{Func: query.Count}}
	for _, field := range []string{"status", "country", "items", "points", "total", "at"} {
		for _, f := range s.Aggregate[field] {
			possible = append(possible, query.Aggregate{Func: f, Field: field})
		}
	}
	for _, i := range rng.Perm(len(possible))[:1+rng.IntN(4)] {
		a.Aggregates = append(a.Aggregates, possible[i])
	}
	for _, name := range a.Group {
		if rng.IntN(3) == 0 {
			a.Sort = append(a.Sort, query.Order{Field: name, Desc: rng.IntN(2) == 0})
		}
	}
	for _, v := range a.Aggregates {
		if rng.IntN(3) == 0 {
			a.Sort = append(a.Sort, query.Order{Field: v.Name(), Desc: rng.IntN(2) == 0})
		}
		if v.Func == query.Count || v.Func == query.Distinct {
			if rng.IntN(3) == 0 {
				a.Having = query.Where(v.Name(), pick(rng, query.Gt, query.Lte, query.Ne), int64(rng.IntN(6)))
			}
		}
	}
	switch rng.IntN(5) {
	case 0:
		a.Filter = query.Where("status", query.In, []any{"paid", "shipped"})
	case 1:
		a.Filter = query.Where("items", query.Lt, int64(rng.IntN(12)))
	case 2:
		a.Filter = query.Or(query.Where("country", query.IsNull, true), query.Where("total", query.Gte, "100.5"))
	}
	return a
}

// pages returns the groups of all pages.
func pages(t *testing.T, r *resource.Resource, a query.Aggregation) (groups []query.Group, sizes []int) {
	t.Helper()
	for after := ""; ; {
		page, err := r.Aggregate(t.Context(), a, after)
		if err != nil {
			t.Fatalf("%s: %v", a.Values().Encode(), err)
		}
		groups, sizes = append(groups, page.Groups...), append(sizes, len(page.Groups))
		if after = page.Next; after == "" {
			return groups, sizes
		}
	}
}

// TestAggregates compares the pages of random requests with those of resource/memory.
func TestAggregates(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		table := sqltable.New[sale](e.Open(t, nil), "sales", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		stored, kept := table.Ops(), resource.OpsOf(memory.New[sale](nil))
		rng := rand.New(rand.NewPCG(21, 2))
		for i := range 400 {
			v := randomSale(rng, "s"+strconv.Itoa(i))
			for _, ops := range []resource.Ops[sale]{stored, kept} {
				if _, err := ops.Insert(t.Context(), v.ID, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		sql, mem := resourceOf(stored, table.Support()), resourceOf(kept, table.Support())
		requests, several := enginetest.Requests(t), 0
		for range requests {
			a := randomAggregation(rng, support(table.Support()))
			if err := support(table.Support()).CheckAggregation(a); err != nil {
				t.Fatal(err)
			}
			want, wantSizes := pages(t, mem, a)
			got, gotSizes := pages(t, sql, a)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("groups of %s (-memory +table):\n%s", a.Values().Encode(), diff)
			}
			if diff := cmp.Diff(wantSizes, gotSizes); diff != "" {
				t.Fatalf("sizes of the pages of %s (-memory +table):\n%s", a.Values().Encode(), diff)
			}
			if len(got) > 7 {
				several++
			}
		}
		if several < requests/10 {
			t.Errorf("%d of %d requests had several pages, too few for a test", several, requests)
		}
	})
}
