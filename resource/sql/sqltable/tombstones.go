package sqltable

// Tombstones: the ids of deleted items, for 410 and against the reuse of ids. write.go calls
// deleteRow and absentError.

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// tombstones is the table of deleted ids. It is separate from the items, so that other readers of
// the items see no deleted ones, and so that unique and foreign keys apply to existing items only.
type tombstones struct {
	name  string
	table string   // quoted
	id    []string // the columns of the id, quoted: id, or those of a composite id
	at    *column
	tr    *sqlquery.Translator
}

// chooseTombstones applies Options.Tombstones, Forget and NoDelete.
func (t *untyped) chooseTombstones() error {
	switch {
	case t.opts.Forget && (t.opts.Recreate || t.opts.Tombstones != ""):
		return errors.New("Options.Forget contradicts Recreate and Tombstones")
	case t.opts.NoDelete && (t.opts.Recreate || t.opts.Tombstones != "" || t.deletedAt != nil):
		return errors.New("Options.NoDelete contradicts Recreate, SoftDelete and Tombstones")
	case t.opts.Forget || t.opts.NoDelete || t.opts.ReadOnly || t.deletedAt != nil:
		return nil
	}
	ts := &tombstones{name: cmp.Or(t.opts.Tombstones, t.name+"_deleted"), id: t.keyExprs("")}
	if len(t.key) == 1 {
		ts.id = []string{t.dialect.Quote("id")}
	}
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
func (t *untyped) deleteRow(
	ctx context.Context, w *args, statement string, id []any,
) (removed bool, err error) {
	t.db.ClassifyCommit(ctx, (*deletions)(t))
	if t.tombstones == nil {
		removed, err = t.run(ctx, w, statement)
		return removed, t.deleteError(err)
	}
	all, err := t.triggersOf(ctx)
	if err != nil {
		return false, err
	}
	// One statement does both. A rule cannot replace a statement in WITH.
	if t.dialect == sqltx.PostgreSQL && !all.any(deletes, trigger.isDrop) {
		now := w.bind(t.tombstones.tr.Arg("at", t.now()), t.tombstones.at.cast)
		// The number of affected rows is that of the INSERT, which equals that of the DELETE.
		removed, err = t.run(ctx, w, "WITH gone AS ("+statement+" RETURNING "+t.keyList()+") "+
			t.tombstones.insertSQL("SELECT "+t.keyList()+", "+now+" FROM gone WHERE true"))
		return removed, t.deleteError(err)
	}
	err = t.db.InTx(ctx, func(ctx context.Context) error {
		if removed, err = t.run(ctx, w, statement); err != nil || !removed {
			return err
		}
		return t.mark(ctx, id)
	})
	return removed && err == nil, t.deleteError(err)
}

// mark inserts the tombstone of an id, if the table has tombstones.
func (t *untyped) mark(ctx context.Context, id []any) error {
	if t.tombstones == nil {
		return nil
	}
	w := &args{dialect: t.dialect}
	values := append(t.bindKey(w, id), w.bind(t.tombstones.tr.Arg("at", t.now()), t.tombstones.at.cast))
	_, err := t.run(ctx, w, t.tombstones.insertSQL("VALUES ("+strings.Join(values, ", ")+")"))
	return err
}

// insertSQL returns the statement that inserts tombstones, or updates those of an earlier deletion.
// An id can be deleted twice with Options.Recreate.
func (ts *tombstones) insertSQL(rows string) string {
	id := strings.Join(ts.id, ", ")
	return "INSERT INTO " + ts.table + " (" + id + ", " + ts.at.expr + ") " + rows +
		" ON CONFLICT (" + id + ") DO UPDATE SET " + ts.at.expr + " = excluded." + ts.at.expr
}

// matching returns the condition that the id of a tombstone equals other expressions. prefix is the
// alias of the table.
func (ts *tombstones) matching(prefix string, others []string) string {
	all := make([]string, len(ts.id))
	for i, column := range ts.id {
		all[i] = prefix + column + " = " + others[i]
	}
	return strings.Join(all, " AND ")
}

// absentError returns ErrGone for an id that has a tombstone, and ErrNotFound for another. Callers
// have found no item with this id. With SoftDelete it returns ErrStale if the item exists now.
func (t *untyped) absentError(ctx context.Context, c conn, id []any) error {
	if t.tombstones == nil && t.deletedAt == nil {
		return resource.ErrNotFound
	}
	switch _, found, err := t.findDeletion(ctx, c, id); {
	case err != nil:
		return err
	case found:
		return resource.ErrGone
	}
	return resource.ErrNotFound
}

// findDeletion returns when the item of an id was deleted. Callers have found no item with this id.
func (t *untyped) findDeletion(ctx context.Context, c conn, id []any) (at time.Time, found bool, err error) {
	if t.deletedAt != nil {
		return t.readDeletion(ctx, c, id)
	}
	return t.readTombstone(ctx, c, id, "")
}

// readTombstone returns when the item of an id was deleted. condition is added to that of the id.
// The table has the alias dead in condition.
func (t *untyped) readTombstone(
	ctx context.Context, c conn, id []any, condition string,
) (at time.Time, found bool, err error) {
	if !t.takesKey(id) {
		return at, false, nil
	}
	w := &args{dialect: t.dialect}
	statement := "SELECT " + t.tombstones.at.expr + " FROM " + t.tombstones.table + " AS dead WHERE " +
		t.tombstones.matching("", t.bindKey(w, id)) + condition
	found, err = t.queryRow(ctx, c, statement, w.list, t.tombstones.at.scanner(reflect.ValueOf(&at).Elem()))
	return at, found, err
}

// deleted implements [resource.Tombstoner]. An id that exists again has a tombstone that no longer
// applies.
func (t *untyped) deleted(ctx context.Context, id string) (time.Time, error) {
	value, err := t.idField.ParseKey(id)
	if err != nil {
		return time.Time{}, resource.ErrNotFound
	}
	if t.deletedAt != nil {
		at, found, err := t.readDeletion(ctx, t.db.Reader(ctx), value)
		if err == nil && !found || errors.Is(err, resource.ErrStale) {
			err = resource.ErrNotFound
		}
		return at, err
	}
	alive := " AND NOT EXISTS (SELECT 1 FROM " + t.table + " AS alive WHERE " +
		t.tombstones.matching("dead.", t.keyExprs("alive.")) + ")"
	at, found, err := t.readTombstone(ctx, t.db.Reader(ctx), value, alive)
	if err == nil && !found {
		err = resource.ErrNotFound
	}
	return at, err
}
