package main

// The ways that are compared.

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http/httptest"

	"github.com/jackc/pgx/v5"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/pgxrows"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// The names of the ways that others are compared with.
const (
	floorName = "binary rows by hand"
	aggName   = "json_agg in the database"
	fastName  = "Stoa, pgxrows"
	// cachedName has the revisions from the database and the items from the cache.
	cachedName = "GET of Stoa from its cache, pgxrows"
)

// lister makes one list. It replaces the content of buf.
type lister = func(ctx context.Context, buf []byte) ([]byte, error)

// ways opens the connections of all ways. The first is the floor.
func (s *store) ways(ctx context.Context) ([]*way, error) {
	var list []*way
	overPgx := func(name string, make func(c *pgx.Conn) lister) error {
		c, err := s.conn(ctx)
		if err != nil {
			return err
		}
		list = append(list, &way{name: name, backend: int(c.PgConn().PID()), list: make(c)})
		return nil
	}
	for _, peer := range []struct {
		name string
		make func(c *pgx.Conn) lister
	}{{floorName, byHand}, {"pgx to structs, encoding/json", byStructs}, {aggName, byAggregate}} {
		if err := overPgx(peer.name, peer.make); err != nil {
			return nil, err
		}
	}
	overPool := func(name string, make func(pool *sql.DB) lister) error {
		pool := s.pool()
		w := &way{name: name, list: make(pool)}
		list = append(list, w)
		return pool.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&w.backend)
	}
	for _, peer := range []struct {
		name string
		make func(pool *sql.DB) lister
	}{
		{"database/sql to structs, encoding/json", byScan},
		{"Stoa, database/sql", byStoa(nil, "rev")},
		{"Stoa, database/sql, XMin", byStoa(nil, sqltable.XMin)},
		{fastName, byStoa(pgxrows.Reader{}, "rev")},
		{"Stoa, pgxrows, XMin", byStoa(pgxrows.Reader{}, sqltable.XMin)},
		{"GET of Stoa, database/sql", byRequest(nil, 0)},
		{"GET of Stoa, pgxrows", byRequest(pgxrows.Reader{}, 0)},
		{"GET of Stoa from its cache, database/sql", byRequest(nil, cache.DefaultBytes)},
		{cachedName, byRequest(pgxrows.Reader{}, cache.DefaultBytes)},
	} {
		if err := overPool(peer.name, peer.make); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// byStructs collects structs with pgx.
func byStructs(c *pgx.Conn) lister {
	return func(ctx context.Context, _ []byte) ([]byte, error) {
		rows, err := c.Query(ctx, list, page)
		if err != nil {
			return nil, err
		}
		orders, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o order, err error) {
			err = row.Scan(o.fields()...)
			return o, err
		})
		if err != nil {
			return nil, err
		}
		return json.Marshal(orders)
	}
}

// byAggregate lets the database make the array, as PostgREST does.
func byAggregate(c *pgx.Conn) lister {
	const statement = `SELECT coalesce(json_agg(o), '[]')::text FROM (SELECT id, customer, status, note,
		quantity, price, paid, placed_at AS "placedAt" FROM orders ORDER BY id LIMIT $1) AS o`
	return func(ctx context.Context, buf []byte) ([]byte, error) {
		rows, err := c.Query(ctx, statement, page)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			buf = append(buf, rows.RawValues()[0]...)
		}
		return buf, rows.Err()
	}
}

// byScan scans structs with database/sql.
func byScan(pool *sql.DB) lister {
	return func(ctx context.Context, _ []byte) ([]byte, error) {
		rows, err := pool.QueryContext(ctx, list, page)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		orders := make([]order, 0, page)
		for rows.Next() {
			var o order
			err := rows.Scan(o.fields()...)
			if err != nil {
				return nil, err
			}
			orders = append(orders, o)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		return json.Marshal(orders)
	}
}

// operations returns those of a table of Stoa.
func operations(pool *sql.DB, reader sqltx.RowReader, rev string) resource.Ops[order] {
	db := sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{Rows: reader})
	return sqltable.New[order](db, "orders", &sqltable.Options{Rev: rev, Forget: true}).Ops()
}

// byStoa lists with ListJSON of a table.
func byStoa(reader sqltx.RowReader, rev string) func(*sql.DB) lister {
	return func(pool *sql.DB) lister {
		ops := operations(pool, reader, rev)
		q := query.Query{Sort: []query.Order{{Field: "id"}}, Limit: page}
		return func(ctx context.Context, buf []byte) ([]byte, error) {
			buf = append(buf, '[')
			for it, err := range ops.FastReads().ListJSON(ctx, q) {
				if err != nil {
					return nil, err
				}
				if len(buf) > 1 {
					buf = append(buf, ',')
				}
				buf = append(buf, it.JSON...)
			}
			return append(buf, ']'), nil
		}
	}
}

// byRequest sends GET requests to the handler of a table, without a network. The cache has this many bytes.
func byRequest(reader sqltx.RowReader, kept int) func(*sql.DB) lister {
	return func(pool *sql.DB) lister {
		ops := operations(pool, reader, "rev")
		r := ops.Resource("orders", &resource.Options[order]{Public: true})
		opts := &resource.CatalogOptions{Cache: cache.New(kept)}
		client := measure.Client{
			Handler: rest.New(resource.NewCatalog(opts, r), nil),
			Request: httptest.NewRequest("GET", fmt.Sprintf("/orders?limit=%d", page), nil),
		}
		client.Response.Keep = true
		return func(context.Context, []byte) ([]byte, error) {
			client.Send()
			if client.Response.Status != 200 {
				return nil, fmt.Errorf("GET: %d %s", client.Response.Status, client.Response.Body)
			}
			return client.Response.Body, nil
		}
	}
}
