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
// independent of the collation of the column. Numbers are compared by exact value, so comparing an
// integer column with 2.5 is correct. This requires that columns store what their [Kind] declares;
// a Number column must not contain NaN, for example.
//
// # Indexes
//
// The expressions of ORDER BY can be used in CREATE INDEX, and such an index serves sort and
// position. In PostgreSQL the index needs COLLATE "C" for text, unless the column has it, and NULLS
// FIRST, or DESC NULLS LAST, for a nullable column. With [Translator.Steps] a position deep in a
// list is found as fast as the first page.
//
// Text columns must have a deterministic collation, which is the default, and a PostgreSQL database
// the encoding UTF8. Contains with an operand that is not valid UTF-8, which [query.Parse] rejects,
// matches nothing.
package sqlquery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
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
	Where   string // a condition that can be combined with AND
	OrderBy string // the sort keys with directions
	Limit   string // a placeholder
	Args    []any  // the caller's arguments, followed by those of the clauses
}

// String returns the clauses with their keywords, each after a space.
func (c Clauses) String() string {
	var b strings.Builder
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
	return w.clauses(q, keys, conditions)
}

// Steps returns q as several statements. Run in order until q.Limit rows were read, they return the
// same rows as Translate. There is more than one only if q.After is a position in a list with sort
// keys of different directions or nullable keys. An index can find the start of each step. The
// single statement would scan the rows that equal the position in the first key.
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

// Support returns the queries that the columns support: all operators that apply to their kind, and
// all sort orders. For a large table, remove those without an index.
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
	texts := append(slices.Clone(all), query.Contains, query.StartsWith)
	s := query.Support{
		Filter: make(map[string][]query.Op, len(t.columns)),
		Sort:   slices.Sorted(maps.Keys(t.columns)),
	}
	for field, o := range t.columns {
		ops := all
		if o.class == classText {
			ops = texts
		}
		s.Filter[field] = slices.Clone(ops)
	}
	return s
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
	p := o.locate(v)
	if p.relation == exactly || p.relation == above && o.class == classTime {
		return p.arg
	}
	return v
}
