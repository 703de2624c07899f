package sqlrelationtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/resourcetest/relationtest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestPagePlans: the first rows of each of 50 keys are found by the index of the key. In the order of the
// index no other rows are read.
func TestPagePlans(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		const parents, limit = 50, 6
		rows := enginetest.PlanRows(t)
		db, records := enginetest.Record(t, e)
		orders := sqltable.New[relationtest.Order](db, "orders", &sqltable.Options{Index: []string{"customerId"}, Forget: true})
		unindexed := sqltable.New[relationtest.Order](db, "orders", &sqltable.Options{Forget: true})
		if err := orders.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		enginetest.MustExec(t, db, fmt.Sprintf("INSERT INTO orders (id, customer_id, status, total, rev) SELECT 'o' || n, n %% %d + 1, "+
			"'a', n %% 1000, 'r'", parents)+enginetest.Numbers(e.Dialect, rows), "ANALYZE")
		keys := make([]string, parents)
		for i := range keys {
			keys[i] = fmt.Sprint(i + 1)
		}
		for _, test := range []struct {
			name    string
			of      *sqltable.Table[relationtest.Order]
			sort    []query.Order
			uses    string
			refuses string // what the plan must not have
		}{
			// The last sort is that of the rows that are returned.
			{"id", orders, []query.Order{{Field: "id"}}, "orders_customer_id_idx", map[sqltx.Dialect]string{
				sqltx.SQLite: "SCAN orders", sqltx.PostgreSQL: "Sort Key: orders"}[e.Dialect]},
			{"total", orders, []query.Order{{Field: "total", Desc: true}, {Field: "id"}}, "orders_customer_id_idx",
				map[sqltx.Dialect]string{sqltx.SQLite: "SCAN orders", sqltx.PostgreSQL: "Seq Scan on orders"}[e.Dialect]},
			{"total by numbering", unindexed, []query.Order{{Field: "total", Desc: true}, {Field: "id"}}, "", "related key"},
			{"id by numbering", unindexed, []query.Order{{Field: "id"}}, "", "related key"},
		} {
			found := map[int64]int{}
			q := query.Query{Limit: limit, Sort: test.sort}
			var took time.Duration
			ran, _ := records.During(func() {
				began := time.Now()
				for it, err := range test.of.Ops().ListByKeys(t.Context(), "customerId", keys, q) {
					if err != nil {
						t.Fatal(err)
					}
					found[it.Value.CustomerID]++
				}
				took = time.Since(began)
			})
			for i := range parents {
				if found[int64(i+1)] != limit {
					t.Fatalf("%s: %d items of %d, want %d", test.name, found[int64(i+1)], i+1, limit)
				}
			}
			if len(ran) != 1 {
				t.Fatalf("%s: %d statements, want 1", test.name, len(ran))
			}
			plan := enginetest.Explain(t, db, ran[0])
			t.Logf("%s: %v\n%s\n%s", test.name, took.Round(10*time.Microsecond), ran[0].Text, plan)
			if !strings.Contains(plan, test.uses) || strings.Contains(plan, test.refuses) {
				t.Errorf("%s: the plan must use %q, and not %q", test.name, test.uses, test.refuses)
			}
		}
	})
}
