package sqltabletest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// everything has a field of each sort that has a column.
type everything struct {
	ID       string            `json:"id" maxLength:"64"`
	Email    string            `json:"email" format:"email" unique:"true"`
	Phone    string            `json:"phone,omitzero" maxLength:"20" unique:"true"`
	Title    string            `json:"title"`
	Status   status            `json:"status" enum:"placed,paid,sent"`
	Note     *string           `json:"note"`
	Stars    int64             `json:"stars"`
	Small    int8              `json:"small"`
	Large    uint64            `json:"large"`
	Maybe    *int32            `json:"maybe"`
	Score    float64           `json:"score"`
	Ratio    *float32          `json:"ratio"`
	Done     bool              `json:"done"`
	Sure     *bool             `json:"sure"`
	MadeAt   time.Time         `json:"madeAt"`
	SentAt   *time.Time        `json:"sentAt"`
	Customer *string           `json:"customer" format:"uuid"`
	Photo    []byte            `json:"photo"`
	Address  address           `json:"address"`
	Billing  *address          `json:"billing"`
	Lines    []line            `json:"lines"`
	Labels   map[string]string `json:"labels"`
	Anything any               `json:"anything"`
}

type status string

type address struct {
	Street string `json:"street"`
	Zip    string `json:"zip"`
}

type line struct {
	Product string  `json:"product"`
	Count   int64   `json:"count"`
	Price   float64 `json:"price"`
}

// numbered has an id that the database assigns.
type numbered struct {
	ID    int64   `json:"id" readOnly:"true"`
	Title string  `json:"title" maxLength:"4000"`
	Note  *string `json:"note"`
	Stars int64   `json:"stars"`

	Added  time.Time  `json:"added" set:"created"`
	Edited *time.Time `json:"edited" set:"modified"`
}

// identified has ids that are kept as what they are.
type identified struct {
	ID    string    `json:"id" format:"uuid"`
	Title string    `json:"title" maxLength:"4000"`
	Made  time.Time `json:"made"`
	Seen  *bool     `json:"seen"`
}

// shape is a kind of table, with its options for the kit.
type shape[T any] struct {
	table   string
	opts    sqltable.Options
	tables  map[sqltx.Dialect][]string // statements that make it; nil: it makes itself
	kit     resourcetest.Options[T]
	require string
}

// fastReads are the reads without values of a table that has its revision in a column.
const fastReads = "JSONLister Revisioner"

// open makes a database with such a table.
func (s shape[T]) open(t *testing.T, e *enginetest.Engine) *sqltable.Table[T] {
	t.Helper()
	db := e.OpenSchema(t)
	enginetest.MustExec(t, db, s.tables[e.Dialect]...)
	table := sqltable.New[T](db, s.table, &s.opts)
	if err := table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return table
}

// run runs the whole kit with a new table for each case.
func (s shape[T]) run(t *testing.T, e *enginetest.Engine) {
	o := s.options(t, e)
	resourcetest.RunOps(t, func(t *testing.T) resource.Ops[T] { return s.open(t, e).Ops() }, &o)
}

func (s shape[T]) options(t *testing.T, e *enginetest.Engine) resourcetest.Options[T] {
	o := s.kit
	o.Support = withText(withAggregates(s.open(t, e).Support(), schema.For[T]()), schema.For[T]())
	o.Items, o.Writers = 40, 6
	o.IDField, o.Recreates, o.Require = s.opts.ID, s.opts.Recreate, strings.Fields(s.require)
	return o
}

// withText declares the operators of text also for strings that a column stores as another type, which work
// although Support does not declare them.
func withText(s query.Support, typ *schema.Type) query.Support {
	for _, f := range typ.Fields {
		ops := s.Filter[f.Name]
		if f.Type.Kind == schema.String && f.Type.Format == "" && f.Key == nil && !f.IsDecimal() && !f.IsDuration() &&
			slices.Contains(ops, query.Eq) && !slices.Contains(ops, query.Contains) {
			s.Filter[f.Name] = append(ops, query.Contains, query.StartsWith)
		}
	}
	return s
}

// withAggregates declares everything that a table can group and aggregate.
func withAggregates(s query.Support, typ *schema.Type) query.Support {
	s.Aggregate = map[string][]query.Func{}
	for _, f := range typ.Fields {
		if f.Key != nil || f.IsDuration() || f.WriteOnly || !slices.Contains(s.Sort, f.Name) {
			continue
		}
		switch {
		case f.IsDecimal(), f.Type.Kind == schema.Integer, f.Type.Kind == schema.Number:
			s.Aggregate[f.Name] = query.Funcs()[1:]
		case f.Type.Kind == schema.Boolean:
			s.Aggregate[f.Name] = []query.Func{query.Distinct}
		default:
			s.Aggregate[f.Name] = []query.Func{query.Distinct, query.Min, query.Max}
		}
		if !slices.Contains(query.Funcs(), query.Func(f.Name)) {
			s.Group = append(s.Group, f.Name)
		}
	}
	return s
}

func ownTable() shape[everything] {
	return shape[everything]{table: "everything", opts: sqltable.Options{Index: []string{"title", "note"}},
		require: "Creator Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Transactor Locker " + fastReads}
}

func ownNumbers() shape[numbered] {
	return shape[numbered]{table: "numbered", opts: sqltable.Options{Rev: "version", CountRev: true, Modified: "updated_at"},
		require: "Creator Replacer Deleter Tombstoner Counter Aggregator MultiGetter BatchLister BatchCounter Transactor Locker " + fastReads}
}

func ownUUIDs() shape[identified] {
	return shape[identified]{table: "identified", opts: sqltable.Options{Recreate: true},
		require: "Creator Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Transactor Locker " + fastReads}
}

// compound has a composite id of a text and a small integer, in a table that stores deletions.
type compound struct {
	ID      string  `json:"id" readOnly:"true" id:"orderId,lineNo"`
	OrderID string  `json:"orderId" maxLength:"100"`
	LineNo  int16   `json:"lineNo" sql:"smallint"`
	Product string  `json:"product" maxLength:"4000"`
	Qty     int64   `json:"qty"`
	Note    *string `json:"note" maxLength:"4000"`
}

func ownCompounds() shape[compound] {
	return shape[compound]{table: "compound",
		require: "Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Transactor Locker " + fastReads}
}

// typedKey has a composite id of columns of other types. The order of an enum is that of its texts.
type typedKey struct {
	ID       string `json:"id" readOnly:"true" id:"customerId,day,size"`
	Customer string `json:"customerId" format:"uuid"`
	Day      string `json:"day" format:"date"`
	Size     string `json:"size" enum:"s,m,l" sql:"shirt_size"`
	Qty      int64  `json:"qty"`
}

func ownTypedKeys() shape[typedKey] {
	return shape[typedKey]{table: "typed_keys", opts: sqltable.Options{Recreate: true},
		tables: map[sqltx.Dialect][]string{
			sqltx.PostgreSQL: {"CREATE TYPE shirt_size AS ENUM ('s', 'm', 'l')"}},
		require: "Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Transactor Locker " + fastReads}
}

func TestKitOfCompositeIDs(t *testing.T)      { enginetest.EachEngine(t, ownCompounds().run) }
func TestKitOfTypedCompositeIDs(t *testing.T) { enginetest.EachEngine(t, ownTypedKeys().run) }
func TestKitOfOwnTable(t *testing.T)          { enginetest.EachEngine(t, ownTable().run) }
func TestKitOfOwnNumbers(t *testing.T)        { enginetest.EachEngine(t, ownNumbers().run) }
func TestKitOfOwnUUIDs(t *testing.T)          { enginetest.EachEngine(t, ownUUIDs().run) }
