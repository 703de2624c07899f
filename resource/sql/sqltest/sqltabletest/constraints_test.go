package sqltabletest

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// seat is in a table with a constraint of every sort, some of which the schema does not know.
type seat struct {
	ID     string  `json:"id" maxLength:"64"`
	Code   string  `json:"code"`
	Hall   string  `json:"hall"`
	Row    int64   `json:"row"`
	Number int64   `json:"number" db:"seat_no"`
	Price  float64 `json:"price"`
	Kind   string  `json:"kind"`
	Label  *string `json:"label"`
	Taken  *string `json:"takenBy"`
}

var seats = map[sqltx.Dialect][]string{
	sqltx.SQLite: {"CREATE TABLE halls (name TEXT PRIMARY KEY)", "INSERT INTO halls VALUES ('red'), ('blue')",
		`CREATE TABLE seats (id TEXT PRIMARY KEY, code TEXT NOT NULL UNIQUE, hall TEXT NOT NULL REFERENCES halls, row INTEGER NOT NULL,
		seat_no INTEGER NOT NULL, price REAL NOT NULL CHECK (price > 0), kind TEXT NOT NULL CONSTRAINT known_kind CHECK (kind IN ('a', 'b')),
		label TEXT NOT NULL, taken_by TEXT REFERENCES seats(id), rev TEXT NOT NULL, UNIQUE (row, seat_no))`},
	sqltx.PostgreSQL: {"CREATE TABLE halls (name text PRIMARY KEY)", "INSERT INTO halls VALUES ('red'), ('blue')",
		`CREATE TABLE seats (id text PRIMARY KEY, code text NOT NULL UNIQUE, hall text NOT NULL REFERENCES halls, row bigint NOT NULL,
		seat_no bigint NOT NULL, price float8 NOT NULL CHECK (price > 0), kind text NOT NULL CONSTRAINT known_kind CHECK (kind IN ('a', 'b')),
		label text NOT NULL, taken_by text REFERENCES seats(id), rev text NOT NULL, UNIQUE (row, seat_no))`},
}

// TestConstraints asks, through HTTP, what each constraint becomes.
func TestConstraints(t *testing.T) {
	const good = `{"code":"%s","hall":"red","row":%d,"number":1,"price":1.5,"kind":"a","label":"x"}`
	tests := []struct {
		name, method, path, body string
		want                     string // status, kind and places
	}{
		{"unique", "PUT", "/seats/new", fmt.Sprintf(good, "one", 9), "409 conflict /code taken"},
		{"unique, created", "POST", "/seats", fmt.Sprintf(good, "one", 9), "409 conflict /code taken"},
		{"unique, changed", "PATCH", "/seats/s2", `{"code":"one"}`, "409 conflict /code taken"},
		{"composite unique", "POST", "/seats", fmt.Sprintf(good, "new", 1), "409 conflict /row taken /number taken"},
		{"the id", "POST", "/seats", `{"id":"s1",` + fmt.Sprintf(good, "new", 9)[1:], "409 already-exists"},
		{"foreign key", "PATCH", "/seats/s2", `{"hall":"green"}`, "422 invalid-content /hall unknown"},
		{"foreign key, created", "POST", "/seats", strings.Replace(fmt.Sprintf(good, "new", 9), "red", "green", 1),
			"422 invalid-content /hall unknown"},
		{"foreign key to itself", "PATCH", "/seats/s2", `{"takenBy":"nobody"}`, "422 invalid-content /takenBy unknown"},
		{"deleting what is referred to", "DELETE", "/seats/s1", "", "409 conflict"},
		{"check", "PATCH", "/seats/s2", `{"price":-1}`, "422 invalid-content /price check"},
		{"check with a name", "PATCH", "/seats/s2", `{"kind":"c"}`, "422 invalid-content /kind check"},
		{"not null", "PATCH", "/seats/s2", `{"label":null}`, "422 invalid-content /label required"},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, seats[e.Dialect]...)
		table := newSeats(t, db)
		server := serve(t, nil, table.Ops().Resource("seats", &resource.Options[seat]{Query: table.Support(), Public: true}))
		for i, body := range []string{fmt.Sprintf(good, "one", 1), fmt.Sprintf(good, "two", 2), `{"takenBy":"s1",` + fmt.Sprintf(good, "three", 3)[1:]} {
			if status, _, text := request(t, server.Client(), "PUT", fmt.Sprintf("%s/seats/s%d", server.URL, i+1), body); status != 201 {
				t.Fatal(status, text)
			}
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				status, _, text := request(t, server.Client(), tt.method, server.URL+tt.path, tt.body)
				if diff := cmp.Diff(tt.want, summary(t, status, text)); diff != "" {
					t.Errorf("%s %s %s (-want +got):\n%s\n%s", tt.method, tt.path, tt.body, diff, text)
				}
			})
		}
	})
}

// TestCheckWithoutName checks the fields of CHECK constraints that have no name.
func TestCheckWithoutName(t *testing.T) {
	type span struct {
		ID     string `json:"id" maxLength:"64"`
		Starts int64  `json:"startsAt" db:"starts"`
		Ends   int64  `json:"endsAt" db:"ends"`
		State  string `json:"state"`
		Note   string `json:"note"`
		Length int64  `json:"length"`
	}
	const create = `CREATE TABLE spans (id varchar(64) PRIMARY KEY, starts bigint NOT NULL, ends bigint NOT NULL,
		state text NOT NULL CHECK (state IN ('note', 'id''s starts', 'c')), note text NOT NULL, length bigint NOT NULL CHECK (length < 9), rev text NOT NULL,
		CHECK (length("note") < 5), CHECK (starts < ENDS), CONSTRAINT state CHECK (starts <> 7),
		CONSTRAINT odd CHECK (starts <> 9), CONSTRAINT "not 20" /* length */ CHECK (starts <> 20 OR (ends <> 30 AND 'state' <> '(')),
		CONSTRAINT "not ""long""" CHECK (ends - -- starts
			starts < (100 * (length + 1))))`
	tests := []struct {
		name          string
		value         span
		sqlite, pgsql string // the invalid fields
	}{
		{"of a column", span{Ends: 1, State: "x"}, "state", "state"},
		{"of the table", span{Ends: 1, State: "c", Note: "longer"}, "note", "note"},
		{"of two columns", span{Starts: 1, Ends: 1, State: "c"}, "startsAt endsAt", "startsAt endsAt"},
		{"a name", span{Starts: 9, Ends: 10, State: "c"}, "startsAt", "startsAt"},
		{"the name of a column", span{Starts: 7, Ends: 10, State: "c"}, "startsAt", "startsAt"},
		{"a name and two columns", span{Starts: 20, Ends: 30, State: "c"}, "startsAt endsAt", "startsAt endsAt"},
		{"a name and parentheses", span{Starts: 1, Ends: 1000, State: "c"}, "startsAt endsAt length", "startsAt endsAt length"},
		{"the name of a function", span{Starts: 1, Ends: 10, State: "c", Length: 9}, "length", "length"},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, create)
		table := sqltable.New[span](db, "spans", &sqltable.Options{Forget: true})
		if err := table.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			want := tt.sqlite
			if e.Dialect == sqltx.PostgreSQL {
				want = tt.pgsql
			}
			tt.value.ID = "1"
			_, err := table.Ops().Insert(t.Context(), "1", tt.value)
			if n := len(resource.Problem(err).Errors); n != len(strings.Fields(want)) {
				t.Errorf("%s: %d errors, want those of %s", tt.name, n, want)
			}
			for _, field := range strings.Split(want, " ") {
				if !errors.Is(err, resource.Invalid(field, "check")) {
					t.Errorf("%s: %v, want the field %q", tt.name, err, field)
				}
			}
			for _, v := range resource.Problem(err).Errors {
				if strings.ContainsAny(v.Detail, "<>'") {
					t.Errorf("%s: the problem contains the expression: %s", tt.name, v.Detail)
				}
			}
		}
	})
}

// records is a buffer for a logger.
type records struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// TestCheckWithoutFields: a program that does not call Check finds the constraint in the log, once.
func TestCheckWithoutFields(t *testing.T) {
	var log records
	previous := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(previous) })
	type pair struct {
		ID string `json:"id"`
		A  int64  `json:"a"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		name := strings.ReplaceAll("limit_"+e.Name, " ", "_")
		enginetest.MustExec(t, db, "CREATE TABLE pairs (id text PRIMARY KEY, a bigint NOT NULL, rev text NOT NULL, CONSTRAINT "+name+" CHECK (a < 5))")
		ops := sqltable.New[pair](db, "pairs", &sqltable.Options{Forget: true}).Ops()
		for range 2 {
			if _, err := ops.Insert(t.Context(), "x", pair{ID: "x", A: 9}); !errors.Is(err, resource.Invalid("", "check")) {
				t.Errorf("Insert: %v", err)
			}
		}
		log.mu.Lock()
		defer log.mu.Unlock()
		if n := strings.Count(log.text.String(), "table=pairs constraint="+name+"\n"); n != 1 {
			t.Errorf("%d records of %s, want 1:\n%s", n, name, log.text.String())
		}
	})
}

// newSeats makes the table although its columns do not fit: a label is NULL in Go and not in the
// table, which Check reports.
//
// Databases report only the names of CHECKs. SQLite reports the expression of one that has none.
func newSeats(t *testing.T, db *sqltx.DB) *sqltable.Table[seat] {
	t.Helper()
	table := sqltable.New[seat](db, "seats", &sqltable.Options{
		Constraints: map[string]string{"known_kind": "kind"}})
	err := table.CreateTable(t.Context())
	if err == nil || !strings.Contains(err.Error(), "column label is NOT NULL, but field Label can be null") {
		t.Errorf("CreateTable returned %v, want what is wrong with the label", err)
	}
	return table
}

// summary is a problem on one line.
func summary(t *testing.T, status int, body string) string {
	t.Helper()
	var p struct {
		Type   string
		Errors []struct{ Pointer, Code string }
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	parts := []string{fmt.Sprint(status), p.Type[strings.LastIndexByte(p.Type, '/')+1:]}
	for _, e := range p.Errors {
		parts = append(parts, e.Pointer, e.Code)
	}
	return strings.Join(parts, " ")
}

// short has columns that are narrower than its fields' types, and tags that declare the widths.
type short struct {
	ID    int32             `json:"id" readOnly:"true"`
	Code  string            `json:"code" maxLength:"3"`
	Small int16             `json:"small"`
	Big   uint64            `json:"big"`
	Real  float32           `json:"Real"`
	Text  string            `json:"text"`
	Extra map[string]string `json:"extra"`
	Token string            `json:"token" format:"uuid"`
}

// TestValuesThatDoNotFit sends what no column keeps. It may be refused, and is never the server's fault.
func TestValuesThatDoNotFit(t *testing.T) {
	long := strings.Repeat("x", 1<<19)
	values := []string{
		`"code":"four"`, `"small":32768`, `"small":-32769`, `"big":18446744073709551615`, `"big":9223372036854775808`, `"big":-1`,
		`"big":1e30`, `"Real":1e300`, `"Real":1e-300`, `"text":"\u0000"`, `"text":"a\u0000b"`, `"extra":{"a":"\u0000"}`, `"extra":{"\u0000":"a"}`,
		`"text":"\ud800"`, `"text":"` + long + `"`, `"extra":{"a":"` + long + `"}`, `"token":"no uuid"`, `"token":""`, `"token":"\u0000"`,
		`"code":"\u0000"`, `"text":"` + "\xff" + `"`, `"code":"äöü"`, `"code":"😀😀😀"`,
	}
	paths := []string{"/shorts/9999999999", "/shorts/-1", "/shorts/%00", "/shorts/%ff", "/shorts/99999999999999999999999", "/shorts/1%27",
		"/shorts?big=18446744073709551615", "/shorts?big.gt=9223372036854775808", "/shorts?small=70000", "/shorts?text=%00", "/shorts?text.contains=%00",
		"/shorts?text.in=a,%00", "/shorts?token=%00", "/shorts?token=x", "/shorts?token.gt=x", "/shorts?id=99999999999", "/shorts?Real=1e300",
		"/shorts?text=" + strings.Repeat("y", 4000), "/shorts?code.startsWith=%f0%90"}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		table := sqltable.New[short](e.OpenSchema(t), "shorts", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		server := serve(t, nil, table.Ops().Resource("shorts", &resource.Options[short]{Query: table.Support(), Public: true}))
		const fixed = `"token":"01234567-89ab-7def-8123-456789abcdef"`
		created := 0
		for _, v := range values {
			body := "{" + v + "," + fixed + "}"
			if strings.HasPrefix(v, `"token"`) {
				body = "{" + v + "}"
			}
			status, _, text := request(t, server.Client(), http.MethodPost, server.URL+"/shorts", body)
			if status >= 500 || status < 400 && status != 201 {
				t.Errorf("%.60s: %d %.300s", body, status, text)
			}
			if status == 201 {
				created++
			}
		}
		if created == 0 || created == len(values) {
			t.Errorf("%d of %d values were stored, want some: the cases are not what they are meant to be", created, len(values))
		}
		for _, path := range paths {
			if status, _, text := request(t, server.Client(), http.MethodGet, server.URL+path, ""); status >= 500 {
				t.Errorf("%.60s: %d %.300s", path, status, text)
			}
		}
	})
}

// TestWidthsThatDoNotFit has columns that are narrower than declared by the tags, which is an
// error at the start and not a 500 later.
func TestWidthsThatDoNotFit(t *testing.T) {
	type narrow struct {
		ID   string `json:"id" maxLength:"64"`
		Code string `json:"code" maxLength:"4"`
		N    int64  `json:"n"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect == sqltx.SQLite {
			return // its columns have no widths
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, "CREATE TABLE narrow (id varchar(64) PRIMARY KEY, code varchar(3) NOT NULL, n int NOT NULL, rev text NOT NULL)")
		err := sqltable.New[narrow](db, "narrow", nil).CreateTable(t.Context())
		want := "sqltable: the table narrow does not fit sqltabletest.narrow:\n" +
			"\tcolumn code is character varying(3): tag the field Code with maxLength:\"3\"\n" +
			"\tcolumn n is integer: tag the field N with sql:\"integer\""
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Errorf("CreateTable (-want +got):\n%s", diff)
		}
	})
}

// TestCreateTableTwice finds its own tables right, also from several sides at once.
func TestCreateTableTwice(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		failures := make(chan error)
		for range 8 {
			go func() {
				opts := &sqltable.Options{Index: []string{"title"}, Modified: "at"}
				failures <- sqltable.New[everything](db, "everything", opts).CreateTable(t.Context())
			}()
		}
		var err error
		for range 8 {
			err = errors.Join(err, <-failures)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestCreateTableInSchema makes everything that a table can have, in a schema: how that is written differs.
func TestCreateTableInSchema(t *testing.T) {
	type node struct {
		ID     string  `json:"id"`
		Parent *string `json:"parent"`
		Alias  string  `json:"alias,omitzero" unique:"true"`
		Rank   *int64  `json:"rank"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, schema := e.Open(t, nil), "main"
		if e.Dialect == sqltx.PostgreSQL {
			schema = "tree"
			enginetest.MustExec(t, db, "CREATE SCHEMA tree")
		}
		table := sqltable.New[node](db, schema+".nodes", &sqltable.Options{
			Index: []string{"rank"}, References: map[string]string{"parent": schema + ".nodes"}})
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		ops := table.Ops()
		root, err := ops.Insert(t.Context(), "root", node{ID: "root", Alias: "r"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ops.Insert(t.Context(), "leaf", node{ID: "leaf", Parent: &root.ID}); err != nil {
			t.Fatal(err)
		}
		_, err = ops.Insert(t.Context(), "twin", node{ID: "twin", Alias: "r"})
		if !errors.Is(err, resource.Taken("alias")) {
			t.Errorf("an alias that is taken: %v", err)
		}
		if err := ops.Delete(t.Context(), "root", root.Rev); resource.Problem(err).StatusCode() != http.StatusConflict {
			t.Errorf("the parent of a leaf is deleted: %v", err)
		}
	})
}
