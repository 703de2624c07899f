package sqltable

// Soft deletion: Options.SoftDelete names a column with the time of the deletion. Reads and writes see
// rows without one, and restore clears it. read.go calls living; write.go and tombstones.go the others.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/modified"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// Names of the column of Options.SoftDelete in the translator. deletedField is for arguments. livingField
// is for IS NULL, without the collation that SQLite compares texts of times with: the condition is then
// that of a partial index.
const (
	deletedField = "\x00deleted"
	livingField  = "\x00living"
)

// chooseSoftDelete applies Options.SoftDelete and UniqueDeleted. Without a field, the column is not in
// t.columns, and Check and createItems treat it separately.
func (t *untyped) chooseSoftDelete() error {
	name := t.opts.SoftDelete
	switch {
	case name == "" && t.opts.UniqueDeleted:
		return errors.New("Options.UniqueDeleted has no effect without SoftDelete")
	case name == "":
		return nil
	case t.opts.Forget || t.opts.Tombstones != "":
		return errors.New("Options.SoftDelete contradicts Forget and Tombstones")
	case t.opts.Rev == Content && t.opts.Modified == "" && !t.opts.ReadOnly:
		return errors.New("Options.SoftDelete with Rev: Content needs Modified: " +
			"a restored item would have the revision that it had before its deletion")
	}
	t.deletedAt = t.columnNamed(name)
	if t.deletedAt == nil {
		t.deletedAt = &column{spec: sqlquery.Column{Name: name, Kind: sqlquery.Time}, isDeleted: true}
		t.applyTimeLayout(t.deletedAt)
		return t.deletedAt.settle(t.dialect)
	}
	switch f := t.deletedAt.field; {
	case f.Type.GoType != reflect.TypeFor[time.Time]() || !f.Nullable || t.deletedAt.spec.NotNull:
		return fmt.Errorf("Options.SoftDelete names the column %q, and its field %s is not a *time.Time",
			name, f.GoName)
	case !f.ReadOnly:
		return fmt.Errorf("Options.SoftDelete names the column %q: tag its field %s readOnly:\"true\"",
			name, f.GoName)
	}
	t.deletedAt.isDeleted = true
	return nil
}

// living adds the condition that rows are not deleted.
func (t *untyped) living(f query.Filter) query.Filter {
	if t.deletedAt == nil {
		return f
	}
	return query.And(query.Where(livingField, query.IsNull, true), f)
}

// dead returns the WHERE clause of rows that are deleted and match all filters.
func (t *untyped) dead(w *args, filters ...query.Filter) string {
	f := query.And(append(filters, query.Where(livingField, query.IsNull, false))...)
	c, _ := t.tr.Translate(query.Query{Filter: f}, w.list...) // the fields have columns
	w.list = c.Args
	return " WHERE " + c.Where
}

// deletion returns the beginning of the statement that deletes rows, up to its WHERE. A soft deletion is
// a write like others, so it changes the revision.
func (t *untyped) deletion(w *args) string {
	if t.deletedAt == nil {
		return "DELETE FROM " + t.table
	}
	set := t.deletedAt.expr + " = " + w.bind(t.tr.Arg(deletedField, t.now()), t.deletedAt.cast)
	if t.rev.column != "" {
		set += ", " + t.rev.set(w)
	}
	return "UPDATE " + t.table + " SET " + set
}

// onConflict returns the table and the end of an INSERT of columns, for an id that is in use. With
// recreate, it replaces a deleted row, which has the alias old. Columns that are not in names get their
// DEFAULT, as in a new row.
func (t *untyped) onConflict(names []string, recreate bool) (into, conflict string) {
	conflict = " ON CONFLICT (" + t.keyList() + ") DO "
	if t.deletedAt == nil || !recreate {
		return t.table, conflict + "NOTHING"
	}
	set := []string{t.deletedAt.expr + " = NULL"}
	for _, name := range names {
		set = append(set, name+" = excluded."+name)
	}
	for _, c := range t.columns {
		if t.isWritten(c) && !slices.Contains(names, c.expr) {
			set = append(set, c.expr+" = excluded."+c.expr)
		}
	}
	return t.table + " AS old", conflict + "UPDATE SET " + strings.Join(set, ", ") + " WHERE old." +
		t.deletedAt.expr + " IS NOT NULL"
}

// readDeletion returns when the row of an id was deleted. The error is ErrStale if the row is not deleted:
// after a statement that did not find it, the item was restored or created by another writer.
func (t *untyped) readDeletion(ctx context.Context, c conn, id []any) (at time.Time, found bool, err error) {
	clauses, _ := t.tr.Translate(query.Query{Filter: t.at(id)}) // the fields have columns
	statement := "SELECT " + t.deletedAt.expr + " FROM " + t.table + " WHERE " + clauses.Where
	var bad []*column // the time is only shown
	found, err = t.queryRow(ctx, c, statement, clauses.Args, timeScanner{t.deletedAt, &at, &bad})
	if err == nil && found && at.IsZero() && bad == nil {
		return at, false, resource.ErrStale
	}
	return at, found, err
}

// restore implements [resource.Restorer].
func (t *Table[T]) restore(ctx context.Context, id string) (resource.Item[T], error) {
	return t.take(t.restoreRow(ctx, id))
}

// restoreRow restores an item. The condition that the row is deleted makes it a compare-and-swap.
func (t *untyped) restoreRow(ctx context.Context, id string) (*row, error) {
	value, err := t.idField.ParseKey(id)
	if err != nil {
		return nil, resource.ErrNotFound
	}
	locks, err := t.locks(ctx, updates)
	if err != nil {
		return nil, err
	}
	if !locks {
		r, err := t.restoreOnce(ctx, value)
		if err != nil || r != nil {
			return r, err
		}
		t.missed()
		if err := t.missError(ctx, value); !errors.Is(err, resource.ErrGone) {
			return nil, notDeleted(err)
		}
	}
	return t.restoreLocked(ctx, value) // deleted again since, or a trigger has dropped the statement
}

// notDeleted returns the error of a restoration for that of missError.
func notDeleted(err error) error {
	if errors.Is(err, resource.ErrStale) {
		return resource.ErrExists
	}
	return err
}

// restoreLocked is restoreRow with a lock of the row.
func (t *untyped) restoreLocked(ctx context.Context, id []any) (r *row, err error) {
	err = t.apply(ctx, updates, func(ctx context.Context) (bool, error) {
		w := &args{dialect: t.dialect}
		var one int
		statement := "SELECT 1 FROM " + t.table + t.dead(w, t.at(id)) + t.lock()
		found, err := t.queryRow(ctx, t.db.Writer(ctx), statement, w.list, &one)
		switch {
		case err != nil:
			return false, err
		case !found:
			return false, notDeleted(t.missError(ctx, id))
		}
		r, err = t.restoreOnce(ctx, id)
		return r != nil, err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// restoreOnce restores a row, and returns nil if none is deleted. If the time of the last write is in this
// second or in the future, the statement runs again with a time after that; see package modified.
func (t *untyped) restoreOnce(ctx context.Context, id []any) (*row, error) {
	now := t.now()
	for last := query.Where(modifiedField, query.Lt, now.Truncate(time.Second)); ; {
		r, err := t.restoreAt(ctx, now, last, id)
		if err != nil || r != nil {
			return r, err
		}
		next, err := t.nextRestored(ctx, id, now)
		if err != nil || !next.After(now) { // the time is not the reason
			return nil, err
		}
		now, last = next, query.Where(modifiedField, query.Lte, next)
	}
}

// restoreAt restores a row at now if it is deleted and last holds for the time of its last write.
func (t *untyped) restoreAt(ctx context.Context, now time.Time, last query.Filter, id []any) (*row, error) {
	w := &args{dialect: t.dialect}
	set, filters := t.deletedAt.expr+" = NULL", []query.Filter{t.at(id)}
	if t.rev.column != "" {
		set += ", " + t.rev.set(w)
	}
	if t.modified != nil {
		set += ", " + t.modified.expr + " = " + w.bind(t.tr.Arg(modifiedField, now), t.modified.cast)
		filters = append(filters, query.Or(query.Where(modifiedField, query.IsNull, true), last))
	}
	return t.write(ctx, updates, w, t.newValue(), "UPDATE "+t.table+" SET "+set+t.dead(w, filters...))
}

// nextRestored returns the time with which to restore a row, or the zero Time if that is not known.
func (t *untyped) nextRestored(ctx context.Context, id []any, now time.Time) (next time.Time, err error) {
	if t.modified == nil {
		return time.Time{}, nil
	}
	w := &args{dialect: t.dialect}
	statement := "SELECT " + t.modified.expr + " FROM " + t.table + t.dead(w, t.at(id))
	var previous time.Time
	found, err := t.queryRow(ctx, t.db.Writer(ctx), statement, w.list,
		t.modified.scanner(reflect.ValueOf(&previous).Elem()))
	if err != nil || !found {
		return time.Time{}, err
	}
	return modified.Next(now, previous), nil
}
