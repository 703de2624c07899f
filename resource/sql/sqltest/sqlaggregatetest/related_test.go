package sqlaggregatetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// branch has a field of each kind that can be a group of its receipts.
type (
	branch struct {
		ID      int64   `json:"id"`
		Country *string `json:"country"`
		Rent    string  `json:"rent" format:"decimal" precision:"12,2"`
		Open    bool    `json:"open"`
		Hidden  bool    `json:"hidden"`
	}
	receipt struct {
		ID       string `json:"id"`
		BranchID *int64 `json:"branchId"`
		Kind     string `json:"kind"`
		Total    string `json:"total" format:"decimal" precision:"12,2"`
	}
)

// receiptsOf returns the resource of receipts. The Scope of branches hides some of them.
func receiptsOf(branches resource.Ops[branch], receipts resource.Ops[receipt]) *resource.Resource {
	one := branches.Resource("branches", &resource.Options[branch]{
		Query: query.Support{Group: []string{"country", "rent", "open"}},
		Scope: func(context.Context) (query.Filter, error) { return query.Where("hidden", query.Eq, false), nil }})
	r := receipts.Resource("receipts", &resource.Options[receipt]{Public: true, PageSize: 7,
		Query: query.Support{Group: []string{"kind", "branch.country", "branch.rent", "branch.open", "branch.id"},
			Aggregate: map[string][]query.Func{"total": {query.Sum, query.Avg, query.Max}}},
		Relations: []resource.Relation[receipt]{{Name: "branch", Target: "branches", Field: "branchId"}}})
	return resource.NewCatalog(nil, one, r).Resource("receipts")
}

// fillReceipts stores the same items in each of the stores. Some branches are deleted, and some do not exist.
func fillReceipts(t *testing.T, branches []resource.Ops[branch], receipts []resource.Ops[receipt]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(21, 3))
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(12) {
		b := branch{ID: i + 1, Rent: fmt.Sprintf("%d.50", i%4), Open: i%2 == 0, Hidden: i%5 == 4}
		if i%4 > 0 {
			b.Country = new(pick(rng, "FR", "DE", ""))
		}
		for _, ops := range branches {
			it, err := ops.Insert(t.Context(), fmt.Sprint(b.ID), b)
			if must(err); i%6 == 3 {
				must(ops.Delete(t.Context(), it.ID, it.Rev))
			}
		}
	}
	for i := range 300 {
		v := receipt{ID: fmt.Sprintf("r%03d", i), Kind: pick(rng, "cash", "card"), Total: fmt.Sprintf("%d.25", rng.IntN(90))}
		if rng.IntN(6) > 0 {
			v.BranchID = new(rng.Int64N(14) + 1)
		}
		for _, ops := range receipts {
			_, err := ops.Insert(t.Context(), v.ID, v)
			must(err)
		}
	}
}

// TestRelatedGroups compares the pages of random groups by fields of related rows with those of
// resource/memory. Each page is one statement with an outer join.
func TestRelatedGroups(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		branches := sqltable.New[branch](db, "branches", &sqltable.Options{SoftDelete: "deleted_at",
			NewID: func() string { return "" }})
		receipts := sqltable.New[receipt](db, "receipts", &sqltable.Options{Index: []string{"branchId"}})
		for _, table := range []interface{ CreateTable(context.Context) error }{branches, receipts} {
			if err := table.CreateTable(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		keptBranches, kept := resource.OpsOf(memory.New[branch](nil)), resource.OpsOf(memory.New[receipt](nil))
		fillReceipts(t, []resource.Ops[branch]{branches.Ops(), keptBranches}, []resource.Ops[receipt]{receipts.Ops(), kept})
		sql, mem := receiptsOf(branches.Ops(), receipts.Ops()), receiptsOf(keptBranches, kept)
		rng := rand.New(rand.NewPCG(21, 4))
		fields := []string{"branch.country", "branch.rent", "branch.open", "branch.id", "kind"}
		for range enginetest.Requests(t) / 4 {
			a := query.Aggregation{Aggregates: []query.Aggregate{{Func: query.Count}, {Func: query.Avg, Field: "total"}}}
			for _, i := range rng.Perm(len(fields))[:1+rng.IntN(3)] {
				a.Group = append(a.Group, fields[i])
			}
			for _, field := range a.Group {
				if rng.IntN(2) == 0 {
					a.Sort = append(a.Sort, query.Order{Field: field, Desc: rng.IntN(2) == 0})
				}
			}
			want, sizes := pages(t, mem, a)
			var got []query.Group
			ran, _ := records.During(func() { got, _ = pages(t, sql, a) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("groups of %s (-memory +table):\n%s", a.Values().Encode(), diff)
			}
			if len(ran) != len(sizes) {
				t.Fatalf("%s: %d statements for %d pages", a.Values().Encode(), len(ran), len(sizes))
			}
			joins := strings.Contains(strings.Join(a.Group, " "), "branch.")
			for _, statement := range ran {
				if joins && strings.Count(statement.Text, "LEFT JOIN") != 1 {
					t.Fatalf("%s: want one outer join in\n%s", a.Values().Encode(), statement.Text)
				}
			}
		}
	})
}
