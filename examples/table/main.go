// Command table serves a table that exists already, with its own column names, an enum, a decimal and
// soft delete. It adds no column and refuses to start if the table does not fit.
//
//	go run -C examples ./table
//	go run -C examples ./table -dsn postgres://localhost/shop -legacy
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/serve"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

var (
	//go:embed legacy_sqlite.sql
	legacySQLite string
	//go:embed legacy_postgres.sql
	legacyPostgres string
)

// Customer is a row. The tag db names a column, and sql its type in PostgreSQL if that is not the
// usual one. The columns without a field are not read, and keep their values.
type Customer struct {
	ID    int64  `json:"id" db:"cust_no" readOnly:"true"`
	Name  string `json:"name" db:"full_name" required:"true" minLength:"1" maxLength:"200"`
	Email string `json:"email" db:"email_addr" required:"true" format:"email" unique:"true"`
	Tier  string `json:"tier" sql:"customer_tier" enum:"free,pro,enterprise" default:"free"`
	Limit string `json:"creditLimit" db:"credit_limit" format:"decimal" precision:"12,2" default:"0.00"`
}

// newHandler serves the customers. Content makes the revision of a row a hash of its columns, because
// the table has no column for one, and changed_on is the time of the last write.
func newHandler(ctx context.Context, db *sqltx.DB) (http.Handler, error) {
	customers := sqltable.New[Customer](db, "tbl_customer", &sqltable.Options{
		Rev: sqltable.Content, Modified: "changed_on", SoftDelete: "removed_on",
	})
	// Check compares the table with the fields. Its error lists all differences, with the tags that
	// are missing.
	if err := customers.Check(ctx); err != nil {
		return nil, err
	}
	return serve.New(resource.NewCatalog(nil, customers.Ops().Resource("customers",
		&resource.Options[Customer]{Query: customers.Support(), Restore: true, Public: true},
	)), &serve.Options{Title: "Customers"}), nil
}

// open connects to PostgreSQL, or to SQLite if dsn is the name of a file. If legacy is set, it creates
// the table first, as the other program has.
func open(dsn string, legacy bool) (*sqltx.DB, error) {
	driver, dialect, script := "pgx", sqltx.PostgreSQL, legacyPostgres
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		driver, dialect, script = "sqlite", sqltx.SQLite, legacySQLite
		dsn = "file:" + dsn + "?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)"
	}
	pool, err := sql.Open(driver, dsn)
	if err == nil && legacy {
		_, err = pool.Exec(script)
	}
	return sqltx.New(dialect, pool, nil), err
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	dsn := flag.String("dsn", "", "URL of PostgreSQL or file of SQLite; default a new file with the table")
	legacy := flag.Bool("legacy", false, "create the table of the other program first")
	flag.Parse()
	if *dsn == "" {
		dir, err := os.MkdirTemp("", "table")
		if err != nil {
			log.Fatal(err)
		}
		*dsn, *legacy = filepath.Join(dir, "legacy.db"), true
	}
	db, err := open(*dsn, *legacy)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	h, err := newHandler(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("table: listening on http://%s", listener.Addr())
	if err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
