package pgnotify_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/feedtest"
	"github.com/stoa-go/stoa/resource/sql/pgnotify"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		listenForParent(url)
		return
	}
	sqltest.Main(m)
}

// process is what a process has: a pool of its own, and a Log.
type process struct {
	config *pgx.ConnConfig
	db     *sqltx.DB
	log    *pgnotify.Log
}

// open connects to a schema of the database, as a process does.
func open(t testing.TB, url, schema string, opts *pgnotify.Options) *process {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["search_path"] = schema
	pool := sql.OpenDB(stdlib.GetConnector(*config))
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(12)
	pool.SetMaxIdleConns(12)
	if _, err := pool.ExecContext(t.Context(), "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		t.Fatal(err)
	}
	p := &process{config: config, db: sqltx.New(sqltx.PostgreSQL, pool, nil)}
	log := sqlfeed.New(p.db, nil)
	if err := log.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.log = pgnotify.New(log, config, opts)
	return p
}

// run runs the Log until the test ends, and returns once it listens.
func (p *process) run(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var works sync.WaitGroup
	works.Go(func() { p.log.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		works.Wait()
	})
	p.woken(t) // by having begun
}

// woken waits until a notification has arrived.
func (p *process) woken(t testing.TB) {
	t.Helper()
	select {
	case <-p.log.Wake():
	case <-time.After(2 * time.Minute):
		t.Fatal("nobody told")
	}
}

// quiet is for tests in which the database fails.
var quiet = slog.New(slog.DiscardHandler)

func created(id string) *feed.Event {
	return &feed.Event{Kind: feed.Created, Collection: "orders", ID: id, Rev: "1", After: []byte(`{"n":1}`)}
}

func TestKit(t *testing.T) {
	t.Parallel()
	url := sqltest.PostgreSQL(t)
	schemas := map[feed.Log]string{}
	start := func(t *testing.T, schema string) feed.Log {
		p := open(t, url, schema, &pgnotify.Options{Channel: schema})
		p.run(t)
		schemas[p.log] = schema
		return p.log
	}
	feedtest.Run(t, func(t *testing.T) feed.Log { return start(t, fmt.Sprintf("schema%d", len(schemas))) }, &feedtest.Options{
		Another:  func(t *testing.T, log feed.Log) feed.Log { return start(t, schemas[log]) },
		Patience: time.Minute,
	})
}

// TestNotifications: of what is committed, and a process that was cut off listens again.
func TestNotifications(t *testing.T) {
	t.Parallel()
	url := sqltest.PostgreSQL(t)
	opts := &pgnotify.Options{Logger: quiet, PingInterval: 20 * time.Millisecond} // so often that the connection is asked while it waits
	writer, other := open(t, url, "s", opts), open(t, url, "s", opts)
	other.run(t)
	writer.run(t)
	start, err := other.log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, way := range []string{"at once", "in a transaction", "after a pause", "after the connection was lost"} {
		switch way {
		case "at once":
			err = writer.log.Append(t.Context(), created("1"))
		case "in a transaction":
			err = writer.db.InTx(t.Context(), func(ctx context.Context) error { return writer.log.Append(ctx, created("2")) })
		case "after a pause":
			time.Sleep(100 * time.Millisecond) // in which the connection is asked, which must not end it
			err = writer.log.Append(t.Context(), created("3"))
		default:
			_, err = writer.db.Writer(t.Context()).ExecContext(t.Context(), "SELECT pg_terminate_backend(pid) "+
				"FROM pg_stat_activity WHERE datname = current_database() AND (query LIKE 'LISTEN%' OR query LIKE '-- ping%')")
			other.woken(t) // as it listens again
			err = errors.Join(err, writer.log.Append(t.Context(), created("4")))
		}
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		seen++
		for got := 0; got < seen; {
			other.woken(t)
			events, _, err := other.log.Tail(t.Context(), start, 10)
			if err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			got = len(events)
		}
	}
}

// TestNotifyInterval: however much is appended in the time of an interval, one notification is sent, and none for what is rolled back.
func TestNotifyInterval(t *testing.T) {
	t.Parallel()
	url := sqltest.PostgreSQL(t)
	p := open(t, url, "s", &pgnotify.Options{NotifyInterval: time.Hour, Channel: `a "channel"`})
	p.run(t)
	conn, err := pgx.ConnectConfig(t.Context(), p.config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `LISTEN "a ""channel"""`); err != nil {
		t.Fatal(err)
	}
	undone := errors.New("undo")
	err = p.db.InTx(t.Context(), func(ctx context.Context) error {
		return errors.Join(p.log.Append(ctx, created("0")), undone)
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	for i := range 50 {
		if err := p.log.Append(t.Context(), created(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	first, err := conn.WaitForNotification(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first.Payload == "" || strings.Contains(first.Payload, "orders") {
		t.Errorf("told %q", first.Payload)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_notify('a "channel"', 'marker')`); err != nil {
		t.Fatal(err)
	}
	if next, err := conn.WaitForNotification(t.Context()); err != nil || next.Payload != "marker" {
		t.Errorf("50 events within a gap were told more than once: %+v, %v", next, err)
	}
}

// TestNewPanics: invalid options are reported at start-up.
func TestNewPanics(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig("postgres:///stoa?host=/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(stdlib.GetConnector(*config)) // which does not connect
	defer pool.Close()
	logIn := func(d sqltx.Dialect) *sqlfeed.Log { return sqlfeed.New(sqltx.New(d, pool, nil), nil) }
	tests := []struct {
		name   string
		log    *sqlfeed.Log
		config *pgx.ConnConfig
		want   string
	}{
		{"no log", nil, config, "without a log"},
		{"no connection", logIn(sqltx.PostgreSQL), nil, "without a log or without a connection"},
		{"SQLite", logIn(sqltx.SQLite), config, "not in PostgreSQL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, tt.want) {
					t.Errorf("New panicked with %q, want something about %q", said, tt.want)
				}
			}()
			pgnotify.New(tt.log, tt.config, nil)
		})
	}
}
