// Package sqlquery translates a [query.Query] to SQL: to WHERE, ORDER BY and LIMIT clauses with
// arguments, for SQLite or PostgreSQL.
//
// A [Column] describes how a table stores a field. A [Translator] has all columns that a query may
// use. The package is for authors of stores over their own tables:
//
//	var orders = sqlquery.New(sqlquery.PostgreSQL, map[string]sqlquery.Column{
//		"id":     {Kind: sqlquery.Integer, NotNull: true},
//		"status": {NotNull: true},
//		"total":  {Name: "total_cents", Kind: sqlquery.Integer},
//	})
//
//	func (s *store) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[Order], error] {
//		clauses, err := orders.Translate(q)
//		...
//		const text = "SELECT id, status, total_cents FROM orders"
//		rows, err := s.db.QueryContext(ctx, text+clauses.String(), clauses.Args...)
//
// # Injection
//
// No text of a query becomes part of a statement: fields are looked up among the columns, and
// values, positions and the limit are arguments. A field without a column is an error.
//
// # Semantics
//
// The rows are those that [query.Match] and [query.Compare] select, in the same order. Each
// comparison is true or false, also for NULL. NULL sorts first. Text is compared by code point,
// independent of the collation of the column. Only lists can have another order, that of
// [Column].Collation. Numbers are compared by exact value, so comparing an integer column with 2.5
// is correct. This requires that columns store what their [Kind] declares; a Number column must not
// contain NaN, for example.
//
// # Types
//
// A column has one of the types of its Kind. The first one is the default. Values of clients may be
// between those that the type stores, or not be valid in it; the rows are still those of Match.
//
//	Kind      PostgreSQL                                          SQLite
//	Text      text varchar char citext date time timetz inet cidr  TEXT
//	          and enums
//	Integer   bigint integer smallint numeric                     INTEGER
//	Number    double precision, real numeric                      REAL
//	Bool      boolean                                             INTEGER
//	Time      timestamptz timestamp date                          TEXT
//	UUID      uuid text varchar                                   TEXT
//	Decimal   numeric                                             REAL, NUMERIC
//	Duration  interval                                            TEXT
//	a List    jsonb json, arrays such as text[]                   TEXT
//
// A Text column is compared with strings as they are in JSON: date is 2006-01-02, time is 15:04:05.5,
// timetz is 15:04:05.5+02:00, and an address has a netmask unless that is of one host. Types with another
// order than their text, such as enums and citext, are sorted as text, which no index of the column
// serves. Equality uses the index of each type. It distinguishes upper and lower case in citext.
//
// A Number in real is the number of its shortest text, as in JSON: 0.1 and not 0.10000000149. One in
// numeric needs at most 15 digits. Infinite times are described in package sqltable. NaN in a Decimal
// that is NotNull sorts last, as in PostgreSQL.
//
// # Indexes
//
// The expressions of ORDER BY can be used in CREATE INDEX, and such an index serves sort and
// position. In PostgreSQL the index needs COLLATE "C" for text, or the Collation of the [Column],
// unless the column has it. A nullable column needs NULLS FIRST, or DESC NULLS LAST. With
// [Translator.Steps] a position deep in a list is found as fast as the first page.
//
// Text columns must have a deterministic collation, which is the default, and a PostgreSQL database
// the encoding UTF8. Contains with an operand that is not valid UTF-8, which [query.Parse] rejects,
// matches nothing.
package sqlquery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

// Dialect identifies the SQL dialect of an engine.
type Dialect string

// The supported dialects: SQLite 3.38 or later, PostgreSQL 12 or later.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgresql"
)

// Translator translates queries to SQL. Use [New] to create one. It is safe for concurrent use.
type Translator struct {
	dialect Dialect
	columns map[string]*operand
	table   string // of From
}

// New returns a Translator for the given columns, by JSON field name. It panics if the dialect is
// unknown or a column is not valid.
func New(d Dialect, columns map[string]Column) *Translator {
	if d != SQLite && d != PostgreSQL {
		panic(fmt.Sprintf("sqlquery: New needs the dialect SQLite or PostgreSQL, not %q", d))
	}
	t := &Translator{dialect: d, columns: make(map[string]*operand, len(columns))}
	for field, c := range columns {
		o, err := newOperand(d, field, c)
		if err != nil {
			panic(fmt.Sprintf("sqlquery: New: column of field %q: %v", field, err))
		}
		t.columns[field] = o
	}
	return t
}

// Clauses are the parts of a statement for a query. Each may be empty. A store with its own
// conditions combines them with Where; others append String to "SELECT ... FROM ...".
type Clauses struct {
	Links   string // the join of the links of [Translator.Each], which precedes Join
	Join    string // joins of related tables, which follow the table in FROM, for query.Order.Joined
	Where   string // a condition that can be combined with AND
	OrderBy string // the sort keys with directions
	Limit   string // a placeholder
	Args    []any  // the caller's arguments, followed by those of the clauses
	// Keys has an expression for each sort key with Joined: the column of the related table, or NULL. A
	// store selects them for the cursor.
	Keys []string
}

// String returns the clauses with their keywords, each after a space.
func (c Clauses) String() string {
	var b strings.Builder
	for _, join := range []string{c.Links, c.Join} {
		if join != "" {
			b.WriteString(" " + join)
		}
	}
	for _, part := range [][2]string{{" WHERE ", c.Where}, {" ORDER BY ", c.OrderBy}, {" LIMIT ", c.Limit}} {
		if part[1] != "" {
			b.WriteString(part[0] + part[1])
		}
	}
	return b.String()
}

// Translate returns q as the clauses of one statement. args are the arguments that the statement
// already has, for the preceding placeholders; Clauses.Args begins with them. q.Fields is ignored.
//
// It returns an error if q names a field without a column, or has a Token.
func (t *Translator) Translate(q query.Query, args ...any) (Clauses, error) {
	w := t.newWriter(args)
	keys := w.keys(q)
	conditions := w.conditions(q.Filter)
	if q.After != nil {
		conditions = append(conditions, w.afterCondition(keys, segmentsOf(q, keys)))
	}
	return w.clauses(q, keys, conditions, segment{})
}

// Steps returns q as several statements. Run in order until q.Limit rows were read, they return the
// same rows as Translate. There is more than one only if q.After is a position in a list with sort
// keys of different directions or nullable keys, or if the first key is a field of related rows. An index
// can find the start of each step. The single statement would scan the rows that equal the position in the
// first key, and all rows for a field of related ones, because a related table leads to no rows without one.
func (t *Translator) Steps(q query.Query, args ...any) ([]Clauses, error) {
	var steps []Clauses
	for n := 0; ; n++ {
		w := t.newWriter(args)
		keys := w.keys(q)
		conditions := w.conditions(q.Filter)
		segments := segmentsOf(q, keys)
		if q.After == nil {
			segments = wholeList(keys)
		}
		var of segment
		switch {
		case n < len(segments):
			of = segments[n]
			of.require()
			conditions = append(conditions, w.segmentCondition(of))
		case q.After != nil:
			conditions = append(conditions, falsehood)
		}
		c, err := w.clauses(q, keys, conditions, of)
		if err != nil {
			return nil, err
		}
		steps = append(steps, c)
		if n+1 >= len(segments) {
			return steps, nil
		}
	}
}

// Support returns the queries that the columns support: all operators that apply to their kind, and
// all sort orders. Contains and startsWith are those of text: they work with a UUID, a date, an enum and
// an address, but are not among the operators. Lists, and a Duration in SQLite, have no order. For a large
// table, remove those without an index.
func (t *Translator) Support() query.Support {
	all := []query.Op{
		query.Eq,
		query.Ne,
		query.In,
		query.NotIn,
		query.Lt,
		query.Lte,
		query.Gt,
		query.Gte,
		query.IsNull,
	}
	s := query.Support{Filter: make(map[string][]query.Op, len(t.columns))}
	for field, o := range t.columns {
		ops := slices.Clone(all)
		switch {
		case o.list != listNone && o.searchable():
			ops = []query.Op{query.Contains, query.IsNull}
		case !o.orderable():
			ops = []query.Op{query.IsNull}
		case o.hasText():
			ops = append(ops, query.Contains, query.StartsWith)
		}
		s.Filter[field] = ops
		if o.orderable() {
			s.Sort = append(s.Sort, field)
		}
	}
	slices.Sort(s.Sort)
	return s
}

// hasText reports whether the column has texts that are more than the spelling of another type.
func (o *operand) hasText() bool {
	switch o.typ.Name {
	case sqltype.Text, sqltype.VarChar, sqltype.Char, sqltype.CIText:
		return o.spec.Kind == Text
	}
	return false
}

// orderable reports whether the column has an order. Equality depends on it as well.
func (o *operand) orderable() bool {
	return o.list == listNone && (o.kind != Duration || o.dialect == PostgreSQL)
}

// Arg returns v in the form that the column of a field stores, for INSERT and UPDATE. Comparisons
// are correct only for values stored in this form. A time is truncated to the resolution of the
// column. A value of another kind than the column's is returned unchanged.
func (t *Translator) Arg(field string, v any) any {
	v = query.Canonical(v)
	o := t.columns[field]
	if o == nil || classOf(v) != o.class {
		return v
	}
	if t, ok := v.(time.Time); ok && o.layout == time.RFC3339Nano {
		return t.Format(time.RFC3339Nano)
	}
	if o.list != listNone {
		return v
	}
	p := o.locate(v)
	if p.relation == exactly || p.relation == above && o.class == classTime {
		return p.arg
	}
	return v
}
