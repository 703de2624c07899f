// Command sqlstore serves tasks from a table with its own SQL statements. tasks.go is the complete
// store. Package sqltable does the same in three lines; use this approach for existing tables that
// it does not support.
//
//	go run -C examples ./sqlstore
//	curl -i localhost:8080/tasks -H 'Content-Type: application/json' -d '{"title":"buy oil"}'
//	curl -i 'localhost:8080/tasks?done=false&sort=-priority'
package main

import (
	"database/sql"
	"log"
	"net/http"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

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

// main opens the database before it listens, so that a wrong path is an error at start. The server
// has no time limits; see examples/cors for one with middleware.
func main() {
	api, err := openAPI("tasks.db")
	if err != nil {
		log.Fatal(err)
	}
	log.Print("try http://localhost:8080/tasks")
	log.Fatal(http.ListenAndServe("localhost:8080", api))
}
