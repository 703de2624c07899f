package sqltxtest

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// The differential tests put random questions to package sqlquery on each engine and to query.Select in memory.
var (
	seed    = flag.Uint64("seed", 1, "of the differential tests")
	queries = flag.Int("queries", 2000, "that the differential tests ask on each engine")
)

// item is a row by the JSON names of its fields.
type item map[string]any

func (i *item) field(name string) any { return (*i)[name] }

// columns has each kind as NULL and as NOT NULL, in a column and in JSON.
var columns = map[string]sqlquery.Column{
	"id":     {Kind: sqlquery.Integer, NotNull: true},
	"name":   {},
	"title":  {Name: "the title", NotNull: true},
	"n":      {Kind: sqlquery.Integer},
	"m":      {Kind: sqlquery.Integer, NotNull: true},
	"x":      {Kind: sqlquery.Number},
	"y":      {Kind: sqlquery.Number, NotNull: true},
	"ok":     {Kind: sqlquery.Bool},
	"at":     {Kind: sqlquery.Time},
	"since":  {Kind: sqlquery.Time, NotNull: true},
	"epoch":  {Kind: sqlquery.Time, Unit: time.Millisecond},
	"nanos":  {Kind: sqlquery.Time, Unit: time.Nanosecond},
	"stamp":  {Kind: sqlquery.Time, Layout: time.RFC3339Nano},
	"day":    {Kind: sqlquery.Time, Layout: time.DateOnly},
	"uid":    {Kind: sqlquery.UUID},
	"sum":    {Expr: "n + m", Kind: sqlquery.Integer},
	"doc":    {Name: "doc", Path: []string{"it's", "name"}},
	"doc.n":  {Name: "doc", Path: []string{"n"}, Kind: sqlquery.Integer},
	"doc.x":  {Name: "doc", Path: []string{"x"}, Kind: sqlquery.Number},
	"doc.ok": {Name: "doc", Path: []string{"ok"}, Kind: sqlquery.Bool},
	"doc.at": {Name: "doc", Path: []string{"at"}, Kind: sqlquery.Time},
	"doc.id": {Name: "doc", Path: []string{"uid"}, Kind: sqlquery.UUID},

	"price":  {Kind: sqlquery.Decimal, Type: "numeric(9,3)"},
	"amount": {Kind: sqlquery.Decimal, Type: "numeric(15,2)", NotNull: true},
	"float":  {Kind: sqlquery.Number, Type: "numeric"},
	"whole":  {Kind: sqlquery.Integer, Type: "numeric(20)"},
	"real":   {Kind: sqlquery.Number, Type: "real"},
	"short":  {Kind: sqlquery.Integer, Type: "smallint"},
	"born":   {Type: "date"},
	"opens":  {Type: "time", NotNull: true},
	"zoned":  {Type: "timetz"},
	"local":  {Kind: sqlquery.Time, Type: "timestamp"},
	"moon":   {Kind: sqlquery.Time, Type: "date"},
	"span":   {Kind: sqlquery.Duration, NotNull: true},
	"tier":   {Type: "Tier"},
	"state":  {Type: "Tier", NotNull: true},
	"mail":   {Type: "citext"},
	"ip":     {Type: "inet"},
	"net":    {Type: "cidr"},
	"code":   {Type: "char(4)"},
	"tags":   {Type: "text[]", List: true},
	"sizes":  {Type: "integer[]", Kind: sqlquery.Integer, List: true},
	"tiers":  {Type: "Tier[]", List: true, NotNull: true},
	"labels": {List: true},
	"ratios": {List: true, Kind: sqlquery.Number},
	"flags":  {Type: "json", List: true, Kind: sqlquery.Bool},
	"uids":   {Type: "uuid[]", List: true, Kind: sqlquery.UUID},
	"days":   {Type: "date[]", List: true, Kind: sqlquery.Text},
}

// stored are the fields that have a column of their own.
var stored = []string{"id", "name", "title", "n", "m", "x", "y", "ok", "at", "since", "epoch", "nanos", "stamp", "day", "uid",
	"price", "amount", "float", "whole", "real", "short", "born", "opens", "zoned", "local", "moon", "span", "tier", "state",
	"mail", "ip", "net", "code", "tags", "sizes", "tiers", "labels", "ratios", "flags", "uids", "days"}

// casts are those of arguments in PostgreSQL, where the driver has no text for the type.
var casts = map[string]string{
	"price": "numeric", "amount": "numeric", "float": "numeric", "whole": "numeric", "born": "date", "opens": "time",
	"zoned": "timetz", "local": "timestamp", "moon": "date", "span": "interval", "tier": `"Tier"`, "state": `"Tier"`,
	"mail": "citext", "ip": "inet", "net": "cidr", "code": "bpchar", "tags": "text[]", "sizes": "integer[]", "tiers": `"Tier"[]`,
	"labels": "jsonb", "ratios": "jsonb", "flags": "json", "uids": "uuid[]", "days": "date[]",
}

// createTypes are needed in PostgreSQL. The order of the labels must not matter.
var createTypes = []string{"CREATE EXTENSION citext", `CREATE TYPE "Tier" AS ENUM ('pro', 'Free', 'free', 'it''s', '')`}

// The collations must not matter.
var createTable = map[sqltx.Dialect]string{
	sqltx.SQLite: `CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, "the title" TEXT COLLATE RTRIM NOT NULL,
		n INTEGER, m INTEGER NOT NULL, x REAL, y REAL NOT NULL, ok INTEGER, at TEXT, since TEXT NOT NULL, epoch INTEGER,
		nanos INTEGER, stamp TEXT, day TEXT, uid TEXT, doc TEXT,
		price DECIMAL(9,3), amount REAL NOT NULL, float REAL, whole INTEGER, real REAL, short INTEGER, born TEXT, opens TEXT NOT NULL,
		zoned TEXT, local TEXT, moon TEXT, span TEXT NOT NULL, tier TEXT, state TEXT NOT NULL, mail TEXT COLLATE NOCASE, ip TEXT,
		net TEXT, code TEXT, tags TEXT, sizes TEXT, tiers TEXT NOT NULL, labels TEXT, ratios TEXT, flags TEXT, uids TEXT, days TEXT)`,
	sqltx.PostgreSQL: `CREATE TABLE things (id bigint PRIMARY KEY, name text, "the title" varchar NOT NULL, n bigint,
		m integer NOT NULL, x double precision, y double precision NOT NULL, ok boolean, at timestamptz,
		since timestamptz NOT NULL, epoch bigint, nanos bigint, stamp text, day text, uid uuid, doc jsonb,
		price numeric(9,3), amount numeric(15,2) NOT NULL, float numeric, whole numeric(20), real real, short smallint, born date,
		opens time NOT NULL, zoned timetz, local timestamp, moon date, span interval NOT NULL, tier "Tier", state "Tier" NOT NULL,
		mail citext, ip inet, net cidr, code char(4), tags text[], sizes integer[], tiers "Tier"[] NOT NULL, labels jsonb,
		ratios jsonb, flags json, uids uuid[], days date[])`,
}

// world generates rows and queries.
type world struct {
	*rand.Rand
	dialect sqltx.Dialect
	items   []item
}

var (
	texts = []string{"", "a", "A", "aa", "ab", "aB", "b", "B", "a%b", "a_b", "axb", `a\b`, "%", "_", `\`, "é", "e", "z", "Z",
		"\uD7FF", "\uE000", "\uFFFD", "\U00010000", "\U0010FFFF", "a\U0010FFFF", "\x01", "'; DROP TABLE things; --", "ab ", " ab"}
	notInPostgres = []string{"\x00", "a\x00", "a\x00b"}
	notAnywhere   = []string{"\xff", "a\x80b", "\xe2\x82", "a\xed\xa0\x80", "b\xc3"}
	integers      = []any{int64(0), int64(1), int64(2), int64(-1), int64(3), int64(1<<53 + 1), int64(1 << 53),
		int64(-1<<53 - 1), int64(math.MaxInt64), int64(math.MaxInt64 - 1), int64(math.MinInt64), int64(math.MaxInt64 - 1024)}
	floats = []any{0.0, 0.5, 1.0, 2.0, -1.0, 2.5, 0.1, 1e21, -1e21, 1e-7, float64(1 << 53), float64(1<<53 + 2), 9.2e18,
		float64(math.MaxInt64), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64}
	strangeNumbers = []any{math.NaN(), math.Inf(1), math.Inf(-1), uint64(math.MaxUint64), uint64(1 << 63), 2.0000001, -0.5}
	base           = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	uuids          = []string{"00000000-0000-0000-0000-000000000000", "0192f0c1-2345-7abc-8def-00000000000a",
		"0192f0c1-2345-7abc-8def-00000000000f", "ffffffff-ffff-ffff-ffff-ffffffffffff"}
	notUUIDs = []string{"", "0192F0C1-2345-7ABC-8DEF-00000000000A", "0192f0c1", "0192f0c1-2345-7abc-8def-00000000000g", "zz"}
)

func pick[T any](w *world, list []T) T { return list[w.IntN(len(list))] }

func (w *world) moment() time.Time {
	steps := []time.Duration{0, 0, 1, 999, 1000, 1500, time.Millisecond, 3 * time.Millisecond / 2, time.Second, -time.Nanosecond,
		-time.Hour, 24 * time.Hour, 500 * time.Millisecond}
	return base.Add(pick(w, steps)).Add(pick(w, steps))
}

// value chooses one that the column of the field can keep.
func (w *world) value(field string) any {
	c := columns[field]
	if c.List {
		list := []any{}
		for range w.IntN(4) {
			list = append(list, w.scalar(field))
		}
		return list
	}
	return w.scalar(field)
}

// scalar chooses a value of a column, or of an element of its list.
func (w *world) scalar(field string) any {
	c := columns[field]
	if list := ofTypes[field]; list != nil {
		return pick(w, list)
	}
	switch c.Kind {
	case sqlquery.Integer:
		if field == "m" || field == "n" {
			return pick(w, integers[:5])
		}
		return pick(w, integers)
	case sqlquery.Number:
		return pick(w, floats)
	case sqlquery.Bool:
		return w.IntN(2) == 0
	case sqlquery.Time:
		return w.moment().Truncate(w.resolution(c))
	case sqlquery.UUID:
		return pick(w, uuids)
	}
	if w.dialect == sqltx.SQLite && len(c.Path) == 0 && w.IntN(8) == 0 {
		return pick(w, notInPostgres)
	}
	return pick(w, texts)
}

func (w *world) resolution(c sqlquery.Column) time.Duration {
	switch {
	case c.Unit != 0:
		return c.Unit
	case c.Layout == time.DateOnly:
		return 24 * time.Hour
	case w.dialect == sqltx.PostgreSQL && c.Type == "date":
		return 24 * time.Hour
	case w.dialect == sqltx.PostgreSQL && c.Layout == "" && len(c.Path) == 0:
		return time.Microsecond
	}
	return time.Nanosecond
}

// asked chooses one to compare the field with: mostly one that some item has.
func (w *world) asked(field string) any {
	switch w.IntN(10) {
	case 0:
		return pick(w, []any{nil, true, false, int64(5), "text", 1.5, base})
	case 1:
		if list := strangeTypes[columns[field].Type]; list != nil {
			return pick(w, list)
		}
		return w.strange(columns[field].Kind)
	case 2, 3:
		return w.value(field)
	}
	v := pick(w, w.items)[field]
	if list, ok := v.([]any); ok && len(list) > 0 && w.IntN(8) > 0 {
		return pick(w, list)
	}
	return v
}

// strange chooses a value that the kind of column has no place for.
func (w *world) strange(k sqlquery.Kind) any {
	switch k {
	case sqlquery.Integer, sqlquery.Number, sqlquery.Decimal:
		return pick(w, slices.Concat(strangeNumbers, integers, floats, strangeDecimals))
	case sqlquery.Duration:
		return pick(w, durations)
	case sqlquery.Text:
		return pick(w, slices.Concat(notAnywhere, notInPostgres, texts))
	case sqlquery.UUID:
		return pick(w, slices.Concat(notUUIDs, notAnywhere, notInPostgres))
	case sqlquery.Time:
		far := []time.Time{{}, time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2300, 1, 1, 0, 0, 0, 1, time.UTC), w.moment()}
		return pick(w, far)
	}
	return nil
}

var comparisons = []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt, query.Gte,
	query.Contains, query.StartsWith, query.IsNull}

func (w *world) filter(depth int) query.Filter {
	var parts []query.Filter
	if kind := w.IntN(6); depth > 0 && kind < 3 {
		for range w.IntN(4) {
			parts = append(parts, w.filter(depth-1))
		}
		switch kind {
		case 0:
			return query.Filter{Op: query.OrOp, Filters: parts}
		case 1:
			return query.Filter{Op: query.AndOp, Filters: parts}
		}
		return query.Filter{Op: query.NotOp, Filters: parts} // by hand it can have any number of parts
	}
	field := w.anyField()
	op := pick(w, comparisons)
	if columns[field].List {
		op = pick(w, []query.Op{query.Contains, query.Contains, query.Contains, query.IsNull, query.Eq, query.NotIn, query.StartsWith})
	}
	if field == "span" && w.dialect == sqltx.SQLite {
		op = query.IsNull
	}
	f := query.Filter{Op: op, Field: field, Value: w.asked(field)}
	switch {
	case w.IntN(50) == 0 && field != "span":
		f.Op = "like" // what cannot be read matches nothing, negated or not
	case w.IntN(50) == 0: // neither does a list that is none
	case op == query.In || op == query.NotIn:
		list := []any{}
		for range w.IntN(4) {
			list = append(list, w.asked(field))
		}
		f.Value = list
	case op == query.IsNull:
		f.Value = w.IntN(2) == 0
	case (op == query.Contains || op == query.StartsWith) && !columns[field].List:
		if s, ok := f.Value.(string); ok && s != "" {
			part := []rune(s)
			from := w.IntN(len(part))
			if op == query.StartsWith {
				from = 0
			}
			f.Value = string(part[from : from+w.IntN(len(part)-from)+1])
		}
	}
	return f
}

// fields are the names of all columns; a map would give them in another order each time.
var fields = slices.Sorted(maps.Keys(columns))

func (w *world) anyField() string { return pick(w, fields) }

func (w *world) query() query.Query {
	q := query.Query{Limit: w.IntN(8)}
	if w.IntN(4) > 0 {
		q.Filter = w.filter(3)
	}
	for range w.IntN(4) {
		if field := w.anyField(); !columns[field].List && (field != "span" || w.dialect != sqltx.SQLite) {
			q.Sort = append(q.Sort, query.Order{Field: field, Desc: w.IntN(2) == 0})
		}
	}
	q.Sort = append(q.Sort, query.Order{Field: "id", Desc: w.IntN(2) == 0})
	switch w.IntN(8) {
	case 0:
	case 1: // made up
		for _, key := range q.Sort {
			q.After = append(q.After, w.asked(key.Field))
		}
	case 2: // of another list
		q.After = make([]any, w.IntN(len(q.Sort)))
	default:
		at := pick(w, w.items)
		for _, key := range q.Sort {
			q.After = append(q.After, at[key.Field])
		}
	}
	return q
}

// fill makes rows and stores them.
func (w *world) fill(t *testing.T, db *sqltx.DB, tr *sqlquery.Translator) {
	t.Helper()
	ctx := t.Context()
	if w.dialect == sqltx.PostgreSQL {
		exec(t, ctx, db, createTypes...)
	}
	exec(t, ctx, db, createTable[w.dialect])
	names := make([]string, len(stored))
	for i, field := range stored {
		names[i] = field
		if c := columns[field]; c.Name != "" {
			names[i] = c.Name
		}
		names[i] = w.dialect.Quote(names[i])
	}
	places := make([]string, len(stored)+1)
	for i := range places {
		places[i] = w.dialect.Placeholder(i + 1)
		if i < len(stored) && w.dialect == sqltx.PostgreSQL && casts[stored[i]] != "" {
			places[i] += "::text::" + casts[stored[i]]
		}
	}
	insert := fmt.Sprintf("INSERT INTO things (%s, doc) VALUES (%s)", strings.Join(names, ", "), strings.Join(places, ", "))
	for id := range int64(60) {
		it, args, doc := item{}, []any{}, map[string]any{}
		for _, field := range fields {
			c := columns[field]
			if c.Expr == "" && (c.NotNull || w.IntN(5) > 0) {
				it[field] = w.value(field)
			}
			if v, ok := it[field]; ok && len(c.Path) == 1 {
				doc[c.Path[0]] = v
			}
		}
		it["id"] = id*3 - 30
		doc["it's"] = map[string]any{"name": it["doc"]}
		if n, ok := it["n"].(int64); ok {
			it["sum"] = n + it["m"].(int64)
		}
		for _, field := range stored {
			args = append(args, w.argument(tr, field, it[field]))
		}
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Writer(ctx).ExecContext(ctx, insert, append(args, string(text))...); err != nil {
			t.Fatalf("%v: %v", it, err)
		}
		w.items = append(w.items, it)
	}
}

// argument returns a value for INSERT. Lists are JSON, or in PostgreSQL arrays.
func (w *world) argument(tr *sqlquery.Translator, field string, v any) any {
	list, ok := v.([]any)
	if !ok {
		return tr.Arg(field, v)
	}
	text, _ := json.Marshal(list)
	if w.dialect == sqltx.PostgreSQL && strings.HasSuffix(columns[field].Type, "[]") {
		return "{" + string(text[1:len(text)-1]) + "}" // the texts need no other escapes than those of JSON
	}
	return string(text)
}

// checkQuery compares the answers of Translate and Steps with that of query.Select. It returns how many rows there were,
// and in how many steps.
func checkQuery(t *testing.T, w *world, db *sqltx.DB, tr *sqlquery.Translator, q query.Query) (rows, steps int) {
	t.Helper()
	if len(q.Sort) == 0 {
		q.Sort = []query.Order{{Field: "id"}}
	}
	want := []int64{}
	for _, it := range query.Select(q, w.items, (*item).field) {
		want = append(want, it["id"].(int64))
	}
	one, err := tr.Translate(q)
	if err != nil {
		t.Fatal(err)
	}
	several, err := tr.Steps(q)
	if err != nil {
		t.Fatal(err)
	}
	for name, clauses := range map[string][]sqlquery.Clauses{"Translate": {one}, "Steps": several} {
		got := []int64{}
		for _, c := range clauses {
			ids, err := column[int64](t.Context(), db.Reader(t.Context()), "SELECT id FROM things"+c.String(), c.Args...)
			if err != nil {
				t.Fatalf("seed %d, %s: %v\n%+v\n%s\n%v", *seed, name, err, q, c, c.Args)
			}
			got = append(got, ids...)
		}
		if q.Limit > 0 && len(got) > q.Limit {
			got = got[:q.Limit]
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, %s (-want +got):\n%s%+v\n%s\n%v", *seed, name, diff, q, clauses, one.Args)
		}
	}
	return len(want), len(several)
}

// things is the whole table, row by row.
func things(t *testing.T, db *sqltx.DB) []string {
	t.Helper()
	names := make([]string, len(stored))
	for i, field := range stored {
		names[i] = "coalesce(cast(" + db.Dialect().Quote(cmp.Or(columns[field].Name, field)) + " AS text), 'null')"
	}
	list, err := column[string](t.Context(), db.Reader(t.Context()),
		"SELECT "+strings.Join(names, " || '|' || ")+" FROM things ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestTranslateAgreesWithSelect is the promise of package sqlquery.
func TestTranslateAgreesWithSelect(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		w := &world{Rand: rand.New(rand.NewPCG(*seed, 0)), dialect: e.Dialect}
		db := e.Open(t, nil)
		tr := sqlquery.New(sqlquery.Dialect(e.Dialect), columns)
		w.fill(t, db, tr)
		rows, stepped := 0, 0
		for range *queries {
			n, steps := checkQuery(t, w, db, tr, w.query())
			rows += n
			if steps > 1 {
				stepped++
			}
		}
		t.Logf("%d queries, %d of them in steps, %d rows, no difference", *queries, stepped, rows)
		if rows < *queries/2 || stepped < *queries/10 {
			t.Errorf("%d queries gave %d rows, and %d had steps: they ask for too little", *queries, rows, stepped)
		}
	})
}
