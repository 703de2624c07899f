// Package rowstest compares the two ways from rows to JSON. ListJSON of a table must return the
// bytes that package schema makes of the values of List, for all kinds of columns, revisions and ids.
package rowstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// batch is the number of rows of a table.
const batch = 500

// Run compares so many random rows of tables of db, which is empty, in rounds of one table each. A
// seed makes the same rows.
func Run(t *testing.T, db *sqltx.DB, rows int, seed uint64) {
	t.Helper()
	if db.Dialect() == sqltx.PostgreSQL {
		const enum = "CREATE TYPE tier AS ENUM ('pro', 'free')"
		if _, err := db.Writer(t.Context()).ExecContext(t.Context(), enum); err != nil {
			t.Fatal(err)
		}
	}
	r := random{rand.New(rand.NewPCG(seed, 1))}
	for done, round := 0, 0; done < rows && !t.Failed(); round++ {
		done += runRound(t, db, r, round)
	}
}

// runRound compares the rows of one table, and returns their number.
func runRound(t *testing.T, db *sqltx.DB, r random, round int) int {
	name := fmt.Sprintf("rows%d", round)
	postgres := db.Dialect() == sqltx.PostgreSQL
	switch round % 8 {
	case 0:
		return compare[kinds](t, db, r, name, sqltable.Options{})
	case 1:
		return compare[counted](t, db, r, name, sqltable.Options{Modified: "changed_at"})
	case 2:
		return compare[kinds](t, db, r, name, sqltable.Options{Rev: sqltable.Content, Modified: "changed_at"})
	case 3:
		return compare[compound](t, db, r, name, sqltable.Options{CountRev: true})
	case 4:
		return compare[kinds](t, db, r, name, sqltable.Options{CountRev: true, Modified: "at"})
	case 5:
		return compare[trailing](t, db, r, name, sqltable.Options{})
	case 6:
		if postgres {
			return compare[kinds](t, db, r, name, sqltable.Options{Rev: sqltable.XMin})
		}
		return compare[kinds](t, db, r, name, sqltable.Options{Rev: sqltable.Content})
	}
	return compare[kept](t, db, r, name, sqltable.Options{SoftDelete: "deleted_at"})
}

// compare fills a table and compares its lists.
func compare[T any](t *testing.T, db *sqltx.DB, r random, name string, opts sqltable.Options) int {
	t.Helper()
	opts.Forget = opts.SoftDelete == ""
	table := sqltable.New[T](db, name, &opts)
	if err := table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		statement := "DROP TABLE " + db.Dialect().Quote(name)
		if _, err := db.Writer(t.Context()).ExecContext(t.Context(), statement); err != nil {
			t.Error(err)
		}
	}()
	ops, typ := table.Ops(), schema.For[T]()
	fill(t, db, r, ops, typ)
	for _, q := range queries(r, typ, table.Support()) {
		CheckList(t, t.Context(), ops, q)
	}
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		CheckList(t, ctx, ops, query.Query{Limit: 5})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return batch
}

// fill inserts the rows, and deletes some if they stay in the table.
func fill[T any](t *testing.T, db *sqltx.DB, r random, ops resource.Ops[T], typ *schema.Type) {
	t.Helper()
	items := make([]resource.Item[T], 0, batch)
	seen := map[string]bool{}
	for len(items) < batch {
		var it resource.Item[T]
		r.item(typ, &it.Value)
		it.ID = typ.Field("id").Compose(&it.Value)
		if ops.InsertMany != nil && (it.ID == "" || seen[it.ID]) {
			continue // another one, because the id of an item with Create is that of the table
		}
		seen[it.ID] = true
		items = append(items, it)
	}
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		if ops.InsertMany != nil {
			return ops.InsertMany(ctx, items)
		}
		for _, it := range items {
			if _, err := ops.Create(ctx, it.Value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if ops.Restore == nil {
		return
	}
	for it, err := range ops.List(t.Context(), query.Query{Limit: batch / 10}) {
		if err == nil {
			defer func() {
				if err := ops.Delete(t.Context(), it.ID, it.Rev); err != nil {
					t.Error(err)
				}
			}()
		}
	}
}

// queries returns lists of all rows and of some, with random orders, members and positions.
func queries(r random, typ *schema.Type, support query.Support) []query.Query {
	list := []query.Query{{}, {Limit: 7}}
	id := query.Order{Field: "id"}
	if key := typ.Field("id").Key; key != nil {
		id.Field = key[0].Name
	}
	for range 4 {
		sort := query.Order{Field: pick(r, support.Sort...), Desc: r.IntN(2) == 0}
		q := query.Query{Sort: []query.Order{sort, id}, Limit: pick(r, 0, 1, 20)}
		if sort.Field == id.Field || typ.Field(sort.Field).Key != nil {
			q.Sort = []query.Order{id}
		}
		q.Fields = []string{"id"}
		for _, o := range q.Sort {
			q.Fields = append(q.Fields, o.Field)
		}
		for _, f := range typ.Fields {
			if !f.WriteOnly && r.IntN(4) == 0 {
				q.Fields = append(q.Fields, f.Name)
			}
		}
		list = append(list, q)
	}
	// The rows after a null are in a step of their own.
	for _, f := range typ.Fields {
		if f.Nullable && slices.Contains(support.Sort, f.Name) {
			q := query.Query{Sort: []query.Order{{Field: f.Name, Desc: r.IntN(2) == 0}, id}, Limit: 30}
			list = append(list, q)
			break
		}
	}
	return list
}

// encoded is an item as both ways return it.
type encoded struct {
	ID       string
	Rev      resource.Rev
	Modified time.Time
	JSON     string
}

// CheckList compares one list of both ways: items, revisions, bytes and errors.
func CheckList[T any](t testing.TB, ctx context.Context, ops resource.Ops[T], q query.Query) {
	t.Helper()
	want, wantErr := byValues(ctx, ops, q)
	var got []encoded
	var gotErr error
	for it, err := range ops.FastReads().ListJSON(ctx, q) {
		if gotErr != nil {
			t.Errorf("%+v: ListJSON continues after an error", q)
		}
		if gotErr = err; err == nil {
			got = append(got, encoded{it.ID, it.Rev, it.Modified, string(it.JSON)})
		}
	}
	if causeOf(gotErr) != causeOf(wantErr) {
		t.Errorf("%+v: ListJSON fails with %v, want %v", q, gotErr, wantErr)
	}
	if slices.Equal(want, got) {
		return
	}
	for i := range min(len(want), len(got)) {
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("%+v: item %d (-want +got):\n%s", q, i, diff)
			return
		}
	}
	t.Errorf("%+v: ListJSON returns %d items, want %d", q, len(got), len(want))
}

// causeOf returns the text of an error. It omits the position in the result, which database/sql adds.
func causeOf(err error) string {
	text := fmt.Sprint(err)
	for _, begin := range []string{"converting NULL", "sqltable: column"} {
		if i := strings.Index(text, begin); i > 0 {
			return text[i:]
		}
	}
	return text
}

// byValues returns the items of List, encoded by package schema.
func byValues[T any](ctx context.Context, ops resource.Ops[T], q query.Query) (list []encoded, err error) {
	typ := schema.For[T]()
	appendItem := typ.Append
	if q.Fields != nil {
		selection, err := typ.Select(q.Fields)
		if err != nil {
			return nil, err
		}
		appendItem = selection.Append
	}
	for it, err := range ops.List(ctx, q) {
		if err != nil {
			return list, err
		}
		text, err := appendItem(nil, &it.Value)
		if err != nil {
			return list, err
		}
		list = append(list, encoded{it.ID, it.Rev, it.Modified, string(text)})
	}
	return list, nil
}
