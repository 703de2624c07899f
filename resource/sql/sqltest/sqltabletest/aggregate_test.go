package sqltabletest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// booking has a number of each kind.
type booking struct {
	ID     int64   `json:"id" readOnly:"true"`
	Status string  `json:"status"`
	Units  *int64  `json:"units"`
	Total  string  `json:"total" format:"decimal" precision:"12,2"`
	Heat   float64 `json:"heat"`
	Note   *string `json:"note"`
}

// groupsOf returns the groups of an aggregation, which must succeed.
func groupsOf[T any](t *testing.T, table *sqltable.Table[T], a query.Aggregation) (groups []query.Group) {
	t.Helper()
	for g, err := range table.Ops().Aggregate(t.Context(), a) {
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, g)
	}
	return groups
}

// aggregate returns an aggregate of a field.
func aggregate(f query.Func, field string) query.Aggregate {
	return query.Aggregate{Func: f, Field: field}
}

// Groups are one statement with bound parameters. SQLite computes sums as two halves, and only sorts and
// compares them in the library.
func TestAggregateStatements(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		table := sqltable.New[booking](db, "bookings", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		count := query.Aggregate{Func: query.Count}
		const liteFloats = "`status` COLLATE BINARY AS `c0`, " +
			"CASE WHEN abs(sum(CAST(`heat` AS REAL))) < 1e999 THEN sum(CAST(`heat` AS REAL)) END AS `c1`, " +
			"CASE WHEN abs(sum(CAST(`heat` AS REAL))) < 1e999 THEN sum(CAST(`heat` AS REAL)) / count(`heat`) END " +
			"AS `c2` FROM `bookings` GROUP BY `status` COLLATE BINARY"
		exact := `sum(NULLIF("heat", 'NaN')::text::numeric)`
		parts := "CASE WHEN abs(" + exact + ") < 2.5e-324 THEN 0 " +
			"WHEN abs(" + exact + ") >= 1.797693134862315807e308 THEN NULL "
		postgresFloats := `"status" AS "c0", ` + parts + "ELSE " + exact + `::float8 END AS "c1", ` + parts +
			"WHEN abs(" + exact + `::float8) <= 5e-324::float8 * count(NULLIF("heat", 'NaN')) - ` +
			"abs(" + exact + "::float8) THEN 0 ELSE " + exact + `::float8 / count(NULLIF("heat", 'NaN')) END AS "c2" ` +
			`FROM "bookings" GROUP BY "status"`
		tests := []struct {
			name             string
			a                query.Aggregation
			sqlite, postgres string
		}{
			{
				name: "page",
				a: query.Aggregation{Group: []string{"note"}, Aggregates: []query.Aggregate{count},
					Filter: query.Where("status", query.Eq, "paid"), Having: query.Where("count", query.Gte, 3),
					Sort:  []query.Order{{Field: "count", Desc: true}, {Field: "note"}},
					After: []any{int64(9), "x"}, Limit: 5},
				sqlite: "SELECT `c0`, `c1` FROM (SELECT `note` COLLATE BINARY AS `c0`, count(*) AS `c1` FROM `bookings` " +
					"WHERE `status` COLLATE BINARY = ?1 GROUP BY `note` COLLATE BINARY) AS `grouped` " +
					"WHERE (`c1` >= ?2 AND (`c1` <= ?3 AND ((`c1` = ?3 AND `c0` COLLATE BINARY > ?4) OR `c1` < ?3))) " +
					"ORDER BY `c1` DESC, `c0` COLLATE BINARY LIMIT ?5",
				postgres: `SELECT "c0", "c1" FROM (SELECT "note" AS "c0", count(*) AS "c1" FROM "bookings" ` +
					`WHERE "status" = $1::text GROUP BY "note") AS "grouped" WHERE ("c1" >= $2::bigint AND ` +
					`("c1" <= $3::bigint AND (("c1" = $3::bigint AND "c0" COLLATE "C" > $4::text) OR "c1" < $3::bigint))) ` +
					`ORDER BY "c1" DESC, "c0" COLLATE "C" NULLS FIRST LIMIT $5::bigint`,
			},
			{
				name: "sums",
				a: query.Aggregation{Limit: 5, Having: query.Where("sum.total", query.Gt, 1),
					Aggregates: []query.Aggregate{aggregate(query.Sum, "total"), aggregate(query.Avg, "units")}},
				sqlite: "SELECT sum((CAST(round(`total` * 1e2) AS INTEGER)) >> 32) AS `c0`, " +
					"sum((CAST(round(`total` * 1e2) AS INTEGER)) & 4294967295) AS `c1`, " +
					"sum((`units`) >> 32) AS `c2`, sum((`units`) & 4294967295) AS `c3`, count(`units`) AS `c4` " +
					"FROM `bookings`",
				postgres: `SELECT "c0", "c1" FROM (SELECT sum(NULLIF("total", 'NaN'))::numeric AS "c0", ` +
					`(sign(sum("units")::numeric) * div(abs(sum("units")::numeric) * 2e12 + count("units"), ` +
					`2 * count("units")::numeric) * 1e-12) AS "c1" FROM "bookings") AS "grouped" ` +
					`WHERE "c0" > $1::text::numeric LIMIT $2::bigint`,
			},
			{
				name: "floats",
				a: query.Aggregation{Group: []string{"status"},
					Aggregates: []query.Aggregate{aggregate(query.Sum, "heat"), aggregate(query.Avg, "heat")}},
				sqlite: "SELECT `c0`, `c1`, `c2` FROM (SELECT " + liteFloats + ") AS `grouped` " +
					"ORDER BY `c0` COLLATE BINARY",
				postgres: `SELECT "c0", "c1", "c2" FROM (SELECT ` + postgresFloats + `) AS "grouped" ` +
					`ORDER BY "c0" COLLATE "C"`,
			},
			{
				name: "order of floats", // does not change how they are added
				a: query.Aggregation{Group: []string{"status"}, Sort: []query.Order{{Field: "sum.heat"}},
					Aggregates: []query.Aggregate{aggregate(query.Sum, "heat"), aggregate(query.Avg, "heat")}},
				sqlite: "SELECT `c0`, `c1`, `c2` FROM (SELECT " + liteFloats + ") AS `grouped` " +
					"ORDER BY `c1`, `c0` COLLATE BINARY",
				postgres: `SELECT "c0", "c1", "c2" FROM (SELECT ` + postgresFloats + `) AS "grouped" ` +
					`ORDER BY "c1" NULLS FIRST, "c0" COLLATE "C"`,
			},
		}
		for _, tt := range tests {
			ran, _ := records.During(func() { groupsOf(t, table, tt.a) })
			want := tt.sqlite
			if e.Dialect == sqltx.PostgreSQL {
				want = tt.postgres
			}
			if len(ran) != 1 {
				t.Fatalf("%s: ran %v, want one statement", tt.name, ran)
			}
			if diff := cmp.Diff(want, ran[0].Text); diff != "" {
				t.Errorf("%s: statement (-want +got):\n%s", tt.name, diff)
			}
		}
	})
}

// Sums beyond an int64 are exact, sorted and compared, in pages, in each engine.
func TestAggregateExactSums(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		table := sqltable.New[booking](e.OpenSchema(t), "bookings", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		limits := []int64{math.MaxInt64, math.MinInt64, 7}
		for i := range 12 {
			b := booking{Status: fmt.Sprintf("s%d", i%4), Total: "0.10"}
			if i%4 < 3 {
				b.Units, b.Total = &limits[i%4], "9999999999.99"
			}
			if _, err := table.Ops().Create(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		a := query.Aggregation{Group: []string{"status"}, Limit: 2,
			Aggregates: []query.Aggregate{aggregate(query.Sum, "units"), aggregate(query.Avg, "units"),
				aggregate(query.Sum, "total"), aggregate(query.Avg, "total")},
			Sort: []query.Order{{Field: "sum.units", Desc: true}, {Field: "status"}}}
		var got []string
		for {
			page := groupsOf(t, table, a)
			for _, g := range page {
				got = append(got, fmt.Sprint(g.Keys[0], g.Values))
			}
			if len(page) < 2 {
				break
			}
			last := page[1]
			a.After = []any{last.Values[0], last.Keys[0]}
		}
		want := []string{
			"s0[27670116110564327421 9223372036854775807 29999999999.97 9999999999.99]",
			"s2[21 7 29999999999.97 9999999999.99]",
			"s1[-27670116110564327424 -9223372036854775808 29999999999.97 9999999999.99]",
			"s3[<nil> <nil> 0.3 0.1]",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		a.Having, a.After = query.Where("sum.units", query.Gt, uint64(math.MaxUint64)), nil
		if groups := groupsOf(t, table, a); len(groups) != 1 {
			t.Errorf("%d groups have a sum above the largest uint64, want 1", len(groups))
		}
	})
}

// reading has fields with columns in which other programs can store values that no field can have.
type reading struct {
	ID     int64   `json:"id" readOnly:"true"`
	Place  string  `json:"place"`
	Day    string  `json:"day,omitzero" format:"date" sql:"date,null"`
	Heat   float64 `json:"heat"`
	Units  *int64  `json:"units" sql:"numeric"`
	Price  string  `json:"price" format:"decimal" precision:"12,2"`
	Broken bool    `json:"broken"`
}

// readings returns a table of rows with these values.
func readings(t *testing.T, e *enginetest.Engine, columns, values string) *sqltable.Table[reading] {
	t.Helper()
	db := e.OpenSchema(t)
	table := sqltable.New[reading](db, "readings", nil)
	if err := table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	enginetest.MustExec(t, db, "INSERT INTO readings (rev, "+columns+") VALUES "+
		strings.ReplaceAll(values, "(", "('1', "))
	return table
}

// Values of other programs are in one group if clients see them as equal.
func TestAggregateOfOtherPrograms(t *testing.T) {
	const partialSums = "('a', 1e308, 1, FALSE), ('a', 1e308, 1, FALSE), ('a', -1e308, 1, FALSE)"
	sumOfHeat := query.Aggregation{Group: []string{"place"},
		Aggregates: []query.Aggregate{aggregate(query.Sum, "heat"), aggregate(query.Avg, "heat")}}
	sortedSum := sumOfHeat
	sortedSum.Sort = []query.Order{{Field: "sum.heat"}}
	tests := []struct {
		name, engine    string // "" is each engine
		columns, values string
		a               query.Aggregation
		want            string
	}{
		{
			name: "sum out of range", columns: "place, heat, price, broken",
			values: "('a', 1e308, 1, FALSE), ('a', 1e308, 1, FALSE), ('b', 0.5, 1, FALSE), ('b', 0.25, 1, FALSE)",
			a: query.Aggregation{Group: []string{"place"}, Sort: []query.Order{{Field: "sum.heat"}},
				Aggregates: []query.Aggregate{aggregate(query.Sum, "heat"), aggregate(query.Avg, "heat")}},
			want: "[a] [<nil> <nil>], [b] [0.75 0.375]",
		},
		{
			name: "partial sum out of range", engine: "postgres", columns: "place, heat, price, broken",
			values: partialSums, a: sumOfHeat, want: "[a] [1e+308 3.333333333333333e+307]",
		},
		{
			name: "partial sum out of range", engine: "sqlite", columns: "place, heat, price, broken",
			values: partialSums, a: sumOfHeat, want: "[a] [<nil> <nil>]",
		},
		{
			name: "partial sum out of range, sorted", engine: "postgres", columns: "place, heat, price, broken",
			values: partialSums, a: sortedSum, want: "[a] [1e+308 3.333333333333333e+307]",
		},
		{
			name: "partial sum out of range, sorted", engine: "sqlite", columns: "place, heat, price, broken",
			values: partialSums, a: sortedSum, want: "[a] [<nil> <nil>]",
		},
		{
			name: "least numbers", columns: "place, heat, price, broken",
			values: "('a', 5e-324, 1, FALSE), ('a', 0, 1, FALSE), ('b', 5e-324, 1, FALSE), ('c', -1.5e-323, 1, FALSE), " +
				"('c', 0, 1, FALSE), ('d', -5e-324, 1, FALSE), ('d', 0, 1, FALSE), ('d', 0, 1, FALSE)",
			a:    sumOfHeat,
			want: "[a] [5e-324 0], [b] [5e-324 5e-324], [c] [-1.5e-323 -1e-323], [d] [-5e-324 0]",
		},
		{
			name: "NaN as a float", engine: "postgres", columns: "place, heat, price, broken",
			values: "('a', 'NaN', 0, FALSE), ('a', 2, 0, FALSE), ('b', 'NaN', 0, FALSE)",
			a: query.Aggregation{Group: []string{"place"}, Aggregates: []query.Aggregate{
				aggregate(query.Distinct, "heat"), aggregate(query.Sum, "heat"), aggregate(query.Avg, "heat"),
				aggregate(query.Min, "heat"), aggregate(query.Max, "heat")}},
			want: "[a] [1 2 2 2 2], [b] [0 <nil> <nil> <nil> <nil>]",
		},
		{
			name: "groups of NaN as a float", engine: "postgres", columns: "place, heat, price, broken",
			values: "('a', 'NaN', 0, FALSE), ('a', 2, 0, FALSE)",
			a:      query.Aggregation{Group: []string{"heat"}}, want: "[<nil>] [], [2] []",
		},
		{
			name: "NaN in place of an integer", engine: "postgres", columns: "place, heat, units, price, broken",
			values: "('a', 0, 'NaN', 0, FALSE), ('a', 0, 2, 0, FALSE), ('b', 0, 'NaN', 0, FALSE)",
			a: query.Aggregation{Group: []string{"place"}, Aggregates: []query.Aggregate{
				aggregate(query.Distinct, "units"), aggregate(query.Sum, "units"), aggregate(query.Avg, "units"),
				aggregate(query.Min, "units"), aggregate(query.Max, "units")}},
			want: "[a] [1 2 2 2 2], [b] [0 <nil> <nil> <nil> <nil>]",
		},
		{
			name: "NaN", engine: "postgres", columns: "place, heat, price, broken",
			values: "('a', 0, 'NaN', FALSE), ('a', 0, 2, FALSE), ('b', 0, 'NaN', FALSE)",
			a: query.Aggregation{Group: []string{"place"}, Aggregates: []query.Aggregate{
				aggregate(query.Distinct, "price"), aggregate(query.Sum, "price"), aggregate(query.Avg, "price"),
				aggregate(query.Min, "price"), aggregate(query.Max, "price")}},
			want: "[a] [1 2 2 2 2], [b] [0 <nil> <nil> <nil> <nil>]",
		},
		{
			name: "groups of NaN", engine: "postgres", columns: "place, heat, price, broken",
			values: "('a', 0, 'NaN', FALSE), ('a', 0, 2, FALSE)",
			a:      query.Aggregation{Group: []string{"price"}}, want: "[<nil>] [], [2] []",
		},
		{
			name: "digits beyond the column", engine: "sqlite", columns: "place, heat, price, broken",
			values: "('a', 0, 0.1 + 0.2, 0), ('a', 0, 0.3, 0), ('a', 0, 0.302, 0)",
			a: query.Aggregation{Group: []string{"price"}, Having: query.Where("min.price", query.Eq, decimalOf("0.3")),
				Aggregates: []query.Aggregate{aggregate(query.Distinct, "price"), aggregate(query.Min, "price"),
					aggregate(query.Max, "price")}},
			want: "[0.3] [1 0.3 0.3]",
		},
		{
			name: "numbers as booleans", engine: "sqlite", columns: "place, heat, price, broken",
			values: "('a', 0, 0, 0), ('a', 0, 0, 1), ('a', 0, 0, 2)",
			a: query.Aggregation{Group: []string{"broken"},
				Aggregates: []query.Aggregate{{Func: query.Count}, aggregate(query.Distinct, "broken")}},
			want: "[false] [1 1], [true] [2 1]",
		},
		{
			name: "NULL of a field that cannot be null", columns: "place, day, heat, price, broken",
			values: "('a', NULL, 0, 0, FALSE), ('b', '2026-11-26', 0, 0, FALSE)",
			a: query.Aggregation{Group: []string{"day"}, Sort: []query.Order{{Field: "day", Desc: true}},
				Aggregates: []query.Aggregate{{Func: query.Count}}},
			want: "[2026-11-26] [1], [<nil>] [1]",
		},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			if tt.engine == "sqlite" && e.Dialect != sqltx.SQLite || tt.engine == "postgres" && e.Dialect != sqltx.PostgreSQL {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				table := readings(t, e, tt.columns, tt.values)
				var got []string
				for page := tt.a; ; { // page by page
					page.Limit, page.Sort = 1, tt.a.TotalOrder()
					groups := groupsOf(t, table, page)
					if len(groups) == 0 || len(got) > 3 {
						break
					}
					got = append(got, fmt.Sprint(groups[0].Keys, groups[0].Values))
					page.After = make([]any, len(page.Sort))
					for i, o := range page.Sort {
						page.After[i] = page.ValueOf(groups[0], o.Field)
					}
				}
				if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
					t.Errorf("groups (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// decimalOf returns a decimal, which must be valid.
func decimalOf(text string) query.Decimal {
	d, err := query.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// A consumer that stops, because its request was canceled, is not called with the error.
func TestAggregateStops(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		table := readings(t, e, "place, heat, price, broken", "('a', 0, 0, FALSE), ('b', 0, 0, FALSE)")
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			table.Ops().Aggregate(ctx, query.Aggregation{Group: []string{"place"}})(func(query.Group, error) bool {
				calls++
				cancel()
				for range 1000 { // database/sql closes the rows
					runtime.Gosched()
				}
				return false
			})
			if calls != 1 {
				t.Fatalf("the consumer was called %d times after it had stopped", calls-1)
			}
		}
	})
}

func TestAggregateRefusals(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		table := sqltable.New[booking](e.OpenSchema(t), "bookings", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, tt := range []struct {
			ctx  context.Context
			a    query.Aggregation
			want error
			text string
		}{
			{t.Context(), query.Aggregation{Group: []string{"nope"}}, nil, `sqlquery: no column for field "nope"`},
			{t.Context(), query.Aggregation{Aggregates: []query.Aggregate{aggregate(query.Sum, "status")}}, nil,
				"sqlquery: status is not a number"},
			{t.Context(), query.Aggregation{Aggregates: []query.Aggregate{aggregate("median", "units")}}, nil,
				`sqlquery: unknown function "median"`},
			{canceled, query.Aggregation{Group: []string{"status"}}, context.Canceled, ""},
		} {
			var got error
			for _, err := range table.Ops().Aggregate(tt.ctx, tt.a) {
				got = err
			}
			if got == nil || tt.want != nil && !errors.Is(got, tt.want) || tt.text != "" && got.Error() != tt.text {
				t.Errorf("Aggregate %+v returned %v, want %v%s", tt.a, got, tt.want, tt.text)
			}
		}
	})
}
