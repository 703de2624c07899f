package sqltable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

type conn = sqltx.Conn

// create is that of [resource.Creator].
func (t *Table[T]) create(ctx context.Context, v T) (resource.Item[T], error) {
	if t.identity {
		return t.createIdentity(ctx, &v)
	}
	for range 16 { // an Options.NewID that repeats itself is not asked for ever
		id := t.newID()
		it, err := t.insertAs(ctx, id, &v, false)
		if !errors.Is(err, resource.ErrExists) && !errors.Is(err, resource.ErrGone) {
			return it, err
		}
	}
	return resource.Item[T]{}, errors.New("sqltable: Options.NewID keeps giving ids that are in use")
}

// createIdentity leaves the id to the database.
func (t *Table[T]) createIdentity(ctx context.Context, v *T) (resource.Item[T], error) {
	w := &args{dialect: t.dialect}
	names, places, err := t.newValues(w, v)
	if err != nil {
		return resource.Item[T]{}, err
	}
	statement := "INSERT INTO " + t.table + " DEFAULT VALUES"
	if len(names) > 0 {
		statement = "INSERT INTO " + t.table + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(places, ", ") + ")"
	}
	it, written, err := t.write(ctx, w, v, statement)
	if err == nil && !written {
		err = fmt.Errorf("sqltable: something in the database keeps new rows out of %s, such as a trigger", t.name)
	}
	return it, err
}

// newValues returns the columns and placeholders of a new item, apart from its id.
func (t *Table[T]) newValues(w *args, v *T) (names, places []string, err error) {
	names, places, err = t.values(w, v, t.now())
	if err == nil && t.rev.column != "" {
		names = append(names, t.rev.expr)
		places = append(places, w.bind(t.rev.first(), t.rev.cast()))
	}
	return names, places, err
}

// write runs a statement that writes v to one row or none, and reads that back.
func (t *Table[T]) write(ctx context.Context, w *args, v *T, statement string) (it resource.Item[T], written bool, err error) {
	it, written, err = t.single(t.rows(ctx, t.db.Writer(ctx), t.columns, statement+t.returning, w.list))
	if err != nil && t.dialect == sqltx.SQLite && t.dialect.Fault(err).Kind == sqltx.ForeignKey {
		err = fmt.Errorf("%w: %w", t.danglingError(ctx, v), err)
	}
	if t.dialect.Fault(err).Kind == sqltx.Value {
		err = fmt.Errorf("%w: %w", resource.Invalid("", "range"), err)
	}
	return it, written, t.outcomeError(ctx, err)
}

// outcomeError adds [tx.ErrOutcomeUnknown] to an error after which the write may have been committed: outside of a
// transaction, a statement commits by itself.
func (t *Table[T]) outcomeError(ctx context.Context, err error) error {
	if t.dialect.Fault(err).Lost && !tx.ActiveFor(ctx, t.db) {
		return fmt.Errorf("%w: %w", tx.ErrOutcomeUnknown, err)
	}
	return err
}

// insert is that of [resource.Inserter].
func (t *Table[T]) insert(ctx context.Context, id string, v T) (resource.Item[T], error) {
	return t.insertAs(ctx, id, &v, t.opts.Recreate)
}

func (t *Table[T]) insertAs(ctx context.Context, id string, v *T, recreate bool) (resource.Item[T], error) {
	none := resource.Item[T]{}
	value, err := t.id.field.Parse(id)
	if err != nil || !t.storesExactly(value) {
		return none, resource.Invalid(t.id.field.Name, "format")
	}
	w := &args{dialect: t.dialect}
	place := w.bind(t.tr.Arg(t.id.field.Name, value), t.id.cast)
	names, places, err := t.newValues(w, v)
	if err != nil {
		return none, err
	}
	names, places = slices.Insert(names, 0, t.id.expr), slices.Insert(places, 0, place)
	condition := "true" // SQLite cannot tell ON CONFLICT from ON of a join without
	if t.tombstones != nil && !recreate {
		condition = "NOT EXISTS (SELECT 1 FROM " + t.tombstones.table + " WHERE " + t.tombstones.id + " = " + place + ")"
	}
	it, written, err := t.write(ctx, w, v, "INSERT INTO "+t.table+" ("+strings.Join(names, ", ")+") SELECT "+
		strings.Join(places, ", ")+" WHERE "+condition+" ON CONFLICT ("+t.id.expr+") DO NOTHING")
	if err != nil || written {
		return it, err
	}
	if err = t.missError(ctx, value); errors.Is(err, resource.ErrStale) || errors.Is(err, resource.ErrNotFound) {
		err = resource.ErrExists // also if it has been deleted just now, and that is not remembered
	}
	return none, err
}

// storesExactly reports whether the database returns an id as it was written.
func (t *Table[T]) storesExactly(id any) bool {
	s, ok := id.(string)
	switch {
	case !ok:
		return true
	case t.dialect == sqltx.PostgreSQL && !takes(t.id.spec.Kind, s):
		return false
	}
	return s != "" && (t.id.spec.Kind != sqlquery.UUID || s == strings.ToLower(s))
}

// missError returns the reason that a write of an existing id changed no row.
func (t *Table[T]) missError(ctx context.Context, id any) error {
	w := &args{dialect: t.dialect}
	var one int
	found, err := t.queryRow(ctx, t.db.Writer(ctx), "SELECT 1 FROM "+t.table+t.where(w, t.at(id)), w.list, &one)
	switch {
	case err != nil:
		return err
	case found:
		return resource.ErrStale
	}
	return t.absentError(ctx, t.db.Writer(ctx), id)
}

// replace is that of [resource.Replacer].
func (t *Table[T]) replace(ctx context.Context, id string, expect resource.Rev, v T) (resource.Item[T], error) {
	none := resource.Item[T]{}
	value, err := t.id.field.Parse(id)
	if err != nil {
		return none, resource.ErrNotFound
	}
	w := &args{dialect: t.dialect}
	names, places, err := t.values(w, &v, t.now())
	if err != nil {
		return none, err
	}
	var set []string
	for i, name := range names {
		set = append(set, name+" = "+places[i])
	}
	if t.rev.column != "" {
		set = append(set, t.rev.set(w))
	}
	if set == nil { // there is nothing but an id
		set = append(set, t.id.expr+" = "+t.id.expr)
	}
	expect, err = t.expected(ctx, value, expect)
	if err != nil {
		return none, err
	}
	condition, ok := t.unchanged(w, value, expect)
	if !ok {
		return none, t.missError(ctx, value)
	}
	it, written, err := t.write(ctx, w, &v, "UPDATE "+t.table+" SET "+strings.Join(set, ", ")+condition)
	if err == nil && !written {
		err = t.missError(ctx, value)
	}
	return it, err
}

// expected turns a revision that is a hash into the content which it is a hash of.
func (t *Table[T]) expected(ctx context.Context, id any, expect resource.Rev) (resource.Rev, error) {
	if !t.rev.hashed {
		return expect, nil
	}
	w := &args{dialect: t.dialect}
	var content string
	found, err := t.queryRow(ctx, t.db.Writer(ctx), "SELECT "+t.rev.expr+" FROM "+t.table+t.where(w, t.at(id)), w.list, &content)
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

// delete implements [resource.Deleter].
func (t *Table[T]) delete(ctx context.Context, id string, expect resource.Rev) error {
	value, err := t.id.field.Parse(id)
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
	removed, err := t.deleteRow(ctx, w, "DELETE FROM "+t.table+condition, value)
	if err == nil && !removed {
		err = t.missError(ctx, value)
	}
	return err
}

// run runs a statement and reports whether it affected a row.
func (t *Table[T]) run(ctx context.Context, w *args, statement string) (met bool, err error) {
	result, err := t.db.Writer(ctx).ExecContext(ctx, statement, w.list...)
	if err != nil {
		return false, t.outcomeError(ctx, err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
