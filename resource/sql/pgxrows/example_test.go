package pgxrows_test

import (
	"database/sql"
	"log"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/pgxrows"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// All tables of the DB read their lists in the binary format.
func ExampleReader() {
	config, err := pgx.ParseConfig("postgres:///shop?host=/var/run/postgresql")
	if err != nil {
		log.Fatal(err)
	}
	pool := sql.OpenDB(stdlib.GetConnector(*config))
	defer pool.Close()
	db := sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{Rows: pgxrows.Reader{}})
	type order struct {
		ID    int64  `json:"id" readOnly:"true"`
		State string `json:"state"`
	}
	orders := sqltable.New[order](db, "orders", nil)
	http.Handle("/", rest.New(resource.NewCatalog(nil, orders.Ops().Resource("orders", nil)), nil))
}
