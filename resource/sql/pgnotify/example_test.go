package pgnotify_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/pgnotify"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// The pool of the data may go through a pooler; what is listened on does not.
func ExampleNew() {
	config, err := pgx.ParseConfig("postgres:///shop?host=/var/run/postgresql")
	if err != nil {
		log.Fatal(err)
	}
	pool := sql.OpenDB(stdlib.GetConnector(*config))
	defer pool.Close()
	db := sqltx.New(sqltx.PostgreSQL, pool, nil)
	events := pgnotify.New(sqlfeed.New(db, nil), config, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_ = ctx // go events.Run(ctx)
	changes := feed.New(events, nil)
	defer changes.Close()
	fmt.Println(changes.Transactions() == db)
	// Output: true
}
