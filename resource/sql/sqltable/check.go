package sqltable

// Check, and the comparison of columns with what the store needs. inspect_postgres.go and
// inspect_sqlite.go read the columns of a database and decide which types are suitable.

import (
	"context"
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Check compares the tables with the columns that the store needs. It returns an error that lists
// all differences: missing columns, types that would change values, NULL constraints that differ
// from the fields, columns without a value on insert, and ids or unique fields without a unique
// index. A program that does not call [Table.CreateTable] calls Check when it starts.
func (t *Table[T]) Check(ctx context.Context) error {
	faults, err := t.differences(ctx)
	if err != nil {
		return fmt.Errorf("sqltable: inspect %s: %w", t.name, err)
	}
	if len(faults) > 0 {
		return fmt.Errorf("sqltable: the table %s does not fit %v:\n\t%s",
			t.name, t.typ.GoType, strings.Join(faults, "\n\t"))
	}
	return nil
}

// found describes a column as the database reports it. unique ignores indexes that ON CONFLICT
// (column) cannot use.
type found struct {
	typ       string
	notNull   bool
	filled    bool // on insert: by a default, an identity or a generated expression
	unique    bool // as a single column
	generated bool // always, so it cannot be written
	identity  bool // its numbers are not reused
}

// inspection collects the differences of one table. known has the columns that the store uses;
// unfilled examines the others.
type inspection struct {
	dialect sqltx.Dialect
	columns map[string]found
	known   map[string]bool
	faults  []string
}

// add records a difference. Check reports all of them at once, because each may need a migration.
func (i *inspection) add(format string, args ...any) {
	i.faults = append(i.faults, fmt.Sprintf(format, args...))
}

// differences returns the faults of the table and of that of its tombstones. The error is that of
// the database. If the table does not exist, this is the only fault.
func (t *Table[T]) differences(ctx context.Context) ([]string, error) {
	columns, err := t.inspect(ctx, t.name)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return []string{
			fmt.Sprintf("there is no table or view %s: call CreateTable, or run what DDL returns", t.name),
		}, nil
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
	// The column of the revision may be that of a field, which has been checked above.
	if t.rev.column != "" && !i.known[t.rev.column] {
		rev := sqlquery.Column{Name: t.rev.column, Kind: t.rev.kind, NotNull: true}
		i.field(&column{spec: rev}, t.opts.ReadOnly)
	}
	// A view has no keys, and nothing is inserted into it.
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

// differencesOfTombstones compares the table of tombstones with what Delete needs. The copy of the
// id column has the name id, which the table of tombstones always uses.
func (t *Table[T]) differencesOfTombstones(ctx context.Context) ([]string, error) {
	columns, err := t.inspect(ctx, t.tombstones.name)
	if err != nil || len(columns) == 0 {
		const absent = "there is no table %s for tombstones: call CreateTable, or set Options.Forget"
		return []string{fmt.Sprintf(absent, t.tombstones.name)}, err
	}
	i := &inspection{dialect: t.dialect, columns: columns, known: map[string]bool{}}
	// A copy, because columns are immutable after New.
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

// field checks one column. If lenient, it accepts any NULL constraint, because the column is a key
// or is never written.
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
		i.add("column %s is generated, so it cannot be written: set its Expr in Options.Columns", name)
	case lenient:
	case c.spec.NotNull && !f.notNull:
		i.add("column %s can be NULL, but%s cannot: make the field a pointer, or the column NOT NULL, "+
			"or set Options.Columns", name, ofField(c))
	// A field that is not a pointer never writes NULL, even if Options.Columns declares the column
	// nullable.
	case !c.spec.NotNull && f.notNull && (c.field == nil || c.field.Nullable):
		i.add("column %s is NOT NULL, but%s can be null", name, ofField(c))
	}
}

// ofField returns the name of the column's field, for a message.
func ofField(c *column) string {
	if c.field == nil {
		return " the store"
	}
	return " field " + c.field.GoName
}

// checkKeys checks that keys are unique, and that the database assigns ids if the store relies on
// it. Without a unique index on the id, INSERT with ON CONFLICT is an error in both databases.
func (t *Table[T]) checkKeys(i *inspection) {
	id, ok := i.columns[t.id.spec.Name]
	switch {
	case !ok:
	case !id.unique:
		i.add("column %s is not unique, though it holds the id: make it the primary key", t.id.spec.Name)
	case t.identity && !id.identity && t.dialect == sqltx.SQLite:
		i.add("column %s lacks AUTOINCREMENT, so ids of deleted items are reused: "+
			"set Options.NewID or ClientIDs, or create the table again", t.id.spec.Name)
	case t.identity && !id.identity:
		i.add("column %s has no identity and no default, so no ids are assigned: "+
			"set Options.NewID or ClientIDs", t.id.spec.Name)
	}
	for _, c := range t.unique {
		// With either, the index is partial, and inspect does not report partial indexes.
		omits := c.field.OmitZero || c.field.OmitEmpty
		if f, ok := i.columns[c.spec.Name]; ok && !f.unique && !omits {
			i.add("column %s is not unique, but%s is tagged so", c.spec.Name, ofField(c))
		}
	}
}

// unfilled reports columns that have no field, no default and no NULL. An INSERT that does not name
// such a column fails.
func (i *inspection) unfilled() {
	for name, f := range i.columns {
		if !i.known[name] && f.notNull && !f.filled {
			i.add("column %s is NOT NULL and has no default, and no field sets it", name)
		}
	}
}

// mismatch returns the type that the column should have, or "" if typ is suitable.
func (c *column) mismatch(d sqltx.Dialect, typ string) string {
	if d == sqltx.SQLite {
		return c.sqliteMismatch(typ)
	}
	return c.postgresMismatch(typ)
}

// fits reports whether all values of a field fit into a signed integer of this size. An unsigned
// type needs one more bit. 64 bits always fit, because argument rejects larger values.
func fits(f *schema.Field, bits int) bool {
	own := f.Type.Bits
	if f.Type.Unsigned {
		own++
	}
	return own <= bits || bits == 64 || bounded(f, bits)
}
