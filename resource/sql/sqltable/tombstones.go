package sqltable

// Tombstones: the ids of deleted items, for 410 and against the reuse of ids. write.go calls
// deleteRow and absentError.

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// tombstones is the table of deleted ids. It is separate from the items, so that other readers of
// the items see no deleted ones, and so that unique and foreign keys apply to existing items only.
type tombstones struct {
	name  string
	table string // quoted
	id    string // the columns, quoted
	at    *column
	tr    *sqlquery.Translator
}

// chooseTombstones applies Options.Tombstones and Forget.
func (t *Table[T]) chooseTombstones() error {
	switch {
	case t.opts.Forget && (t.opts.Recreate || t.opts.Tombstones != ""):
		return errors.New("Options.Forget contradicts Recreate and Tombstones")
	case t.opts.Forget || t.opts.ReadOnly:
		return nil
	}
	ts := &tombstones{name: cmp.Or(t.opts.Tombstones, t.name+"_deleted"), id: t.dialect.Quote("id")}
	ts.at = &column{spec: sqlquery.Column{Name: "deleted_at", Kind: sqlquery.Time, NotNull: true}}
	var err error
	if ts.table, err = quoteTable(t.dialect, ts.name); err != nil {
		return err
	}
	ts.tr = sqlquery.New(sqlquery.Dialect(t.dialect), map[string]sqlquery.Column{"at": ts.at.spec})
	t.tombstones = ts
	return ts.at.settle(t.dialect)
}

// deleteRow deletes an item and inserts its tombstone in one transaction. It reports whether the
// item existed. If only one of the two were committed, a deleted item would be 404, or an existing
// id reserved.
func (t *Table[T]) deleteRow(
	ctx context.Context, w *args, statement string, id any,
) (removed bool, err error) {
	if t.tombstones == nil {
		removed, err = t.run(ctx, w, statement)
		return removed, t.deleteError(err)
	}
	if t.dialect == sqltx.PostgreSQL { // one statement does both
		now := w.bind(t.tombstones.tr.Arg("at", t.now()), t.tombstones.at.cast)
		// The number of affected rows is that of the INSERT, which equals that of the DELETE.
		removed, err = t.run(ctx, w, "WITH gone AS ("+statement+" RETURNING "+t.id.expr+") "+
			t.tombstones.insertSQL("SELECT "+t.id.expr+", "+now+" FROM gone WHERE true"))
		return removed, t.deleteError(err)
	}
	err = t.db.InTx(ctx, func(ctx context.Context) error {
		if removed, err = t.run(ctx, w, statement); err != nil || !removed {
			return err
		}
		insert := &args{dialect: t.dialect}
		values := insert.bind(t.tr.Arg(t.id.field.Name, id), "") + ", " +
			insert.bind(t.tombstones.tr.Arg("at", t.now()), "")
		_, err = t.run(ctx, insert, t.tombstones.insertSQL("VALUES ("+values+")"))
		return err
	})
	return removed && err == nil, t.deleteError(err)
}

// insertSQL returns the statement that inserts tombstones, or updates those of an earlier deletion.
// An id can be deleted twice with Options.Recreate.
func (ts *tombstones) insertSQL(rows string) string {
	return "INSERT INTO " + ts.table + " (" + ts.id + ", " + ts.at.expr + ") " + rows +
		" ON CONFLICT (" + ts.id + ") DO UPDATE SET " + ts.at.expr + " = excluded." + ts.at.expr
}

// absentError returns ErrGone for an id that has a tombstone, and ErrNotFound for another. Callers
// have found no item with this id.
func (t *Table[T]) absentError(ctx context.Context, c conn, id any) error {
	if t.tombstones == nil {
		return resource.ErrNotFound
	}
	switch _, found, err := t.readTombstone(ctx, c, id, ""); {
	case err != nil:
		return err
	case found:
		return resource.ErrGone
	}
	return resource.ErrNotFound
}

// readTombstone returns when the item of an id was deleted. condition is added to that of the id.
// The table has the alias dead in condition.
func (t *Table[T]) readTombstone(
	ctx context.Context, c conn, id any, condition string,
) (at time.Time, found bool, err error) {
	// A cast of such a text would be an error, which aborts a transaction.
	if s, ok := id.(string); ok && t.dialect == sqltx.PostgreSQL && !takes(t.id.spec.Kind, s) {
		return at, false, nil
	}
	w := &args{dialect: t.dialect}
	statement := "SELECT " + t.tombstones.at.expr + " FROM " + t.tombstones.table + " AS dead WHERE " +
		t.tombstones.id + " = " + w.bind(t.tr.Arg(t.id.field.Name, id), t.id.cast) + condition
	found, err = t.queryRow(ctx, c, statement, w.list, t.tombstones.at.scanner(reflect.ValueOf(&at).Elem()))
	return at, found, err
}

// deleted implements [resource.Tombstoner]. An id that exists again has a tombstone that no longer
// applies.
func (t *Table[T]) deleted(ctx context.Context, id string) (time.Time, error) {
	value, err := t.id.field.Parse(id)
	if err != nil {
		return time.Time{}, resource.ErrNotFound
	}
	alive := " AND NOT EXISTS (SELECT 1 FROM " + t.table + " AS alive WHERE alive." + t.id.expr +
		" = dead." + t.tombstones.id + ")"
	at, found, err := t.readTombstone(ctx, t.db.Reader(ctx), value, alive)
	if err == nil && !found {
		err = resource.ErrNotFound
	}
	return at, err
}
