package sqlaggregatetest

import (
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
		r := sales.Ops().Resource("sales", &resource.Options[sale]{Public: true, Query: support(sales.Support())})
		resource.NewCatalog(nil, r)
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
