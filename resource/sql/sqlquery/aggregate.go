package sqlquery

// Aggregations as SQL: a subquery that groups rows, and around it the condition on groups, their order
// and the position, which are written like those of rows.

import (
	"database/sql"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

// Groups is the statement of an aggregation. Its result has a column for each field of Group, in the form
// of the field's column, and then Width(i) columns for each aggregate.
type Groups struct {
	Text string
	Args []any
	// Complete reports whether the statement applies Having, the order, After and Limit. Otherwise it
	// returns all groups, and the caller applies them: SQLite cannot compare sums beyond its integers.
	Complete bool

	parts []computed
}

// computed is an aggregate in the result.
type computed struct {
	exprs   []string
	outer   Column // of the only expression
	exact   bool   // exprs are the upper and lower half of a sum and, for a mean, the number of values
	scale   int    // of exact: the sum is divided by 10^scale
	fn      query.Func
	decimal bool // of a Decimal column
}

// Width returns the number of columns of the ith aggregate.
func (g *Groups) Width(i int) int { return len(g.parts[i].exprs) }

// Stored reports whether the ith aggregate is a value of its column, in the form of that column. Others
// are computed by [Groups.Compute].
func (g *Groups) Stored(i int) bool {
	return g.parts[i].fn == query.Min || g.parts[i].fn == query.Max
}

// Compute returns the ith aggregate, unless it is Stored, from the values of its columns as a driver
// returns them.
func (g *Groups) Compute(i int, columns []any) (any, error) {
	p := &g.parts[i]
	if columns[0] == nil {
		return nil, nil
	}
	switch {
	case p.exact:
		return p.exactValue(columns)
	case p.outer.Kind == Number:
		var f sql.Null[float64]
		if err := f.Scan(columns[0]); err != nil || f.V == 0 {
			return 0.0, err // without a sign
		}
		return f.V, nil
	}
	return p.number(textOfNumber(columns[0]))
}

// number returns an exact number from its text.
func (p *computed) number(text string) (any, error) {
	counts := p.fn == query.Count || p.fn == query.Distinct
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && (counts || p.fn != query.Avg && !p.decimal) {
		return n, nil
	}
	d, err := query.ParseDecimal(text)
	if err != nil {
		return nil, fmt.Errorf("sqlquery: %s is %q, which is not a number", p.fn, text)
	}
	return d, nil
}

// exactValue combines the halves of a sum.
func (p *computed) exactValue(columns []any) (any, error) {
	var n [3]sql.Null[int64]
	for i, v := range columns {
		if err := n[i].Scan(v); err != nil {
			return nil, err
		}
	}
	sum := new(big.Int).Lsh(big.NewInt(n[0].V), halfBits)
	text := sum.Add(sum, big.NewInt(n[1].V)).String()
	if p.scale > 0 {
		text += "e-" + strconv.Itoa(p.scale)
	}
	v, err := (&computed{fn: query.Sum, decimal: p.decimal}).number(text)
	if err == nil && p.fn == query.Avg {
		v = query.MeanOf(v, n[2].V)
	}
	return v, err
}

// halfBits is the number of bits of the lower half of an integer, of which SQLite adds up to 2^31 values.
const halfBits = 32

// textOfNumber returns a number of a driver as text.
func textOfNumber(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}

// Aggregate returns the statement of an aggregation over the rows of from, which follows FROM: a quoted
// table name or a join. args are the arguments that from has. The error is that of
// [Translator.Translate]. Fields of a.Joined need [Translator.From] and a [Source], as filters through
// relations do.
//
// Sums are exact. PostgreSQL computes them as numeric, also those of floating-point numbers, which are
// added as their texts. SQLite adds the upper and the lower half of each integer, and of each decimal
// without its point. It adds floating-point numbers as such; see [query.Sum].
//
// Other programs can store NaN in PostgreSQL, which is NULL for an aggregation. An infinite number has no
// such meaning: a sum of floating-point numbers with it is NULL, any other result has it or is an error.
func (t *Translator) Aggregate(a query.Aggregation, from string, args ...any) (Groups, error) {
	w := t.newWriter(args)
	outer := &Translator{dialect: t.dialect, columns: map[string]*operand{}}
	g := Groups{Complete: true}
	var inner, names, keys []string
	add := func(expr string) string {
		name := quote(t.dialect, "c"+strconv.Itoa(len(names)))
		inner, names = append(inner, expr+" AS "+name), append(names, name)
		return name
	}
	define := func(field, name string, c Column) {
		c.Name, c.Path, c.Expr = strings.Trim(name, "\"`"), nil, ""
		o, err := newOperand(t.dialect, field, c)
		if err != nil {
			w.fail("%s: %v", field, err)
			return
		}
		outer.columns[field] = o
	}
	for _, field := range a.Group {
		expr, c := w.groupKey(field, a.Joined[field]).grouped()
		keys = append(keys, expr)
		define(field, add(expr), c)
	}
	for _, v := range a.Aggregates {
		p := w.aggregate(v)
		g.parts = append(g.parts, p)
		for i, expr := range p.exprs {
			if name := add(expr); i == 0 && !p.exact {
				define(v.Name(), name, p.outer)
			}
		}
		if p.exact && a.Uses(v.Name()) {
			g.Complete = false
		}
	}
	conditions := w.conditions(a.Filter)
	if w.err != nil {
		return Groups{}, w.err
	}
	text := "SELECT " + strings.Join(inner, ", ") + " FROM " + from
	for _, j := range w.joins {
		text += " " + j.text(t.dialect)
	}
	if len(conditions) > 0 {
		text += " WHERE " + joined(conditions, true)
	}
	if len(keys) > 0 {
		text += " GROUP BY " + strings.Join(keys, ", ")
	}
	if !g.Complete {
		g.Text, g.Args = text, w.args
		return g, nil
	}
	c, err := outer.Translate(query.Query{
		Filter: a.Having, Sort: a.TotalOrder(), After: a.After, Limit: a.Limit}, w.args...)
	g.Text = "SELECT " + strings.Join(names, ", ") + " FROM (" + text + ") AS " +
		quote(t.dialect, "grouped") + c.String()
	g.Args = c.Args
	return g, err
}

// groupKey returns the operand of a field by which rows are grouped. It is a column of the table, or of the
// related one that is joined.
func (w *writer) groupKey(field string, joined *query.JoinedField) *operand {
	if joined != nil {
		return w.joinedKey(query.Order{Field: field, Joined: joined}).operand
	}
	o := w.column(field)
	if !o.orderable() {
		w.fail("%s has no order", field)
	}
	return o
}

// grouped returns the expression by which rows are grouped, and the column of its values.
func (o *operand) grouped() (expr string, c Column) {
	c = o.spec
	c.Collation = "" // groups are in the order of query.Summarize, like min and max
	switch {
	case o.layout != "": // the order removes a part of the text
		c.Layout, c.Type = o.layout, "" // also of a time in JSON, which the outer query reads from a column
		return o.raw, c
	case o.isText() && o.dialect == PostgreSQL:
		c.Type = sqltype.Text // types that treat different texts as equal are grouped by their texts
	case o.hasNaN():
		c.NotNull = false // of the NULL for NaN
	case o.kind == Bool && o.dialect == SQLite:
		return "(" + o.plain + " <> 0)", c // any number but zero is true
	}
	return o.value(), c
}

// value returns an expression that is equal for equal values of the field. Other programs can store NaN,
// which is no number of a field, and in SQLite numbers with more digits than the column has.
func (o *operand) value() string {
	switch {
	case o.hasNaN():
		return "NULLIF(" + o.plain + ", 'NaN')"
	case o.kind == Decimal:
		return "round(" + o.plain + ", " + strconv.Itoa(o.typ.Scale) + ")"
	}
	return o.plain
}

// hasNaN reports whether the column can have NaN. SQLite stores NULL instead.
func (o *operand) hasNaN() bool {
	if o.dialect != PostgreSQL || o.class != classNumber {
		return false
	}
	return o.typ.Name == sqltype.Numeric || o.typ.Name == sqltype.Double || o.typ.Name == sqltype.Real
}

// isText reports whether the values are compared as text, and the type has no order of its own.
func (o *operand) isText() bool {
	return o.class == classText && o.kind == Text && o.typ.Name != sqltype.Date && o.typ.Name != sqltype.Time
}

// aggregate returns the expressions of an aggregate.
func (w *writer) aggregate(a query.Aggregate) computed {
	p := computed{fn: a.Func, outer: Column{Kind: Integer, NotNull: true}}
	if a.Func == query.Count {
		p.exprs = []string{"count(*)"}
		return p
	}
	o := w.column(a.Field)
	if !o.orderable() {
		w.fail("%s has no order", a.Field)
	}
	p.decimal = o.kind == Decimal
	switch a.Func {
	case query.Distinct:
		expr, _ := o.grouped()
		if o.layout != "" {
			expr = o.plain
		}
		p.exprs = []string{"count(DISTINCT " + expr + ")"}
	case query.Min, query.Max:
		o.extreme(&p)
	case query.Sum, query.Avg:
		switch {
		case o.class != classNumber:
			w.fail("%s is not a number", a.Field)
		case o.kind == Number:
			o.inexact(&p)
		case o.dialect == SQLite:
			o.exactSQLite(&p)
		default:
			o.exactPostgreSQL(&p)
		}
	default:
		w.fail("unknown function %q", a.Func)
	}
	return p
}

// extreme sets the expression of Min or Max. PostgreSQL has none for uuid.
func (o *operand) extreme(p *computed) {
	p.outer = o.spec
	p.outer.NotNull, p.outer.Collation = false, ""
	before, after := "", ""
	switch {
	case o.dialect == PostgreSQL && o.kind == UUID:
		o = o.text
		p.outer = Column{Kind: Text}
	case o.dialect == PostgreSQL && o.isText():
		p.outer = Column{Kind: Text}
	case o.layout != "":
		p.outer.Layout, p.outer.Type = o.layout, ""
		if o.layout == time.RFC3339Nano {
			after = " || 'Z'"
		}
	case o.hasNaN() && p.fn == query.Min: // NaN is the greatest number, and indexes have no NULLIF
		before, after = "NULLIF(", ", 'NaN')"
	case o.kind == Decimal && o.dialect == SQLite:
		before, after = "round(", ", "+strconv.Itoa(o.typ.Scale)+")"
	case o.hasNaN():
		p.exprs = []string{"max(" + o.value() + ")"}
		return
	}
	p.exprs = []string{before + string(p.fn) + "(" + o.ordered + ")" + after}
}

// inexact sets the expression of a sum or mean of floating-point numbers, which is NULL if the sum is out
// of range. SQLite adds the numbers. PostgreSQL adds their shortest texts, because its sum of float8 depends
// on the order of the rows: the pages of groups in this order would not be consistent.
//
// PostgreSQL has an error in place of a float8 that is zero only because it is rounded. 2.5e-324 is the
// half of the least float8, and 5e-324 that number: x / n is rounded to zero if 2 * abs(x) <= 5e-324 * n.
func (o *operand) inexact(p *computed) {
	p.outer = Column{Kind: Number}
	n := "count(" + o.value() + ")"
	if o.dialect == SQLite {
		sum := "sum(CAST(" + o.plain + " AS REAL))"
		mean := either(p.fn == query.Avg, " / "+n, "")
		p.exprs = []string{"CASE WHEN abs(" + sum + ") < 1e999 THEN " + sum + mean + " END"}
		return
	}
	exact := "sum(" + o.value() + "::text::numeric)"
	sum := exact + "::float8"
	text := "CASE WHEN abs(" + exact + ") < 2.5e-324 THEN 0 WHEN abs(" + exact +
		") >= 1.797693134862315807e308 THEN NULL "
	if p.fn == query.Avg {
		text += "WHEN abs(" + sum + ") <= 5e-324::float8 * " + n + " - abs(" + sum + ") THEN 0 "
		sum += " / " + n
	}
	p.exprs = []string{text + "ELSE " + sum + " END"}
}

// exactPostgreSQL sets the expression of an exact sum or mean. avg and the division of numeric round to
// a number of digits that depends on the operands, so the mean is a division of integers.
func (o *operand) exactPostgreSQL(p *computed) {
	p.outer = Column{Kind: Decimal}
	sum := "sum(" + o.value() + ")::numeric"
	if p.fn == query.Avg {
		const mean = "(sign(%[1]s) * div(abs(%[1]s) * 2e%[2]d + count(%[3]s), " +
			"2 * count(%[3]s)::numeric) * 1e-%[2]d)"
		sum = fmt.Sprintf(mean, sum, query.AvgDigits, o.value())
	}
	p.exprs = []string{sum}
}

// exactSQLite sets the expressions of an exact sum or mean.
func (o *operand) exactSQLite(p *computed) {
	x := o.plain
	if p.exact = true; o.kind == Decimal {
		p.scale = o.typ.Scale
		x = "CAST(round(" + x + " * 1e" + strconv.Itoa(p.scale) + ") AS INTEGER)"
	}
	half := strconv.Itoa(halfBits)
	p.exprs = []string{"sum((" + x + ") >> " + half + ")", "sum((" + x + ") & " +
		strconv.FormatInt(1<<halfBits-1, 10) + ")"}
	if p.fn == query.Avg {
		p.exprs = append(p.exprs, "count("+o.plain+")")
	}
}
