package sqltable

// Create, Insert, Replace and Delete. Each is one statement with the expected revision in its
// condition; if it changes no row, missError finds out why. write_changed.go has what Replace sets.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/modified"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

type conn = sqltx.Conn

// create implements [resource.Creator]. An id that is in use is not an error of the client, so
// another one is tried.
func (t *Table[T]) create(ctx context.Context, v T) (resource.Item[T], error) {
	if t.identity {
		return t.take(t.createIdentity(ctx, &v))
	}
	for range 16 { // limited, in case Options.NewID repeats ids
		r, err := t.insertAs(ctx, t.newID(), &v, false)
		if !errors.Is(err, resource.ErrExists) && !errors.Is(err, resource.ErrGone) {
			return t.take(r, err)
		}
	}
	return resource.Item[T]{}, errors.New("sqltable: Options.NewID returned 16 ids that are in use")
}

// createIdentity inserts an item with an id that the database assigns. DEFAULT VALUES is the only form of
// INSERT without columns that both databases have.
func (t *untyped) createIdentity(ctx context.Context, v any) (*row, error) {
	w := &args{dialect: t.dialect}
	names, places, err := t.newValues(ctx, w, v, t.now())
	if err != nil {
		return nil, err
	}
	statement := "INSERT INTO " + t.table + " DEFAULT VALUES"
	if len(names) > 0 {
		statement = "INSERT INTO " + t.table + " (" + strings.Join(names, ", ") + ") VALUES (" +
			strings.Join(places, ", ") + ")"
	}
	return t.insertOnce(ctx, func(ctx context.Context) (*row, error) {
		return t.write(ctx, inserts, w, v, statement)
	})
}

// insertOnce calls insert, which returns no row if nothing was inserted although the id is free. It then
// calls it again in a transaction, which is rolled back if that has no effect, either.
func (t *untyped) insertOnce(
	ctx context.Context, insert func(ctx context.Context) (*row, error),
) (r *row, err error) {
	locks, err := t.locks(ctx, inserts)
	if err == nil && !locks {
		r, err = insert(ctx)
	}
	if err != nil || r != nil {
		return r, err
	}
	err = t.apply(ctx, inserts, func(ctx context.Context) (bool, error) {
		r, err = insert(ctx)
		return r != nil, err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// newValues returns the columns and placeholders of a new item, without the id.
func (t *untyped) newValues(
	ctx context.Context, w *args, v any, now time.Time,
) (names, places []string, err error) {
	names, places, err = t.values(w, v, now)
	if err != nil || t.rev.column == "" {
		return names, places, err
	}
	first, err := t.firstRev(ctx)
	return append(names, t.rev.expr), append(places, w.bind(first, t.rev.cast())), err
}

// write runs a statement that writes v to at most one row, and returns the written row or nil. RETURNING
// saves a second read, and shows what generated columns and triggers before the write have changed. Other
// triggers run after RETURNING, so the row is read again in the transaction.
func (t *untyped) write(ctx context.Context, of verb, w *args, v any, statement string) (r *row, err error) {
	all, err := t.triggersOf(ctx)
	if err != nil {
		return nil, err
	}
	if !all.any(of, trigger.isAfter) {
		return t.writeRow(ctx, w, v, statement)
	}
	err = t.db.InTx(ctx, func(ctx context.Context) error {
		if r, err = t.writeRow(ctx, w, v, statement); err != nil || r == nil {
			return err
		}
		key, err := t.idField.ParseKey(t.idField.Compose(r.value))
		if err != nil {
			return err
		}
		where := &args{dialect: t.dialect}
		text := t.selectWhole + t.where(where, t.at(key))
		again, err := t.queryItem(ctx, t.db.Writer(ctx), t.columns, text, where.list)
		if again != nil { // otherwise a trigger has removed the row
			t.release(r)
			r = again
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// writeRow is write without a second read.
func (t *untyped) writeRow(ctx context.Context, w *args, v any, statement string) (*row, error) {
	t.db.ClassifyCommit(ctx, (*written)(t))
	r, err := t.queryItem(ctx, t.db.Writer(ctx), t.columns, statement+t.returning, w.list)
	if err != nil && t.dialect == sqltx.SQLite && t.dialect.Fault(err).Kind == sqltx.ForeignKey &&
		!errors.As(err, new(*mappedError)) {
		err = fmt.Errorf("%w: %w", t.danglingError(ctx, v), err)
	}
	return r, t.outcomeError(ctx, t.rejected(err))
}

// outcomeError adds [tx.ErrOutcomeUnknown] to an error after which the write may have been
// committed. Outside of a transaction a statement is committed immediately. Callers repeat a write
// only if they know that it did not take effect.
func (t *untyped) outcomeError(ctx context.Context, err error) error {
	if t.isInstead(err) {
		t.triggers.Store(nil) // the rule may be new
	}
	if t.dialect.Fault(err).Lost && !tx.ActiveFor(ctx, t.db) {
		return fmt.Errorf("%w: %w", tx.ErrOutcomeUnknown, err)
	}
	return err
}

// insert implements [resource.Inserter].
func (t *Table[T]) insert(ctx context.Context, id string, v T) (resource.Item[T], error) {
	return t.take(t.insertAs(ctx, id, &v, t.opts.Recreate))
}

// insertAs inserts an item with an id, which a client or newID has chosen. One statement checks the
// tombstone and the existing id. ON CONFLICT DO NOTHING is not an error, so a transaction
// continues.
func (t *untyped) insertAs(ctx context.Context, id string, v any, recreate bool) (*row, error) {
	value, err := t.idField.ParseKey(id)
	if err != nil {
		return nil, resource.Invalid(t.idField.Name, "format")
	}
	if err := t.inexact(value); err != nil {
		return nil, err
	}
	now := t.now()
	if recreate && t.modified != nil { // the deleted item may have the date of this second
		switch at, err := t.deleted(ctx, id); {
		case err == nil:
			now = modified.Next(now, at)
		case !errors.Is(err, resource.ErrNotFound):
			return nil, err
		}
	}
	w := &args{dialect: t.dialect}
	key := t.bindKey(w, value)
	names, places, err := t.newValues(ctx, w, v, now)
	if err != nil {
		return nil, err
	}
	names, places = slices.Insert(names, 0, t.keyExprs("")...), slices.Insert(places, 0, key...)
	condition := "true" // without a condition, SQLite parses ON CONFLICT as the ON of a join
	if t.tombstones != nil && !recreate {
		condition = "NOT EXISTS (SELECT 1 FROM " + t.tombstones.table +
			" WHERE " + t.tombstones.matching("", key) + ")"
	}
	into, conflict := t.onConflict(names, recreate)
	statement := "INSERT INTO " + into + " (" + strings.Join(names, ", ") + ") SELECT " +
		strings.Join(places, ", ") + " WHERE " + condition + conflict
	return t.insertOnce(ctx, func(ctx context.Context) (*row, error) {
		r, err := t.write(ctx, inserts, w, v, statement)
		if err != nil || r != nil {
			return r, err
		}
		switch err = t.missError(ctx, value); {
		case errors.Is(err, resource.ErrStale):
			return nil, resource.ErrExists
		case errors.Is(err, resource.ErrNotFound), recreate && errors.Is(err, resource.ErrGone):
			return nil, nil // the row was deleted since, or a trigger has dropped it
		}
		return nil, err
	})
}

// missError returns the reason that a write of an id changed no row. Another writer may act between
// the two statements, so the reason is that of the current state.
func (t *untyped) missError(ctx context.Context, id []any) error {
	w := &args{dialect: t.dialect}
	var one int
	statement := "SELECT 1 FROM " + t.table + t.where(w, t.at(id))
	found, err := t.queryRow(ctx, t.db.Writer(ctx), statement, w.list, &one)
	switch {
	case err != nil:
		return err
	case found:
		return resource.ErrStale
	}
	return t.absentError(ctx, t.db.Writer(ctx), id)
}

// replace implements [resource.Replacer].
func (t *Table[T]) replace(
	ctx context.Context, id string, expect resource.Rev, v T,
) (resource.Item[T], error) {
	return t.take(t.replaceRow(ctx, id, expect, &v))
}

// replaceRow replaces an item. It sets the columns that differ from the row with the expected revision, and
// the condition on the revision makes it a compare-and-swap. If none differs, nothing is written.
func (t *untyped) replaceRow(ctx context.Context, id string, expect resource.Rev, v any) (*row, error) {
	key, err := t.idField.ParseKey(id)
	if err != nil {
		return nil, resource.ErrNotFound
	}
	locks, err := t.locks(ctx, updates)
	if err != nil {
		return nil, err
	}
	if !locks {
		old, err := t.rowBefore(ctx, id, key, expect)
		if err != nil {
			return nil, err
		}
		if r, err := t.replaceOnce(ctx, key, expect, old, v); err != nil || r != nil {
			return r, err
		}
		t.missed()
		if err := t.checkRev(ctx, key, expect, ""); err != nil {
			return nil, err // another writer was faster
		}
	}
	return t.replaceLocked(ctx, key, expect, v)
}

// replaceLocked is replaceRow with a lock of the row.
func (t *untyped) replaceLocked(
	ctx context.Context, key []any, expect resource.Rev, v any,
) (r *row, err error) {
	err = t.apply(ctx, updates, func(ctx context.Context) (bool, error) {
		locked, err := t.rowAt(ctx, key, expect, t.lock())
		if err != nil {
			return false, err
		}
		old := before{row: locked, fresh: true, release: func() { t.release(locked) }}
		r, err = t.replaceOnce(ctx, key, expect, old, v)
		return r != nil, err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// replaceOnce writes what differs from a row, unless it has changed since. It releases the row.
func (t *untyped) replaceOnce(
	ctx context.Context, key []any, expect resource.Rev, old before, v any,
) (*row, error) {
	w := &args{dialect: t.dialect}
	set, err := t.assignments(ctx, w, old.value, v, modified.Next(t.now(), old.modified))
	if err == nil && set == nil && old.fresh {
		return old.row, nil
	}
	defer old.release()
	switch {
	case err != nil:
		return nil, err
	case set == nil:
		return t.rowAt(ctx, key, expect, "")
	case t.rev.hashed:
		expect = resource.Rev(old.rev)
	}
	condition, ok := t.unchanged(w, key, expect)
	if !ok {
		return nil, nil
	}
	return t.write(ctx, updates, w, v, "UPDATE "+t.table+" SET "+strings.Join(set, ", ")+condition)
}

// lock returns the end of a SELECT that locks the row. A transaction of SQLite is the only writer.
func (t *untyped) lock() string {
	if t.dialect == sqltx.PostgreSQL {
		return " FOR UPDATE"
	}
	return ""
}

// checkRev returns ErrStale, ErrNotFound or ErrGone unless an item has the expected revision.
func (t *untyped) checkRev(ctx context.Context, key []any, expect resource.Rev, lock string) error {
	r, err := t.rowAt(ctx, key, expect, lock)
	if err == nil {
		t.release(r)
	}
	return err
}

// expected returns the content for a revision that is its hash. The UPDATE then compares the whole
// content, so a change in between is not lost.
func (t *untyped) expected(ctx context.Context, id []any, expect resource.Rev) (resource.Rev, error) {
	if !t.rev.hashed {
		return expect, nil
	}
	w := &args{dialect: t.dialect}
	var content string
	statement := "SELECT " + t.rev.expr + " FROM " + t.table + t.where(w, t.at(id))
	found, err := t.queryRow(ctx, t.db.Writer(ctx), statement, w.list, &content)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", t.absentError(ctx, t.db.Writer(ctx), id)
	case t.rev.of(content) != expect:
		return "", resource.ErrStale
	}
	return resource.Rev(content), nil
}

// delete implements [resource.Deleter]. deleteRow also records the deletion.
func (t *untyped) delete(ctx context.Context, id string, expect resource.Rev) error {
	value, err := t.idField.ParseKey(id)
	if err != nil {
		return resource.ErrNotFound
	}
	all, err := t.triggersOf(ctx)
	if err != nil {
		return err
	}
	attempt := func(ctx context.Context) error {
		removed, err := t.deleteOnce(ctx, value, expect)
		if err == nil && !removed {
			err = errMissed
		}
		return err
	}
	switch of := t.deleteVerb(); {
	case all.any(of, trigger.isDrop):
		return t.deleteLocked(ctx, value, expect)
	case all.any(of, trigger.isBefore): // one that removes the row itself must not look like another writer
		err = t.db.Nested(ctx, attempt)
	default:
		err = attempt(ctx)
	}
	if !errors.Is(err, errMissed) {
		return err
	}
	if err := t.checkRev(ctx, value, expect, ""); err != nil {
		return err // another writer was faster
	}
	return t.deleteLocked(ctx, value, expect)
}

// deleteLocked is delete with a lock of the row. If the statement reports no row, a trigger or rule may
// have removed it, or set the column of Options.SoftDelete.
func (t *untyped) deleteLocked(ctx context.Context, key []any, expect resource.Rev) error {
	return t.apply(ctx, t.deleteVerb(), func(ctx context.Context) (bool, error) {
		if err := t.checkRev(ctx, key, expect, t.lock()); err != nil {
			return false, err
		}
		if removed, err := t.deleteOnce(ctx, key, expect); err != nil || removed {
			return removed, err
		}
		switch err := t.checkRev(ctx, key, expect, ""); {
		case errors.Is(err, resource.ErrNotFound), errors.Is(err, resource.ErrGone):
			return true, t.mark(ctx, key)
		case !errors.Is(err, resource.ErrStale):
			return false, err
		}
		return false, nil
	})
}

// deleteVerb returns the statement that deletes an item.
func (t *untyped) deleteVerb() verb {
	if t.deletedAt != nil {
		return updates
	}
	return deletes
}

// deleteOnce deletes an item if it has the expected revision.
func (t *untyped) deleteOnce(ctx context.Context, key []any, expect resource.Rev) (bool, error) {
	expect, err := t.expected(ctx, key, expect)
	if err != nil {
		return false, err
	}
	w := &args{dialect: t.dialect}
	condition, ok := t.unchanged(w, key, expect)
	if !ok {
		return false, nil
	}
	return t.deleteRow(ctx, w, t.deletion(w)+condition, key)
}

// run runs a statement and reports whether it affected a row. Unlike write it returns no row,
// because a deleted item has none.
func (t *untyped) run(ctx context.Context, w *args, statement string) (met bool, err error) {
	result, err := t.db.Writer(ctx).ExecContext(ctx, statement, w.list...)
	if err != nil {
		return false, t.outcomeError(ctx, err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
