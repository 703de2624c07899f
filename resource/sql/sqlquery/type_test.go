package sqlquery_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// typed has columns of the types of PostgreSQL.
var typed = sqlquery.New(sqlquery.PostgreSQL, map[string]sqlquery.Column{
	"id":    {Kind: sqlquery.Integer, NotNull: true},
	"tier":  {Type: "shop.customer_tier", NotNull: true},
	"mail":  {Type: "citext"},
	"ip":    {Type: "inet"},
	"born":  {Type: "date"},
	"price": {Kind: sqlquery.Decimal, Type: "numeric(12,2)", NotNull: true},
	"span":  {Kind: sqlquery.Duration},
	"real":  {Kind: sqlquery.Number, Type: "real"},
	"local": {Kind: sqlquery.Time, Type: "timestamp"},
	"tags":  {Type: "text[]", List: true},
	"tiers": {Type: "Tier[]", List: true, NotNull: true},
	"sizes": {Kind: sqlquery.Integer, List: true},
})

func TestTranslateTypes(t *testing.T) {
	t.Parallel()
	price, _ := query.ParseDecimal("9.555")
	span, _ := query.ParseDuration("P1M")
	const label = `SELECT l FROM unnest(enum_range(NULL::"shop"."customer_tier")) AS l WHERE l::text = $1::text`
	tests := []struct {
		name   string
		filter query.Filter
		want   string
		args   []any
	}{
		{"an enum", query.Where("tier", query.Eq, "pro"), `"tier" = ANY (ARRAY(` + label + `))`, []any{"pro"}},
		{"not an enum", query.Where("tier", query.Ne, "pro"), `"tier"::text <> $1::text`, []any{"pro"}},
		{"an enum in order", query.Where("tier", query.Gt, "pro"), `"tier"::text COLLATE "C" > $1::text`, []any{"pro"}},
		{"citext", query.Where("mail", query.Eq, "A"), `("mail" = $1::text::citext AND "mail"::text = $1::text)`, []any{"A"}},
		{"an address", query.Where("ip", query.Eq, "::1"), `("ip" = $1::text::inet AND abbrev("ip") = $1::text)`, []any{"::1"}},
		{"no address", query.Where("ip", query.Eq, "x"), "FALSE", nil},
		{"a date", query.Where("born", query.Eq, "2024-02-29"), `"born" = $1::text::date`, []any{"2024-02-29"}},
		{"no date", query.Where("born", query.Eq, "2024-02-30"), "FALSE", nil},
		{"between dates", query.Where("born", query.Lt, "2024-02-30"), `"born" <= $1::text::date`, []any{"2024-02-29"}},
		{"a decimal", query.Where("price", query.Gt, price), `"price" > $1::text::numeric`, []any{"9.555"}},
		{"a duration", query.Where("span", query.Lte, span), `"span" <= $1::text::interval`, []any{"P1M"}},
		{"a float of 32 bits", query.Where("real", query.Eq, 0.1), `"real" = $1::real`, []any{float64(float32(0.1))}},
		{"between floats", query.Where("real", query.Eq, 0.1000000001), "FALSE", nil},
		{"a time without zone", query.Where("local", query.Eq, noon.Add(-500)), `"local" = $1::text::timestamp`,
			[]any{"2024-02-29 11:00:00.000001"}},
		{"an element", query.Where("tags", query.Contains, "a"), `"tags" @> ARRAY[$1::text]::text[]`, []any{"a"}},
		{"no element", query.Not(query.Where("tags", query.Contains, "a")),
			`(NOT ("tags" @> ARRAY[$1::text]::text[]) OR "tags" IS NULL)`, []any{"a"}},
		{"an element of an enum", query.Where("tiers", query.Contains, "a"),
			`EXISTS (SELECT 1 FROM unnest("tiers") AS e WHERE e::text = $1::text)`, []any{"a"}},
		{"an element of JSON", query.Where("sizes", query.Contains, 1), `"sizes" @> to_jsonb($1::bigint)`, []any{int64(1)}},
		{"a list is equal to nothing", query.Where("tags", query.Eq, "a"), "FALSE", nil},
		{"not a comparison of a list", query.Not(query.Where("tags", query.Eq, "a")), `"tags" IS NULL`, nil},
		{"a list starts with nothing", query.Not(query.Where("tags", query.StartsWith, "a")), `"tags" IS NULL`, nil},
		{"a list is not among others", query.Where("tags", query.NotIn, []any{"a"}), `"tags" IS NULL`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := typed.Translate(query.Query{Filter: tt.filter})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{tt.want, tt.args}, []any{c.Where, c.Args}); diff != "" {
				t.Errorf("the condition (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScaledInSQLite compares numbers without digits before the point with those of a numeric(2,2).
func TestScaledInSQLite(t *testing.T) {
	t.Parallel()
	rates := sqlquery.New(sqlquery.SQLite, map[string]sqlquery.Column{
		"rate": {Kind: sqlquery.Decimal, Type: "numeric(2,2)", NotNull: true}})
	for _, tt := range []struct {
		text  string
		where string
		args  []any
	}{
		{"0.1", "`rate` = ?1", []any{0.1}},
		{"-0.25", "`rate` = ?1", []any{-0.25}},
		{"0", "`rate` = ?1", []any{0.0}},
		{"0.125", "FALSE", nil},
		{"1.5", "`rate` = ?1", []any{1.5}}, // a float64 that no row has
	} {
		rate, err := query.ParseDecimal(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := rates.Translate(query.Query{Filter: query.Where("rate", query.Eq, rate)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{tt.where, tt.args}, []any{c.Where, c.Args}); diff != "" {
			t.Errorf("the condition for %s (-want +got):\n%s", tt.text, diff)
		}
	}
}

// TestNoTypeBecomesText is TestNothingBecomesText for columns that are compared in other ways.
func TestNoTypeBecomesText(t *testing.T) {
	t.Parallel()
	of := func(s string) query.Query {
		return query.Query{
			Filter: query.And(query.Where("tier", query.In, []any{s, s + s}), query.Where("mail", query.Eq, s),
				query.Where("tags", query.Contains, s), query.Where("tiers", query.Contains, s), query.Where("born", query.Contains, s),
				query.Not(query.Where("tier", query.StartsWith, s)), query.Where("ip", query.Gt, s)),
			Sort: []query.Order{{Field: "tier"}, {Field: "mail", Desc: true}, {Field: "id"}}, After: []any{s, s, int64(1)},
		}
	}
	harmless, err := typed.Translate(of("x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"'", `"`, "'; DROP TABLE x; --", "$1", `\`, "%", "é", "/*", "::text", "{", "}", "pro'::customer_tier"} {
		c, err := typed.Translate(of(s))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(harmless.String(), c.String()); diff != "" {
			t.Errorf("the text of a statement for %q instead of x (-want +got):\n%s", s, diff)
		}
	}
}

func TestNewPanicsForTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		dialect sqlquery.Dialect
		column  sqlquery.Column
		want    string
	}{
		{sqlquery.PostgreSQL, sqlquery.Column{Type: "numeric(12"}, `"numeric(12" is no SQL type`},
		{sqlquery.PostgreSQL, sqlquery.Column{Type: `x"; DROP TABLE y`}, "is no SQL type"},
		{sqlquery.PostgreSQL, sqlquery.Column{Type: "bigint"}, "the Type bigint does not store values of the Kind"},
		{sqlquery.PostgreSQL, sqlquery.Column{Kind: sqlquery.Integer, Type: "customer_tier"}, "does not store values"},
		{sqlquery.PostgreSQL, sqlquery.Column{Type: "text[]"}, "the Type text[] requires List"},
		{sqlquery.PostgreSQL, sqlquery.Column{Type: "text", List: true}, "a List needs an array or json"},
		{sqlquery.PostgreSQL, sqlquery.Column{Kind: sqlquery.Duration, Type: "interval[]", List: true}, "arrays of interval"},
		{sqlquery.PostgreSQL, sqlquery.Column{Type: "date", Path: []string{"x"}}, "Type together with Path"},
		{sqlquery.PostgreSQL, sqlquery.Column{Type: "customer_tier", Collation: "default"}, "the Type text or varchar"},
		{sqlquery.SQLite, sqlquery.Column{Kind: sqlquery.Decimal}, "a Decimal in SQLite needs a Type with at most 15 digits"},
		{sqlquery.SQLite, sqlquery.Column{Kind: sqlquery.Decimal, Type: "numeric(16,2)"}, "at most 15 digits"},
	}
	for _, tt := range tests {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, tt.want) {
					t.Errorf("New for %+v panicked with %s, want text with %s", tt.column, p, tt.want)
				}
			}()
			sqlquery.New(tt.dialect, map[string]sqlquery.Column{"x": tt.column})
		}()
	}
}
