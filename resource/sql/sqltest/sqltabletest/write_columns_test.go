package sqltabletest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// columnKinds has a field for each kind of column, and a nullable one of each.
type columnKinds struct {
	ID     string            `json:"id"`
	Title  string            `json:"title"`
	Tier   string            `json:"tier" enum:"free,pro" default:"db"`
	Count  int64             `json:"count"`
	Size   float64           `json:"size"`
	Done   bool              `json:"done"`
	Price  string            `json:"price" format:"decimal" precision:"12,2"`
	At     time.Time         `json:"at"`
	Day    string            `json:"day" format:"date"`
	Photo  []byte            `json:"photo"`
	Labels map[string]string `json:"labels"`
	Home   address           `json:"home"`

	NTitle  *string           `json:"nTitle"`
	NTier   *string           `json:"nTier" default:"db"`
	NCount  *int64            `json:"nCount"`
	NSize   *float64          `json:"nSize"`
	NDone   *bool             `json:"nDone"`
	NPrice  *string           `json:"nPrice" format:"decimal" precision:"12,2"`
	NAt     *time.Time        `json:"nAt"`
	NDay    *string           `json:"nDay" format:"date"`
	NPhoto  []byte            `json:"nPhoto" sql:",null"`
	NLabels map[string]string `json:"nLabels" sql:",null"`
	NLines  []line            `json:"nLines" sql:",null"`
	NHome   *address          `json:"nHome"`
	ZTitle  string            `json:"zTitle" sql:",null"`
	ZCount  int64             `json:"zCount" sql:",null"`
	ZAt     time.Time         `json:"zAt" sql:",null"`

	Numbers  []int64  `json:"numbers" sql:"integer[]"`
	NNumbers []int64  `json:"nNumbers" sql:"integer[],null"`
	NTexts   []string `json:"nTexts" sql:"text[],null"`
	Lines    []line   `json:"lines"`
	Any      any      `json:"any"`
}

// columnTable has what fields cannot hold: members without a field, digits, and NULL in an array.
var columnTable = map[sqltx.Dialect][]string{
	sqltx.PostgreSQL: {`CREATE TABLE kinds (id text PRIMARY KEY, title text NOT NULL, tier text NOT NULL DEFAULT 'free', count bigint NOT NULL,
		size double precision NOT NULL, done boolean NOT NULL, price numeric(12,2) NOT NULL, at timestamptz NOT NULL, day date NOT NULL,
		photo bytea NOT NULL, labels jsonb NOT NULL, home jsonb NOT NULL, n_title text, n_tier text DEFAULT 'free', n_count bigint,
		n_size double precision, n_done boolean, n_price numeric(12,2), n_at timestamptz, n_day date, n_photo bytea, n_labels jsonb, n_lines jsonb,
		n_home jsonb, z_title text, z_count bigint, z_at timestamptz, numbers integer[] NOT NULL, n_numbers integer[], n_texts text[],
		lines jsonb NOT NULL, "any" jsonb, rev text NOT NULL DEFAULT 'r', touched integer NOT NULL DEFAULT 0)`,
		`INSERT INTO kinds (id, title, tier, count, size, done, price, at, day, photo, labels, home, n_tier, numbers, lines, "any")
		VALUES ('a', 't', 'pro', 1, 1.5, true, 2.50, '2026-01-02T03:04:05.678901Z', '2026-01-02', '\x0102', '{"b": "1", "a": "2"}',
		'{"zip": "1", "street": "s", "more": 1.10}', NULL, '{1,NULL,3}', '[{"product": "p", "count": 1, "price": 1.10, "more": true}]',
		'{"b": 1.10, "at": "2026-01-02T03:04:05+02:00"}')`},
	sqltx.SQLite: {`CREATE TABLE kinds (id TEXT PRIMARY KEY, title TEXT NOT NULL, tier TEXT NOT NULL DEFAULT 'free', count INTEGER NOT NULL,
		size REAL NOT NULL, done INTEGER NOT NULL, price REAL NOT NULL, at TEXT NOT NULL, day TEXT NOT NULL,
		photo BLOB NOT NULL, labels TEXT NOT NULL, home TEXT NOT NULL, n_title TEXT, n_tier TEXT DEFAULT 'free', n_count INTEGER,
		n_size REAL, n_done INTEGER, n_price REAL, n_at TEXT, n_day TEXT, n_photo BLOB, n_labels TEXT, n_lines TEXT,
		n_home TEXT, z_title TEXT, z_count INTEGER, z_at TEXT, numbers TEXT NOT NULL, n_numbers TEXT, n_texts TEXT,
		lines TEXT NOT NULL, "any" TEXT, rev TEXT NOT NULL DEFAULT 'r', touched INTEGER NOT NULL DEFAULT 0)`,
		`INSERT INTO kinds (id, title, tier, count, size, done, price, at, day, photo, labels, home, n_tier, numbers, lines, "any")
		VALUES ('a', 't', 'pro', 1, 1.5, 1, 2.50, '2026-01-02T03:04:05.678901000Z', '2026-01-02', x'0102', '{"b": "1", "a": "2"}',
		'{"zip": "1", "street": "s", "more": 1.10}', NULL, '[1, null, 3]', '[{"product": "p", "count": 1, "price": 1.10, "more": true}]',
		'{"b": 1.10, "at": "2026-01-02T03:04:05+02:00"}')`},
}

// columnTriggers change the column touched with each UPDATE, before and after it.
var columnTriggers = map[sqltx.Dialect][]string{
	sqltx.PostgreSQL: {`CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.touched = OLD.touched + 1; RETURN NEW; END'`,
		`CREATE TRIGGER touch BEFORE UPDATE ON kinds FOR EACH ROW EXECUTE FUNCTION touch()`},
	sqltx.SQLite: {`CREATE TRIGGER touch AFTER UPDATE ON kinds BEGIN UPDATE kinds SET touched = touched + 1 WHERE id = NEW.id; END`},
}

// columnPatches has a value for each field, in the order of the schema, and null for those that accept it.
var columnPatches = []struct{ field, column, value string }{
	{"title", "title", `"new"`}, {"tier", "tier", `"free"`}, {"count", "count", `2`}, {"size", "size", `2.5`}, {"done", "done", `false`},
	{"price", "price", `"3.50"`}, {"at", "at", `"2026-02-02T03:04:05Z"`}, {"day", "day", `"2026-02-02"`}, {"photo", "photo", `"AAAA"`},
	{"labels", "labels", `{"c":"3"}`}, {"home", "home", `{"street":"new","zip":"2"}`},
	{"nTitle", "n_title", `"new"`}, {"nTier", "n_tier", `"pro"`}, {"nCount", "n_count", `2`}, {"nSize", "n_size", `2.5`}, {"nDone", "n_done", `true`},
	{"nPrice", "n_price", `"3.50"`}, {"nAt", "n_at", `"2026-02-02T03:04:05Z"`}, {"nDay", "n_day", `"2026-02-02"`}, {"nPhoto", "n_photo", `"AAAA"`},
	{"nLabels", "n_labels", `{"c":"3"}`}, {"nLines", "n_lines", `[{"product":"q","count":1,"price":1.5}]`}, {"nHome", "n_home", `{"street":"s","zip":"1"}`},
	{"zTitle", "z_title", `"new"`}, {"zCount", "z_count", `2`}, {"zAt", "z_at", `"2026-02-02T03:04:05Z"`},
	{"nNumbers", "n_numbers", `[4]`}, {"nTexts", "n_texts", `["x"]`},
	{"nTitle", "n_title", `null`}, {"nTier", "n_tier", `null`}, {"nCount", "n_count", `null`}, {"nSize", "n_size", `null`}, {"nDone", "n_done", `null`},
	{"nPrice", "n_price", `null`}, {"nAt", "n_at", `null`}, {"nDay", "n_day", `null`}, {"nHome", "n_home", `null`},
	{"numbers", "numbers", `[5,6]`}, {"lines", "lines", `[{"product":"q","count":1,"price":1.5}]`}, {"any", "any", `[1]`}, {"any", "any", `null`},
}

// kindsColumns are the columns of the table kinds without the id.
var kindsColumns = strings.Fields("title tier count size done price at day photo labels home n_title n_tier n_count n_size n_done n_price n_at n_day " +
	"n_photo n_labels n_lines n_home z_title z_count z_at numbers n_numbers n_texts lines any rev touched")

// rowText reads columns of the only row of a table, each as the literal of the database.
func rowText(t *testing.T, db *sqltx.DB, table string, columns []string) map[string]string {
	t.Helper()
	expr := "quote(%s)"
	if db.Dialect() == sqltx.PostgreSQL {
		expr = "quote_nullable(%s::text)"
	}
	exprs, texts, dest := make([]string, len(columns)), make([]string, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		exprs[i], dest[i] = fmt.Sprintf(expr, `"`+c+`"`), &texts[i]
	}
	rows, err := db.Reader(t.Context()).QueryContext(t.Context(), "SELECT "+strings.Join(exprs, ", ")+" FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal("the row is gone")
	}
	if err := rows.Scan(dest...); err != nil {
		t.Fatal(err)
	}
	row := map[string]string{}
	for i, c := range columns {
		row[c] = texts[i]
	}
	return row
}

// changedColumns returns the names of the columns that differ between two rows.
func changedColumns(before, after map[string]string) (changed []string) {
	for _, c := range slices.Sorted(maps.Keys(before)) {
		if before[c] != after[c] {
			changed = append(changed, c)
		}
	}
	return changed
}

// TestWriteColumnsMutant: a Replace that also writes a column that does not differ is found.
func TestWriteColumnsMutant(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, columnTable[e.Dialect]...)
		it, err := sqltable.New[columnKinds](db, "kinds", &sqltable.Options{Forget: true}).Ops().Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		lines, err := json.Marshal(it.Value.Lines)
		if err != nil {
			t.Fatal(err)
		}
		before := rowText(t, db, "kinds", kindsColumns)
		enginetest.MustExec(t, db, fmt.Sprintf("UPDATE kinds SET title = 'new', lines = '%s'", lines))
		if diff := cmp.Diff([]string{"lines", "title"}, changedColumns(before, rowText(t, db, "kinds", kindsColumns))); diff != "" {
			t.Errorf("changed columns (-want +got):\n%s", diff)
		}
	})
}

// columnWays are ways to change members of an item in a resource named kinds.
func columnWays[T any](id string) map[string]func(t *testing.T, r *resource.Resource, ops resource.Ops[T], doc string) error {
	return map[string]func(t *testing.T, r *resource.Resource, ops resource.Ops[T], doc string) error{
		"rest": func(t *testing.T, r *resource.Resource, _ resource.Ops[T], doc string) error {
			server := serve(t, nil, r)
			status, _, body := request(t, server.Client(), "PATCH", server.URL+"/kinds/"+id, doc)
			if status != 200 {
				return fmt.Errorf("%d %s", status, body)
			}
			return nil
		},
		"json patch": func(t *testing.T, r *resource.Resource, _ resource.Ops[T], doc string) error {
			var members map[string]json.RawMessage
			if err := json.Unmarshal([]byte(doc), &members); err != nil {
				return err
			}
			for name, value := range members {
				text := fmt.Sprintf(`[{"op":"add","path":"/%s","value":%s}]`, name, value)
				p, err := patch.Parse(patch.JSONType, []byte(text), patch.Limits{})
				if err != nil {
					return err
				}
				if _, err := r.Patch(t.Context(), id, p, nil); err != nil {
					return err
				}
			}
			return nil
		},
		"put": func(t *testing.T, r *resource.Resource, _ resource.Ops[T], doc string) error {
			e, err := r.Get(t.Context(), id)
			if err != nil {
				return err
			}
			v := withMembers(t, *e.Value.(*T), doc)
			whole, err := schema.For[T]().AppendFull(nil, &v)
			if err != nil {
				return err
			}
			_, _, err = r.Put(t.Context(), id, whole, nil)
			return err
		},
		"command": func(t *testing.T, r *resource.Resource, ops resource.Ops[T], doc string) error {
			type input struct {
				Members string `json:"members"`
			}
			set := command.New("kinds/set", func(ctx context.Context, in input) (struct{}, error) {
				it, err := ops.Get(ctx, id)
				if err == nil {
					_, err = ops.Replace(ctx, id, it.Rev, withMembers(t, it.Value, in.Members))
				}
				return struct{}{}, err
			}, &command.Options[input]{Public: true})
			body, err := json.Marshal(input{doc})
			if err != nil {
				return err
			}
			server := serve(t, nil, r, set)
			status, _, text := request(t, server.Client(), "POST", server.URL+"/kinds/set", string(body))
			if status != 200 {
				return fmt.Errorf("%d %s", status, text)
			}
			return nil
		},
	}
}

// TestWriteColumns patches one member after the other and compares the whole row before and after.
func TestWriteColumns(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		revs := map[string]sqltable.Options{"rev": {}, "content": {Rev: sqltable.Content}}
		if e.Dialect == sqltx.PostgreSQL {
			revs["xmin"] = sqltable.Options{Rev: sqltable.XMin}
		}
		for way, write := range columnWays[columnKinds]("a") {
			for rev, opts := range revs {
				for _, triggers := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/triggers %v", way, rev, triggers), func(t *testing.T) {
						db := e.OpenSchema(t)
						enginetest.MustExec(t, db, columnTable[e.Dialect]...)
						if triggers {
							enginetest.MustExec(t, db, columnTriggers[e.Dialect]...)
						}
						opts.Forget = true
						table := sqltable.New[columnKinds](db, "kinds", &opts)
						r := table.Ops().Resource("kinds", &resource.Options[columnKinds]{Public: true})
						for _, p := range columnPatches {
							before := rowText(t, db, "kinds", kindsColumns)
							doc := fmt.Sprintf(`{"%s":%s}`, p.field, p.value)
							if err := write(t, r, table.Ops(), doc); err != nil {
								t.Errorf("%s: %v", doc, err)
								continue
							}
							after := rowText(t, db, "kinds", kindsColumns)
							want := []string{p.column}
							if rev == "rev" {
								want = append(want, "rev")
							}
							if triggers {
								want = append(want, "touched")
							}
							slices.Sort(want)
							if diff := cmp.Diff(want, changedColumns(before, after)); diff != "" {
								t.Errorf("%s changed columns (-want +got):\n%s\n%s", doc, diff, cmp.Diff(before, after))
							}
							if p.value == "null" && after[p.column] != "NULL" {
								t.Errorf("%s stored %s", doc, after[p.column])
							}
						}
					})
				}
			}
		}
	})
}

// withMembers returns v with the members of a document. The decoder changes lists in place, and maps after
// they are cleared.
func withMembers[T any](t *testing.T, v T, doc string) T {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &members); err != nil {
		t.Fatal(err)
	}
	for _, f := range schema.For[T]().Fields {
		if field := reflect.ValueOf(&v).Elem().FieldByIndex(f.Index); members[f.Name] != nil && field.Kind() == reflect.Map {
			field.Clear()
		}
	}
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWriteTypes is TestWriteColumns for each type of PostgreSQL and SQLite. A field gets the values of newTyped
// one after the other, and null if it accepts it.
func TestWriteTypes(t *testing.T) {
	const id = "01234567-89ab-7def-8123-456789abcdef"
	typ := schema.For[typed]()
	column := func(f *schema.Field) string {
		return strings.ToLower(regexp.MustCompile("[A-Z]").ReplaceAllString(f.Name, "_$0"))
	}
	columns := []string{"rev", "touched"}
	for _, f := range typ.Fields {
		columns = append(columns, column(f))
	}
	members := func(v typed) (doc map[string]json.RawMessage) {
		text, err := typ.AppendFull(nil, &v)
		if err == nil {
			err = json.Unmarshal(text, &doc)
		}
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for way, write := range columnWays[typed](id) {
			for _, triggers := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/triggers %v", way, triggers), func(t *testing.T) {
					db := e.OpenSchema(t)
					enginetest.MustExec(t, db, types().tables[e.Dialect]...)
					table := sqltable.New[typed](db, "kinds", &sqltable.Options{Forget: true})
					if err := table.CreateTable(t.Context()); err != nil {
						t.Fatal(err)
					}
					enginetest.MustExec(t, db, "ALTER TABLE kinds ADD COLUMN touched integer NOT NULL DEFAULT 0")
					if triggers {
						enginetest.MustExec(t, db, columnTriggers[e.Dialect]...)
					}
					first := newTyped(0)
					first.ID = id
					if _, err := table.Ops().Insert(t.Context(), id, first); err != nil {
						t.Fatal(err)
					}
					r := table.Ops().Resource("kinds", &resource.Options[typed]{Public: true})
					for _, f := range typ.Fields[1:] {
						now, sent := string(members(first)[f.Name]), 0
						values := []string{string(members(newTyped(1))[f.Name]), string(members(newTyped(2))[f.Name])}
						if f.Nullable {
							values = append(values, "null")
						}
						for _, value := range values {
							if value == now || value == "" || value == "{}" { // a merge patch with {} changes nothing
								continue
							}
							now = value
							sent++
							before, doc := rowText(t, db, "kinds", columns), fmt.Sprintf(`{"%s":%s}`, f.Name, value)
							if err := write(t, r, table.Ops(), doc); err != nil {
								t.Errorf("%s: %v", doc, err)
								continue
							}
							after := rowText(t, db, "kinds", columns)
							want := []string{column(f), "rev"}
							if triggers {
								want = append(want, "touched")
							}
							slices.Sort(want)
							if diff := cmp.Diff(want, changedColumns(before, after)); diff != "" {
								t.Errorf("%s changed columns (-want +got):\n%s\n%s", doc, diff, cmp.Diff(before, after))
							}
							if value == "null" && after[column(f)] != "NULL" {
								t.Errorf("%s stored %s", doc, after[column(f)])
							}
						}
						if sent == 0 {
							t.Errorf("newTyped has no other value of %s", f.Name)
						}
					}
				})
			}
		}
	})
}

// TestWriteOfOthers: another program changes a column and not the revision while an item is written. A
// patch of another member keeps the change, and a hook can read and change the row on its own.
func TestWriteOfOthers(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, columnTable[e.Dialect]...)
		table := sqltable.New[columnKinds](db, "kinds", &sqltable.Options{Forget: true})
		r := table.Ops().Resource("kinds", &resource.Options[columnKinds]{Public: true,
			Before: func(ctx context.Context, _ resource.Op, _, _ *columnKinds) error {
				_, err := db.Writer(ctx).ExecContext(ctx, "UPDATE kinds SET size = 77 WHERE id = 'a'")
				return err
			}})
		p, err := patch.Parse(patch.MergeType, []byte(`{"title":"new"}`), patch.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		entry, err := r.Patch(t.Context(), "a", p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := entry.Value.(*columnKinds); got.Size != 77 || got.Title != "new" {
			t.Errorf("title %q and size %v, want new and 77", got.Title, got.Size)
		}
	})
}

// TestWriteThroughDecorator: a decorator that changes a value stores its change, also in the memory that
// the value shares with the item as it was read, and if Get of the resource returns another value than the
// table.
func TestWriteThroughDecorator(t *testing.T) {
	tests := []struct {
		name string
		wrap func(o *resource.Ops[columnKinds])
		opts resource.Options[columnKinds]
		want func(v *columnKinds)
	}{
		{"an element of a shared list", func(o *resource.Ops[columnKinds]) {
			var read columnKinds
			get, replace := o.Get, o.Replace
			o.Get = func(ctx context.Context, id string) (resource.Item[columnKinds], error) {
				it, err := get(ctx, id)
				read = it.Value
				return it, err
			}
			o.Replace = func(ctx context.Context, id string, rev resource.Rev, v columnKinds) (resource.Item[columnKinds], error) {
				read.Lines[0].Count = 9
				read.Labels["a"] = "shared"
				v.Lines, v.Labels = read.Lines, read.Labels
				return replace(ctx, id, rev, v)
			}
		}, resource.Options[columnKinds]{}, func(v *columnKinds) { v.Lines[0].Count, v.Labels["a"] = 9, "shared" }},
		{"a hook changes the item before the write", func(*resource.Ops[columnKinds]) {}, resource.Options[columnKinds]{
			Before: func(_ context.Context, _ resource.Op, before, after *columnKinds) error {
				before.Lines[0].Count = 9
				after.Lines = before.Lines
				return nil
			}}, func(v *columnKinds) { v.Lines[0].Count = 9 }},
		{"Get returns another value, which Replace gets", func(o *resource.Ops[columnKinds]) {
			get := o.Get
			o.Get = func(ctx context.Context, id string) (resource.Item[columnKinds], error) {
				it, err := get(ctx, id)
				it.Value.Count = 1000
				return it, err
			}
		}, resource.Options[columnKinds]{}, func(v *columnKinds) { v.Count = 1000 }},
		{"Replace changes the value back", func(o *resource.Ops[columnKinds]) {
			replace := o.Replace
			o.Replace = func(ctx context.Context, id string, rev resource.Rev, v columnKinds) (resource.Item[columnKinds], error) {
				v.Title = "t"
				return replace(ctx, id, rev, v)
			}
		}, resource.Options[columnKinds]{}, func(v *columnKinds) { v.Title = "t" }},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			db := e.OpenSchema(t)
			enginetest.MustExec(t, db, columnTable[e.Dialect]...)
			table := sqltable.New[columnKinds](db, "kinds", &sqltable.Options{Forget: true})
			ops := table.Ops()
			first, err := ops.Get(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			tt.wrap(&ops)
			tt.opts.Public = true
			p, err := patch.Parse(patch.MergeType, []byte(`{"title":"new"}`), patch.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ops.Resource("kinds", &tt.opts).Patch(t.Context(), "a", p, nil); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			got, err := table.Ops().Get(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			first.Value.Title = "new"
			tt.want(&first.Value)
			if diff := cmp.Diff(first.Value, got.Value); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
	})
}

// TestWriteOfNothing: a Replace without a difference keeps the revision, and is stale if it names another.
func TestWriteOfNothing(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		enginetest.MustExec(t, db, columnTable[e.Dialect]...)
		ops := sqltable.New[columnKinds](db, "kinds", &sqltable.Options{Forget: true}).Ops()
		it, err := ops.Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ops.Replace(t.Context(), "a", "none", it.Value); !errors.Is(err, resource.ErrStale) {
			t.Fatal(err) // the first write reads the triggers
		}
		ran, _ := records.During(func() {
			same, err := ops.Replace(t.Context(), "a", it.Rev, it.Value)
			if diff := cmp.Diff(it, same); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if _, err := ops.Replace(t.Context(), "a", "other", it.Value); !errors.Is(err, resource.ErrStale) {
				t.Errorf("another revision: %v", err)
			}
		})
		if got := enginetest.Verbs(ran); got != "SELECT SELECT" {
			t.Errorf("%s, want two SELECT", got)
		}
	})
}
