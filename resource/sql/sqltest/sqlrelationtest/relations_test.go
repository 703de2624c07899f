package sqlrelationtest

import (
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest/relationtest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// openRelations returns empty tables for package relationtest.
func openRelations(t *testing.T, db *sqltx.DB) relationtest.Stores {
	t.Helper()
	return relationtest.Stores{
		Companies: openTable[relationtest.Company](t, db, "companies", nil),
		Customers: openTable[relationtest.Customer](t, db, "customers", &sqltable.Options{
			NewID: func() string { return "" }, Index: []string{"companyId", "bossId"}}),
		Orders: openTable[relationtest.Order](t, db, "orders", &sqltable.Options{Index: []string{"customerId"},
			SoftDelete: "deleted_at"}),
		Lines: openTable[relationtest.Line](t, db, "lines", &sqltable.Options{
			NewID: func() string { return "" }, Index: []string{"orderId", "itemId"}}),
		Tags: openTable[relationtest.Tag](t, db, "tags", nil),
		OrderTags: openTable[relationtest.OrderTag](t, db, "order_tags", &sqltable.Options{Recreate: true,
			Index: []string{"tagId"}}),
	}
}

func openTable[T any](t *testing.T, db *sqltx.DB, name string, opts *sqltable.Options) resource.Ops[T] {
	t.Helper()
	table := sqltable.New[T](db, name, opts)
	if err := table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return table.Ops()
}

// TestRelations compares random filters through relations with query.Match.
func TestRelations(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		requests := enginetest.Requests(t)
		for _, test := range []struct {
			name string
			opts relationtest.Options
		}{
			{"joined", relationtest.Options{Requests: requests}},
			{"with Authorize", relationtest.Options{Requests: requests / 10, Authorize: true}},
		} {
			t.Run(test.name, func(t *testing.T) {
				relationtest.Run(t, func(t *testing.T) relationtest.Stores {
					return openRelations(t, e.Open(t, nil))
				}, &test.opts)
			})
		}
	})
}
