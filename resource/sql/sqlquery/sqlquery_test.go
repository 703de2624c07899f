package sqlquery_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// The module sqltest tests results on real engines. These tests check the SQL.

var columns = map[string]sqlquery.Column{
	"id":     {Kind: sqlquery.Integer, NotNull: true},
	"name":   {},
	"status": {Name: "the `status\"", NotNull: true},
	"total":  {Name: "cents", Kind: sqlquery.Integer},
	"rate":   {Kind: sqlquery.Number},
	"active": {Kind: sqlquery.Bool, NotNull: true},
	"made":   {Kind: sqlquery.Time, NotNull: true},
	"seen":   {Kind: sqlquery.Time, Unit: time.Second},
	"key":    {Kind: sqlquery.UUID},
	"city":   {Name: "doc", Path: []string{"it's", "city"}},
	"zip":    {Name: "doc", Path: []string{"zip"}, Kind: sqlquery.Integer},
	"since":  {Name: "doc", Path: []string{"since"}, Kind: sqlquery.Time},
	"mail":   {Expr: "lower(mail)", NotNull: true},
}

var (
	lite     = sqlquery.New(sqlquery.SQLite, columns)
	postgres = sqlquery.New(sqlquery.PostgreSQL, columns)
)

var noon = time.Date(2024, 2, 29, 12, 0, 0, 1500, time.FixedZone("", 3600))

// both has the texts of the two dialects. The second is empty if they differ only in quotes and
// placeholders.
type both struct {
	sqlite, postgres string
	args             []any
}

// check translates q for both dialects and compares the results.
func (want both) check(t *testing.T, q query.Query) {
	t.Helper()
	for _, tt := range []struct {
		tr   *sqlquery.Translator
		text string
	}{{lite, want.sqlite}, {postgres, want.postgres}} {
		c, err := tt.tr.Translate(q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.text, c.String()); diff != "" {
			t.Errorf("the clauses (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want.args, c.Args); want.args != nil && diff != "" {
			t.Errorf("the arguments (-want +got):\n%s", diff)
		}
	}
}

func TestTranslateFilter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		filter query.Filter
		want   both
	}{
		{"everything", query.Filter{}, both{"", "", nil}},
		{"equal", query.Where("name", query.Eq, "x"),
			both{" WHERE `name` COLLATE BINARY = ?1", ` WHERE "name" = $1::text`, []any{"x"}}},
		{"not equal", query.Where("name", query.Ne, "x"), both{
			" WHERE (`name` COLLATE BINARY <> ?1 OR `name` COLLATE BINARY IS NULL)",
			` WHERE ("name" <> $1::text OR "name" IS NULL)`, []any{"x"}}},
		{"not equal in a NOT NULL column", query.Where("id", query.Ne, 7),
			both{" WHERE `id` <> ?1", ` WHERE "id" <> $1::bigint`, []any{int64(7)}}},
		{
			"a name to quote",
			query.Where("status", query.Eq, "x"),
			both{
				" WHERE `the ``status\"` COLLATE BINARY = ?1",
				" WHERE \"the `status\"\"\" = $1::text",
				nil,
			},
		},
		{
			"among",
			query.Where("total", query.In, []any{1, "x", nil, 2.5, 3}),
			both{
				" WHERE `cents` IN (?1, ?2)",
				` WHERE "cents" IN ($1::bigint, $2::bigint)`,
				[]any{int64(1), int64(3)},
			},
		},
		{"among nothing", query.Where("total", query.In, []any{}), both{" WHERE FALSE", " WHERE FALSE", nil}},
		{
			"not among nothing",
			query.Where("total", query.NotIn, []any{"x"}),
			both{" WHERE TRUE", " WHERE TRUE", nil},
		},
		{"integers between", query.Where("total", query.Lt, 2.5),
			both{" WHERE `cents` <= ?1", ` WHERE "cents" <= $1::bigint`, []any{int64(2)}}},
		{
			"integers beyond",
			query.Where("total", query.Gt, uint64(math.MaxUint64)),
			both{" WHERE FALSE", " WHERE FALSE", nil},
		},
		{"integers within", query.Where("total", query.Lt, 1e300),
			both{" WHERE `cents` IS NOT NULL", ` WHERE "cents" IS NOT NULL`, nil}},
		{"numbers between", query.Where("rate", query.Gt, int64(1<<53+1)),
			both{" WHERE `rate` > ?1", ` WHERE "rate" > $1::float8`, []any{float64(1 << 53)}}},
		{
			"bool",
			query.Where("active", query.Eq, true),
			both{" WHERE `active` = ?1", ` WHERE "active" = $1::boolean`, nil},
		},
		{"another kind", query.Where("active", query.Gt, "x"), both{" WHERE FALSE", " WHERE FALSE", nil}},
		{"contains", query.Where("name", query.Contains, `50%_\`),
			both{" WHERE instr(`name` COLLATE BINARY, ?1) > 0", ` WHERE "name" LIKE $1::text`, nil}},
		{"starts with", query.Where("name", query.StartsWith, "ab"), both{
			" WHERE (`name` COLLATE BINARY >= ?1 AND `name` COLLATE BINARY < ?2)",
			` WHERE ("name" COLLATE "C" >= $1::text AND "name" COLLATE "C" < $2::text)`, []any{"ab", "ac"}}},
		{
			"starts with the last characters",
			query.Where("name", query.StartsWith, "a\uD7FF\U0010FFFF"),
			both{
				" WHERE (`name` COLLATE BINARY >= ?1 AND `name` COLLATE BINARY < ?2)",
				` WHERE ("name" COLLATE "C" >= $1::text AND "name" COLLATE "C" < $2::text)`,
				[]any{"a\uD7FF\U0010FFFF", "a\uE000"},
			},
		},
		{
			"starts with nothing",
			query.Where("mail", query.StartsWith, ""),
			both{" WHERE TRUE", " WHERE TRUE", nil},
		},
		{"null", query.Where("name", query.IsNull, true),
			both{" WHERE `name` COLLATE BINARY IS NULL", ` WHERE "name" IS NULL`, nil}},
		{"never null", query.Where("id", query.IsNull, true), both{" WHERE FALSE", " WHERE FALSE", nil}},
		{"an expression", query.Where("mail", query.Eq, "x"),
			both{" WHERE (lower(mail)) COLLATE BINARY = ?1", ` WHERE (lower(mail)) = $1::text`, nil}},
		{
			"in JSON",
			query.And(query.Where("city", query.Eq, "x"), query.Where("zip", query.Lt, 5)),
			both{
				" WHERE ((`doc` -> 'it''s' ->> 'city') COLLATE BINARY = ?1 AND (`doc` ->> 'zip') < ?2)",
				` WHERE (("doc" -> 'it''s' ->> 'city') = $1::text AND (("doc" ->> 'zip'))::bigint < $2::bigint)`,
				nil,
			},
		},
		{
			"a time in JSON",
			query.Where("since", query.Gt, noon),
			both{
				" WHERE rtrim((`doc` ->> 'since'), 'Z') COLLATE BINARY > ?1",
				` WHERE rtrim(("doc" ->> 'since'), 'Z') COLLATE "C" > $1::text`,
				[]any{"2024-02-29T11:00:00.0000015"},
			},
		},
		{"a time in seconds", query.Where("seen", query.Gte, noon),
			both{" WHERE `seen` > ?1", ` WHERE "seen" > $1::bigint`, []any{int64(1709204400)}}},
		{
			"negated",
			query.Not(query.And(query.Where("id", query.Lt, 5), query.Where("total", query.Gte, 5))),
			both{
				" WHERE (`id` >= ?1 OR (`cents` < ?2 OR `cents` IS NULL))",
				` WHERE ("id" >= $1::bigint OR ("cents" < $2::bigint OR "cents" IS NULL))`, nil},
		},
		{
			"unreadable and its negation",
			query.Or(query.Where("id", "like", 5), query.Not(query.Where("id", "like", 5))),
			both{" WHERE (FALSE OR FALSE)", " WHERE (FALSE OR FALSE)", nil},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, query.Query{Filter: tt.filter})
		})
	}
}

// TestTimes checks arguments that differ between the dialects.
func TestTimes(t *testing.T) {
	t.Parallel()
	instant := noon.UTC()
	micros := time.Date(2024, 2, 29, 11, 0, 0, 1000, time.UTC)
	tests := []struct {
		op   query.Op
		tr   *sqlquery.Translator
		text string
		args []any
	}{
		{query.Eq, lite, " WHERE `made` COLLATE BINARY = ?1", []any{"2024-02-29T11:00:00.000001500Z"}},
		{query.Lt, lite, " WHERE `made` COLLATE BINARY < ?1", []any{"2024-02-29T11:00:00.000001500Z"}},
		{query.Eq, postgres, " WHERE FALSE", nil}, // a timestamp has no such resolution
		{query.Lt, postgres, ` WHERE "made" <= $1::timestamptz`, []any{micros}},
		{query.Gte, postgres, ` WHERE "made" > $1::timestamptz`, []any{micros}},
	}
	for _, tt := range tests {
		c, err := tt.tr.Translate(query.Query{Filter: query.Where("made", tt.op, instant)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{tt.text, tt.args}, []any{c.String(), c.Args}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.op, diff)
		}
	}
}

func TestTranslatePage(t *testing.T) {
	t.Parallel()
	up := func(field string) query.Order { return query.Order{Field: field} }
	down := func(field string) query.Order { return query.Order{Field: field, Desc: true} }
	tests := []struct {
		name string
		q    query.Query
		want both
	}{
		{"a limit", query.Query{Limit: 5}, both{" LIMIT ?1", " LIMIT $1::bigint", []any{int64(5)}}},
		{"sorted", query.Query{Sort: []query.Order{down("name"), up("total"), down("id")}}, both{
			" ORDER BY `name` COLLATE BINARY DESC, `cents`, `id` DESC",
			` ORDER BY "name" COLLATE "C" DESC NULLS LAST, "cents" NULLS FIRST, "id" DESC`, nil}},
		{"after an id", query.Query{Sort: []query.Order{up("id")}, After: []any{int64(7)}}, both{
			" WHERE `id` > ?1 ORDER BY `id`", ` WHERE "id" > $1::bigint ORDER BY "id"`, []any{int64(7)}}},
		{
			"after a row",
			query.Query{Sort: []query.Order{down("status"), down("id")}, After: []any{"x", int64(7)}},
			both{
				" WHERE (`the ``status\"` COLLATE BINARY, `id`) < (?1, ?2) ORDER BY `the ``status\"` COLLATE BINARY DESC, `id` DESC",
				" WHERE (\"the `status\"\"\" COLLATE \"C\", \"id\") < ($1::text, $2::bigint)" +
					" ORDER BY \"the `status\"\"\" COLLATE \"C\" DESC, \"id\" DESC",
				[]any{"x", int64(7)},
			},
		},
		{
			"after no position",
			query.Query{Sort: []query.Order{down("total"), up("id")}, After: []any{nil, int64(7)}},
			both{
				" WHERE (`cents` IS NULL AND `id` > ?1) ORDER BY `cents` DESC, `id`",
				` WHERE ("cents" IS NULL AND "id" > $1::bigint) ORDER BY "cents" DESC NULLS LAST, "id"`,
				[]any{int64(7)},
			},
		},
		{
			"mixed",
			query.Query{Sort: []query.Order{up("total"), down("id")}, After: []any{int64(5), int64(7)}},
			both{
				" WHERE (`cents` >= ?1 AND ((`cents` = ?1 AND `id` < ?2) OR `cents` > ?1)) ORDER BY `cents`, `id` DESC",
				` WHERE ("cents" >= $1::bigint AND (("cents" = $1::bigint AND "id" < $2::bigint) OR "cents" > $1::bigint))` +
					` ORDER BY "cents" NULLS FIRST, "id" DESC`,
				nil,
			},
		},
		{"after the last row", query.Query{Sort: []query.Order{up("id")}, After: []any{"x"}}, both{
			" WHERE FALSE ORDER BY `id`", ` WHERE FALSE ORDER BY "id"`, nil}},
		{
			"of another list",
			query.Query{Sort: []query.Order{up("id")}, After: []any{int64(1), int64(1)}},
			both{
				" WHERE FALSE ORDER BY `id`", ` WHERE FALSE ORDER BY "id"`, nil},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.check(t, tt.q)
		})
	}
}

// TestCollation checks that only sort keys and positions use the collation.
func TestCollation(t *testing.T) {
	t.Parallel()
	tr := sqlquery.New(sqlquery.PostgreSQL, map[string]sqlquery.Column{
		"name": {NotNull: true, Collation: `de "x"`}, "id": {NotNull: true, Collation: "C"}})
	c, err := tr.Translate(query.Query{
		Filter: query.And(query.Where("name", query.Gt, "a"), query.Where("name", query.Ne, "b"),
			query.Where("name", query.StartsWith, "c")),
		Sort: []query.Order{{Field: "name"}, {Field: "id"}}, After: []any{"d", "e"}})
	if err != nil {
		t.Fatal(err)
	}
	want := ` WHERE (("name" COLLATE "C" > $1::text AND "name" <> $2::text AND` +
		` ("name" COLLATE "C" >= $3::text AND "name" COLLATE "C" < $4::text)) AND` +
		` ("name" COLLATE "de ""x""", "id" COLLATE "C") > ($5::text, $6::text))` +
		` ORDER BY "name" COLLATE "de ""x""", "id" COLLATE "C"`
	if diff := cmp.Diff(want, c.String()); diff != "" {
		t.Errorf("the clauses (-want +got):\n%s", diff)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	own := make([]any, 1, 10)
	own[0] = "tenant"
	q := query.Query{Filter: query.Where("id", query.Gt, 5), Limit: 3}
	first, err := postgres.Translate(q, own...)
	if err != nil {
		t.Fatal(err)
	}
	q.Filter = query.Where("id", query.Gt, 6)
	if _, err := postgres.Translate(q, own...); err != nil {
		t.Fatal(err)
	}
	want := sqlquery.Clauses{
		Where: `"id" > $2::bigint`,
		Limit: "$3::bigint",
		Args:  []any{"tenant", int64(5), int64(3)},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("the first clauses, after others were made with the same slice (-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, q := range []query.Query{
		{Filter: query.Where("nope", query.Eq, 1)},
		{Filter: query.Not(query.Or(query.Where("id", query.Eq, 1), query.Where("nope", "like", 1)))},
		{Sort: []query.Order{{Field: "nope"}}},
		{Sort: []query.Order{{Field: "nope"}}, After: []any{1}},
		{Token: "x"},
	} {
		c, err := postgres.Translate(q)
		if err == nil || c.String() != "" {
			t.Errorf("%+v was translated to %q, %v", q, c, err)
		}
		if steps, err := postgres.Steps(q); err == nil || steps != nil {
			t.Errorf("%+v was translated to the steps %q, %v", q, steps, err)
		}
	}
}

// TestNothingBecomesText compares the statements for two sets of values of one kind.
func TestNothingBecomesText(t *testing.T) {
	t.Parallel()
	make := func(s string) query.Query {
		return query.Query{
			Filter: query.And(query.Where("name", query.Eq, s), query.Where("name", query.Contains, s),
				query.Where("city", query.In, []any{s, s + s}),
				query.Not(query.Where("mail", query.StartsWith, s)), query.Where("key", query.Gt, s)),
			Sort: []query.Order{
				{Field: "name"},
				{Field: "key", Desc: true},
				{Field: "id"},
			},
			After: []any{s, s, int64(1)},
		}
	}
	for _, tr := range []*sqlquery.Translator{lite, postgres} {
		harmless, err := tr.Translate(make("x"))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"'", `"`, "`", "'; DROP TABLE x; --", "$1", "?1", `\`, "%", "é", "\x1a", "/*", "::text"} {
			c, err := tr.Translate(make(s))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(harmless.String(), c.String()); diff != "" {
				t.Errorf("the text of a statement for %q instead of x (-want +got):\n%s", s, diff)
			}
		}
	}
}

func TestNewPanics(t *testing.T) {
	t.Parallel()
	of := func(c sqlquery.Column) func() {
		return func() { sqlquery.New(sqlquery.SQLite, map[string]sqlquery.Column{"x": c}) }
	}
	tests := []struct {
		name string
		do   func()
		want string
	}{
		{"another dialect", func() { sqlquery.New("mysql", nil) }, `not "mysql"`},
		{"no name", func() { sqlquery.New(sqlquery.SQLite, map[string]sqlquery.Column{"": {}}) }, "invalid column name"},
		{"NUL in a name", of(sqlquery.Column{Name: "a\x00b"}), "invalid column name"},
		{"two bounds", of(sqlquery.Column{Name: "x", Expr: "y"}), "Expr together with Name"},
		{"an unknown kind", of(sqlquery.Column{Kind: 99}), "unknown Kind 99"},
		{
			"a layout of a number",
			of(sqlquery.Column{Kind: sqlquery.Integer, Layout: time.DateOnly}),
			"requires the Kind Time",
		},
		{
			"two ways",
			of(sqlquery.Column{Kind: sqlquery.Time, Layout: time.DateOnly, Unit: time.Second}),
			"both Layout and Unit",
		},
		{"a strange unit", of(sqlquery.Column{Kind: sqlquery.Time, Unit: time.Minute}), "not 1m0s"},
		{"a collation of SQLite", of(sqlquery.Column{Collation: "NOCASE"}), "Collation requires PostgreSQL"},
		{"a collation of a number", func() {
			sqlquery.New(sqlquery.PostgreSQL, map[string]sqlquery.Column{"x": {Kind: sqlquery.Integer, Collation: "default"}})
		}, "Collation requires the Kind Text"},
		{"an index", of(sqlquery.Column{Path: []string{"a", "0"}}), `unsupported member "0"`},
		{"a quotation mark", of(sqlquery.Column{Path: []string{`a"b`}}), "unsupported member"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, tt.want) {
					t.Errorf("it panicked with %s, want text with %s", p, tt.want)
				}
			}()
			tt.do()
		})
	}
}

func TestArg(t *testing.T) {
	t.Parallel()
	micros := time.Date(2024, 2, 29, 11, 0, 0, 1000, time.UTC)
	tests := []struct {
		field            string
		value            any
		sqlite, postgres any
	}{
		{"name", "x", "x", "x"},
		{"name", nil, nil, nil},
		{"name", (*string)(nil), nil, nil},
		{"nope", 5, int64(5), int64(5)},
		{"active", true, int64(1), true},
		{"active", false, int64(0), false},
		{"made", noon, "2024-02-29T11:00:00.000001500Z", micros},
		{"seen", noon, int64(1709204400), int64(1709204400)},
		{"since", noon, "2024-02-29T11:00:00.0000015Z", "2024-02-29T11:00:00.0000015Z"},
		{"total", 2.5, 2.5, 2.5}, // for the engine to reject
		{"rate", 2, 2.0, 2.0},
	}
	for _, tt := range tests {
		got := []any{lite.Arg(tt.field, tt.value), postgres.Arg(tt.field, tt.value)}
		if diff := cmp.Diff([]any{tt.sqlite, tt.postgres}, got); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", tt.field, tt.value, diff)
		}
	}
}

func TestSupport(t *testing.T) {
	t.Parallel()
	s := lite.Support()
	if err := s.Check(query.Query{
		Filter: query.And(query.Where("name", query.Contains, "x"),
			query.Where("total", query.NotIn, []any{1}), query.Where("key", query.In, []any{"x"}),
			query.Where("made", query.IsNull, true)),
		Sort: []query.Order{{Field: "city"}, {Field: "active"}},
	}, "id"); err != nil {
		t.Error(err)
	}
	for _, f := range []query.Filter{query.Where("total", query.Contains, "1"), query.Where("nope", query.Eq, 1),
		query.Where("key", query.StartsWith, "x")} { // a UUID
		if s.Check(query.Query{Filter: f}, "id") == nil {
			t.Errorf("%+v is declared", f)
		}
	}
	s.Filter["name"][0] = "changed"
	if lite.Support().Filter["name"][0] == "changed" {
		t.Error("a change of one Support shows in the next")
	}
}

// The outer query reads a time in JSON from a column, in the layout that it has within JSON.
func TestAggregateTimesInJSON(t *testing.T) {
	t.Parallel()
	a := query.Aggregation{Group: []string{"since"}, Limit: 2, Aggregates: []query.Aggregate{
		{Func: query.Min, Field: "since"}, {Func: query.Distinct, Field: "since"}}}
	for _, tt := range []struct {
		tr   *sqlquery.Translator
		want string
	}{
		{lite, "SELECT `c0`, `c1`, `c2` FROM (SELECT (`doc` ->> 'since') AS `c0`, " +
			"min(rtrim((`doc` ->> 'since'), 'Z') COLLATE BINARY) || 'Z' AS `c1`, " +
			"count(DISTINCT rtrim((`doc` ->> 'since'), 'Z') COLLATE BINARY) AS `c2` FROM t " +
			"GROUP BY (`doc` ->> 'since')) AS `grouped` ORDER BY rtrim(`c0`, 'Z') COLLATE BINARY LIMIT ?1"},
		{postgres, `SELECT "c0", "c1", "c2" FROM (SELECT ("doc" ->> 'since') AS "c0", ` +
			`min(rtrim(("doc" ->> 'since'), 'Z') COLLATE "C") || 'Z' AS "c1", ` +
			`count(DISTINCT rtrim(("doc" ->> 'since'), 'Z')) AS "c2" FROM t ` +
			`GROUP BY ("doc" ->> 'since')) AS "grouped" ORDER BY rtrim("c0", 'Z') COLLATE "C" NULLS FIRST LIMIT $1::bigint`},
	} {
		g, err := tt.tr.Aggregate(a, "t")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, g.Text); diff != "" {
			t.Errorf("statement (-want +got):\n%s", diff)
		}
	}
}

// A type that SQLite stores as text in a layout has groups, too.
func TestAggregateTypedTimes(t *testing.T) {
	t.Parallel()
	tr := sqlquery.New(sqlquery.SQLite, map[string]sqlquery.Column{"day": {Kind: sqlquery.Time, Type: "date"}})
	g, err := tr.Aggregate(query.Aggregation{Group: []string{"day"},
		Aggregates: []query.Aggregate{{Func: query.Max, Field: "day"}}}, "t")
	if err != nil {
		t.Fatal(err)
	}
	want := "SELECT `c0`, `c1` FROM (SELECT `day` AS `c0`, max(`day` COLLATE BINARY) AS `c1` FROM t GROUP BY `day`) " +
		"AS `grouped` ORDER BY `c0` COLLATE BINARY"
	if diff := cmp.Diff(want, g.Text); diff != "" {
		t.Errorf("statement (-want +got):\n%s", diff)
	}
}
