// Command migrations serves customers from a table that its releases change: a field is added, one is
// renamed, and one is split. Two releases serve one database during each deployment.
// resource/sql/MIGRATIONS.md explains the steps. Build tags select the release, the first without one:
//
//	go run -C examples ./migrations
//	go run -C examples -tags release2 ./migrations
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/version"
)

// open connects to PostgreSQL, or to SQLite if dsn is the name of a file.
func open(dsn string) (*sqltx.DB, error) {
	driver, dialect := "pgx", sqltx.PostgreSQL
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		driver, dialect = "sqlite", sqltx.SQLite
		dsn = "file:" + dsn + "?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)"
	}
	pool, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	return sqltx.New(dialect, pool, nil), nil
}

// customers returns the table of this release. CheckWith refuses to start on a table that a migration has
// not prepared for it, and warns of queries without an index.
func customers(ctx context.Context, db *sqltx.DB) (*resource.Resource, error) {
	table := sqltable.New[Customer](db, "customers", nil)
	opts := &resource.Options[Customer]{Query: queries, Public: true}
	err := table.CheckWith(ctx, &sqltable.CheckOptions{
		Support: opts.Query,
		Warn:    func(d sqltable.Difference) { log.Printf("customers: %v", d) },
	})
	if err != nil {
		missing, _ := table.AlterDDL(ctx)
		return nil, fmt.Errorf("%w\nmigrate first, for example by:\n%s", err, missing)
	}
	return table.Ops().Resource("customers", opts), nil
}

// contract returns a contract that serves r.
func contract(name string, r *resource.Resource) version.Contract {
	return version.Contract{Name: name, Handler: rest.New(resource.NewCatalog(nil, r), nil)}
}

func main() {
	dsn := flag.String("db", "", "`URL` of PostgreSQL, or a file of SQLite; default a new file, migrated")
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	first := flag.Int("migrate", 0, "run the first `n` migrations before serving, unless they have run")
	ddl := flag.Bool("ddl", false, "print the statements that create the table of this release, and exit")
	flag.Parse()
	if *dsn == "" {
		dir, err := os.MkdirTemp("", "migrations")
		if err != nil {
			log.Fatal(err)
		}
		*dsn, *first = filepath.Join(dir, "customers.db"), needed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	db, err := open(*dsn)
	if err == nil {
		err = migrate(ctx, db, *first)
	}
	if err != nil {
		log.Fatal(err)
	}
	if *ddl {
		fmt.Print(sqltable.New[Customer](db, "customers", nil).DDL())
		return
	}
	current, err := customers(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	api := version.New(contracts(current), []version.Strategy{version.Path{}}, nil)
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("migrations: %s, listening on http://%s", release, listener.Addr())
	if err := middleware.Serve(ctx, middleware.Server(api, nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
