package enginetest

// Tests of queries: their sizes, and EXPLAIN.

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// PlanRows is the number of rows of a large table: STOA_ROWS, by default 20,000. With 1,000,000 the times
// that tests log are those of a large table.
func PlanRows(t testing.TB) int { return number(t, "STOA_ROWS", 20_000) }

// Requests is the number of random requests of a test that compares answers: STOA_REQUESTS, by default 300.
func Requests(t testing.TB) int { return number(t, "STOA_REQUESTS", 300) }

// number returns a variable of the environment.
func number(t testing.TB, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Numbers returns FROM with the numbers n from 1 to most.
func Numbers(d sqltx.Dialect, most int) string {
	if d == sqltx.PostgreSQL {
		return fmt.Sprintf(" FROM generate_series(1, %d) AS s(n)", most)
	}
	return fmt.Sprintf(" FROM (WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM s WHERE n < %d) "+
		"SELECT n FROM s) AS s", most)
}

// Explain returns the plan of a statement.
func Explain(t testing.TB, db *sqltx.DB, s Statement) string {
	t.Helper()
	prefix, last := "EXPLAIN QUERY PLAN ", 3
	if db.Dialect() == sqltx.PostgreSQL {
		prefix, last = "EXPLAIN (COSTS off) ", 0
	}
	rows, err := db.Reader(t.Context()).QueryContext(t.Context(), prefix+s.Text, s.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var text string
		var ignored any
		dest := []any{&ignored, &ignored, &ignored, &ignored}[:last]
		if err := rows.Scan(append(dest, &text)...); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
