package sqltxtest

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

var benchRows = flag.Int("rows", 200_000, "of the table of the benchmarks")

// BenchmarkPage reads a page of 50 rows, the most populous first and then by id, of a table with
// an index for that. Deep is a page after nine tenths of the table, where a hundred rows each
// have the same population: half of them are passed over.
//
//	go test -run '^$' -bench Page . -args -rows 1000000
func BenchmarkPage(b *testing.B) {
	tr := map[sqltx.Dialect]*sqlquery.Translator{}
	for _, d := range []sqltx.Dialect{sqltx.SQLite, sqltx.PostgreSQL} {
		tr[d] = sqlquery.New(sqlquery.Dialect(d), map[string]sqlquery.Column{
			"id": {Kind: sqlquery.Integer, NotNull: true}, "name": {NotNull: true}, "population": {Kind: sqlquery.Integer}})
	}
	sort := []query.Order{{Field: "population", Desc: true}, {Field: "id"}}
	deep := []any{int64(*benchRows / 1000), int64(*benchRows/10 + 50)}
	for _, e := range sqltest.Engines() {
		b.Run(e.Name, func(b *testing.B) {
			pool := sql.OpenDB(e.Connector(b))
			b.Cleanup(func() { pool.Close() })
			db := sqltx.New(e.Dialect, pool, nil)
			populate(b, db)
			first := query.Query{Sort: sort, Limit: 50}
			behind := query.Query{Sort: sort, Limit: 50, After: deep}
			translate := func(q query.Query) ([]sqlquery.Clauses, error) {
				c, err := tr[e.Dialect].Translate(q)
				return []sqlquery.Clauses{c}, err
			}
			byHand := func(query.Query) ([]sqlquery.Clauses, error) {
				p := e.Dialect.Placeholder
				nulls := map[sqltx.Dialect]string{sqltx.PostgreSQL: " NULLS LAST"}[e.Dialect]
				return []sqlquery.Clauses{{
					Where:   "population = " + p(1) + " AND id > " + p(2),
					OrderBy: "population DESC" + nulls + ", id", Limit: p(3), Args: []any{deep[0], deep[1], 50},
				}, {
					Where:   "population < " + p(1),
					OrderBy: "population DESC" + nulls + ", id", Limit: p(2), Args: []any{deep[0], 50},
				}}, nil
			}
			steps := func(q query.Query) ([]sqlquery.Clauses, error) { return tr[e.Dialect].Steps(q) }
			benchmarkPage(b, db, "first", first, steps)
			benchmarkPage(b, db, "deep/Steps", behind, steps)
			benchmarkPage(b, db, "deep/byHand", behind, byHand)
			benchmarkPage(b, db, "deep/Translate", behind, translate)
		})
	}
}

// populate lets the engine make the rows.
func populate(b *testing.B, db *sqltx.DB) {
	b.Helper()
	ctx := b.Context()
	n := *benchRows
	series := fmt.Sprintf("WITH RECURSIVE s (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < %d)", n-1)
	index := "CREATE INDEX places_population ON places (population DESC, id)"
	if db.Dialect() == sqltx.PostgreSQL {
		index = "CREATE INDEX places_population ON places (population DESC NULLS LAST, id)"
	}
	exec(b, ctx, db, "CREATE TABLE places (id integer PRIMARY KEY, name varchar(40) NOT NULL, population bigint)",
		"INSERT INTO places "+series+" SELECT i, 'Town ' || i, i / 100 FROM s", index, "ANALYZE")
}

func benchmarkPage(b *testing.B, db *sqltx.DB, name string, q query.Query, steps func(query.Query) ([]sqlquery.Clauses, error)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n, err := page(b.Context(), db, q, steps); n != q.Limit || err != nil {
				b.Fatal(n, err)
			}
		}
	})
}

// page reads as a store would.
func page(ctx context.Context, db *sqltx.DB, q query.Query, steps func(query.Query) ([]sqlquery.Clauses, error)) (n int, err error) {
	all, err := steps(q)
	if err != nil {
		return 0, err
	}
	for _, c := range all {
		rows, err := db.Reader(ctx).QueryContext(ctx, "SELECT id, name, population FROM places"+c.String(), c.Args...)
		if err != nil {
			return n, err
		}
		for n < q.Limit && rows.Next() {
			var id, population sql.NullInt64
			var name string
			if err := rows.Scan(&id, &name, &population); err != nil {
				return n, err
			}
			n++
		}
		if err := rows.Close(); err != nil {
			return n, err
		}
		if n == q.Limit {
			break
		}
	}
	return n, nil
}

// BenchmarkTransaction writes ten rows in a transaction of PostgreSQL. Ignored ignores the error of one more
// write, so that the function runs again with savepoints. Nested has a savepoint for each write.
//
//	go test -run '^$' -bench Transaction .
func BenchmarkTransaction(b *testing.B) {
	for _, e := range sqltest.Engines() {
		if e.Dialect != sqltx.PostgreSQL {
			continue
		}
		pool := sql.OpenDB(e.Connector(b))
		b.Cleanup(func() { pool.Close() })
		db := sqltx.New(e.Dialect, pool, nil)
		for _, text := range []string{"CREATE TABLE notes (id integer PRIMARY KEY, n integer NOT NULL)",
			"INSERT INTO notes SELECT n, 0 FROM generate_series(1, 10) AS n"} {
			if _, err := pool.ExecContext(b.Context(), text); err != nil {
				b.Fatal(err)
			}
		}
		write := func(ctx context.Context, id int) error {
			_, err := db.Writer(ctx).ExecContext(ctx, "UPDATE notes SET n = n + 1 WHERE id = $1", id)
			return err
		}
		ignored := func(ctx context.Context, id int) error {
			if id == 5 {
				db.Writer(ctx).ExecContext(ctx, "INSERT INTO notes VALUES ($1, 0)", id)
			}
			return write(ctx, id)
		}
		nested := func(ctx context.Context, id int) error {
			return db.Nested(ctx, func(ctx context.Context) error { return write(ctx, id) })
		}
		for name, write := range map[string]func(context.Context, int) error{"plain": write, "ignored": ignored,
			"nested": nested} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					err := db.InTx(b.Context(), func(ctx context.Context) error {
						for id := 1; id <= 10; id++ {
							if err := write(ctx, id); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
