package sqltxtest

import (
	"context"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestIndexesServe checks the plan of each engine: an index serves ORDER BY, each page begins at a
// position of the index, and nothing is sorted.
func TestIndexesServe(t *testing.T) {
	places := map[string]sqlquery.Column{
		"id":         {NotNull: true},
		"country":    {NotNull: true},
		"name":       {},
		"population": {Kind: sqlquery.Integer},
		"rank":       {Kind: sqlquery.Integer, NotNull: true},
	}
	asc, desc := false, true
	key := func(field string, desc bool) query.Order { return query.Order{Field: field, Desc: desc} }
	tests := []struct {
		name   string
		filter query.Filter
		sort   []query.Order
		after  []any
		steps  int
	}{
		{"the first page", query.Filter{}, []query.Order{key("id", asc)}, nil, 1},
		{"by the key", query.Filter{}, []query.Order{key("id", asc)}, []any{"x"}, 1},
		{"backwards", query.Filter{}, []query.Order{key("id", desc)}, []any{"x"}, 1},
		{"one direction", query.Filter{}, []query.Order{key("rank", asc), key("id", asc)}, []any{int64(5), "x"}, 1},
		{"one direction, backwards", query.Filter{}, []query.Order{key("rank", desc), key("id", desc)}, []any{int64(5), "x"}, 1},
		{"two directions", query.Filter{}, []query.Order{key("rank", desc), key("id", asc)}, []any{int64(5), "x"}, 2},
		{"nulls first", query.Filter{}, []query.Order{key("population", asc), key("id", asc)}, []any{int64(5), "x"}, 2},
		{"nulls last", query.Filter{}, []query.Order{key("population", desc), key("id", asc)}, []any{int64(5), "x"}, 3},
		{"after a null", query.Filter{}, []query.Order{key("name", asc), key("id", asc)}, []any{nil, "x"}, 2},
		{"within a filter", query.Where("country", query.Eq, "GR"),
			[]query.Order{key("country", asc), key("rank", desc), key("id", asc)}, []any{"GR", int64(5), "x"}, 3},
		{"a prefix", query.Where("name", query.StartsWith, "Ath"), []query.Order{key("name", asc), key("id", asc)}, nil, 1},
	}
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		tr := sqlquery.New(sqlquery.Dialect(e.Dialect), places)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				db := e.Open(t, nil)
				q := query.Query{Filter: tt.filter, Sort: tt.sort, After: tt.after, Limit: 10}
				steps, err := tr.Steps(q)
				if err != nil {
					t.Fatal(err)
				}
				// A column that is declared so needs no other index for its filters than for its sort.
				collation := map[sqltx.Dialect]string{sqltx.SQLite: "", sqltx.PostgreSQL: `COLLATE "C"`}[e.Dialect]
				exec(t, t.Context(), db, `CREATE TABLE places (id varchar(64) NOT NULL, country varchar(2) `+collation+` NOT NULL,
					name varchar(200), population bigint, rank bigint NOT NULL)`, "CREATE INDEX serving ON places ("+steps[0].OrderBy+")")
				if len(steps) != tt.steps {
					t.Errorf("there are %d steps, want %d", len(steps), tt.steps)
				}
				for _, c := range steps {
					plan := explain(t, db, c)
					for _, word := range []string{"Sort", "TEMP B-TREE", "Seq Scan", "Filter:", "MULTI-INDEX"} {
						if strings.Contains(plan, word) {
							t.Errorf("%s\nis answered by %s", c, plan)
						}
					}
					if !strings.Contains(plan, "serving") || tt.after != nil && !seeks(plan) {
						t.Errorf("%s\nis answered by %s", c, plan)
					}
				}
			})
		}
	})
}

// seeks reports whether a plan begins within an index.
func seeks(plan string) bool {
	return strings.Contains(plan, "SEARCH") || strings.Contains(plan, "Index Cond")
}

// explain returns the plan for a large table: sequential scans of the small one are disabled.
func explain(t *testing.T, db *sqltx.DB, c sqlquery.Clauses) string {
	t.Helper()
	ctx := t.Context()
	statement := "SELECT id FROM places" + c.String()
	if db.Dialect() == sqltx.PostgreSQL {
		var lines []string
		err := db.InTx(ctx, func(ctx context.Context) (err error) {
			exec(t, ctx, db, "SET LOCAL enable_seqscan = off", "SET LOCAL enable_bitmapscan = off", "SET LOCAL enable_sort = off")
			lines, err = column[string](ctx, db.Reader(ctx), "EXPLAIN (COSTS off) "+statement, c.Args...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, "\n")
	}
	rows, err := db.Reader(ctx).QueryContext(ctx, "EXPLAIN QUERY PLAN "+statement, c.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var ignored int
		var line string
		if err := rows.Scan(&ignored, &ignored, &ignored, &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
