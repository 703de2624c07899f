// Package sqlquery puts a [query.Query] to a SQL database: as WHERE, ORDER BY and LIMIT with arguments, in the dialect of
// SQLite or PostgreSQL.
//
// Its nouns are a [Column], which says where and how a table keeps a field, and a [Translator], which knows all columns
// that may be asked for. It is for whoever writes a store over tables of their own:
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
//		rows, err := s.db.QueryContext(ctx, "SELECT id, status, total_cents FROM orders"+clauses.String(), clauses.Args...)
//
// # Safety
//
// Nothing of a query becomes text of a statement: fields are looked up among the columns, and values, positions and the
// limit are arguments. A field without a column is an error.
//
// # Answers
//
// The rows are those that [query.Match] and [query.Compare] would choose, in the same order. Every comparison is true or
// false, also against NULL; NULL sorts first; text is compared by code point, whatever the collation of the column; and
// numbers by their exact values, so that a comparison of an integer column with 2.5 is answered as one with an integer.
// This holds for columns that keep what their [Kind] says; there is no NaN among numbers, for one.
//
// # Indexes
//
// What is written in ORDER BY can be written in CREATE INDEX as well, and such an index serves the sort and the position:
// in PostgreSQL text has COLLATE "C" there, unless the column is declared so, and a column that is not NotNull has NULLS
// FIRST, or DESC NULLS LAST. A position deep in a list is found as fast as the first page if [Translator.Steps] is used.
//
// Columns of text are meant to have a deterministic collation, as all have that are not declared otherwise, and the
// database the encoding UTF-8. A part of a text that is not valid UTF-8, which [query.Parse] lets through nowhere, is
// contained in nothing.
package sqlquery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
)

// Dialect is the language of an engine.
type Dialect string

// The dialects. SQLite is understood from version 3.38 on, PostgreSQL from 12 on.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgresql"
)

// Translator turns queries into SQL. It is made by [New] and safe for concurrent use.
type Translator struct {
	dialect Dialect
	columns map[string]*operand
}

// New makes a Translator that knows these columns, by the JSON name of their fields, and no others. It panics if a
// column is described so that it cannot be one.
func New(d Dialect, columns map[string]Column) *Translator {
	if d != SQLite && d != PostgreSQL {
		panic(fmt.Sprintf("sqlquery: New with the dialect %q: use SQLite or PostgreSQL", d))
	}
	t := &Translator{dialect: d, columns: make(map[string]*operand, len(columns))}
	for field, c := range columns {
		o, err := newOperand(d, field, c)
		if err != nil {
			panic(fmt.Sprintf("sqlquery: New with the column of %q: %v", field, err))
		}
		t.columns[field] = o
	}
	return t
}

// Clauses are the parts of a statement that a query becomes. Each can be empty. A store with conditions of its own puts
// them beside Where; all others append String to "SELECT ... FROM ...".
type Clauses struct {
	Where   string // a condition that can stand between ANDs
	OrderBy string // the keys, with directions
	Limit   string // a number, as a placeholder
	Args    []any  // of all clauses, behind those that the caller has
}

// String writes the clauses with their keywords and a space in front of each.
func (c Clauses) String() string {
	var b strings.Builder
	for _, part := range [][2]string{{" WHERE ", c.Where}, {" ORDER BY ", c.OrderBy}, {" LIMIT ", c.Limit}} {
		if part[1] != "" {
			b.WriteString(part[0] + part[1])
		}
	}
	return b.String()
}

// Translate writes q as the clauses of one statement. Args are those that the statement has already, for the
// placeholders $1, $2 and so on that come before; Clauses.Args begins with them. q.Fields is not looked at.
//
// It is an error if q names a field without a column, or has a Token, which is for stores of a natural order.
func (t *Translator) Translate(q query.Query, args ...any) (Clauses, error) {
	w := t.newWriter(args)
	keys := w.keys(q)
	conditions := w.conditions(q.Filter)
	if q.After != nil {
		conditions = append(conditions, w.afterCondition(keys, segmentsOf(q, keys)))
	}
	return w.clauses(q, keys, conditions)
}

// Steps writes q as several statements. Run one after the other, until q.Limit rows have come, they give the same rows
// as Translate in the same order. There is more than one only where q.After stands in a list with sort keys of different
// directions, or with keys that can be NULL. An index can find the beginning of each step, but not that of the one
// statement, which has to pass over the rows that are equal to the position in the first key.
func (t *Translator) Steps(q query.Query, args ...any) ([]Clauses, error) {
	var steps []Clauses
	for n := 0; ; n++ {
		w := t.newWriter(args)
		keys := w.keys(q)
		conditions := w.conditions(q.Filter)
		segments := segmentsOf(q, keys)
		switch {
		case q.After == nil:
		case n < len(segments):
			conditions = append(conditions, w.segmentCondition(segments[n]))
		default:
			conditions = append(conditions, falsehood)
		}
		c, err := w.clauses(q, keys, conditions)
		if err != nil {
			return nil, err
		}
		steps = append(steps, c)
		if q.After == nil || n+1 >= len(segments) {
			return steps, nil
		}
	}
}

// Support declares what the columns can be asked: every comparison that makes sense for the kind, and every sort. Where
// the table is large, take out what no index serves.
func (t *Translator) Support() query.Support {
	all := []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt, query.Gte, query.IsNull}
	texts := append(slices.Clone(all), query.Contains, query.StartsWith)
	s := query.Support{Filter: make(map[string][]query.Op, len(t.columns)), Sort: slices.Sorted(maps.Keys(t.columns))}
	for field, o := range t.columns {
		ops := all
		if o.class == classText {
			ops = texts
		}
		s.Filter[field] = slices.Clone(ops)
	}
	return s
}

// Arg returns v as the column of the field keeps it, for INSERT and UPDATE: comparisons are right only if what is stored
// has been written like this. Of a time, what is finer than the column can keep is dropped. A value of another kind than
// the column's is returned as it is.
func (t *Translator) Arg(field string, v any) any {
	v = query.Canonical(v)
	o := t.columns[field]
	if o == nil || classOf(v) != o.class {
		return v
	}
	if t, ok := v.(time.Time); ok && o.layout == time.RFC3339Nano {
		return t.Format(time.RFC3339Nano)
	}
	p := o.locate(v)
	if p.at == exactly || p.at == above && o.class == classTime {
		return p.arg
	}
	return v
}
