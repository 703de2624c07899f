package relationtest

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

// sumOf is the field that is added, by the name of the resource.
var sumOf = map[string]string{"customers": "age", "orders": "total", "lines": "qty"}

// addGroups declares the groups of resources. Customers have none if Authorize hides them.
func addGroups(o Options, companies, customers, orders, lines *query.Support) {
	of := func(name string) map[string][]query.Func {
		return map[string][]query.Func{sumOf[name]: {query.Sum, query.Max}}
	}
	companies.Group = []string{"name"}
	orders.Group, orders.Aggregate = []string{"status", "total"}, of("orders")
	lines.Group, lines.Aggregate = []string{"itemId", "qty", "order.status", "order.total"}, of("lines")
	if !o.Authorize {
		customers.Group = []string{"name", "age", "company.name", "boss.name", "boss.id"}
		customers.Aggregate = of("customers")
		orders.Group = append(orders.Group, "customer.name", "customer.age", "customer.id")
	}
}

// isPath reports whether a name is that of a field of a related item.
func isPath(name string) bool { return strings.Contains(name, ".") }

// testGroups compares the pages of random groups by fields of related items with query.Summarize.
func (w *world) testGroups(t *testing.T, o Options) {
	t.Helper()
	names := []string{}
	for _, name := range []string{"customers", "orders", "lines"} {
		if slices.ContainsFunc(w.groups(name), isPath) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	rnd := rand.New(rand.NewPCG(o.Seed, 23))
	for n := range max(1, o.Requests/5) {
		name := names[rnd.IntN(len(names))]
		a := w.randomGroups(rnd, name)
		ctx, seesAll := t.Context(), rnd.IntN(3) == 0
		if seesAll {
			ctx = context.WithValue(ctx, seesAllKey{}, true)
		}
		want := w.expectedGroups(t, name, a, seesAll)
		var got []query.Group
		for after := ""; ; {
			a.Limit = 1 + rnd.IntN(9)
			page, err := w.resources[name].Aggregate(ctx, a, after)
			if err != nil {
				t.Fatalf("request %d: groups of %s %s: %v", n, name, a.Values(), err)
			}
			got = append(got, page.Groups...)
			if after = page.Next; after == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("request %d: groups of %s %s, caller sees all: %t (-want +got):\n%s",
				n, name, a.Values(), seesAll, diff)
		}
	}
}

// groups returns the fields by which the items of a resource can be grouped.
func (w *world) groups(name string) []string {
	return w.resources[name].Describe().Query.Group
}

// randomGroups returns groups by at least one field of a related item.
func (w *world) randomGroups(rnd *rand.Rand, name string) query.Aggregation {
	var a query.Aggregation
	fields := w.groups(name)
	for _, i := range rnd.Perm(len(fields)) {
		if len(a.Group) < 3 && (isPath(fields[i]) || rnd.IntN(3) == 0) {
			a.Group = append(a.Group, fields[i])
		}
	}
	a.Aggregates = []query.Aggregate{{Func: query.Count}, {Func: query.Sum, Field: sumOf[name]},
		{Func: query.Max, Field: sumOf[name]}}
	keys := slices.Clone(a.Group)
	for _, v := range a.Aggregates {
		keys = append(keys, v.Name())
	}
	for _, i := range rnd.Perm(len(keys))[:rnd.IntN(3)] {
		a.Sort = append(a.Sort, query.Order{Field: keys[i], Desc: rnd.IntN(2) == 0})
	}
	if rnd.IntN(3) == 0 {
		a.Having = query.Where("count", query.Gt, int64(rnd.IntN(3)))
	}
	if rnd.IntN(2) == 0 {
		a.Filter = w.randomFilter(rnd, name, 2)
	}
	return a
}

// expectedGroups returns the groups that a caller gets.
func (w *world) expectedGroups(t *testing.T, name string, a query.Aggregation, seesAll bool) []query.Group {
	t.Helper()
	shown := slices.DeleteFunc(slices.Clone(w.items[name]), func(v any) bool { return !isShown(v, seesAll) })
	groups, err := query.Summarize(a, shown, func(v *any, field string) any {
		return w.value(name, *v, field, seesAll)
	})
	if err != nil {
		t.Fatal(err)
	}
	return groups
}
