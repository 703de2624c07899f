package sqltabletest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestKitOfTimeLayout runs the kit over a table of SQLite with times as CURRENT_TIMESTAMP writes them.
func TestKitOfTimeLayout(t *testing.T) {
	existing := map[sqltx.Dialect][]string{sqltx.SQLite: {"CREATE TABLE members (id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL," +
		"email TEXT NOT NULL, shard INT NOT NULL, login TEXT NOT NULL UNIQUE, phone TEXT NOT NULL, note TEXT," +
		"created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP NOT NULL," +
		"deleted_at DATETIME, rev TEXT NOT NULL, UNIQUE (shard, email, tenant_id))",
		"CREATE UNIQUE INDEX phones ON members (phone) WHERE phone <> ''"}}
	type shownMember struct {
		member
		CreatedAt time.Time `json:"createdAt" readOnly:"true" sql:"timestamp,generated"`
	}
	s := shape[shownMember]{table: "members", tables: existing,
		require: "Creator Inserter MultiInserter " + softCapabilities,
		opts: sqltable.Options{TimeLayout: time.DateTime, Modified: "updated_at", SoftDelete: "deleted_at",
			UniqueDeleted: true}}
	s.kit.UniqueDeleted = true
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect == sqltx.SQLite {
			s.run(t, e)
		}
	})
}

// dated has a time in each type that a table of SQLite has it in.
type dated struct {
	ID   string     `json:"id"`
	Text time.Time  `json:"text"`
	Made time.Time  `json:"made"`
	Seen *time.Time `json:"seen"`
	Gone *time.Time `json:"gone" readOnly:"true"`
}

// TestTimeLayout filters and sorts by times that CURRENT_TIMESTAMP has written, with drivers that parse
// columns of the type DATETIME.
func TestTimeLayout(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.SQLite {
			return
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, "CREATE TABLE dated (id TEXT PRIMARY KEY, text TEXT NOT NULL, made DATETIME NOT NULL, "+
			"seen TIMESTAMP, gone DATETIME, rev TEXT NOT NULL)",
			"INSERT INTO dated VALUES ('a', '2026-01-01 23:00:00', '2026-01-01 23:00:00', '2026-01-01 23:00:00', NULL, '1'), "+
				"('b', '2026-01-02 01:00:00', '2026-01-02 01:00:00', NULL, '2026-01-02 01:00:00', '1'), "+
				"('c', '2026-01-02 01:00:00', '2026-01-02 01:00:00', '2026-01-02 01:00:00', NULL, '1')")
		table := sqltable.New[dated](db, "dated", &sqltable.Options{TimeLayout: time.DateTime, SoftDelete: "gone"})
		if err := table.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		ops := table.Ops()
		at := time.Date(2026, 1, 2, 0, 0, 0, 500, time.UTC)
		if _, err := ops.Insert(t.Context(), "d", dated{ID: "d", Text: at, Made: at, Seen: &at}); err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"text", "made", "seen"} {
			for _, tt := range []struct {
				filter query.Filter
				want   string
			}{
				{query.Filter{}, "adc"},
				{query.Where(field, query.Lt, at), "ad"},
				{query.Where(field, query.Gte, at), "c"},
				{query.Where(field, query.Eq, at.Truncate(time.Second)), "d"},
			} {
				got := ""
				for it, err := range ops.List(t.Context(), query.Query{Filter: tt.filter,
					Sort: []query.Order{{Field: field}, {Field: "id"}}}) {
					if err != nil {
						t.Fatal(err)
					}
					got += it.ID
					if it.Value.Made != it.Value.Text || *it.Value.Seen != it.Value.Text || it.Value.Text.Year() != 2026 {
						t.Errorf("item %s has the times %v", it.ID, it.Value)
					}
				}
				if got != tt.want {
					t.Errorf("%s %v: items %s, want %s", field, tt.filter, got, tt.want)
				}
			}
		}
		it, err := ops.Get(t.Context(), "d")
		if err == nil {
			err = ops.Delete(t.Context(), "d", it.Rev)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Check(t.Context()); err != nil { // reads the time of the deletion
			t.Error(err)
		}
	})
}

// TestCheckStoredTimes reports times in another layout than that of the column.
func TestCheckStoredTimes(t *testing.T) {
	const usual = `needs "2006-01-02T15:04:05.000000000Z": `
	of := func(unit time.Duration, layout string) map[string]sqlquery.Column {
		return map[string]sqlquery.Column{"made": {Kind: sqlquery.Time, Name: "made", NotNull: true, Unit: unit, Layout: layout}}
	}
	tests := []struct {
		name, stored string
		opts         sqltable.Options
		want         string
	}{
		{"as written", "'2026-01-02T03:04:05.000000000Z'", sqltable.Options{}, ""},
		{"CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP", sqltable.Options{},
			`a time in the layout "2006-01-02 15:04:05", but field Made ` + usual +
				"set Options.TimeLayout, or the Layout of the field in Options.Columns"},
		{"its layout", "CURRENT_TIMESTAMP", sqltable.Options{TimeLayout: time.DateTime}, ""},
		{"its layout in Columns", "CURRENT_TIMESTAMP", sqltable.Options{Columns: of(0, time.DateTime)}, ""},
		{"milliseconds", "'2026-01-02 03:04:05.678+00:00'", sqltable.Options{TimeLayout: time.DateTime},
			`a time in the layout "2006-01-02 15:04:05.000+00:00", but field Made needs "2006-01-02 15:04:05": ` +
				"set Options.TimeLayout, or the Layout of the field in Options.Columns"},
		{"and their layout", "'2026-01-02 03:04:05.678+00:00'", sqltable.Options{TimeLayout: "2006-01-02 15:04:05.000+00:00"}, ""},
		{"zeros at the end", "'2026-01-02T03:04:05.600Z'", sqltable.Options{Columns: of(0, time.RFC3339Nano)},
			`a time in the layout "2006-01-02T15:04:05.000Z", but field Made needs "2006-01-02T15:04:05.999999999Z07:00": ` +
				"set the Layout of the field in Options.Columns"},
		{"an offset", "'2026-01-02T03:04:05+02:00'", sqltable.Options{},
			"a time with an offset from UTC, but field Made " + usual + "convert the values"},
		{"another text", "'yesterday'", sqltable.Options{},
			"a time in an unknown layout, but field Made " + usual + "convert the values"},
		{"seconds", "1767322800", sqltable.Options{},
			"an integer, but field Made " + usual + "set the Unit of the field in Options.Columns"},
		{"their unit", "1767322800", sqltable.Options{Columns: of(time.Second, "")}, ""},
		{"a text instead of seconds", "CURRENT_TIMESTAMP", sqltable.Options{Columns: of(time.Second, "")},
			`a time in the layout "2006-01-02 15:04:05", but field Made needs an integer: ` +
				"set the Layout of the field in Options.Columns"},
		{"a Julian day", "2460000.5", sqltable.Options{},
			"a value of the type real, but field Made " + usual + "convert the values"},
	}
	type timed struct {
		ID   string    `json:"id"`
		Made time.Time `json:"made"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.SQLite {
			return
		}
		for _, tt := range tests {
			db := e.OpenSchema(t)
			// The first row has the usual layout, or is not read.
			enginetest.MustExec(t, db, "CREATE TABLE timed (id TEXT PRIMARY KEY, made DATETIME, rev TEXT NOT NULL)",
				"INSERT INTO timed VALUES ('1', NULL, '1'), ('2', "+tt.stored+", '1')")
			tt.opts.Columns = nullable(tt.opts.Columns)
			tt.opts.Forget = true
			err := sqltable.New[timed](db, "timed", &tt.opts).Check(t.Context())
			got := ""
			if err != nil {
				_, got, _ = strings.Cut(err.Error(), "column made has ")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: Check (-want +got):\n%s\n%v", tt.name, diff, err)
			}
		}
		// Columns without a field.
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, "CREATE TABLE members (id TEXT PRIMARY KEY, changed INT, gone TEXT, rev TEXT NOT NULL)",
			"INSERT INTO members VALUES ('1', 1767322800, CURRENT_TIMESTAMP, '1')")
		type bare struct {
			ID string `json:"id"`
		}
		err := sqltable.New[bare](db, "members", &sqltable.Options{SoftDelete: "gone"}).Check(t.Context())
		const want = `column gone has a time in the layout "2006-01-02 15:04:05", but the store ` + usual + "set Options.TimeLayout"
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("Check: %v, want %s", err, want)
		}
	})
}

// nullable makes the columns nullable, because the first row has NULL.
func nullable(columns map[string]sqlquery.Column) map[string]sqlquery.Column {
	if columns == nil {
		return map[string]sqlquery.Column{"made": {Kind: sqlquery.Time}}
	}
	c := columns["made"]
	c.NotNull = false
	return map[string]sqlquery.Column{"made": c}
}

// TestCheckStoredEnum reports values that the tag enum lacks, which a CHECK of the table may permit.
func TestCheckStoredEnum(t *testing.T) {
	type labeled struct {
		ID     string  `json:"id" maxLength:"64"`
		Status string  `json:"status" enum:"open,paid"`
		Level  *int64  `json:"level" enum:"1,2"`
		Kind   string  `json:"kind,omitempty" enum:"a,b"`
		Color  *string `json:"color" enum:"red"`
		Prio   int     `json:"prio,omitzero" enum:"1,2"`
		Rate   string  `json:"rate" format:"decimal" precision:"10,2" enum:"0.5,1"`
	}
	const create = "CREATE TABLE labeled (id varchar(64) PRIMARY KEY, status varchar(200) NOT NULL CHECK (status <> ''), " +
		"level bigint, kind text NOT NULL, color text, " +
		"prio bigint NOT NULL DEFAULT 0, rate numeric(10,2) NOT NULL DEFAULT 0.50, rev text NOT NULL, deleted_at text)"
	tests := []struct {
		name, values string
		want         []string
	}{
		{"none", "", nil},
		{"of the tags", "('1', 'open', 1, '', NULL, ''), ('2', 'paid', NULL, 'b', 'red', ''), ('deleted', 'void', 3, 'c', NULL, '')", nil},
		{"others", "('1', 'void', 3, 'c', '', ''), ('2', 'draft', 2, 'a', 'red', ''), ('3', 'open', -1, 'b', NULL, '')", []string{
			`column status has values that the tag enum of field Status lacks: "draft", "void"`,
			`column level has values that the tag enum of field Level lacks: "-1", "3"`,
			`column kind has values that the tag enum of field Kind lacks: "c"`,
			`column color has values that the tag enum of field Color lacks: ""`}},
		{"many and long ones", "('1', 'v1', 1, '', NULL, ''), ('2', 'v2', 1, '', NULL, ''), ('3', 'v3', 1, '', NULL, ''), " +
			"('4', 'v4', 1, '', NULL, ''), ('5', 'v5', 1, '', NULL, ''), ('6', 'v6', 1, '', NULL, ''), ('7', 'v7', 1, '', NULL, ''), " +
			"('8', '" + strings.Repeat("long", 30) + "', 1, '', NULL, '')",
			[]string{`column status has values that the tag enum of field Status lacks: "` + strings.Repeat("long", 10) +
				`...", "v1", "v2", "v3", "v4" and 3 more`}},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			db := e.OpenSchema(t)
			create := create
			if e.Dialect == sqltx.PostgreSQL {
				create = strings.Replace(create, "deleted_at text", "deleted_at timestamptz", 1)
			}
			enginetest.MustExec(t, db, create)
			if tt.values != "" {
				enginetest.MustExec(t, db, "INSERT INTO labeled (id, status, level, kind, color, rev) VALUES "+tt.values)
				enginetest.MustExec(t, db, "UPDATE labeled SET deleted_at = '"+time.Now().UTC().Format(sqlquery.TimeLayout)+"' WHERE id = 'deleted'")
			}
			table := sqltable.New[labeled](db, "labeled", &sqltable.Options{SoftDelete: "deleted_at"})
			err := table.Check(t.Context())
			var got []string
			if err != nil {
				got = strings.Split(err.Error(), "\n\t")[1:]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: Check (-want +got):\n%s", tt.name, diff)
			}
			var warned []string
			err = table.CheckWith(t.Context(), &sqltable.CheckOptions{Warn: func(d sqltable.Difference) { warned = append(warned, d.String()) }})
			if diff := cmp.Diff(tt.want, warned); diff != "" || err != nil {
				t.Errorf("%s: CheckWith: %v (-want +got):\n%s", tt.name, err, diff)
			}
			if err := table.CreateTable(t.Context()); err != nil {
				t.Errorf("%s: CreateTable: %v", tt.name, err)
			}
		}
	})
}
