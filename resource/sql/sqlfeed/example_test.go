package sqlfeed_test

import (
	"database/sql"
	"fmt"
	"net/http"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// A catalog with a feed, as in resource/feed/README.md.
func ExampleNew_catalog() {
	type Order struct {
		ID  int64 `json:"id" readOnly:"true"`
		Qty int   `json:"qty"`
	}
	pool := sql.OpenDB(nowhere{}) // in a program: sql.Open("pgx", "postgres://...")
	server := &http.Server{}

	db := sqltx.New(sqltx.PostgreSQL, pool, nil)
	changes := feed.New(sqlfeed.New(db, nil), nil) // a log in the database of the orders; CreateTable creates its tables
	orders := sqltable.New[Order](db, "orders", nil).Ops().Resource("orders", nil)
	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: changes}, orders)
	server.RegisterOnShutdown(func() { changes.Close() }) // ends the streams, so that clients reconnect

	fmt.Println(catalog != nil, changes.Close())
	// Output: true <nil>
}
