// Package sqltable makes a collection of a table of SQLite or PostgreSQL: one that exists already, or one that it creates.
//
// Its noun is [Table]. A Table offers every capability of package resource but Watcher, as a [resource.Ops]:
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
//	r := resource.FromOps("orders", orders.Ops(), &resource.Options[Order]{Query: orders.Support()})
//
// # Columns
//
// Each field has one column. It is named by the struct tag db, or else like the JSON name in the style of SQL: customer_id
// for customerId. What it holds follows from the field:
//
//	strings, and what has text methods       text          TEXT
//	strings with format:"uuid"               uuid          TEXT      PostgreSQL gives them back in lower case
//	integers                                 bigint        INTEGER   above the largest int64 they are refused
//	numbers with a fraction                  double precision  REAL  real and numeric would keep other numbers
//	booleans                                 boolean       INTEGER   0 and 1
//	times                                    timestamptz   TEXT      in UTC, to the microsecond; in SQLite to the nanosecond
//	bytes                                    bytea         BLOB
//	everything else                          jsonb         TEXT      structs, lists and maps, as JSON
//
// A field that is a pointer has a column that can be NULL; every other is NOT NULL. Where a table keeps a field in another
// way, such as a time as a number of seconds, Options.Columns says so. Columns of the table that belong to no field are
// left alone.
//
// # Writes
//
// Every write is one statement that names the revision which was read, so none is ever lost, whoever else writes to the
// table. The revision is a column of its own, or one of those that [Options].Rev names. What is returned is what the
// table holds afterwards, as it gives it back.
//
// A value that a constraint of the table refuses is an error with the name of the field: [resource.Taken] for a unique
// one, and [resource.Invalid] with the code unknown for a foreign key, required for NOT NULL and check for a CHECK. To
// delete what others refer to is a conflict.
//
// # Reads
//
// Nothing of a query becomes text of a statement; see package sqlquery, which also says which index serves what. Rows are
// streamed: while an iterator is being read it holds a connection, and inside of a transaction nothing else can run.
// Package resource reads each page to its end before it does anything else.
//
// # Events
//
// A [Log] keeps what happened in the same database, for package feed: an event is appended in the transaction of its change,
// and any number of processes read them.
package sqltable

import (
	"cmp"
	"fmt"
	"maps"
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

// Table is a table as a collection. It is made by [New] and safe for concurrent use.
type Table[T any] struct {
	db      *sqltx.DB
	dialect sqltx.Dialect
	name    string // as it was given
	table   string // the same, quoted
	opts    Options
	typ     *schema.Type

	columns    []*column // in the order of the schema
	byField    map[string]*column
	id         *column
	identity   bool // the database assigns ids
	newID      func() string
	now        func() time.Time
	rev        revision
	modified   *column // nil: nobody knows
	tr         *sqlquery.Translator
	tombstones *tombstones // nil if deletions are not recorded
	unique     []*column

	selectWhole, returning string    // all columns, as a SELECT without its conditions and behind a write
	rowPool                sync.Pool // of *row[T] that scan all columns
}

// New describes a table; it does not connect. The name may have a schema in front of it, as in "shop.orders". Options may
// be nil.
//
// It panics if T has no id field or cannot be a schema, and if opts contradict T, each other or the dialect of db.
func New[T any](db *sqltx.DB, name string, opts *Options) *Table[T] {
	if db == nil {
		panic("sqltable: New without a DB")
	}
	t := &Table[T]{db: db, dialect: db.Dialect(), name: name, typ: schema.For[T](), byField: map[string]*column{}}
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

// describe settles everything that can be known without the database.
func (t *Table[T]) describe() error {
	table, err := quoteTable(t.dialect, t.name)
	if err != nil {
		return err
	}
	t.table = table
	for _, step := range []func() error{t.addColumns, t.chooseIDs, t.chooseRevision, t.chooseModified, t.chooseTombstones,
		t.checkNames, t.checkOptions} {
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

// translated are the columns that conditions and sort keys can name: those of fields that have an order, and two that no
// field can be called like.
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

// Names under which the translator knows what is no field.
const (
	revField      = "\x00rev"
	modifiedField = "\x00modified"
)

// chooseIDs decides who makes the ids of new items.
func (t *Table[T]) chooseIDs() error {
	name := cmp.Or(t.opts.ID, "id")
	t.id = t.byField[name]
	switch {
	case t.id == nil:
		return fmt.Errorf("there is no id field %q; Options.ID names another", name)
	case t.id.field.Nullable || t.id.spec.Kind != sqlquery.Text && t.id.spec.Kind != sqlquery.Integer && t.id.spec.Kind != sqlquery.UUID || !t.id.scalar():
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

// checkOptions looks at what nothing else has looked at.
func (t *Table[T]) checkOptions() error {
	for _, name := range t.opts.Index {
		if c := t.byField[name]; c == nil || !c.scalar() || c.computed() {
			return fmt.Errorf("Options.Index names %q, which is no field with a column that has an order", name)
		}
	}
	for field, table := range t.opts.References {
		if c := t.byField[field]; c == nil || !c.scalar() || c.computed() || c == t.id {
			return fmt.Errorf("Options.References names %q, which is no field that can refer to another table", field)
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

// Ops returns what the table can do, to be served with [resource.FromOps] and called by whoever else uses the table.
// Insert and InsertMany are absent where the database assigns ids, Create where clients choose them, Deleted where deletions are
// forgotten, and everything that writes where Options.ReadOnly is set. To take away more, set it to nil.
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
	return ops
}

// Support declares everything that the columns can be asked. Where the table is large, take out what no index serves.
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
