package sqltable

// The columns of an UPDATE: those in which the new value differs from the row of the revision that it
// replaces. The row is the one that was read for the same write, if package resource has begun the write;
// otherwise it is read here. write.go and read.go call this file.

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/asread"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// keptRow is a row that was read for a write. It shares no memory with the item that was returned: hooks and
// decorators may change that in place. So columns with Go values that refer to memory are scanned again,
// from what the driver has returned.
type keptRow struct {
	*row
	table *untyped
	again []*againScanner
}

// againScanner is a fieldScanner that keeps the value of the driver.
type againScanner struct {
	*fieldScanner
	src any
}

// Scan implements [sql.Scanner].
func (s *againScanner) Scan(src any) error {
	if b, ok := src.([]byte); ok {
		src = bytes.Clone(b) // it belongs to the driver
	}
	s.src = src
	return s.fieldScanner.Scan(src)
}

// newKept returns a row for the pool of the table.
func (t *untyped) newKept() any {
	k := &keptRow{row: t.newRow(t.columns), table: t}
	first := len(k.dests) - len(t.columns)
	for i, c := range t.columns {
		if s, ok := k.dests[first+i].(*fieldScanner); ok && t.isWritten(c) && refers(s.field.Type()) {
			own := &againScanner{fieldScanner: s}
			k.again, k.dests[first+i] = append(k.again, own), own
		}
	}
	return k
}

// refers reports whether two copies of a value of the type share memory that can change.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return refers(t.Elem())
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return false
		}
		for i := range t.NumField() {
			if refers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.String:
		return false
	}
	return t.Kind() > reflect.Complex128
}

// separate gives the row its own memory.
func (k *keptRow) separate() error {
	for _, s := range k.again {
		s.field.SetZero() // decoders reuse the memory of a value
		if err := s.fieldScanner.Scan(s.src); err != nil {
			return err
		}
	}
	return nil
}

// Discard implements [asread.Row].
func (k *keptRow) Discard() {
	for _, s := range k.again {
		s.src = nil
	}
	k.elem.SetZero()
	k.bad = k.bad[:0]
	k.table.keptPool.Put(k)
}

// getKept reads the row of an item that is about to be written.
func (t *untyped) getKept(ctx context.Context, id string) (*keptRow, error) {
	k := t.keptPool.Get().(*keptRow)
	if err := t.getInto(ctx, t.db.Reader(ctx), k.row, t.selectWhole, id, ""); err != nil {
		k.Discard()
		return nil, err
	}
	return k, nil
}

// before is the row that a write replaces.
type before struct {
	*row
	fresh   bool // read by Replace itself
	release func()
}

// rowBefore returns the row of an item with the expected revision: the one that was read for the write, or
// that of the database.
func (t *untyped) rowBefore(ctx context.Context, id string, key []any, expect resource.Rev) (before, error) {
	if kept := asread.From(ctx).Take(t, id, string(expect)); kept != nil {
		k := kept.(*keptRow)
		if err := k.separate(); err != nil {
			return before{}, err
		}
		return before{row: k.row, release: k.Discard}, nil
	}
	r, err := t.rowAt(ctx, key, expect, "")
	return before{row: r, fresh: true, release: func() { t.release(r) }}, err
}

// rowAt reads the row of an item with the expected revision. The error is ErrStale if it has another. lock
// is the end of the statement.
func (t *untyped) rowAt(ctx context.Context, key []any, expect resource.Rev, lock string) (*row, error) {
	w := &args{dialect: t.dialect}
	from := t.db.Writer(ctx)
	r, err := t.queryItem(ctx, from, t.columns, t.selectWhole+t.where(w, t.at(key))+lock, w.list)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, t.absentError(ctx, from, key)
	case t.revisionOf(r).Rev != expect:
		t.release(r)
		return nil, resource.ErrStale
	}
	return r, nil
}

// assignments returns the assignments of an UPDATE, in the order of the schema: the columns that differ,
// and with them the time and the revision. It is empty if no column differs, unless the table has no column
// that can: then each write changes the revision, so that of concurrent writes one succeeds.
func (t *untyped) assignments(
	ctx context.Context, w *args, old, v any, now time.Time,
) (set []string, err error) {
	for _, c := range t.columns {
		if !t.isWritten(c) || c.field.Equal(old, v) {
			continue
		}
		resets, err := t.resetsDefault(ctx, c, v)
		if err != nil {
			return nil, err
		}
		if resets {
			if t.dialect == sqltx.PostgreSQL { // SQLite has no DEFAULT in UPDATE, so the value stays
				set = append(set, c.expr+" = DEFAULT")
			}
			continue
		}
		arg, err := t.argument(c, v)
		if err != nil {
			return nil, err
		}
		set = append(set, c.expr+" = "+w.bind(arg, c.cast))
	}
	if set == nil && slices.ContainsFunc(t.columns, t.isWritten) {
		return nil, nil
	}
	if t.modified != nil {
		set = append(set, t.modified.expr+" = "+w.bind(t.tr.Arg(modifiedField, now), t.modified.cast))
	}
	if t.rev.column != "" {
		set = append(set, t.rev.set(w))
	}
	if set == nil {
		set = append(set, t.key[0].expr+" = "+t.key[0].expr)
	}
	return set, nil
}

// resetsDefault reports whether an UPDATE sets a column to its DEFAULT: the field has the tag default:"db"
// and is zero, which the column cannot store. An empty value is one only if the field and the type of the
// column allow it, and null is one if the column is nullable.
func (t *untyped) resetsDefault(ctx context.Context, c *column, v any) (bool, error) {
	switch {
	case !c.leavesDefault(v):
		return false, nil
	case c.field.Nullable:
		return t.isNotNull(ctx, c)
	case !c.field.ValidZero():
		return true, nil
	}
	return c.emptyIsNone(), nil
}

// isNotNull reports whether the database declares a column NOT NULL. A field with the tag default:"db"
// may be null although its column is not. The columns are read once.
func (t *untyped) isNotNull(ctx context.Context, c *column) (bool, error) {
	columns := t.inspected.Load()
	if columns == nil {
		found, err := t.inspect(sqltx.WithoutSession(ctx), t.name)
		if err != nil {
			return false, t.fault(err)
		}
		columns = &found
		t.inspected.Store(columns)
	}
	return (*columns)[c.spec.Name].notNull, nil
}
