package sqltabletest

import (
	"bytes"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/rowstest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// gauge has a nullable and another column of each kind that may have values which a field cannot have.
type gauge struct {
	ID     string     `json:"id" maxLength:"20"`
	Site   string     `json:"siteId" db:"site"`
	Title  string     `json:"title"`
	Ratio  float64    `json:"ratio"`
	RatioN *float64   `json:"ratioN"`
	At     time.Time  `json:"at"`
	AtN    *time.Time `json:"atN"`
	Tiny   int8       `json:"tiny" minimum:"1"`
	TinyN  *int8      `json:"tinyN"`
	Tags   []string   `json:"tags" sql:"text[]"`
	Note   string     `json:"note"`
	NoteN  *string    `json:"noteN"`
}

// newReadings creates a table of another program. The row bad has values that its fields cannot have, the id of
// another is empty, and two have no such values.
func newReadings(t *testing.T, e *enginetest.Engine, db *sqltx.DB) *sqltable.Table[gauge] {
	t.Helper()
	name := "readings_" + e.Name
	columns := "id, site, title, ratio, ratio_n, at, at_n, tiny, tiny_n, tags, note, note_n, rev"
	create := "CREATE TABLE %s (id text PRIMARY KEY, site text NOT NULL, title text NOT NULL, ratio double precision NOT NULL, " +
		"ratio_n double precision, at timestamptz NOT NULL, at_n timestamptz, tiny bigint NOT NULL, tiny_n bigint, " +
		"tags text[] NOT NULL, note text NOT NULL, note_n text, rev text NOT NULL)"
	bad := "'NaN', '-infinity', '12000-01-01Z', '0044-03-15Z BC', -300, 300, '{{a,b},{c,d}}', '', NULL"
	good := "1.5, 2.5, '2026-01-02Z', '2026-01-02Z', 2, 3, '{a}', 'n', 'n'"
	if e.Dialect == sqltx.SQLite {
		create = "CREATE TABLE %s (id TEXT PRIMARY KEY, site TEXT NOT NULL, title TEXT NOT NULL, ratio REAL NOT NULL, ratio_n REAL, " +
			"at TEXT NOT NULL, at_n TEXT, tiny INTEGER NOT NULL, tiny_n INTEGER, tags TEXT NOT NULL, note TEXT NOT NULL, note_n TEXT, " +
			"rev TEXT NOT NULL)"
		bad = "9e999, -9e999, '12000-01-01T00:00:00Z', '-0044-03-15T00:00:00Z', -300, 300, '[[\"a\",\"b\"]]', " +
			"CAST(x'61ff62' AS TEXT), CAST(x'ff' AS TEXT)"
		good = "1.5, 2.5, '2026-01-02T00:00:00.000000000Z', '2026-01-02T00:00:00.000000000Z', 2, 3, '[\"a\"]', 'n', 'n'"
	}
	insert := "INSERT INTO " + name + " (" + columns + ") VALUES ('%s', 's', 't', %s, '1')"
	enginetest.MustExec(t, db, fmt.Sprintf(create, name), fmt.Sprintf(insert, "", good), fmt.Sprintf(insert, "bad", bad),
		fmt.Sprintf(insert, "good", good), fmt.Sprintf(insert, "zoo", good))
	return sqltable.New[gauge](db, name, &sqltable.Options{Forget: true})
}

// badReading is the item of the row bad.
func badReading(d sqltx.Dialect) string {
	note := ""
	if d == sqltx.SQLite {
		note = "a\ufffdb"
	}
	return `{"id":"bad","siteId":"s","title":"t","ratio":0,"ratioN":null,"at":"0001-01-01T00:00:00Z","atN":null,"tiny":1,` +
		`"tinyN":null,"tags":[],"note":"` + note + `","noteN":null}`
}

// TestUnreadableValues reads and changes a row with values that its fields cannot have.
func TestUnreadableValues(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		table := newReadings(t, e, db)
		ops := table.Ops()
		for _, q := range []query.Query{{}, {Limit: 3}, {Sort: []query.Order{{Field: "ratio"}, {Field: "id"}}, Limit: 3},
			{Fields: []string{"id", "note", "at"}}} {
			rowstest.CheckList(t, t.Context(), ops, q)
		}
		r := ops.Resource("readings", &resource.Options[gauge]{Query: table.Support(), Public: true})
		server := serve(t, nil, r)
		s := served{server.Client(), server.URL + "/readings"}
		checkDocument(t, badReading(e.Dialect), s.do(t, http.StatusOK, "GET", "/bad", ""))
		before := storedReading(t, db, "readings_"+e.Name)
		checkDocument(t, strings.Replace(badReading(e.Dialect), `"t"`, `"new"`, 1),
			s.do(t, http.StatusOK, "PATCH", "/bad", `{"title":"new"}`))
		if diff := cmp.Diff(before, storedReading(t, db, "readings_"+e.Name)); diff != "" {
			t.Errorf("the values of the other columns after a PATCH (-want +got):\n%s", diff)
		}
		if got := s.do(t, http.StatusOK, "GET", "?ratio=1.5", ""); len(got["items"].([]any)) != 2 {
			t.Errorf("the items with a ratio of 1.5 are %v, want good and zoo", got["items"])
		}
	})
}

// storedReading returns what the row bad has in the columns with values that its fields cannot have.
func storedReading(t *testing.T, db *sqltx.DB, table string) [6]sql.NullString {
	t.Helper()
	rows, err := db.Reader(t.Context()).QueryContext(t.Context(), "SELECT CAST(ratio AS TEXT), CAST(ratio_n AS TEXT), "+
		"CAST(at AS TEXT), CAST(tiny AS TEXT), CAST(tags AS TEXT), note_n FROM "+table+" WHERE id = 'bad'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var stored [6]sql.NullString
	for rows.Next() {
		if err := rows.Scan(&stored[0], &stored[1], &stored[2], &stored[3], &stored[4], &stored[5]); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return stored
}

// pagesOf returns the ids of a list that is read in pages of one item.
func pagesOf(t *testing.T, r *resource.Resource, sort ...query.Order) string {
	t.Helper()
	var ids []string
	for at := (resource.Position{}); len(ids) < 10; {
		page, err := r.List(t.Context(), query.Query{Sort: sort, Limit: 1}, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range page.Entries {
			ids = append(ids, entry.ID)
		}
		if at.After = page.Next; at.After == "" {
			break
		}
	}
	return strings.Join(ids, " ")
}

// TestUnreadablePages: pages end, and have each item once. Those that are sorted by a value that the field
// cannot have lack its row.
func TestUnreadablePages(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		table := newReadings(t, e, e.OpenSchema(t))
		ops := table.Ops()
		for _, encoded := range []bool{true, false} {
			options := &resource.Options[gauge]{Query: table.Support(), Public: true}
			if !encoded {
				ops = ops.WithFastReads(resource.FastReads{})
			}
			r := ops.Resource("readings", options)
			r = resource.NewCatalog(nil, r).Resource(r.Name())
			tests := []struct{ field, want, desc string }{
				{"id", "bad good zoo", "zoo good bad"}, {"title", "bad good zoo", "bad good zoo"},
				{"ratio", "good zoo", "good zoo"}, {"ratioN", "good zoo", "good zoo"}, {"at", "good zoo", "good zoo"},
				{"atN", "good zoo", "good zoo"}, {"tiny", "good zoo", "good zoo"}, {"tinyN", "good zoo", "good zoo"},
			}
			for _, tt := range tests {
				got := []string{pagesOf(t, r, query.Order{Field: tt.field}), pagesOf(t, r, query.Order{Field: tt.field, Desc: true})}
				if diff := cmp.Diff([]string{tt.want, tt.desc}, got); diff != "" {
					t.Errorf("by %s, encoded %v (-want +got):\n%s", tt.field, encoded, diff)
				}
			}
		}
		// The row with the empty id is the first of its key, and does not shorten the page of the key.
		for limit, want := range []string{"bad good zoo", "bad", "bad good", "bad good zoo", "bad good zoo"} {
			var got []string
			q := query.Query{Sort: []query.Order{{Field: "id"}}, Limit: limit}
			for it, err := range ops.ListByKeys(t.Context(), "siteId", []string{"s", "other"}, q) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, it.ID)
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("the page of %d items of a key has %s, want %s", limit, got, want)
			}
		}
		var many []string
		for it, err := range ops.GetMany(t.Context(), []string{"", "bad"}) {
			if err != nil {
				t.Fatal(err)
			}
			many = append(many, it.ID)
		}
		if diff := cmp.Diff([]string{"bad"}, many); diff != "" {
			t.Errorf("GetMany (-want +got):\n%s", diff)
		}
	})
}

// TestUnreadableKeys: lists leave out rows with an id that no request can name.
func TestUnreadableKeys(t *testing.T) {
	type numbered struct {
		ID    int32  `json:"id"`
		Title string `json:"title"`
	}
	type named struct {
		ID string `json:"id"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.SQLite {
			return // Check of PostgreSQL requires the tag of the smaller type
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, "CREATE TABLE numbered (id INTEGER PRIMARY KEY, title TEXT, rev TEXT NOT NULL DEFAULT 'r')",
			"INSERT INTO numbered (id, title) VALUES (-9000000000, 'a'), (1, 'b'), (9000000000, 'c'), (2, NULL)",
			"CREATE TABLE named (id TEXT PRIMARY KEY, rev TEXT NOT NULL DEFAULT 'r')",
			"INSERT INTO named (id) VALUES (NULL), (NULL), ('a'), (CAST(x'62ff' AS TEXT)), ('c'), ('')")
		numbers := sqltable.New[numbered](db, "numbered", &sqltable.Options{ReadOnly: true, Rev: "rev"})
		names := sqltable.New[named](db, "named", &sqltable.Options{ReadOnly: true, Rev: "rev"})
		byNumber := numbers.Ops().Resource("numbered", &resource.Options[numbered]{Query: numbers.Support(), Public: true})
		byName := names.Ops().Resource("named", &resource.Options[named]{Query: names.Support(), Public: true})
		c := resource.NewCatalog(nil, byNumber, byName)
		byNumber = c.Resource(byNumber.Name())
		byName = c.Resource(byName.Name())
		got := []string{pagesOf(t, byNumber), pagesOf(t, byName)}
		if diff := cmp.Diff([]string{"1 2", "a c"}, got); diff != "" {
			t.Errorf("ids (-want +got):\n%s", diff)
		}
		rowstest.CheckList(t, t.Context(), numbers.Ops(), query.Query{})
		rowstest.CheckList(t, t.Context(), names.Ops(), query.Query{Limit: 1})
	})
}

// TestUnreadableModes reads such values in each mode of pgx.
func TestUnreadableModes(t *testing.T) {
	type odd struct {
		ID    string      `json:"id"`
		Ratio float64     `json:"ratio"`
		Real  *float32    `json:"real"`
		Price *float64    `json:"price" sql:"numeric(9,2)"`
		At    time.Time   `json:"at"`
		Local *time.Time  `json:"local" sql:"timestamp"`
		Day   *time.Time  `json:"day" sql:"date"`
		Tiny  uint8       `json:"tiny" sql:"smallint"`
		Times []time.Time `json:"times" sql:"timestamptz[]"`
		Sizes []float64   `json:"sizes" sql:"double precision[]"`
	}
	eachMode(t, func(t *testing.T, db *sqltx.DB) {
		enginetest.MustExec(t, db, "CREATE TABLE odds (id text PRIMARY KEY, ratio double precision NOT NULL, \"real\" real, "+
			"price numeric(9,2), at timestamptz NOT NULL, local timestamp, day date, tiny smallint NOT NULL, "+
			"times timestamptz[] NOT NULL, sizes double precision[] NOT NULL)",
			"INSERT INTO odds VALUES ('early', 'Infinity', 'NaN', 'NaN', '0044-03-15Z BC', '0044-03-15 BC', '0044-03-15 BC', -1, "+
				"'{0044-03-15Z BC}', '{1,NaN}'), ('late', 'NaN', '-Infinity', NULL, '12000-01-01Z', '12000-01-01', '12000-01-01', "+
				"300, '{12000-01-01Z}', '{{1}}')")
		ops := sqltable.New[odd](db, "odds", &sqltable.Options{Rev: sqltable.XMin, Forget: true}).Ops()
		for it, err := range ops.List(t.Context(), query.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			want := odd{ID: it.ID, Times: []time.Time{}, Sizes: []float64{}}
			if diff := cmp.Diff(want, it.Value, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", it.ID, diff)
			}
		}
		rowstest.CheckList(t, t.Context(), ops, query.Query{})
	})
}

// lockedBuffer is a log of several goroutines.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// with returns the lines that contain a text.
func (b *lockedBuffer) with(text string) (lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.buf.String()) {
		if strings.Contains(line, text) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// TestUnreadableLog: each value is logged once, by its place.
func TestUnreadableLog(t *testing.T) {
	var log lockedBuffer
	previous := slog.Default()
	noTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: noTime})))
	t.Cleanup(func() { slog.SetDefault(previous) })
	for _, engine := range sqltest.Engines() {
		if engine.Dialect != sqltx.SQLite {
			continue // EachEngine runs in parallel; the log is the same
		}
		db := engine.Open(t, nil)
		enginetest.MustExec(t, db, "CREATE TABLE logged_"+engine.Name+" (id TEXT PRIMARY KEY, score REAL, seen REAL, rev TEXT NOT NULL)",
			"INSERT INTO logged_"+engine.Name+" VALUES ('a', 9e999, 1, 'r'), ('b', 9e999, 9e999, 'r'), ('', 1, 1, 'r')")
		type scored struct {
			ID    string   `json:"id"`
			Score *float64 `json:"score"`
			Seen  *float64 `json:"seen"`
		}
		ops := sqltable.New[scored](db, "logged_"+engine.Name, &sqltable.Options{Forget: true}).Ops()
		for range 2 {
			for _, err := range ops.List(t.Context(), query.Query{}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, err := range ops.FastReads().ListJSON(t.Context(), query.Query{}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := ops.Get(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
		}
		line := func(id, column string) string {
			return `level=WARN msg="sqltable: a column has a value that its field cannot have; see the package documentation" ` +
				"table=logged_" + engine.Name + " id=" + id + " column=" + column
		}
		want := []string{line("a", "score"), line("b", "score"), line("b", "seen"), line(`""`, "id")}
		if diff := cmp.Diff(want, log.with("logged_"+engine.Name)); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	}
}

// warningsOf returns the warnings of Check, and its error without its first line.
func warningsOf[T any](t *testing.T, table *sqltable.Table[T]) (warned, faults []string) {
	t.Helper()
	err := table.CheckWith(t.Context(), &sqltable.CheckOptions{Warn: func(d sqltable.Difference) { warned = append(warned, d.String()) }})
	if err != nil {
		faults = strings.Split(err.Error(), "\n\t")[1:]
	}
	return warned, faults
}

// TestCheckUnreadable warns of rows with such values. Times of SQLite in another layout are faults.
func TestCheckUnreadable(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		table := newReadings(t, e, db)
		cannot := func(column, field, placeholder string) string {
			return "column " + column + " has values that field " + field + ` cannot have, as in the item "bad": clients see ` +
				placeholder + " in their place"
		}
		want := []string{"column id has values that are no id, so lists leave out their rows",
			cannot("ratio", "Ratio", "a placeholder"), cannot("ratio_n", "RatioN", "null")}
		if e.Dialect == sqltx.SQLite {
			enginetest.MustExec(t, db, "UPDATE readings_"+e.Name+" SET at = '2026-01-02T00:00:00.000000000Z', at_n = NULL")
		} else {
			want = append(want, cannot("at", "At", "a placeholder"), cannot("at_n", "AtN", "null"))
		}
		want = append(want, cannot("tiny", "Tiny", "a placeholder"), cannot("tiny_n", "TinyN", "null"))
		if e.Dialect == sqltx.PostgreSQL {
			want = append(want, cannot("tags", "Tags", "a placeholder"))
		}
		warned, faults := warningsOf(t, table)
		if diff := cmp.Diff(want, warned); diff != "" || faults != nil {
			t.Errorf("Check: %v, warnings (-want +got):\n%s", faults, diff)
		}
	})
}

// TestCheckDefaults: a DEFAULT has no effect on a field that clients cannot set and no tag sets.
func TestCheckDefaults(t *testing.T) {
	type stamped struct {
		ID      string    `json:"id"`
		Made    time.Time `json:"made" readOnly:"true"`
		Stamped time.Time `json:"stamped" set:"created"`
		Own     time.Time `json:"own" readOnly:"true" default:"db"`
		Zero    time.Time `json:"zero" readOnly:"true"`
		State   string    `json:"state" readOnly:"true"`
		Count   int64     `json:"count" readOnly:"true"`
		Empty   string    `json:"empty" readOnly:"true"`
		Open    string    `json:"open"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		typ, now, zero := "timestamptz", "now()", "'0001-01-01 00:00:00+00'"
		if e.Dialect == sqltx.SQLite {
			typ, now, zero = "TEXT", "CURRENT_TIMESTAMP", "'0001-01-01T00:00:00.000000000Z'"
		}
		enginetest.MustExec(t, db, fmt.Sprintf("CREATE TABLE stamped (id text PRIMARY KEY, made %[1]s NOT NULL DEFAULT %[2]s, "+
			"stamped %[1]s NOT NULL DEFAULT %[2]s, own %[1]s NOT NULL DEFAULT %[2]s, zero %[1]s NOT NULL DEFAULT %[3]s, "+
			"state text NOT NULL DEFAULT 'new', count bigint NOT NULL DEFAULT 7, empty text NOT NULL DEFAULT '', "+
			"open text NOT NULL DEFAULT 'x', rev text NOT NULL)", typ, now, zero))
		warned, faults := warningsOf(t, sqltable.New[stamped](db, "stamped", &sqltable.Options{Forget: true}))
		const rest = `, which is readOnly: tag it default:"db"`
		wantWarned := []string{
			"column state has a DEFAULT, but new items have the zero value unless Options.Before sets field State" + rest,
			"column count has a DEFAULT, but new items have the zero value unless Options.Before sets field Count" + rest}
		wantFaults := []string{"column made has a DEFAULT, but new items have the year 1, because field Made is readOnly and no tag " +
			`sets it: tag it default:"db" or set:"created"`}
		if diff := cmp.Diff([][]string{wantWarned, wantFaults}, [][]string{warned, faults}); diff != "" {
			t.Errorf("warnings and faults (-want +got):\n%s", diff)
		}
	})
}

// TestCheckKeys reports repeated keys of a view, and a partitioned table with XMin.
func TestCheckKeys(t *testing.T) {
	type linked struct {
		ID   string `json:"id" readOnly:"true" id:"a,b"`
		A    int64  `json:"a"`
		B    string `json:"b"`
		Rank int64  `json:"rank"`
	}
	type single struct {
		A int64 `json:"a"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, "CREATE TABLE links (a bigint NOT NULL, b text NOT NULL, rank bigint NOT NULL)",
			"INSERT INTO links VALUES (1, 'x', 1), (1, 'y', 1), (2, 'x', 1)")
		readOnly := &sqltable.Options{ReadOnly: true}
		lose := func(key string) []string {
			return []string{"several rows have the same " + key + ", which holds the id: pages lose rows; use columns that are unique"}
		}
		check := func(name string, want []string, got []string) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		_, faults := warningsOf(t, sqltable.New[linked](db, "links", readOnly))
		check("unique pairs", nil, faults)
		_, faults = warningsOf(t, sqltable.New[single](db, "links", &sqltable.Options{ReadOnly: true, ID: "a"}))
		check("one column", lose("a"), faults)
		enginetest.MustExec(t, db, "INSERT INTO links VALUES (1, 'x', 2)")
		_, faults = warningsOf(t, sqltable.New[linked](db, "links", readOnly))
		check("pairs", lose("a, b"), faults)
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		enginetest.MustExec(t, db, "CREATE TABLE parts (a bigint PRIMARY KEY) PARTITION BY RANGE (a)",
			"CREATE TABLE parts1 PARTITION OF parts DEFAULT")
		_, faults = warningsOf(t, sqltable.New[single](db, "parts",
			&sqltable.Options{ID: "a", Rev: sqltable.XMin, Forget: true, ClientIDs: true}))
		check("partitions", []string{"the table is partitioned, so every write with Options.Rev XMin fails: " +
			"set Rev to a column or to Content"}, faults)
	})
}

// TestCheckRights runs Check as a database user without the rights of the owner.
func TestCheckRights(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig(sqltest.PostgreSQL(t))
	if err != nil {
		t.Fatal(err)
	}
	owner := sql.OpenDB(stdlib.GetConnector(*config))
	t.Cleanup(func() { owner.Close() })
	admin := sqltx.New(sqltx.PostgreSQL, owner, nil)
	role := fmt.Sprintf("stoa_rights_%d_%s", os.Getpid(), config.Database[strings.LastIndexByte(config.Database, '_')+1:])
	enginetest.MustExec(t, admin, "CREATE ROLE "+role, "GRANT USAGE ON SCHEMA public TO "+role,
		"CREATE TABLE guarded (id text PRIMARY KEY, title text NOT NULL, made timestamptz, secret text, rev text NOT NULL)")
	t.Cleanup(func() {
		owner.Exec("DROP OWNED BY " + role)
		owner.Exec("DROP ROLE " + role)
	})
	config.RuntimeParams["role"] = role
	pool := sql.OpenDB(stdlib.GetConnector(*config))
	t.Cleanup(func() { pool.Close() })
	db := sqltx.New(sqltx.PostgreSQL, pool, nil)
	type guarded struct {
		ID    string     `json:"id"`
		Title string     `json:"title" enum:"a,b"`
		Made  *time.Time `json:"made"`
	}
	refused := func(right, what string) string {
		return "the database user has no right to " + right + ", so " + what + " is refused with 403"
	}
	tests := []struct {
		name, grant    string
		opts           sqltable.Options
		warned, faults []string
	}{
		{"none", "", sqltable.Options{ReadOnly: true, Rev: "rev"}, nil,
			[]string{"the database user has no right to SELECT id, title, made, rev: grant it, or every read fails"}},
		{"a column", "SELECT (id, made, rev)", sqltable.Options{ReadOnly: true, Rev: "rev"}, nil,
			[]string{"the database user has no right to SELECT title: grant it, or every read fails"}},
		{"all that are used", "SELECT (id, title, made, rev)", sqltable.Options{ReadOnly: true, Rev: "rev"}, nil, nil},
		{"reads", "SELECT", sqltable.Options{}, []string{refused("INSERT", "the creation of items"),
			refused("UPDATE", "the change of items"), refused("DELETE", "the deletion of items")}, nil},
		{"columns", "SELECT, INSERT (id, title, made, rev), UPDATE (title, rev)", sqltable.Options{},
			[]string{refused("DELETE", "the deletion of items")}, nil},
		{"no deletion", "SELECT, INSERT, UPDATE", sqltable.Options{NoDelete: true}, nil, nil},
		{"all", "ALL", sqltable.Options{}, nil, nil},
	}
	for _, tt := range tests {
		enginetest.MustExec(t, admin, "REVOKE ALL ON guarded FROM "+role)
		if tt.grant != "" {
			enginetest.MustExec(t, admin, "GRANT "+tt.grant+" ON guarded TO "+role)
		}
		if !tt.opts.NoDelete && !tt.opts.ReadOnly {
			tt.opts.Forget = true
		}
		warned, faults := warningsOf(t, sqltable.New[guarded](db, "guarded", &tt.opts))
		if diff := cmp.Diff([][]string{tt.warned, tt.faults}, [][]string{warned, faults}); diff != "" {
			t.Errorf("%s: warnings and faults (-want +got):\n%s", tt.name, diff)
		}
	}
}
