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

// TestSortPlans: an index of the related table leads to the pages of a list that is sorted by its column.
func TestSortPlans(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		rows := enginetest.PlanRows(t)
		db, records := enginetest.Record(t, e)
		customers := sqltable.New[relationtest.Customer](db, "customers", &sqltable.Options{
			NewID: func() string { return "" }, Index: []string{"name"}, Forget: true})
		orders := sqltable.New[relationtest.Order](db, "orders", &sqltable.Options{
			Index: []string{"customerId"}, Forget: true})
		for _, table := range []interface{ CreateTable(context.Context) error }{customers, orders} {
			if err := table.CreateTable(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		hidden := map[bool]string{true: "n % 50 = 0", false: "iif(n % 50 = 0, 1, 0)"}[e.Dialect == sqltx.PostgreSQL]
		enginetest.MustExec(t, db,
			"INSERT INTO customers (id, name, age, hidden, rev) SELECT n, 'c' || n, n % 5, "+hidden+", 'r'"+
				enginetest.Numbers(e.Dialect, rows/10),
			fmt.Sprintf("INSERT INTO orders (id, customer_id, status, total, rev) SELECT 'o' || n, n %% %d + 1, "+
				"'a', n %% 1000, 'r'", rows/10)+enginetest.Numbers(e.Dialect, rows),
			"ANALYZE")
		people := customers.Ops().Resource("customers", &resource.Options[relationtest.Customer]{
			Query: customers.Support(),
			Scope: func(ctx context.Context) (query.Filter, error) {
				if ctx.Value(seesAllKey{}) != nil {
					return query.Filter{}, nil
				}
				return query.Where("hidden", query.Eq, false), nil
			}})
		support := orders.Support()
		support.Sort = append(support.Sort, "customer.name")
		sales := orders.Ops().Resource("orders", &resource.Options[relationtest.Order]{Public: true, Query: support,
			ReadTimeout: -1, // for the position in the middle, half of the rows are read
			Relations: []resource.Relation[relationtest.Order]{
				{Name: "customer", Target: "customers", Field: "customerId"}}})
		sales = resource.NewCatalog(nil, people, sales).Resource("orders")
		indexes := []string{"customers_name_idx", "orders_customer_id_idx"}
		for _, test := range []struct {
			name       string
			sort       query.Order
			all        bool // the caller sees all customers, so that no order is without a name
			skip       int  // rows before the page
			backward   bool
			statements int
			uses       []string // indexes in the plan of the last statement
		}{
			{"-customer.name", query.Order{Desc: true}, false, 0, false, 1, indexes},
			{"customer.name, with orders without a name", query.Order{}, false, 0, false, 1, nil},
			{"customer.name, without", query.Order{}, true, 0, false, 2, indexes},
			{"-customer.name, a page in the middle", query.Order{Desc: true}, false, rows / 2, false, 2, indexes},
			{"customer.name, a page in the middle", query.Order{}, false, rows / 2, false, 2, indexes},
			{"customer.name, the page before it", query.Order{}, false, rows / 2, true, 2, indexes},
			{"customer.name, the last page", query.Order{}, false, 0, true, 1, indexes},
		} {
			ctx := t.Context()
			if test.all {
				ctx = context.WithValue(ctx, seesAllKey{}, true)
			}
			test.sort.Field = "customer.name"
			q := query.Query{Sort: []query.Order{test.sort}}
			at := resource.Position{AtEnd: test.backward}
			if test.skip > 0 {
				q.Limit = test.skip
				first, err := sales.List(ctx, q, at)
				if err != nil {
					t.Fatal(err)
				}
				if at = (resource.Position{After: first.Next}); test.backward {
					at = resource.Position{Before: first.Prev}
				}
				first.Release()
				q.Limit = 0
			}
			var items int
			began := time.Now()
			ran, _ := records.During(func() {
				page, err := sales.List(ctx, q, at)
				if err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
				items = len(page.Entries)
				page.Release()
			})
			took := time.Since(began)
			if len(ran) != test.statements || items != 50 {
				t.Errorf("%s: %d items with %d statements, want 50 with %d",
					test.name, items, len(ran), test.statements)
			}
			t.Logf("%s: %v", test.name, took.Round(10*time.Microsecond))
			plan := ""
			for _, statement := range ran {
				plan = enginetest.Explain(t, db, statement)
				t.Logf("%s\n%s", statement.Text, plan)
			}
			for _, index := range test.uses {
				if !strings.Contains(plan, index) {
					t.Errorf("%s: the plan does not use the index %s", test.name, index)
				}
			}
			if test.uses != nil && strings.Contains(plan, "USE TEMP B-TREE FOR ORDER BY") {
				t.Errorf("%s: the plan sorts all rows", test.name)
			}
		}
	})
}

// seesAllKey is the key of the context of a caller that sees hidden customers.
type seesAllKey struct{}
