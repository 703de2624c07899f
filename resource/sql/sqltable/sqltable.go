// Package sqltable serves a table of SQLite or PostgreSQL as a collection. The table may exist
// already, or the package creates it.
//
// A [Table] has every capability of package resource except Watcher, as a [resource.Ops]:
//
//	type Order struct {
//		ID         string   `json:"id" format:"uuid"`
//		CustomerID string   `json:"customerId"`
//		Status     string   `json:"status" enum:"placed,paid"`
//		Note       *string  `json:"note"`
//		Lines      []Line   `json:"lines"`
//	}
//
//	db := sqltx.New(sqltx.PostgreSQL, pool, nil)
//	orders := sqltable.New[Order](db, "orders", &sqltable.Options{Index: []string{"customerId"}})
//	if err := orders.CreateTable(ctx); err != nil { ... }
//	r := orders.Ops().Resource("orders", &resource.Options[Order]{Query: orders.Support()})
//
// # Columns
//
// Each field has one column. Its name is that of the struct tag db, or the JSON name in snake case:
// customer_id for customerId. Its type depends on the field:
//
//	strings, and types with text methods     text          TEXT
//	strings with format:"uuid"               uuid          TEXT      PostgreSQL returns them in lower case
//	integers                                 bigint        INTEGER   values above the largest int64 are rejected
//	numbers with a fraction                  double precision  REAL  real and numeric would change the value
//	booleans                                 boolean       INTEGER   0 and 1
//	times                                    timestamptz   TEXT      in UTC, to the microsecond; in SQLite to the nanosecond
//	bytes                                    bytea         BLOB
//	all others                               jsonb         TEXT      structs, lists and maps, as JSON
//
// The column of a pointer field is nullable; all others are NOT NULL. Options.Columns describes a
// table that stores a field differently, such as a time as a number of seconds. Columns without a
// field are not read or written.
//
// # Writes
//
// Each write is one statement that names the revision that was read, so concurrent writes, also by
// other programs, are never lost. The revision is a column of its own, or one of the alternatives
// of Options.Rev. A write returns the item as the table stores it.
//
// A violated constraint is an error with the name of the field: [resource.Taken] for a unique
// constraint, and [resource.Invalid] with the code unknown for a foreign key, required for NOT NULL
// and check for a CHECK. Deleting an item that others refer to is a conflict.
//
// # Reads
//
// No text of a query becomes part of a statement; see package sqlquery, which also describes
// indexes. Rows are streamed: an iterator holds a connection while it is read, and inside a
// transaction no other statement can run until then. Package resource reads each page to its end
// first.
//
// # Events
//
// Package sqlfeed stores events in the same database, in the transaction of each change.
package sqltable

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// Table is a table as a collection. Use [New] to create one. It is safe for concurrent use.
type Table[T any] struct {
	db      *sqltx.DB
	dialect sqltx.Dialect
	name    string // as passed to New
	table   string // the quoted name
	opts    Options
	typ     *schema.Type

	columns    []*column // in the order of the schema
	byField    map[string]*column
	id         *column
	identity   bool // the database assigns ids
	newID      func() string
	now        func() time.Time
	rev        revision
	modified   *column // nil: unknown
	tr         *sqlquery.Translator
	tombstones *tombstones // nil if deletions are not recorded
	unique     []*column

	// selectWhole selects all columns, without conditions. returning returns them from a write.
	selectWhole, returning string
	rowPool                sync.Pool // of *row[T] that scan all columns
}

// New returns a Table for a table of db. It does not connect. name may include a schema, as in
// "shop.orders". A nil opts selects the defaults.
//
// New panics if T is a pointer, has no id field or is not a valid schema, and if opts contradict T,
// each other or the dialect of db.
func New[T any](db *sqltx.DB, name string, opts *Options) *Table[T] {
	if db == nil {
		panic("sqltable: New without a DB")
	}
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Pointer {
		panic(fmt.Sprintf("sqltable: New[%v] is a table of pointers; use New[%v]", t, t.Elem()))
	}
	t := &Table[T]{
		db:      db,
		dialect: db.Dialect(),
		name:    name,
		typ:     schema.For[T](),
		byField: map[string]*column{},
	}
	if opts != nil {
		t.opts = *opts
	}
	if t.now = t.opts.Now; t.now == nil {
		t.now = time.Now
	}
	if err := t.describe(); err != nil {
		panic(fmt.Sprintf("sqltable: table %q of %v: %v", name, t.typ.GoType, err))
	}
	return t
}

// describe checks and computes everything that does not need the database. The order matters: later
// steps look up the columns of earlier ones, and content needs all of them.
func (t *Table[T]) describe() error {
	table, err := quoteTable(t.dialect, t.name)
	if err != nil {
		return err
	}
	t.table = table
	for _, step := range []func() error{
		t.addColumns, t.chooseIDs, t.chooseRevision, t.chooseModified, t.chooseTombstones, t.checkNames,
		t.checkOptions,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	t.tr = sqlquery.New(sqlquery.Dialect(t.dialect), t.translated())
	if t.opts.Rev == Content {
		t.rev = t.content()
	}
	t.selectWhole = t.selecting(t.columns)
	t.returning = " RETURNING " + strings.Join(t.selected(t.columns), ", ")
	t.rowPool.New = func() any { return t.newRow(t.columns) }
	return nil
}

// translated returns the columns that conditions and sort keys can use: those of fields with an
// order, and two with names that no field can have. The revision and the time take part in
// conditions and arguments like fields, so that one package writes all SQL of values.
func (t *Table[T]) translated() map[string]sqlquery.Column {
	known := map[string]sqlquery.Column{}
	for _, c := range t.columns {
		if c.scalar() {
			known[c.field.Name] = c.spec
		}
	}
	if t.rev.column != "" {
		known[revField] = sqlquery.Column{Name: t.rev.column, Kind: t.rev.kind, NotNull: true}
	}
	if t.modified != nil {
		known[modifiedField] = t.modified.spec
	}
	return known
}

// Names of columns without a field in the translator.
const (
	revField      = "\x00rev"
	modifiedField = "\x00modified"
)

// chooseIDs determines which party assigns the ids of new items. ClientIDs leaves identity false
// and newID nil, which Ops translates to missing operations.
func (t *Table[T]) chooseIDs() error {
	name := cmp.Or(t.opts.ID, "id")
	t.id = t.byField[name]
	switch {
	case t.id == nil:
		return fmt.Errorf("there is no id field %q; Options.ID names another", name)
	case t.id.field.Nullable || !t.id.scalar() ||
		t.id.spec.Kind != sqlquery.Text && t.id.spec.Kind != sqlquery.Integer &&
			t.id.spec.Kind != sqlquery.UUID:
		return fmt.Errorf("the id field %q must be a string or an integer, and no pointer", name)
	case t.id.computed() && !t.opts.ReadOnly:
		return fmt.Errorf("the column of the id field %q has an Expr, which cannot be written", name)
	}
	switch {
	case t.opts.ClientIDs:
	case t.opts.NewID != nil:
		t.newID = t.opts.NewID
	case t.id.spec.Kind == sqlquery.Integer:
		t.identity = true
	default:
		t.newID = newUUID
	}
	return nil
}

// checkOptions checks the options that no other function has checked. It also collects the unique
// columns, which it can only do after chooseIDs.
func (t *Table[T]) checkOptions() error {
	for _, name := range t.opts.Index {
		if c := t.byField[name]; c == nil || !c.scalar() || c.computed() {
			return fmt.Errorf("Options.Index names %q, which is no field with a column that has an order",
				name)
		}
	}
	for field, table := range t.opts.References {
		if c := t.byField[field]; c == nil || !c.scalar() || c.computed() || c == t.id {
			return fmt.Errorf(
				"Options.References names %q, which is no field that can refer to another table",
				field)
		}
		if _, err := quoteTable(t.dialect, table); err != nil {
			return fmt.Errorf("Options.References of %q: %w", field, err)
		}
	}
	for _, constraint := range slices.Sorted(maps.Keys(t.opts.Constraints)) {
		if field := t.opts.Constraints[constraint]; t.byField[field] == nil {
			return fmt.Errorf("Options.Constraints names the field %q, which there is not", field)
		}
	}
	for name := range t.opts.Columns {
		if t.typ.Field(name) == nil {
			return fmt.Errorf("Options.Columns names the field %q, which there is not", name)
		}
	}
	if t.opts.NewID != nil && t.opts.ClientIDs {
		return fmt.Errorf("Options has NewID and ClientIDs: an id is chosen by the one or by the other")
	}
	for _, c := range t.columns {
		if c.field.Unique && c.scalar() && c != t.id && !c.computed() {
			t.unique = append(t.unique, c)
		}
	}
	return nil
}

// Ops returns the operations of the table, for [resource.Ops.Resource] and for direct calls. Insert and
// InsertMany are nil if the database assigns ids, Create is nil if clients do, Deleted is nil with
// Options.Forget, and all writes are nil with Options.ReadOnly. Set further operations to nil to
// disable them.
func (t *Table[T]) Ops() resource.Ops[T] {
	ops := resource.Ops[T]{
		Get: t.get, List: t.list, Count: t.count, GetMany: t.getMany, ListByKeys: t.listBy,
		Transactions: func() tx.Runner { return t.db },
	}
	if t.tombstones != nil {
		ops.Deleted = t.deleted
	}
	if t.opts.ReadOnly {
		return ops
	}
	if t.identity || t.newID != nil {
		ops.Create = t.create
	}
	if !t.identity {
		ops.Insert = t.insert
		ops.InsertMany = t.insertMany
	}
	ops.Replace = t.replace
	ops.Delete = t.delete
	ops.GetForUpdate = t.getForUpdate
	return ops
}

// Support returns all queries that the columns support. For a large table, remove those without an
// index.
func (t *Table[T]) Support() query.Support {
	all := t.tr.Support()
	s := query.Support{Filter: map[string][]query.Op{}}
	for _, c := range t.columns {
		if c.scalar() && !c.field.WriteOnly {
			s.Filter[c.field.Name] = all.Filter[c.field.Name]
			s.Sort = append(s.Sort, c.field.Name)
		}
	}
	return s
}
