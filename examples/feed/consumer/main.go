// Command consumer follows the feed of the tasks, and keeps the number of open tasks in a database of
// its own. It stores the cursor in the transaction of each change, so that every change counts once.
//
//	go run -C examples ./feed/consumer -addr localhost:8081
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/client"
)

// Task has the members that the consumer needs.
type Task struct {
	ID   int64 `json:"id"`
	Done bool  `json:"done"`
}

const schema = `
CREATE TABLE IF NOT EXISTS position (only INTEGER PRIMARY KEY CHECK (only = 1), cursor TEXT NOT NULL);
INSERT INTO position VALUES (1, '') ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS tasks (id INTEGER PRIMARY KEY, done INTEGER NOT NULL)`

// consume applies the changes after the stored cursor, until ctx ends or the server refuses. The first
// time, and if the cursor has expired, it receives a Reset and a Listed for each task.
func consume(ctx context.Context, api *client.Client, db *sql.DB) error {
	var cursor string
	if err := db.QueryRowContext(ctx, "SELECT cursor FROM position").Scan(&cursor); err != nil {
		return err
	}
	for change, err := range client.NewResource[Task](api, "tasks").Follow(ctx, cursor, nil) {
		if err != nil {
			return err
		}
		if err := apply(ctx, db, change); err != nil {
			return err
		}
	}
	return nil
}

// apply stores the effect of a change and its cursor in one transaction. The cursor is empty while a
// list is read: after a crash it is read again from its start.
func apply(ctx context.Context, db *sql.DB, change client.Change[Task]) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	switch v := change.Value; change.Kind {
	case client.Reset:
		_, err = tx.ExecContext(ctx, "DELETE FROM tasks")
	case client.Listed, client.Created, client.Updated:
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO tasks VALUES ($1, $2)", v.ID, v.Done)
	case client.Deleted:
		_, err = tx.ExecContext(ctx, "DELETE FROM tasks WHERE id = $1", v.ID)
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE position SET cursor = $1", change.Cursor); err != nil {
		return err
	}
	return tx.Commit()
}

func main() {
	addr := flag.String("addr", "localhost:8081", "listen `address` of /open")
	at := flag.String("api", "http://localhost:8080", "`URL` of the tasks")
	file := flag.String("db", "consumer.db", "SQLite `file`, created if it is missing")
	flag.Parse()
	db, err := sql.Open("sqlite", "file:"+*file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec(schema); err != nil {
		log.Fatal(err)
	}
	api, err := client.New(*at, &client.Options{Attempts: -1}) // waits for a server that is restarted
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		if err := consume(ctx, api, db); ctx.Err() == nil {
			log.Fatal(err) // the supervisor restarts the process, which continues at its cursor
		}
	}()
	http.HandleFunc("GET /open", func(w http.ResponseWriter, r *http.Request) {
		var n int
		const count = "SELECT count(*) FROM tasks WHERE NOT done"
		if err := db.QueryRowContext(r.Context(), count).Scan(&n); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, n)
	})
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("consumer: %s, listening on http://%s", *file, listener.Addr())
	err = middleware.Serve(ctx, middleware.Server(http.DefaultServeMux, nil), listener, nil)
	if err != nil {
		log.Fatal(err)
	}
}
