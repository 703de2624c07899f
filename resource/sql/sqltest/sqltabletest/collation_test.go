package sqltabletest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// part is in a table with a text key.
type part struct {
	SKU   string  `json:"sku"`
	Title string  `json:"title"`
	Maker *string `json:"maker"`
}

// existingParts is such a table as another program creates it: in the collation of the database.
const existingParts = `CREATE TABLE parts (sku text PRIMARY KEY, title text NOT NULL, maker text)`

// postgres returns the engine of PostgreSQL.
func postgres() sqltest.Engine {
	for _, e := range sqltest.Engines() {
		if e.Dialect == sqltx.PostgreSQL {
			return e
		}
	}
	panic("there is no PostgreSQL among the engines")
}

// TestKitOfCollation compares lists with the order of the database itself.
func TestKitOfCollation(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("SQLite sorts by code point")
		}
		s := ofTickets(sqltable.Options{Rev: "row_version", Collation: "default"})
		db := e.OpenSchema(t)
		var mu sync.Mutex
		known := map[[2]string]int{}
		s.kit.CompareText = func(a, b string) (order int) {
			mu.Lock()
			defer mu.Unlock()
			order, ok := known[[2]string{a, b}]
			if ok {
				return order
			}
			if err := scanRow(t.Context(), db, &order, "SELECT CASE WHEN $1::text < $2::text THEN -1 "+
				"WHEN $1::text > $2::text THEN 1 ELSE 0 END", a, b); err != nil {
				t.Fatal(err)
			}
			known[[2]string{a, b}] = order
			return order
		}
		if s.kit.CompareText("a", "B") > 0 {
			t.Fatal("the database sorts by code point: the test shows nothing")
		}
		s.run(t, e)
	})
}

// scanRow scans the first row of a result.
func scanRow(ctx context.Context, db *sqltx.DB, dest any, statement string, args ...any) error {
	rows, err := db.Reader(ctx).QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(rows.Err(), sql.ErrNoRows)
	}
	return rows.Scan(dest)
}

// TestCollationPlans checks that the indexes of an existing table serve its lists, also deep in them,
// if its collation is declared.
func TestCollationPlans(t *testing.T) {
	t.Parallel()
	db := postgres().Open(t, nil)
	enginetest.MustExec(t, db, existingParts, "CREATE INDEX parts_maker ON parts (maker NULLS FIRST, sku)",
		"INSERT INTO parts SELECT 'SKU-' || i, 'Part', CASE WHEN i % 3 > 0 THEN 'M' || i % 50 END "+
			"FROM generate_series(1, 1000) AS i")
	tests := []struct {
		name, collation string
		sort            []query.Order
		after           []any
		sorts           bool
	}{
		{name: "by code point", sort: []query.Order{{Field: "sku"}}, sorts: true},
		{name: "first page", collation: "default", sort: []query.Order{{Field: "sku"}}},
		{name: "position", collation: "default", sort: []query.Order{{Field: "sku"}}, after: []any{"SKU-500"}},
		{name: "descending", collation: "default", sort: []query.Order{{Field: "sku", Desc: true}}, after: []any{"SKU-5"}},
		{name: "nullable", collation: "default", sort: []query.Order{{Field: "maker"}, {Field: "sku"}},
			after: []any{"M7", "SKU-7"}},
		{name: "nullable, descending", collation: "default",
			sort: []query.Order{{Field: "maker", Desc: true}, {Field: "sku", Desc: true}}, after: []any{"M7", "SKU-7"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table := map[string]sqlquery.Column{
				"sku":   {NotNull: true, Collation: tt.collation},
				"maker": {Collation: tt.collation},
			}
			steps, err := sqlquery.New(sqlquery.PostgreSQL, table).
				Steps(query.Query{Sort: tt.sort, After: tt.after, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range steps {
				plan := explain(t, db, enginetest.Statement{Text: "SELECT * FROM parts" + step.String(), Args: step.Args})
				if got := strings.Contains(plan, "Sort"); got != tt.sorts {
					t.Errorf("%s\nsorts: %v, want %v:\n%s", step, got, tt.sorts, plan)
				}
				if tt.after != nil && !strings.Contains(plan, "Index Cond") {
					t.Errorf("%s\ndoes not begin at the position:\n%s", step, plan)
				}
			}
		})
	}
}

// TestForgedPosition uses texts that PostgreSQL cannot store, so their position in a collation is unknown.
func TestForgedPosition(t *testing.T) {
	t.Parallel()
	db := postgres().Open(t, nil)
	enginetest.MustExec(t, db, existingParts, "INSERT INTO parts VALUES ('a', 'A'), ('b', 'B')")
	table := sqltable.New[part](db, "parts", &sqltable.Options{
		ID: "sku", Rev: sqltable.XMin, Collation: "default", Forget: true})
	for _, desc := range []bool{false, true} {
		for _, text := range []string{"a\x00", "a\xff"} {
			q := query.Query{Sort: []query.Order{{Field: "sku", Desc: desc}}, After: []any{text}}
			for it, err := range table.Ops().List(t.Context(), q) {
				t.Errorf("after %q, descending %v: %v, %v; want nothing", text, desc, it, err)
			}
		}
	}
}

// TestXMinCondition checks that an UPDATE finds its row by its place or its key, and that revisions that
// no row has had match none.
func TestXMinCondition(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("SQLite has no xmin")
		}
		db, records := enginetest.Record(t, e)
		enginetest.MustExec(t, db, existingParts,
			"INSERT INTO parts SELECT 'SKU-' || i, 'Part', NULL FROM generate_series(1, 1000) AS i", "ANALYZE parts")
		ops := sqltable.New[part](db, "parts", &sqltable.Options{ID: "sku", Rev: sqltable.XMin, Forget: true}).Ops()
		it, err := ops.Get(t.Context(), "SKU-7")
		if err != nil {
			t.Fatal(err)
		}
		for _, rev := range []resource.Rev{"", "x", "0" + it.Rev, "+" + it.Rev, it.Rev + ")", it.Rev[:len(it.Rev)-1],
			"4294967296(0,1)", "1(4294967296,1)", "1(0,65536)", "1(0,1", "1(00,1)"} {
			if _, err := ops.Replace(t.Context(), it.ID, rev, it.Value); !errors.Is(err, resource.ErrStale) {
				t.Errorf("Replace with the revision %q: %v, want ErrStale", rev, err)
			}
		}
		ran, _ := records.During(func() {
			if it, err = ops.Replace(t.Context(), it.ID, it.Rev, it.Value); err != nil {
				t.Fatal(err)
			}
		})
		if plan := explain(t, db, ran[0]); !strings.Contains(plan, "Tid Scan") && !strings.Contains(plan, "Index Scan") {
			t.Errorf("%s\nis answered by\n%s", ran[0], plan)
		}
	})
}

func TestCheckCollation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, collation, column string
		want                    []string
	}{
		{name: "by code point", column: "text"},
		{name: "database", column: "text", collation: "default"},
		{name: "named", column: `text COLLATE "de-x-icu"`, collation: "de-x-icu"},
		{name: "unknown", column: "text", collation: "klingon",
			want: []string{"lists by field SKU cannot be sorted: there is no collation klingon",
				"lists by field Title cannot be sorted: there is no collation klingon",
				"lists by field Maker cannot be sorted: there is no collation klingon"}},
		{name: "not deterministic", column: "text COLLATE ci",
			want: []string{"column title has the collation ci, which is not deterministic: give the column another, " +
				"or read lower(...) by the Expr of Options.Columns"}},
		{name: "declared, not deterministic", column: "text", collation: "ci",
			want: []string{
				"lists by field SKU cannot be sorted: the collation ci is not deterministic, so different texts can be equal in it",
				"lists by field Title cannot be sorted: the collation ci is not deterministic, so different texts can be equal in it",
				"lists by field Maker cannot be sorted: the collation ci is not deterministic, so different texts can be equal in it"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := postgres().Open(t, nil)
			enginetest.MustExec(t, db,
				"CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
				strings.Replace(existingParts, "title text", "title "+tt.column, 1))
			err := sqltable.New[part](db, "parts", &sqltable.Options{
				ID: "sku", Rev: sqltable.XMin, Collation: tt.collation, Forget: true}).Check(t.Context())
			var got []string
			if err != nil {
				got = strings.Split(err.Error(), "\n\t")[1:]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("what Check reports (-want +got):\n%s", diff)
			}
		})
	}
}

// BenchmarkTextKey lists pages of 100 of 100,000 rows by a text key, from the middle of the list: of a
// table that the package creates, and of existing ones. It reports the ratio to the first.
func BenchmarkTextKey(b *testing.B) {
	const page = 100
	db, _ := pooled(b, postgres())
	fill := func(table, columns, values string) string {
		return "INSERT INTO " + table + " (" + columns + ") SELECT " + values +
			" FROM generate_series(1, 100000) AS i ORDER BY md5(i::text)"
	}
	own := sqltable.New[part](db, "own", &sqltable.Options{ID: "sku", Forget: true})
	if err := own.CreateTable(b.Context()); err != nil {
		b.Fatal(err)
	}
	enginetest.MustExec(b, db, existingParts, "ALTER TABLE parts ADD rev text NOT NULL DEFAULT 'r'",
		fill("own", "sku, title, maker, rev", "'SKU-' || i, 'Part ' || i, 'Maker', 'r' || i"),
		fill("parts", "sku, title, maker", "'SKU-' || i, 'Part ' || i, 'Maker'"), "VACUUM ANALYZE own", "VACUUM ANALYZE parts")
	existing := func(opts sqltable.Options) *sqltable.Table[part] {
		opts.ID, opts.Forget = "sku", true
		return sqltable.New[part](db, "parts", &opts)
	}
	var first float64
	for _, bm := range []struct {
		name  string
		table *sqltable.Table[part]
	}{
		{"created", own},
		{"existing, collation declared", existing(sqltable.Options{Collation: "default"})},
		{"existing, collation and xmin", existing(sqltable.Options{Collation: "default", Rev: sqltable.XMin})},
		{"existing, by code point", existing(sqltable.Options{})},
	} {
		b.Run(bm.name, func(b *testing.B) {
			q := query.Query{Sort: []query.Order{{Field: "sku"}}, After: []any{"SKU-50000"}, Limit: page + 1}
			best := time.Duration(1 << 62) // the least disturbed run of a shared machine
			for b.Loop() {
				from, n := time.Now(), 0
				for it, err := range bm.table.Ops().List(b.Context(), q) {
					if err != nil || it.Rev == (resource.Rev("")) {
						b.Fatal(it, err)
					}
					n++
				}
				if n != q.Limit {
					b.Fatalf("%d rows, want %d", n, q.Limit)
				}
				best = min(best, time.Since(from))
			}
			if first == 0 {
				first = float64(best)
			}
			b.ReportMetric(float64(best)/first, "ratio")
			b.ReportMetric(float64(best.Microseconds()), "best-us")
		})
	}
}

// BenchmarkXMinColumns reads a page with the system columns as they are, and as one text, which is how
// the server would format the revision.
func BenchmarkXMinColumns(b *testing.B) {
	db, pool := pooled(b, postgres())
	enginetest.MustExec(b, db, existingParts, "INSERT INTO parts SELECT 'SKU-' || i, 'Part ' || i, 'Maker' "+
		"FROM generate_series(1, 100000) AS i", "VACUUM ANALYZE parts")
	for _, columns := range []string{"'r', 'r'", "xmin, ctid", "'r', (xmin::text || ctid::text)"} {
		b.Run(columns, func(b *testing.B) {
			best := time.Duration(1 << 62)
			for b.Loop() {
				from := time.Now()
				rows, err := pool.QueryContext(b.Context(), "SELECT "+columns+
					", sku, title, maker FROM parts ORDER BY sku LIMIT 101")
				if err != nil {
					b.Fatal(err)
				}
				var xmin, ctid, sku, title, maker string
				for rows.Next() {
					if err := rows.Scan(&xmin, &ctid, &sku, &title, &maker); err != nil {
						b.Fatal(err)
					}
				}
				if err := rows.Close(); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(from))
			}
			b.ReportMetric(float64(best.Microseconds()), "best-us")
		})
	}
}
