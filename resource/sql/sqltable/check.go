package sqltable

// Check, and the comparison of columns with what the store needs. inspect_postgres.go and
// inspect_sqlite.go read the columns of a database and decide which types are suitable.

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Check compares the tables with the columns that the store needs. It returns an error that lists
// all differences: missing columns, types that would change values, NULL constraints that differ
// from the fields, columns without a value on insert, ids or unique fields without a unique index, a
// missing right to read a column, and a DEFAULT of a time that has no effect because the field is readOnly.
// A program that does not call [Table.CreateTable] calls Check when it starts.
//
// It also reads up to 10,000 rows for times that are stored in another layout, and for values that the tag
// enum lacks, which CreateTable ignores. The error contains up to five of these values. A view is evaluated
// for each of these columns. With sqltx.Options.Session no rows are read, because they may depend on the
// caller. Of a table or view that is read only it reports ids that repeat in these rows.
//
// It logs, and does not return, what may be intended: values in these rows that a field cannot have, see the
// package documentation, except in texts and JSON; another DEFAULT without an effect; missing rights to
// write; and a CountRev that repeats revisions.
func (t *Table[T]) Check(ctx context.Context) error { return t.checkWith(ctx, nil) }

// CheckOptions configures [Table.CheckWith]. The zero value is that of [Table.Check].
type CheckOptions struct {
	// Support is the queries to examine, in general those of Options.Query of the resource. Each filter
	// and order for which the database would read or sort the whole table is a difference. The database
	// explains the statements and does not run them. Default: none.
	//
	// Not reported are ne and notIn, which most rows match, isNull of lists, sorting of the rows that a
	// filter selects, and sorting of rows that are equal in the first key.
	//
	// No session variables are set. A policy of row-level security that fails without one fails in Check:
	// write current_setting('app.tenant', true), as described in package sqltx.
	Support query.Support
	// Warn receives the differences of Support, which make a program slow and not wrong, and the stored
	// values that the tag enum lacks, which a newer release may write during a rolling deployment. If nil,
	// they are part of the error of CheckWith. It also receives what Check logs.
	Warn func(Difference)
	// WarnAll makes all differences warnings, for example while a migration is running. It requires
	// Warn.
	WarnAll bool
}

// Difference is a difference between a table and the needs of the program.
type Difference struct {
	// Table is the name of the table.
	Table string
	// Problem describes the difference. For Queries it is what the database does for them.
	Problem string
	// Queries are the filters and orders that no index serves, such as sort=-title or email.startsWith.
	// Nil for other differences.
	Queries []string
	// Fix is the SQL statement that creates the index for Queries. On a large table in use, add
	// CONCURRENTLY. It is empty if no index can help: remove the queries from those of the resource.
	Fix string
	// Hint is an alternative to Fix, if there is one.
	Hint string
	// Plan is the plan of the first of Queries.
	Plan string
}

// String returns the difference on one line.
func (d Difference) String() string {
	if len(d.Queries) == 0 {
		return d.Problem
	}
	fix := cmp.Or(d.Fix, "no index helps; remove it from the queries of the resource")
	if d.Hint != "" {
		fix += ", " + d.Hint
	}
	return strings.Join(d.Queries, ", ") + " " + d.Problem + ": " + fix
}

// CheckWith is [Table.Check] with options. It panics if opts has WarnAll without Warn.
func (t *Table[T]) CheckWith(ctx context.Context, opts *CheckOptions) error {
	return t.checkWith(ctx, opts)
}

func (t *untyped) checkWith(ctx context.Context, opts *CheckOptions) error {
	if opts == nil {
		opts = &CheckOptions{}
	}
	if opts.WarnAll && opts.Warn == nil {
		panic("sqltable: CheckOptions.WarnAll requires Warn")
	}
	ctx = sqltx.WithoutSession(ctx)
	i, err := t.differences(ctx)
	if err != nil {
		return fmt.Errorf("sqltable: inspect %s: %w", t.name, err)
	}
	for _, problem := range i.warned {
		if opts.Warn != nil {
			opts.Warn(Difference{Table: t.name, Problem: problem})
		} else {
			slog.Warn("sqltable: "+problem, "table", t.name)
		}
	}
	faults := i.faults
	for _, problem := range i.others {
		if opts.Warn != nil {
			opts.Warn(Difference{Table: t.name, Problem: problem})
		} else {
			faults = append(faults, problem)
		}
	}
	if opts.WarnAll {
		for _, fault := range faults {
			opts.Warn(Difference{Table: t.name, Problem: fault})
		}
	}
	// The statements may fail on a table that differs.
	if len(faults) == 0 && (len(opts.Support.Filter) > 0 || len(opts.Support.Sort) > 0) {
		slow, err := t.slowQueries(ctx, opts.Support)
		if err != nil {
			return fmt.Errorf("sqltable: plans of %s: %w", t.name, err)
		}
		for _, d := range slow {
			if opts.Warn != nil {
				opts.Warn(d)
			} else {
				faults = append(faults, d.String())
			}
		}
	}
	if len(faults) > 0 && !opts.WarnAll {
		return fmt.Errorf("sqltable: the table %s does not fit %v:\n\t%s",
			t.name, t.typ.GoType, strings.Join(faults, "\n\t"))
	}
	return nil
}

// found describes a column as the database reports it. unique ignores indexes that ON CONFLICT
// (column) cannot use.
type found struct {
	typ       string       // as the database writes it
	base      sqltype.Type // of PostgreSQL: without domains
	enum      enumType
	notNull   bool
	filled    bool // on insert: by a default, an identity or a generated expression
	unique    bool // as a single column
	generated bool // always, so it cannot be written
	identity  bool // its numbers are not reused
	rowID     bool // SQLite assigns its numbers
}

// inspection collects the differences of one table. known has the columns that the store uses;
// unfilled examines the others.
type inspection struct {
	dialect sqltx.Dialect
	columns map[string]found
	used    []string // by the store, also those that do not exist
	known   map[string]bool
	faults  []string
	others  []string // differences that are warnings if there is CheckOptions.Warn
	warned  []string // differences that never fail
	hidden  bool     // the user may not read some of the columns
}

// add records a difference. Check reports all of them at once, because each may need a migration.
func (i *inspection) add(format string, args ...any) {
	i.faults = append(i.faults, fmt.Sprintf(format, args...))
}

// warn records a difference that does not make Check fail.
func (i *inspection) warn(format string, args ...any) {
	i.warned = append(i.warned, fmt.Sprintf(format, args...))
}

// differences returns the differences of the table, with the faults of that of its tombstones. The error is
// that of the database. If the table does not exist, this is the only fault.
func (t *untyped) differences(ctx context.Context) (*inspection, error) {
	columns, err := t.inspect(ctx, t.name)
	if err != nil {
		return nil, err
	}
	i := &inspection{dialect: t.dialect, columns: columns, used: t.columnNames(), known: map[string]bool{}}
	if len(columns) == 0 {
		i.add("there is no table or view %s: call CreateTable, or run what DDL returns", t.name)
		return i, nil
	}
	for _, c := range t.columns {
		if !c.computed() {
			i.field(c, t.opts.ReadOnly || t.isKey(c))
		}
	}
	if t.modified != nil && t.modified.field == nil {
		i.field(t.modified, t.opts.ReadOnly)
	}
	if t.deletedAt != nil && t.deletedAt.field == nil {
		i.field(t.deletedAt, t.opts.ReadOnly)
	}
	// The column of the revision may be that of a field, which has been checked above.
	if t.rev.column != "" && !i.known[t.rev.column] {
		i.field(t.revisionColumn(), t.opts.ReadOnly)
	}
	for _, check := range []func(context.Context, *inspection) error{
		t.checkRights, t.checkCollations, t.checkSearch, t.checkValues, t.checkDefaults,
	} {
		if err := check(ctx, i); err != nil {
			return nil, err
		}
	}
	t.checkCounter(i)
	// A view has no keys, and nothing is inserted into it.
	if !t.opts.ReadOnly {
		t.checkKeys(i)
		if len(t.key) > 1 {
			if err := t.checkKey(ctx, i, t.name); err != nil {
				return nil, err
			}
		}
		if err := t.checkUnique(ctx, i); err != nil {
			return nil, err
		}
		i.unfilled()
		if err := t.readChecks(ctx); err != nil {
			return nil, err
		}
		if err := t.checkTriggers(ctx, i); err != nil {
			return nil, err
		}
	}
	if t.tombstones != nil {
		faults, err := t.differencesOfTombstones(ctx)
		if err != nil {
			return nil, err
		}
		i.faults = append(i.faults, faults...)
	}
	return i, t.checkReadable(ctx, i)
}

// differencesOfTombstones compares the table of tombstones with what Delete needs. The copy of the
// id column has the name id, which the table of tombstones always uses.
func (t *untyped) differencesOfTombstones(ctx context.Context) ([]string, error) {
	columns, err := t.inspect(ctx, t.tombstones.name)
	if err != nil || len(columns) == 0 {
		const absent = "there is no table %s for tombstones: call CreateTable, or set Options.Forget"
		return []string{fmt.Sprintf(absent, t.tombstones.name)}, err
	}
	i := &inspection{dialect: t.dialect, columns: columns, known: map[string]bool{}}
	for _, c := range t.key {
		id := *c // a copy, because columns are immutable after New
		if len(t.key) == 1 {
			id.spec.Name = "id"
		}
		i.field(&id, true)
	}
	i.field(t.tombstones.at, true)
	if len(t.key) > 1 {
		err = t.checkKey(ctx, i, t.tombstones.name)
	} else if !columns["id"].unique {
		i.add("column id is not unique: make it the primary key")
	}
	for n := range i.faults {
		i.faults[n] = t.tombstones.name + ": " + i.faults[n]
	}
	return i.faults, err
}

// field checks one column. If lenient, it accepts any NULL constraint, because the column is a key
// or is never written.
func (i *inspection) field(c *column, lenient bool) {
	name := c.spec.Name
	i.known[name] = true
	f, ok := i.columns[name]
	if !ok {
		i.add("there is no column %s for%s%s", name, ofField(c), i.unused(c))
		return
	}
	if fault := c.mismatch(i.dialect, f); fault != "" {
		i.add("column %s is %s%s", name, f.typ, fault)
	} else if missing := c.missingEnum(f.enum); missing != "" && !lenient {
		i.add("column %s is %s: tag the field %s with %s", name, f.typ, c.field.GoName, missing)
	}
	switch {
	case c.generated && f.notNull && !f.filled:
		i.add("column %s has no default, and%s is tagged generated", name, ofField(c))
	case c.generated, lenient && f.generated:
	case f.generated:
		i.add("column %s is generated, so it cannot be written: "+
			`tag%s with readOnly:"true" sql:",generated"`, name, ofField(c))
	case lenient:
	case c.field != nil && c.field.StoreDefault && f.notNull && !f.filled:
		i.add(`column %s has no default, but%s is tagged default:"db"`, name, ofField(c))
	case c.spec.NotNull && !f.notNull:
		loses := ""
		if c.scalar() && c.field != nil && c.spec.Kind != sqlquery.Time && !c.noEmpty {
			loses = ", after which writes replace NULL"
		}
		i.add("column %s can be NULL, but%s cannot: make the field a pointer, tag it sql:\"%s,null\"%s, "+
			"or make the column NOT NULL", name, ofField(c), c.spec.Type, loses)
	// A field that is not a pointer never writes NULL, even if Options.Columns declares the column
	// nullable.
	case !c.spec.NotNull && f.notNull && (c.field == nil || c.field.Nullable && !c.field.StoreDefault):
		i.add("column %s is NOT NULL, but%s can be null", name, ofField(c))
	case c.storesNullForZero() && f.notNull && !c.field.StoreDefault:
		i.add("column %s is NOT NULL, but%s stores NULL for the zero time: remove the option null of the "+
			"tag sql, or set NotNull in Options.Columns", name, ofField(c))
	}
}

// unused returns the end of the message that a column is missing: the columns that the store does not use,
// one of which may be the missing one. It is empty if there are none.
func (i *inspection) unused(c *column) string {
	var names []string
	for name := range i.columns {
		if !slices.Contains(i.used, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 || i.used == nil {
		return ""
	}
	similar := func(name string) int { // 0 if the names are, so that they are the first
		a, b := strings.ToLower(name), strings.ToLower(c.spec.Name)
		if strings.Contains(a, b) || strings.Contains(b, a) {
			return 0
		}
		return 1
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(similar(a), similar(b)), cmp.Compare(a, b))
	})
	set := fmt.Sprintf(`tag the field db:"%s"`, names[0])
	switch {
	case c.isModified && c.field == nil:
		set = "set Options.Modified"
	case c.isDeleted && c.field == nil:
		set = "set Options.SoftDelete"
	case c.field == nil && i.dialect == sqltx.PostgreSQL:
		set = "set Options.Rev to one of them, to XMin or to Content"
	case c.field == nil:
		set = "set Options.Rev to one of them or to Content"
	case len(names) > 1:
		set = fmt.Sprintf(`tag the field with one of them, such as db:"%s"`, names[0])
	}
	return fmt.Sprintf("; no field uses %s: %s", firstOf(names), set)
}

// firstOf returns the first names or values of a list for a message.
func firstOf(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// columnNames returns the names of the columns that the store uses.
func (t *untyped) columnNames() []string {
	names := []string{searchVector, t.rev.column}
	for _, c := range append([]*column{t.modified, t.deletedAt}, t.columns...) {
		if c != nil {
			names = append(names, cmp.Or(c.spec.Name, c.spec.Expr))
		}
	}
	return names
}

// ofField returns the name of the column's field, for a message.
func ofField(c *column) string {
	if c.field == nil {
		return " the store"
	}
	return " field " + c.field.GoName
}

// checkKeys checks that the id is unique, and that the database assigns ids if the store relies on
// it. Without a unique index on the id, INSERT with ON CONFLICT is an error in both databases.
func (t *untyped) checkKeys(i *inspection) {
	name := t.key[0].spec.Name
	id, ok := i.columns[name]
	switch {
	case !ok || len(t.key) > 1:
	case !id.unique:
		i.add("column %s is not unique, though it holds the id: make it the primary key", name)
	case !t.identity || id.identity:
	case t.dialect == sqltx.PostgreSQL:
		i.add("column %s has no identity and no default, so no ids are assigned: "+
			"set Options.NewID or ClientIDs", name)
	case !id.rowID:
		i.add("column %s is not declared INTEGER PRIMARY KEY, so SQLite assigns no ids: "+
			"set Options.NewID or ClientIDs, or create the table again", name)
	case t.deletedAt == nil && !t.opts.NoDelete: // the row of a deleted item would keep the id
		i.add("column %s lacks AUTOINCREMENT, so SQLite assigns the id of a deleted item again, and "+
			"a client that kept the id changes another item: set Options.SoftDelete, NoDelete, NewID or "+
			"ClientIDs, or create the table again", name)
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

// mismatch returns what is wrong with the type of a column, as the end of a message, or "" if it is
// suitable.
func (c *column) mismatch(d sqltx.Dialect, f found) string {
	if d == sqltx.PostgreSQL {
		return c.postgresMismatch(f)
	}
	if want := c.sqliteMismatch(f.typ); want != "" {
		return ", but" + ofField(c) + " needs " + want
	}
	return ""
}
