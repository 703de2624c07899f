package sqltable

// InsertMany, which imports use. It is one INSERT for up to 100 items, from a VALUES list.

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// mostRows is the maximum number of rows per INSERT. Larger statements were not faster.
const mostRows = 100

// insertMany implements InsertMany of [resource.Ops].
func (t *Table[T]) insertMany(ctx context.Context, items []resource.Item[T]) error {
	list := make([]newItem, len(items))
	for i := range items {
		list[i] = newItem{items[i].ID, &items[i].Value}
	}
	return t.insertItems(ctx, list)
}

// newItem is an item to insert. The value is a pointer.
type newItem struct {
	id    string
	value any
}

// insertItems inserts all items in one transaction, with as few statements as possible. On ErrExists the
// transaction rolls back, and the caller inserts the items one by one.
func (t *untyped) insertItems(ctx context.Context, items []newItem) error {
	return t.db.InTx(ctx, func(ctx context.Context) error {
		t.db.ClassifyCommit(ctx, (*written)(t))
		for part := range t.parts(items) {
			w, statement, err := t.insertStatement(ctx, part)
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

// parts divides items into those of one statement, which have values for the same columns: VALUES
// has no DEFAULT.
func (t *untyped) parts(items []newItem) iter.Seq[[]newItem] {
	// Two more values than columns: the time of the write and the revision may have no field.
	size := min(mostRows, mostValues/(len(t.columns)+2))
	if !slices.ContainsFunc(t.columns, func(c *column) bool { return c.field.StoreDefault }) {
		return slices.Chunk(items, size)
	}
	var columns []string // of each group
	groups := map[string][]newItem{}
	for i := range items {
		var b strings.Builder
		for _, c := range t.columns {
			if c.leavesDefault(items[i].value) {
				b.WriteString(c.expr)
			}
		}
		if groups[b.String()] == nil {
			columns = append(columns, b.String())
		}
		groups[b.String()] = append(groups[b.String()], items[i])
	}
	return func(yield func([]newItem) bool) {
		for _, name := range columns {
			for part := range slices.Chunk(groups[name], size) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// manyFault is fault for a statement with several rows. It does not look for the row or the field.
// In a statement with several rows the database reports neither.
func (t *untyped) manyFault(err error) error {
	if mapped := t.mapped(err); mapped != nil {
		return mapped
	}
	if t.dialect.Fault(err).Kind == sqltx.ForeignKey {
		return fmt.Errorf("%w: %w", unknown(""), err)
	}
	return t.rejected(t.fault(err))
}

// insertStatement returns the statement that inserts those items with unused ids. The
// columns of VALUES are called column1 and so on in both databases. In SQLite, WHERE is needed
// before ON CONFLICT, which would otherwise be parsed as the ON of a join.
func (t *untyped) insertStatement(ctx context.Context, items []newItem) (*args, string, error) {
	w := &args{dialect: t.dialect}
	var b strings.Builder
	for i := range items {
		value, err := t.idField.ParseKey(items[i].id)
		if err != nil {
			return nil, "", resource.Invalid(t.idField.Name, "format")
		}
		if err := t.inexact(value); err != nil {
			return nil, "", err
		}
		key := t.bindKey(w, value)
		names, places, err := t.newValues(ctx, w, items[i].value, t.now())
		if err != nil {
			return nil, "", err
		}
		if i == 0 {
			b.WriteString("INSERT INTO " + t.table + " (" +
				strings.Join(append(t.keyExprs(""), names...), ", ") + ") SELECT * FROM (VALUES ")
		} else {
			b.WriteString(", ")
		}
		for j, place := range append(key, places...) {
			b.WriteString(either(j == 0, "(", ", ") + t.unnumbered(place))
		}
		b.WriteString(")")
	}
	b.WriteString(") AS fresh WHERE ")
	if t.tombstones != nil {
		fresh := make([]string, len(t.key))
		for i := range fresh {
			fresh[i] = "fresh.column" + strconv.Itoa(i+1)
		}
		b.WriteString("NOT EXISTS (SELECT 1 FROM " + t.tombstones.table + " AS dead WHERE " +
			t.tombstones.matching("dead.", fresh) + ")")
	} else {
		b.WriteString("true")
	}
	b.WriteString(" ON CONFLICT (" + t.keyList() + ") DO NOTHING")
	return w, b.String(), nil
}

func either(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}

// unnumbered returns a placeholder of SQLite without its number. Drivers search the list of names
// for each numbered one. It is correct only if the arguments occur in the order in which they were
// bound.
func (t *untyped) unnumbered(place string) string {
	if t.dialect == sqltx.SQLite {
		return "?"
	}
	return place
}

// unnumberedList is unnumbered for a condition with a list as its only arguments.
func (t *untyped) unnumberedList(where string, args int) string {
	const list = " IN ("
	at := strings.LastIndex(where, list)
	if t.dialect != sqltx.SQLite || at < 0 {
		return where
	}
	end := at + strings.IndexByte(where[at:], ')')
	return where[:at] + list + strings.Repeat("?, ", args-1) + "?" + where[end:]
}
