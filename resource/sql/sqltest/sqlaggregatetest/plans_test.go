package sqlaggregatetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestPlans: a page of groups is one statement. It reads an index if the filter selects few rows, or if the
// index has all fields of the request.
func TestPlans(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		rows := enginetest.PlanRows(t)
		db, records := enginetest.Record(t, e)
		sales := sqltable.New[sale](db, "sales", &sqltable.Options{Index: []string{"country", "items"}, Forget: true})
		if err := sales.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		isGift, at := "n % 2", "'2026-11-01T00:00:00Z'"
		if e.Dialect == sqltx.PostgreSQL {
			isGift, at = "n % 2 = 1", at+"::timestamptz"
		}
		enginetest.MustExec(t, db,
			"INSERT INTO sales (id, status, country, gift, items, points, total, at, rev) SELECT 's' || n, "+
				"CASE n % 3 WHEN 0 THEN 'placed' WHEN 1 THEN 'paid' ELSE 'shipped' END, 'c' || (n % 1000), "+isGift+
				", n % 5000, n, (n % 100000) / 100.0, "+at+", 'r'"+enginetest.Numbers(e.Dialect, rows),
			"ANALYZE")
		if e.Dialect == sqltx.PostgreSQL {
			enginetest.MustExec(t, db, "VACUUM sales") // index-only scans need the visibility map
		}
		// SQLite sorts the rows of groups without an index: 10,000,000 take longer than the default of ReadTimeout.
		r := sales.Ops().Resource("sales", &resource.Options[sale]{Public: true, ReadTimeout: -1, Query: support(sales.Support())})
		r = resource.NewCatalog(nil, r).Resource(r.Name())
		count := query.Aggregate{Func: query.Count}
		total := query.Aggregate{Func: query.Sum, Field: "total"}
		for _, test := range []struct {
			name   string
			a      query.Aggregation
			groups int
			uses   string // an index that the plan names
		}{
			{"count", query.Aggregation{Aggregates: []query.Aggregate{count}}, 1, ""},
			{"group=status&count&sum=total", query.Aggregation{Group: []string{"status"},
				Aggregates: []query.Aggregate{count, total}}, 3, ""},
			{"group=country&count", query.Aggregation{Group: []string{"country"},
				Aggregates: []query.Aggregate{count}}, 20, "sales_country_idx"},
			{"group=country&sum=total&sort=-sum.total", query.Aggregation{Group: []string{"country"},
				Aggregates: []query.Aggregate{total},
				Sort:       []query.Order{{Field: "sum.total", Desc: true}}}, 20, ""},
			{"group=status&sum=total&items=7", query.Aggregation{Group: []string{"status"},
				Aggregates: []query.Aggregate{total}, Filter: query.Where("items", query.Eq, int64(7))}, 0,
				"sales_items_idx"},
		} {
			test.a.Limit = 20
			var page resource.GroupPage
			began := time.Now()
			ran, _ := records.During(func() {
				var err error
				if page, err = r.Aggregate(t.Context(), test.a, ""); err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
			})
			took := time.Since(began)
			if len(ran) != 1 || test.groups > 0 && len(page.Groups) != test.groups {
				t.Fatalf("%s: %d groups with %d statements, want %d with 1", test.name, len(page.Groups), len(ran),
					test.groups)
			}
			plan := enginetest.Explain(t, db, ran[0])
			t.Logf("%s: %v\n%s\n%s", test.name, took.Round(10*time.Microsecond), ran[0].Text, plan)
			scans := e.Dialect == sqltx.PostgreSQL && test.a.Filter.IsZero()
			if !scans && !strings.Contains(plan, test.uses) { // PostgreSQL reads a small table
				t.Errorf("%s: the plan does not use the index %s", test.name, test.uses)
			}
		}
	})
}

// TestJoinedGroupPlans: a page of groups by fields of related rows is one statement. It scans the grouped
// table once. SQLite searches the related table by its key, and PostgreSQL may read it once for a hash.
func TestJoinedGroupPlans(t *testing.T) {
	type customer struct {
		ID      string `json:"id"`
		Country string `json:"country"`
	}
	type order struct {
		ID         string `json:"id"`
		Status     string `json:"status"`
		CustomerID string `json:"customerId"`
		Items      int64  `json:"items"`
	}
	count := []query.Aggregate{{Func: query.Count}, {Func: query.Sum, Field: "items"}}
	tests := []struct {
		name   string
		a      query.Aggregation
		groups int
	}{
		{"group=status,customer.country", query.Aggregation{Group: []string{"status", "customer.country"}}, 20},
		{"group=customer.country", query.Aggregation{Group: []string{"customer.country"}}, 20},
		{"group=customer.country&sort=-count", query.Aggregation{Group: []string{"customer.country"},
			Sort: []query.Order{{Field: "count", Desc: true}}}, 20},
		{"group=status,customer.country&status=paid", query.Aggregation{Group: []string{"status", "customer.country"},
			Filter: query.Where("status", query.Eq, "paid")}, 20},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		rows := enginetest.PlanRows(t)
		db, records := enginetest.Record(t, e)
		customers := sqltable.New[customer](db, "customers", &sqltable.Options{SoftDelete: "deleted_at"})
		orders := sqltable.New[order](db, "orders", &sqltable.Options{Index: []string{"customerId"}, Forget: true})
		for _, table := range []interface{ CreateTable(context.Context) error }{customers, orders} {
			if err := table.CreateTable(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		enginetest.MustExec(t, db,
			"INSERT INTO customers (id, country, rev) SELECT 'c' || n, 'country ' || (n % 30), 'r'"+
				enginetest.Numbers(e.Dialect, rows/10),
			"INSERT INTO orders (id, status, customer_id, items, rev) SELECT 'o' || n, "+
				"CASE n % 3 WHEN 0 THEN 'placed' WHEN 1 THEN 'paid' ELSE 'shipped' END, 'c' || (n % "+
				fmt.Sprint(rows/10)+"), n, 'r'"+enginetest.Numbers(e.Dialect, rows),
			"ANALYZE")
		r := orders.Ops().Resource("orders", &resource.Options[order]{Public: true, ReadTimeout: -1, Query: query.Support{
			Filter:    map[string][]query.Op{"status": {query.Eq}},
			Group:     []string{"status", "customer.country"},
			Aggregate: map[string][]query.Func{"items": {query.Sum}}},
			Relations: []resource.Relation[order]{{Name: "customer", Target: "customers", Field: "customerId"}}})
		r = resource.NewCatalog(nil, r, customers.Ops().Resource("customers", &resource.Options[customer]{Public: true,
			Query: query.Support{Group: []string{"country"}}})).Resource(r.Name())
		for _, tt := range tests {
			tt.a.Aggregates, tt.a.Limit = count, 20
			var page resource.GroupPage
			began := time.Now()
			ran, _ := records.During(func() {
				var err error
				if page, err = r.Aggregate(t.Context(), tt.a, ""); err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
			})
			took := time.Since(began)
			if len(ran) != 1 || len(page.Groups) != tt.groups {
				t.Fatalf("%s: %d groups with %d statements, want %d with 1", tt.name, len(page.Groups), len(ran), tt.groups)
			}
			plan := enginetest.Explain(t, db, ran[0])
			t.Logf("%s: %v of %d rows\n%s\n%s", tt.name, took.Round(10*time.Microsecond), rows, ran[0].Text, plan)
			if e.Dialect == sqltx.PostgreSQL {
				for _, table := range []string{"orders", "customers"} {
					if n := strings.Count(plan, "Scan on "+table); n > 1 {
						t.Errorf("%s: %d scans of %s:\n%s", tt.name, n, table, plan)
					}
				}
				if strings.Contains(plan, "Nested Loop") && strings.Contains(plan, "Seq Scan on customers") {
					t.Errorf("%s: customers are scanned for each order:\n%s", tt.name, plan)
				}
				continue
			}
			if strings.Count(plan, "SCAN orders") != 1 || !strings.Contains(plan, "SEARCH customers USING INDEX") {
				t.Errorf("%s: want one scan of orders, and a search of customers for each:\n%s", tt.name, plan)
			}
			if strings.Contains(plan, "MATERIALIZE") || strings.Contains(plan, "AUTOMATIC") {
				t.Errorf("%s: the related table is copied:\n%s", tt.name, plan)
			}
		}
	})
}
