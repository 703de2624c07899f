package sqlrelationtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest/relationtest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestPlans: a filter through a relation is one statement, which reads few rows by an index if the
// filter selects few.
func TestPlans(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		rows := enginetest.PlanRows(t)
		db, records := enginetest.Record(t, e)
		customers := sqltable.New[relationtest.Customer](db, "customers", &sqltable.Options{
			NewID: func() string { return "" }, Index: []string{"name"}, Forget: true})
		orders := sqltable.New[relationtest.Order](db, "orders", &sqltable.Options{
			Index: []string{"customerId", "total"}, Forget: true})
		lines := sqltable.New[relationtest.Line](db, "lines", &sqltable.Options{
			NewID: func() string { return "" }, Index: []string{"orderId", "itemId"}, Forget: true})
		for _, create := range []interface{ CreateTable(context.Context) error }{
			customers, orders, lines,
		} {
			if err := create.CreateTable(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		enginetest.MustExec(t, db,
			"INSERT INTO customers (id, name, age, hidden, rev) SELECT n, 'c' || n, n % 5, "+
				map[bool]string{true: "false", false: "0"}[e.Dialect == sqltx.PostgreSQL]+", 'r'"+
				enginetest.Numbers(e.Dialect, rows/10),
			fmt.Sprintf("INSERT INTO orders (id, customer_id, status, total, rev) SELECT 'o' || n, n %% %d + 1, "+
				"'a', n %% 1000, 'r'", rows/10)+enginetest.Numbers(e.Dialect, rows),
			fmt.Sprintf("INSERT INTO lines (id, order_id, item_id, qty, rev) SELECT n, 'o' || n, n %% %d, n %% 5, "+
				"'r'", rows/10)+enginetest.Numbers(e.Dialect, rows),
			"ANALYZE")
		// A filter that few items of 10,000,000 match reads all of them: with the default of ReadTimeout it is refused.
		people := customers.Ops().Resource("customers", &resource.Options[relationtest.Customer]{Public: true,
			ReadTimeout: -1, Query: withRelations(customers.Support(), "orders"),
			Relations: []resource.Relation[relationtest.Customer]{
				{Name: "orders", Target: "orders", By: "customerId"}}})
		sales := orders.Ops().Resource("orders", &resource.Options[relationtest.Order]{Public: true,
			ReadTimeout: -1, Query: withRelations(orders.Support(), "customer", "lines"),
			Relations: []resource.Relation[relationtest.Order]{
				{Name: "customer", Target: "customers", Field: "customerId"},
				{Name: "lines", Target: "lines", By: "orderId"}}})
		c := resource.NewCatalog(nil, people, sales, lines.Ops().Resource("lines",
			&resource.Options[relationtest.Line]{Public: true, Query: lines.Support()}))
		people = c.Resource("customers")
		sales = c.Resource("orders")
		seven := query.Where("itemId", query.Eq, 7)
		for _, test := range []struct {
			name   string
			of     *resource.Resource
			filter query.Filter
			sort   []query.Order
			items  int
			uses   string // an index that the plan names, in each engine
		}{
			{"customer.name=c5", sales, query.Some("customer", query.Where("name", query.Eq, "c5")), nil, 10,
				"customers_name_idx"},
			{"customer.name=c5&sort=-total", sales, query.Some("customer", query.Where("name", query.Eq, "c5")),
				[]query.Order{{Field: "total", Desc: true}}, 10, "customers_name_idx"},
			{"customer.age.gte=1", sales, query.Some("customer", query.Where("age", query.Gte, 1)), nil, 50, ""},
			{"customer.age.gte=1&sort=-total", sales, query.Some("customer", query.Where("age", query.Gte, 1)),
				[]query.Order{{Field: "total", Desc: true}}, 50, ""},
			{"customer.none.age.gte=1", sales, query.Not(query.Some("customer", query.Where("age", query.Gte, 1))),
				nil, 50, ""},
			{"lines.some.itemId=7", sales, query.Some("lines", seven), nil, 10, "lines_item_id_idx"},
			{"lines.some.qty.gte=1", sales, query.Some("lines", query.Where("qty", query.Gte, 1)), nil, 50, ""},
			{"lines.none.itemId=7", sales, query.Not(query.Some("lines", seven)), nil, 50, ""},
			{"lines.every.itemId=7", sales, query.Not(query.Some("lines", query.Not(seven))), nil, 10, ""},
			{"orders.some.lines.some.itemId=7", people, query.Some("orders", query.Some("lines", seven)), nil, 1,
				"lines_item_id_idx"},
		} {
			var items int
			began := time.Now()
			ran, _ := records.During(func() {
				page, err := test.of.List(t.Context(), query.Query{Filter: test.filter, Sort: test.sort}, resource.Position{})
				if err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
				items = len(page.Entries)
				page.Release()
			})
			took := time.Since(began)
			if len(ran) != 1 || items != test.items {
				t.Fatalf("%s: %d items with %d statements, want %d with 1", test.name, items, len(ran), test.items)
			}
			plan := enginetest.Explain(t, db, ran[0])
			t.Logf("%s: %v\n%s\n%s", test.name, took.Round(10*time.Microsecond), ran[0].Text, plan)
			if !strings.Contains(plan, test.uses) {
				t.Errorf("%s: the plan does not use the index %s", test.name, test.uses)
			}
		}
	})
}

// withRelations adds relations to a Support.
func withRelations(s query.Support, relations ...string) query.Support {
	s.Relations = relations
	return s
}
