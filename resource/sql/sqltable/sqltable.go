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
// customer_id for customerId. Its type depends on the field. The tag sql names another one:
//
//	field                        PostgreSQL         tag sql for other columns           SQLite
//	string, text methods         text               varchar(80) char(2) citext inet     TEXT
//	                                                cidr timetz, the name of an enum
//	  format:"uuid"              uuid               text                                TEXT
//	  format:"date"              date               text                                TEXT
//	  format:"time-local"        time               text                                TEXT
//	  format:"duration"          interval                                               TEXT
//	  format:"decimal"           numeric            numeric(12,2)                       REAL
//	integer                      bigint             integer smallint numeric(20)        INTEGER
//	float64                      double precision   real numeric(12,2)                  REAL
//	float32                      real               double precision                    REAL
//	bool                         boolean                                                INTEGER
//	time.Time                    timestamptz        timestamp date                      TEXT
//	[]byte                       bytea                                                  BLOB
//	list of the above            jsonb              text[] integer[] ... json           TEXT
//	struct, map, other list      jsonb              json                                TEXT
//
// PostgreSQL returns UUIDs in lower case. Filters of citext distinguish upper and lower case. Integers
// above the largest int64 need numeric. Times are in UTC, to the microsecond, and in SQLite to the
// nanosecond. Lists have the operators contains and isNull.
//
// The column of a pointer field is nullable; all others are NOT NULL. Options.Columns describes a
// table that stores a field differently, such as a time as a number of seconds. Columns without a
// field are not read or written.
//
// A composite id (tag id:"orderId,lineNo") has no column. The columns of its fields are the primary key,
// and those of the tombstones have the same names. Such a table has Insert and no Create.
//
// # A table that exists
//
// [Table.Check] compares the table with the fields, and names the tag that is missing:
//
//	column tier is customer_tier: tag the field Tier with sql:"customer_tier"
//	column credit_limit is numeric(12,2): tag the field CreditLimit with format:"decimal" precision:"12,2"
//
// The fields of such a table look like this:
//
//	ID          string            `json:"id" format:"uuid" readOnly:"true"`
//	Tier        string            `json:"tier" enum:"free,pro" sql:"customer_tier" default:"db"`
//	CreditLimit string            `json:"creditLimit" format:"decimal" precision:"12,2" default:"db"`
//	Birthday    *string           `json:"birthday" format:"date"`
//	WeightKg    *float32          `json:"weightKg"`
//	Tags        []string          `json:"tags" sql:"text[]"`
//	Attributes  map[string]string `json:"attributes" sql:"jsonb,null"`
//	Stock       int               `json:"stock" sql:"integer"`
//	Total       string            `json:"total" format:"decimal" readOnly:"true" sql:"numeric,generated"`
//
// The option null declares that the column is nullable although the field is not a pointer. NULL is the nil
// map or slice, and the zero value of other fields. A write stores a nil map or slice and the zero time as
// NULL, and "", 0 and false as they are; use a pointer to store NULL. Lists sort
// NULL as the zero value. For texts, numbers, booleans and times they do so by an expression, which no index
// in Options.Index serves; [Table.CheckWith] suggests one. Filters of times treat NULL as the zero time;
// those of other fields distinguish NULL and the zero value. All of this also applies if Options.Columns
// has no NotNull.
//
// A list, a map or bytes with omitzero need the option null, or omitempty in place of omitzero: a column
// that is NOT NULL has no value for nil. So does a struct that has one of them. Its zero value is then NULL.
//
// The option generated declares that the database computes the value, as in a generated or identity
// column, and that it is never written.
// With default:"db" a zero value of a new item is left to the DEFAULT of the column, and so is nil: a POST
// cannot store NULL there, because null and an absent member are the same value. A PUT or a PATCH with null
// stores NULL if the column is nullable. Otherwise one that removes the member sets the DEFAULT again in
// PostgreSQL, and in SQLite keeps the value. This applies to pointers, enums, dates, decimals and times, and
// if the zero value is not valid in the field. Otherwise the zero value is stored.
//
// A name that is not a usual type is that of an enum, in the spelling of the catalog. A schema may
// precede it: sql:"shop.customer_tier". Check compares its labels with the tag enum. A column of a
// domain has the tag of its base type. An id is a text, an integer, a UUID or a date. CreateTable and DDL
// use the types but do not create enums, domains and extensions. They have no generated columns, and no
// DEFAULT for default:"db".
//
// SQLite has no type for times. If another program or CURRENT_TIMESTAMP writes them, Options.TimeLayout is
// their layout, and Options.Columns has the Unit of those that are integers.
//
// Some values of PostgreSQL have no counterpart. A date that is infinite is the text infinity or
// -infinity, and a PATCH is rejected until it is changed. A time that is infinite is
// 9999-12-31T23:59:59.999999999Z or 0000-01-01T00:00:00Z, which are stored as infinity and -infinity.
// A numeric must not be NaN or infinite if it is nullable; otherwise NaN is the text NaN, greater than
// all numbers. Dates before the year 1 and after 9999 sort as dates. An element that is NULL is the zero
// value, unless elements are pointers.
//
// # Values that a field cannot have
//
// Other programs may store such values. In a nullable field they are null, and otherwise a placeholder:
//
//	value                                              placeholder
//	NaN or an infinity in a float                      0, or the minimum, maximum or first value of the
//	a number that the Go type does not have              tags if 0 is not permitted
//	a time before the year 0 or after 9999             0001-01-01T00:00:00Z
//	a text that is not UTF-8                           U+FFFD in place of each invalid sequence
//	an array of several dimensions, or with such       the empty list
//	  an element
//	JSON that does not fit the Go type                 the empty list, map or object
//	NULL in a string or another value of SQLite,       "", false, 0 or the zero value of the type
//	  such as a text in a bool
//
// A filter sees the stored value. Lists leave out a row with an id that no request can name, such as an empty
// one, although counts include it. A page that is sorted by such a value leaves out its row as well, because
// the position of the next page has the value; lists that are sorted by other fields have it. Table, id and
// column of the first 1,000 such values are logged, each once. [Table.Check] warns of them.
//
// # Writes
//
// Each write is one statement that names the revision that was read, so concurrent writes, also by
// other programs, are never lost. The revision is a column of its own, or one of the alternatives
// of Options.Rev. A write returns the item as the table stores it.
//
// Replace sets the columns that differ from the row ([schema.Field.Equal]), with the revision and the time
// of the last write. Other columns keep what a field cannot express, such as NULL in an array, the
// digits of a number in JSON, and members that T does not have. A JSON column is written as a whole. A nil
// list or map equals an empty one, so NULL stays NULL if a client sends []. If no column differs, nothing
// is written, and the item keeps its revision. Replace reads the row of the revision, unless the write of
// package resource that calls it has read it.
//
// A value that the column would round or truncate is [resource.Invalid] with the code precision, range,
// maxLength or format. Only fractions of a second are rounded to the digits of the column. A violated
// constraint is an error with the name of the field: [resource.Taken] for a unique constraint, and
// [resource.Invalid] with the code unknown for a foreign key, required for NOT NULL and check for a
// CHECK. Deleting an item that others refer to is a conflict. A RAISE of a trigger is 422 with the code
// raised, see Options.RaisedTexts, and sqltx.Options.Fault gives other errors a meaning.
//
// # Triggers
//
// A write returns the row as triggers leave it. If the table has an AFTER trigger or a rule with ALSO, each
// write reads the row again, in its transaction.
//
// A trigger or rule can turn a write into something else: by RETURN NULL, RAISE(IGNORE) or INSTEAD. A write
// that changes no row although the item has the expected revision is a conflict with the code notApplied. It
// is rolled back with the side effects of the trigger, and the log names the triggers and rules. A deletion
// succeeds if it leaves no row, or one with the time of Options.SoftDelete. The triggers are read by Check,
// or before the first write of the process, and Check warns of those that may drop writes. If one was
// created later, or its text does not show that it drops writes, the first INSERT or UPDATE may leave its
// side effects once.
//
// # Reads
//
// No text of a query becomes part of a statement; see package sqlquery, which also describes
// indexes. A page without a selection of fields may first select keys and revisions alone, and then only
// the items that the cache of the catalog does not have (see CatalogOptions.Cache). Rows are streamed: an
// iterator holds a connection while it is read, and inside a transaction no other statement can run until
// then. Package resource reads each page to its end first.
//
// A list that is sorted by a field of a related table joins it. It is served by an index of that field and
// one of the key, both in Options.Index. The rows without a related one are a statement of their own.
//
// A relation through a table of links is one statement, which seeks the first rows of each item by an index
// of the links. Its field with the keys must be in Options.Index, or be the first of the id.
//
// Groups are one statement with GROUP BY, which joins the related tables of fields such as
// customer.country. SQLite returns the sums of all groups if a request sorts or
// selects by a sum, because its integers are not large enough to compare them; the table then keeps no more
// than two pages of groups, and a thousand, in memory.
//
// Lists that need no values of T are encoded from the rows, see [resource.JSONLister]. JSON, arrays and
// types with methods are decoded as before. With [sqltx.Options].Rows the rows of lists are in the binary
// format of PostgreSQL, see package pgxrows.
//
// # Existing tables
//
// [Table.Check] lists how a table differs from the needs of the store. [Table.CheckWith] also lists the
// filters and orders that no index serves, with the CREATE INDEX that mends each. In PostgreSQL lists sort
// text by code point, for which the indexes of an existing table are rarely made: Options.Collation
// selects the collation of its columns, in general "default".
//
// # Migrations
//
// The package never alters a table. [Table.DDL] and [Table.AlterDDL] return the statements for the files
// of a migration tool. resource/sql/MIGRATIONS.md shows how a field is added, renamed and split while the
// old and the new release of a program serve one database.
//
// # Row-level security
//
// Policies of PostgreSQL restrict a table beneath all code of the program; see package sqltx.
//
// # Events
//
// Package sqlfeed stores events in the same database, in the transaction of each change.
package sqltable

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// Table is a table as a collection. Use [New] to create one. It is safe for concurrent use.
type Table[T any] struct{ *untyped }

// untyped is a Table without the type of its values, so that its methods are compiled once. They take
// values as pointers in an any.
type untyped struct {
	db      *sqltx.DB
	dialect sqltx.Dialect
	name    string // as passed to New
	table   string // the quoted name
	opts    Options
	typ     *schema.Type

	columns    []*column // in the order of the schema
	byField    map[string]*column
	idField    *schema.Field
	key        []*column // of the id: one, or those of a composite id
	identity   bool      // the database assigns ids
	newID      func() string
	now        func() time.Time
	rev        revision
	modified   *column // nil: unknown
	tr         *sqlquery.Translator
	tombstones *tombstones // nil if deletions are not recorded there
	deletedAt  *column     // of Options.SoftDelete; nil without it
	unique     []uniqueKey
	checks     atomic.Pointer[map[string][]*column] // by the name of a CHECK constraint; set by Check
	warned     sync.Map                             // CHECK constraints and unreadableValues in the log
	warnings   atomic.Int32                         // the number of unreadableValue in warned
	inspected  atomic.Pointer[map[string]found]     // the columns; see isNotNull
	triggers   atomic.Pointer[triggers]             // see triggersOf
	lockNext   atomic.Bool                          // see missed

	counterBytes atomic.Int32 // size of the counter of Options.CountRev in PostgreSQL; 0 if unknown

	// selectWhole selects all columns, without conditions. returning returns them from a write.
	selectWhole, returning string
	rowPool                sync.Pool // of *row that scan all columns
	keptPool               sync.Pool // of *keptRow
	plansJSON              jsonPlans
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
	return &Table[T]{newUntyped(db, name, opts, schema.For[T]())}
}

func newUntyped(db *sqltx.DB, name string, opts *Options, typ *schema.Type) *untyped {
	t := &untyped{
		db:      db,
		dialect: db.Dialect(),
		name:    name,
		typ:     typ,
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
func (t *untyped) describe() error {
	table, err := quoteTable(t.dialect, t.name)
	if err != nil {
		return err
	}
	t.table = table
	for _, step := range []func() error{
		t.addColumns, t.chooseIDs, t.chooseRevision, t.chooseModified, t.chooseSoftDelete,
		t.chooseTombstones, t.checkNames, t.checkOptions, t.chooseSearch,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	t.tr = sqlquery.New(sqlquery.Dialect(t.dialect), t.translated()).From(t.table)
	if t.opts.Rev == Content {
		t.rev = t.content()
	}
	t.selectWhole = t.selecting(t.columns)
	t.returning = " RETURNING " + strings.Join(t.selectedFrom("", t.columns), ", ")
	t.rowPool.New = func() any {
		r := t.newRow(t.columns)
		r.pooled = true
		return r
	}
	t.keptPool.New = t.newKept
	return nil
}

// newValue returns a pointer to a zero value.
func (t *untyped) newValue() any { return reflect.New(t.typ.GoType).Interface() }

// translated returns the columns that conditions and sort keys can use: those of fields with an
// order, and two with names that no field can have. The revision and the time take part in
// conditions and arguments like fields, so that one package writes all SQL of values.
func (t *untyped) translated() map[string]sqlquery.Column {
	known := map[string]sqlquery.Column{}
	for _, c := range t.columns {
		if c.filterable() {
			known[c.field.Name] = c.spec
		}
	}
	if t.rev.column != "" {
		known[revField] = sqlquery.Column{Name: t.rev.column, Kind: t.rev.kind, NotNull: true}
	}
	if len(t.opts.Search) > 0 {
		known[query.Rank] = t.searchColumn()
	}
	if t.modified != nil {
		known[modifiedField] = t.modified.spec
	}
	if t.deletedAt != nil {
		known[deletedField] = t.deletedAt.spec
		known[livingField] = sqlquery.Column{Name: t.deletedAt.spec.Name, Kind: sqlquery.Integer}
	}
	return known
}

// Names of columns without a field in the translator.
const (
	revField      = "\x00rev"
	modifiedField = "\x00modified"
)

// checkOptions checks the options that no other function has checked. It also collects the unique
// columns, which it can only do after chooseIDs.
func (t *untyped) checkOptions() error {
	for _, name := range t.opts.Index {
		if c := t.byField[name]; c == nil || !c.scalar() || c.computed() {
			return fmt.Errorf("Options.Index names %q, which is no field with a column that has an order",
				name)
		}
	}
	for field, table := range t.opts.References {
		if c := t.byField[field]; c == nil || !c.scalar() || c.computed() || c.field == t.idField {
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
	if layout := t.opts.TimeLayout; layout != "" {
		day := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
		if at, err := time.Parse(layout, day.Format(layout)); err != nil || !at.Equal(day) {
			return fmt.Errorf("Options.TimeLayout %q has no date; use one such as %q", layout, time.DateTime)
		}
	}
	if t.opts.NewID != nil && t.opts.ClientIDs {
		return fmt.Errorf("Options has NewID and ClientIDs: an id is chosen by the one or by the other")
	}
	if t.opts.Collation != "" && t.dialect == sqltx.SQLite {
		return fmt.Errorf("Options.Collation is %q, which requires PostgreSQL", t.opts.Collation)
	}
	return t.addUnique()
}

// Ops returns the operations of the table, for [resource.Ops.Resource] and for direct calls. Insert and
// InsertMany are nil if the database assigns ids, Create is nil if clients do, Deleted is nil with
// Options.Forget, Delete is nil as well with Options.NoDelete, Restore is nil without Options.SoftDelete,
// and all writes are nil with Options.ReadOnly. Set further operations to nil to disable them.
func (t *Table[T]) Ops() resource.Ops[T] {
	ops := resource.Ops[T]{
		Get: t.get, List: t.list, Count: t.count, Aggregate: t.aggregate,
		GetMany: t.getMany, ListByKeys: t.listBy, CountByKeys: t.countBy,
		Transactions: func() tx.Runner { return t.db },
		CheckSupport: t.checkSupport,
	}.WithFastReads(t.fastReads())
	if len(t.opts.Search) > 0 {
		ops.Search = t.search
	}
	if t.tombstones != nil || t.deletedAt != nil {
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
	if !t.opts.NoDelete {
		ops.Delete = t.delete
	}
	ops.GetForUpdate = t.getForUpdate
	if t.deletedAt != nil {
		ops.Restore = t.restore
	}
	return ops
}

// spellings are the formats of texts that are the spelling of another type.
var spellings = []string{"uuid", "date", "time", "time-local", "date-time", "ipv4", "ipv6"}

// Support returns all queries that the columns support. The operators contains and startsWith are those of
// text: strings with a tag such as enum, format:"uuid" or format:"date" do not have them. For a large
// table, remove those without an index.
func (t *Table[T]) Support() query.Support { return t.support() }

func (t *untyped) support() query.Support {
	all := t.tr.Support()
	s := query.Support{Filter: map[string][]query.Op{}, Search: t.opts.Search}
	for _, c := range t.columns {
		if ops := all.Filter[c.field.Name]; ops != nil && c.filterable() && !c.field.WriteOnly {
			if c.scalar() && (c.field.Enum != nil || slices.Contains(spellings, c.field.Format)) {
				ops = slices.DeleteFunc(ops, func(op query.Op) bool {
					return op == query.Contains || op == query.StartsWith
				})
			}
			s.Filter[c.field.Name] = ops
			if slices.Contains(all.Sort, c.field.Name) {
				s.Sort = append(s.Sort, c.field.Name)
			}
		}
	}
	if name := t.idField.Name; t.idField.Key != nil { // package resource translates it
		s.Filter[name] = []query.Op{query.Eq, query.Ne, query.In, query.NotIn}
		s.Sort = append(s.Sort, name)
	}
	return s
}

// checkSupport returns why the table cannot answer the queries of s, by writing their statements.
func (t *untyped) checkSupport(s query.Support) error {
	switch {
	case s.Natural:
		return errors.New("a table has no natural order")
	case len(s.Search) > 0 && !slices.Equal(s.Search, t.opts.Search):
		return fmt.Errorf("Options.Search of the table is %q", t.opts.Search)
	}
	q, a := query.Query{}, query.Aggregation{Group: s.Group}
	for field, ops := range s.Filter {
		for _, op := range ops {
			q.Filter = query.And(q.Filter, query.Where(field, op, nil))
		}
	}
	for _, field := range s.Sort {
		q.Sort = append(q.Sort, query.Order{Field: field})
	}
	for field, funcs := range s.Aggregate {
		for _, fn := range funcs {
			a.Aggregates = append(a.Aggregates, query.Aggregate{Func: fn, Field: field})
		}
	}
	_, err := t.tr.Translate(q)
	if err == nil && s.CanAggregate() {
		_, err = t.tr.Aggregate(a, t.table)
	}
	return err
}
