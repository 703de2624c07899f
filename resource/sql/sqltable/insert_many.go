package sqltable

// InsertMany, which imports use. It is one INSERT for up to 100 items, from a VALUES list.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// mostRows is the maximum number of rows per INSERT. Larger statements were not faster.
const mostRows = 100

// insertMany implements InsertMany of [resource.Ops]. It inserts all items in one transaction, with
// as few statements as possible. On ErrExists the transaction rolls back, and the caller inserts
// the items one by one.
func (t *Table[T]) insertMany(ctx context.Context, items []resource.Item[T]) error {
	return t.db.InTx(ctx, func(ctx context.Context) error {
		// Two more values than columns: the time of the write and the revision may have no field.
		for part := range slices.Chunk(items, min(mostRows, mostValues/(len(t.columns)+2))) {
			w, statement, err := t.insertStatement(part)
			if err != nil {
				return err
			}
			result, err := t.db.Writer(ctx).ExecContext(ctx, statement, w.list...)
			if err != nil {
				return t.manyFault(err)
			}
			switch n, err := result.RowsAffected(); {
			case err != nil:
				return err
			case n < int64(len(part)):
				return resource.ErrExists // or ErrGone; the caller finds out which item it is
			}
		}
		return nil
	})
}

// manyFault is fault for a statement with several rows. It does not look for the row or the field.
// In a statement with several rows the database reports neither.
func (t *Table[T]) manyFault(err error) error {
	switch t.dialect.Fault(err).Kind {
	case sqltx.ForeignKey:
		return fmt.Errorf("%w: %w", unknown(""), err)
	case sqltx.Value:
		return fmt.Errorf("%w: %w", resource.Invalid("", "range"), err)
	}
	return t.fault(err)
}

// insertStatement returns the statement that inserts those items whose ids are not in use. The
// columns of VALUES are called column1 and so on in both databases. In SQLite, WHERE is needed
// before ON CONFLICT, which would otherwise be parsed as the ON of a join.
func (t *Table[T]) insertStatement(items []resource.Item[T]) (*args, string, error) {
	w := &args{dialect: t.dialect}
	var b strings.Builder
	for i := range items {
		value, err := t.id.field.Parse(items[i].ID)
		if err != nil || !t.storesExactly(value) {
			return nil, "", resource.Invalid(t.id.field.Name, "format")
		}
		id := w.bind(t.tr.Arg(t.id.field.Name, value), t.id.cast)
		names, places, err := t.newValues(w, &items[i].Value)
		if err != nil {
			return nil, "", err
		}
		if i == 0 {
			b.WriteString("INSERT INTO " + t.table + " (" +
				strings.Join(append([]string{t.id.expr}, names...), ", ") + ") SELECT * FROM (VALUES ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString("(" + t.unnumbered(id))
		for _, place := range places {
			b.WriteString(", " + t.unnumbered(place))
		}
		b.WriteString(")")
	}
	b.WriteString(") AS fresh WHERE ")
	if t.tombstones != nil {
		b.WriteString("NOT EXISTS (SELECT 1 FROM " + t.tombstones.table + " AS dead WHERE dead." +
			t.tombstones.id + " = fresh.column1)")
	} else {
		b.WriteString("true")
	}
	b.WriteString(" ON CONFLICT (" + t.id.expr + ") DO NOTHING")
	return w, b.String(), nil
}

// unnumbered returns a placeholder of SQLite without its number. Drivers search the list of names
// for each numbered one. It is correct only if the arguments occur in the order in which they were
// bound.
func (t *Table[T]) unnumbered(place string) string {
	if t.dialect == sqltx.SQLite {
		return "?"
	}
	return place
}

// unnumberedList is unnumbered for a condition whose only arguments are a list at its end.
func (t *Table[T]) unnumberedList(where string, args int) string {
	const list = " IN ("
	at := strings.LastIndex(where, list)
	if t.dialect != sqltx.SQLite || at < 0 {
		return where
	}
	return where[:at] + list + strings.Repeat("?, ", args-1) + "?)"
}
