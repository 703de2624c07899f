package sqltable

import (
	"context"
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Check compares the tables with what their columns are for, and returns an error that names every difference: a column
// that is not there or of a type that would keep other values, NULL where none can be or none where it has to be, a
// column that nobody fills in, and ids or unique fields that are not unique. A program that does not call
// [Table.CreateTable] calls it when it starts.
func (t *Table[T]) Check(ctx context.Context) error {
	faults, err := t.differences(ctx)
	if err != nil {
		return fmt.Errorf("sqltable: looking at %s: %w", t.name, err)
	}
	if len(faults) > 0 {
		return fmt.Errorf("sqltable: the table %s does not fit %v:\n\t%s", t.name, t.typ.GoType, strings.Join(faults, "\n\t"))
	}
	return nil
}

// found is a column as the database describes it.
type found struct {
	typ       string
	notNull   bool
	filled    bool // by itself: a default, an identity, a generated value
	unique    bool // alone
	generated bool // always, so that it cannot be written
	identity  bool // gives numbers that never come back
}

// inspection collects what is wrong with one table.
type inspection struct {
	dialect sqltx.Dialect
	columns map[string]found
	known   map[string]bool
	faults  []string
}

func (i *inspection) add(format string, args ...any) {
	i.faults = append(i.faults, fmt.Sprintf(format, args...))
}

func (t *Table[T]) differences(ctx context.Context) ([]string, error) {
	columns, err := t.inspect(ctx, t.name)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return []string{fmt.Sprintf("there is no table or view %s: call CreateTable, or run what DDL returns", t.name)}, nil
	}
	i := &inspection{dialect: t.dialect, columns: columns, known: map[string]bool{}}
	for _, c := range t.columns {
		if !c.computed() {
			i.field(c, t.opts.ReadOnly || c == t.id)
		}
	}
	if t.modified != nil && t.modified.field == nil {
		i.field(t.modified, t.opts.ReadOnly)
	}
	if t.rev.column != "" && !i.known[t.rev.column] {
		i.field(&column{spec: sqlquery.Column{Name: t.rev.column, Kind: t.rev.kind, NotNull: true}}, t.opts.ReadOnly)
	}
	if !t.opts.ReadOnly {
		t.checkKeys(i)
		i.unfilled()
	}
	if t.tombstones == nil {
		return i.faults, nil
	}
	faults, err := t.differencesOfTombstones(ctx)
	return append(i.faults, faults...), err
}

// differencesOfTombstones compares the table of tombstones with what Delete needs.
func (t *Table[T]) differencesOfTombstones(ctx context.Context) ([]string, error) {
	columns, err := t.inspect(ctx, t.tombstones.name)
	if err != nil || len(columns) == 0 {
		return []string{fmt.Sprintf("there is no table %s to remember deletions: call CreateTable, or set Options.Forget",
			t.tombstones.name)}, err
	}
	i := &inspection{dialect: t.dialect, columns: columns, known: map[string]bool{}}
	id := *t.id
	id.spec.Name = "id"
	i.field(&id, true)
	i.field(t.tombstones.at, true)
	if !columns["id"].unique {
		i.add("column id is not unique: make it the primary key")
	}
	for n := range i.faults {
		i.faults[n] = t.tombstones.name + ": " + i.faults[n]
	}
	return i.faults, nil
}

// field looks at one column. What nobody writes, and what is a key, may be NULL or not as it likes.
func (i *inspection) field(c *column, lenient bool) {
	name := c.spec.Name
	i.known[name] = true
	f, ok := i.columns[name]
	if !ok {
		i.add("there is no column %s%s", name, ofField(c))
		return
	}
	if want := c.mismatch(i.dialect, f.typ); want != "" {
		i.add("column %s is %s, but%s needs %s", name, f.typ, ofField(c), want)
	}
	switch {
	case f.generated && !lenient:
		i.add("column %s is generated, so it cannot be written: give it as Expr in Options.Columns", name)
	case lenient:
	case c.spec.NotNull && !f.notNull:
		i.add("column %s can be NULL, but%s cannot: make it a pointer, or the column NOT NULL, or say so in Options.Columns",
			name, ofField(c))
	case !c.spec.NotNull && f.notNull && (c.field == nil || c.field.Nullable):
		i.add("column %s is NOT NULL, but%s can be null", name, ofField(c))
	}
}

// ofField names the field of a column in a message.
func ofField(c *column) string {
	if c.field == nil {
		return " the store"
	}
	return " field " + c.field.GoName
}

// checkKeys looks at what has to be unique, and at who makes ids.
func (t *Table[T]) checkKeys(i *inspection) {
	id, ok := i.columns[t.id.spec.Name]
	switch {
	case !ok:
	case !id.unique:
		i.add("column %s is not unique, though it holds the id: make it the primary key", t.id.spec.Name)
	case t.identity && !id.identity && t.dialect == sqltx.SQLite:
		i.add("column %s lacks AUTOINCREMENT, so that ids of deleted items come back: set Options.NewID or ClientIDs, or "+
			"create the table anew", t.id.spec.Name)
	case t.identity && !id.identity:
		i.add("column %s has no identity and no default, so nobody makes ids: set Options.NewID or ClientIDs", t.id.spec.Name)
	}
	for _, c := range t.unique {
		omits := c.field.OmitZero || c.field.OmitEmpty // then its index is a partial one, which may look anyhow
		if f, ok := i.columns[c.spec.Name]; ok && !f.unique && !omits {
			i.add("column %s is not unique, but%s is tagged so", c.spec.Name, ofField(c))
		}
	}
}

// unfilled finds columns that belong to nobody and have to be filled in.
func (i *inspection) unfilled() {
	for name, f := range i.columns {
		if !i.known[name] && f.notNull && !f.filled {
			i.add("column %s is NOT NULL and has no default, but no field fills it in", name)
		}
	}
}

// mismatch returns what the type of a column should be, if that is not what it is.
func (c *column) mismatch(d sqltx.Dialect, typ string) string {
	if d == sqltx.SQLite {
		return c.sqliteMismatch(typ)
	}
	return c.postgresMismatch(typ)
}

// fits reports whether all values of a field fit into so many bits, the sign included.
func fits(f *schema.Field, bits int) bool {
	own := f.Type.Bits
	if f.Type.Unsigned {
		own++
	}
	return own <= bits || bits == 64 || bounded(f, bits)
}
