// Command sqlstore serves tasks from a table with its own SQL statements. tasks.go is the complete
// store. Package sqltable does the same in three lines; use this approach for existing tables that
// it does not support.
//
//	go run -C examples ./sqlstore
package main

import (
	"context"
	"database/sql"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Task is the resource of the example. Its tags validate requests; the table in tasks.go repeats
// only what the database must know. Priority is a pointer because it is nullable.
type Task struct {
	ID       int64  `json:"id" readOnly:"true"`
	Title    string `json:"title" required:"true" minLength:"1" maxLength:"500"`
	Done     bool   `json:"done"`
	Priority *int64 `json:"priority"`
}

// The compiler checks what the store implements.
var _ resource.Collection[Task] = (*Tasks)(nil)
var _ resource.Creator[Task] = (*Tasks)(nil)
var _ resource.Replacer[Task] = (*Tasks)(nil)
var _ resource.Deleter = (*Tasks)(nil)

// openAPI serves the tasks of a SQLite file. With a write-ahead log, reads continue during a write.
// busy_timeout makes a write wait for another one instead of failing. Another driver or database
// needs another dialect of sqltx and other SQL in tasks.go.
func openAPI(file string) (http.Handler, error) {
	pool, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	// The third argument takes a second pool for reads, and timeouts. One pool is enough here.
	tasks, err := NewTasks(sqltx.New(sqltx.SQLite, pool, nil))
	if err != nil {
		return nil, err
	}
	return rest.New(resource.NewCatalog(nil, resource.New("tasks", tasks, &resource.Options[Task]{
		// the fields that the translator knows, so that the declaration and the SQL cannot differ
		Query:  tasks.query.Support(),
		Public: true, // no authorization
	})), nil), nil
}

// main opens the database before it listens, so that a wrong path is an error at start.
func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	file := flag.String("db", "", "SQLite `file`; default a new one in a temporary folder")
	flag.Parse()
	if *file == "" {
		dir, err := os.MkdirTemp("", "sqlstore")
		if err != nil {
			log.Fatal(err)
		}
		*file = filepath.Join(dir, "tasks.db")
	}
	api, err := openAPI(*file)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("sqlstore: %s, listening on http://%s", *file, listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := middleware.Serve(ctx, middleware.Server(api, nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
