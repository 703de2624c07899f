package sqltable

// Create, Insert, Replace and Delete. Each is one statement with the expected revision in its
// condition; if it changes no row, missError finds out why. write_changed.go has what Replace sets.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	names, places, err := t.newValues(ctx, w, v)
	if err != nil {
		return nil, err
	}
	statement := "INSERT INTO " + t.table + " DEFAULT VALUES"
	if len(names) > 0 {
		statement = "INSERT INTO " + t.table + " (" + strings.Join(names, ", ") + ") VALUES (" +
			strings.Join(places, ", ") + ")"
	}
	r, err := t.write(ctx, w, v, statement)
	// No row was returned although there was no error: a trigger BEFORE INSERT can do that.
	if err == nil && r == nil {
		err = fmt.Errorf("sqltable: INSERT into %s had no effect; check its triggers", t.name)
	}
	return r, err
}

// newValues returns the columns and placeholders of a new item, without the id.
func (t *untyped) newValues(
	ctx context.Context, w *args, v any,
) (names, places []string, err error) {
	names, places, err = t.values(w, v, t.now())
	if err != nil || t.rev.column == "" {
		return names, places, err
	}
	first, err := t.firstRev(ctx)
	return append(names, t.rev.expr), append(places, w.bind(first, t.rev.cast())), err
}

// write runs a statement that writes v to at most one row, and returns the written row or nil. RETURNING
// saves a second read, and shows what triggers and generated columns have changed.
func (t *untyped) write(ctx context.Context, w *args, v any, statement string) (*row, error) {
	r, err := t.queryItem(ctx, t.db.Writer(ctx), t.columns, statement+t.returning, w.list)
	if err != nil && t.dialect == sqltx.SQLite && t.dialect.Fault(err).Kind == sqltx.ForeignKey {
		err = fmt.Errorf("%w: %w", t.danglingError(ctx, v), err)
	}
	if t.dialect.Fault(err).Kind == sqltx.Value {
		err = fmt.Errorf("%w: %w", resource.Invalid("", "range"), err)
	}
	return r, t.outcomeError(ctx, err)
}

// outcomeError adds [tx.ErrOutcomeUnknown] to an error after which the write may have been
// committed. Outside of a transaction a statement is committed immediately. Callers repeat a write
// only if they know that it did not take effect.
func (t *untyped) outcomeError(ctx context.Context, err error) error {
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
	w := &args{dialect: t.dialect}
	key := t.bindKey(w, value)
	names, places, err := t.newValues(ctx, w, v)
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
	r, err := t.write(ctx, w, v, "INSERT INTO "+into+" ("+strings.Join(names, ", ")+") SELECT "+
		strings.Join(places, ", ")+" WHERE "+condition+conflict)
	if err != nil || r != nil {
		return r, err
	}
	err = t.missError(ctx, value)
	if errors.Is(err, resource.ErrStale) || errors.Is(err, resource.ErrNotFound) {
		err = resource.ErrExists // also if it was just deleted and deletions are not recorded
	}
	return nil, err
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
	old, err := t.rowBefore(ctx, id, key, expect)
	if err != nil {
		return nil, err
	}
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
	if ok {
		r, err := t.write(ctx, w, v, "UPDATE "+t.table+" SET "+strings.Join(set, ", ")+condition)
		if err != nil || r != nil {
			return r, err
		}
	}
	return nil, t.missError(ctx, key)
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
	expect, err = t.expected(ctx, value, expect)
	if err != nil {
		return err
	}
	w := &args{dialect: t.dialect}
	condition, ok := t.unchanged(w, value, expect)
	if !ok {
		return t.missError(ctx, value)
	}
	removed, err := t.deleteRow(ctx, w, t.deletion(w)+condition, value)
	if err == nil && !removed {
		err = t.missError(ctx, value)
	}
	return err
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
