package sqlrecords_test

import (
	"database/sql"
	"fmt"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// A catalog with idempotency keys, as in idempotency/README.md.
func ExampleNew_catalog() {
	type Order struct {
		ID  int64 `json:"id" readOnly:"true"`
		Qty int   `json:"qty"`
	}
	pool := sql.OpenDB(nowhere{}) // in a program: sql.Open("pgx", "postgres://...")

	db := sqltx.New(sqltx.PostgreSQL, pool, nil)
	orders := sqltable.New[Order](db, "orders", nil)
	records := sqlrecords.New(db, nil) // in the database of the orders; CreateTable creates the table
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Idempotency: idempotency.New(records, nil),
		Principal:   middleware.Principal, // keys belong to a principal
	}, orders.Ops().Resource("orders", nil))

	for _, g := range catalog.Guarantees() {
		fmt.Println(g.Name, "created:", g.Create, "changed:", g.Others)
	}
	// Output: orders created: exactly once changed: exactly once
}
