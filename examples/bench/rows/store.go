package main

// The table and the connections to it.

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// order is a row of the table. Stoa and encoding/json encode it in the same way.
type order struct {
	ID       string    `json:"id" format:"uuid"`
	Customer string    `json:"customer"`
	Status   string    `json:"status"`
	Note     string    `json:"note"`
	Quantity int64     `json:"quantity"`
	Price    float64   `json:"price"`
	Paid     bool      `json:"paid"`
	PlacedAt time.Time `json:"placedAt"`
}

// fields returns the arguments of Scan.
func (o *order) fields() []any {
	return []any{&o.ID, &o.Customer, &o.Status, &o.Note, &o.Quantity, &o.Price, &o.Paid, &o.PlacedAt}
}

const (
	page    = 100
	columns = "id, customer, status, note, quantity, price, paid, placed_at"
	list    = "SELECT " + columns + " FROM orders ORDER BY id LIMIT $1"

	createTable = `CREATE TABLE orders (id uuid PRIMARY KEY, customer text NOT NULL, status text NOT NULL,
		note text NOT NULL, quantity bigint NOT NULL, price double precision NOT NULL, paid boolean NOT NULL,
		placed_at timestamptz NOT NULL, rev text NOT NULL)`
	fillTable = `INSERT INTO orders SELECT md5(i::text)::uuid, 'customer ' || i, 'placed',
		'Leave it with the neighbor, number ' || i % 40, i % 7 + 1, (i * 37 % 10000) / 100.0, i % 3 = 0,
		'2026-11-25 12:00Z'::timestamptz + i * interval '1.000001 s', left(md5('rev' || i), 24)
		FROM generate_series(1, 1000) AS i`
)

// store is a schema with the table. Its connections are closed together.
type store struct {
	config *pgx.ConnConfig
	schema string
	admin  *pgx.Conn
	closes []func() error
}

// newStore creates the schema and fills the table.
func newStore(ctx context.Context, url string) (_ *store, err error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	s := &store{config: config, schema: fmt.Sprintf("stoa_rows_%d", os.Getpid())}
	config.RuntimeParams["search_path"] = s.schema
	if s.admin, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, err
	}
	statements := []string{"CREATE SCHEMA " + s.schema, createTable, fillTable, "VACUUM ANALYZE orders"}
	for _, statement := range statements {
		if _, err := s.admin.Exec(ctx, statement); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// close closes all connections and drops the schema.
func (s *store) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	for _, closeOne := range s.closes {
		errs = append(errs, closeOne())
	}
	_, err := s.admin.Exec(ctx, "DROP SCHEMA "+s.schema+" CASCADE")
	return errors.Join(append(errs, err, s.admin.Close(ctx))...)
}

// conn opens a connection of pgx.
func (s *store) conn(ctx context.Context) (*pgx.Conn, error) {
	c, err := pgx.ConnectConfig(ctx, s.config)
	if err == nil {
		s.closes = append(s.closes, func() error { return c.Close(context.Background()) })
	}
	return c, err
}

// pool opens a pool of one connection.
func (s *store) pool() *sql.DB {
	pool := stdlib.OpenDB(*s.config)
	pool.SetMaxOpenConns(1)
	s.closes = append(s.closes, pool.Close)
	return pool
}

// way is one way to make the JSON array of the first page.
type way struct {
	name    string
	backend int // process of its connection
	list    lister
	buf     []byte
}

// run makes one list.
func (w *way) run(ctx context.Context) (err error) {
	w.buf, err = w.list(ctx, w.buf[:0])
	return err
}

// cost is the processor time of one list, in microseconds, and its allocations.
type cost struct{ client, server, allocs float64 }

func (c cost) total() float64 { return c.client + c.server }

// measure makes lists for a time.
func (w *way) measure(ctx context.Context, each time.Duration) (c cost, err error) {
	for range 20 {
		if err := w.run(ctx); err != nil {
			return c, err
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	server, err := backendTime(w.backend)
	if err != nil {
		return c, err
	}
	client, n := measure.ProcessorTime(), 0
	for end := time.Now().Add(each); n < 20 || time.Now().Before(end); n++ {
		if err := w.run(ctx); err != nil {
			return c, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	client = measure.ProcessorTime() - client
	serverAfter, err := backendTime(w.backend)
	runtime.ReadMemStats(&after)
	per := func(d time.Duration) float64 { return float64(d) / float64(n) / float64(time.Microsecond) }
	allocs := float64(after.Mallocs-before.Mallocs) / float64(n)
	return cost{per(client), per(serverAfter - server), allocs}, err
}

// backendTime returns the processor time of a process of the server, in nanoseconds if Linux counts them.
func backendTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		return 0, fmt.Errorf("processor time of the server: %w", err)
	}
	first, _, _ := strings.Cut(string(text), " ")
	ns, err := strconv.ParseInt(first, 10, 64)
	return time.Duration(ns), err
}

// sameRows checks that all ways return the same values.
func sameRows(ctx context.Context, ways []*way) error {
	var want []order
	for i, w := range ways {
		if err := w.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		text := bytes.TrimSpace(w.buf)
		// A page of REST is an object.
		var body struct{ Items json.RawMessage }
		if len(text) > 0 && text[0] == '{' {
			if err := json.Unmarshal(text, &body); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			text = body.Items
		}
		var got []order
		if err := json.Unmarshal(text, &got); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		for j := range got {
			got[j].PlacedAt = got[j].PlacedAt.UTC()
		}
		if i == 0 {
			want = got
		}
		if len(got) != page || !reflect.DeepEqual(want, got) {
			return fmt.Errorf("%s returns other rows than %s", w.name, ways[0].name)
		}
	}
	return nil
}
