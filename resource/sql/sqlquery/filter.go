package sqlquery

// Filters as SQL conditions. The result for each row equals that of query.Match on the item, also
// for NULL and for values of another class.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
)

const (
	truth     = "TRUE"
	falsehood = "FALSE"
)

// writer collects the arguments of one statement, and its first error.
type writer struct {
	t     *Translator
	args  []any
	err   error
	table string // the table of the columns, or its alias in a subquery
	level int    // of subqueries
	joins []*joinedTable
}

// newWriter returns a writer that does not append to the caller's slice.
func (t *Translator) newWriter(args []any) *writer {
	return &writer{t: t, args: args[:len(args):len(args)], table: t.table}
}

// bind adds an argument and returns its placeholder, which is numbered so that it can be used
// again.
func (w *writer) bind(arg any, cast string) string {
	w.args = append(w.args, arg)
	n := strconv.Itoa(len(w.args))
	if w.t.dialect == PostgreSQL {
		return "$" + n + cast
	}
	return "?" + n
}

// column returns the operand of a field. For an unknown field it records an error and returns a
// zero operand, so callers need not check.
func (w *writer) column(field string) *operand {
	if o := w.t.columns[field]; o != nil {
		return o
	}
	w.fail("no column for field %q", field)
	return &operand{}
}

// fail records an error, unless there is one.
func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("sqlquery: "+format, args...)
	}
}

// clauses combines the parts of the statement for the rows of a segment. The zero segment has all rows.
func (w *writer) clauses(q query.Query, keys []key, conditions []string, of segment) (Clauses, error) {
	c := Clauses{Where: joined(conditions, true), OrderBy: orderBy(keys, of)}
	c.Join, c.Keys = w.joinClauses(keys)
	if q.Limit > 0 {
		c.Limit = w.bind(int64(q.Limit), "::bigint")
	}
	if q.Token != "" {
		w.fail("Query.Token is not supported: a table has no natural order")
	}
	if w.err != nil {
		return Clauses{}, w.err
	}
	c.Args = w.args
	return c, nil
}

// conditions returns the filter as a list, which is empty for the zero Filter.
func (w *writer) conditions(f query.Filter) []string {
	if f.IsZero() {
		return nil
	}
	return []string{w.filter(f, true)}
}

// filter returns the condition that f evaluates to want. As in query.Match, negation is applied to
// the comparisons: SQL's NOT would turn NULL into NULL instead of true, and an invalid filter must
// match nothing, negated or not.
//
// Comparisons may evaluate to NULL instead of false, which has the same effect because nothing
// negates them.
func (w *writer) filter(f query.Filter, want bool) string {
	switch {
	case f.Op == query.NotOp:
		return w.connective(query.AndOp, f.Filters, !want)
	case f.Op == query.AndOp || f.Op == query.OrOp:
		return w.connective(f.Op, f.Filters, want)
	case f.Op == query.SomeOp:
		return w.some(f, want)
	case f.IsZero():
		return constant(want)
	}
	return w.comparison(f, want)
}

// connective writes and or or, negated unless want. By De Morgan's laws a negated and is an or of
// negated parts.
func (w *writer) connective(op query.Op, fs []query.Filter, want bool) string {
	parts := make([]string, len(fs))
	for i, f := range fs {
		parts[i] = w.filter(f, want)
	}
	conjunction := want == (op == query.AndOp)
	if len(parts) == 0 {
		return constant(conjunction)
	}
	return joined(parts, conjunction)
}

// joined connects conditions with AND or OR, in parentheses if there are several.
func joined(parts []string, conjunction bool) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	// SQLite limits the depth of an expression to 1,000, and each operator adds one.
	for len(parts) > maxOperands {
		var grouped []string
		for chunk := range slices.Chunk(parts, maxOperands) {
			grouped = append(grouped, joined(chunk, conjunction))
		}
		parts = grouped
	}
	return "(" + strings.Join(parts, either(conjunction, " AND ", " OR ")) + ")"
}

// maxOperands is the number of operands of one conjunction or disjunction, above which it has parentheses.
const maxOperands = 100

func constant(b bool) string { return either(b, truth, falsehood) }

// comparison returns the condition that a comparison evaluates to want.
func (w *writer) comparison(f query.Filter, want bool) string {
	o := w.column(f.Field)
	if o.nullZero && o.class == classTime {
		return w.zeroComparison(o, f, want)
	}
	return w.comparisonOf(o, f, want)
}

// zeroComparison is comparison for times that are zero if the column is NULL.
func (w *writer) zeroComparison(o *operand, f query.Filter, want bool) string {
	stored := *o
	stored.notNull = true
	condition := w.comparisonOf(&stored, f, want)
	of := f
	if !want {
		of = query.Not(f)
	}
	switch matches := query.Match(of, func(string) any { return time.Time{} }); {
	case condition == constant(matches):
		return condition
	case matches && condition == falsehood:
		return o.null(true)
	case matches:
		return "(" + condition + " OR " + o.null(true) + ")"
	case condition == truth:
		return o.null(false)
	}
	return condition // which is not true for NULL
}

// comparisonOf is comparison with an operand.
func (w *writer) comparisonOf(o *operand, f query.Filter, want bool) string {
	if o.list != listNone && f.Op != query.IsNull {
		return w.listComparison(o, f, want)
	}
	if !o.orderable() && f.Op != query.IsNull {
		w.fail("%s has no order in SQLite", f.Field)
	}
	switch f.Op {
	case query.Eq, query.Ne:
		return w.among(o, []any{f.Value}, want == (f.Op == query.Eq))
	case query.In, query.NotIn:
		if list, ok := f.Value.([]any); ok {
			return w.among(o, list, want == (f.Op == query.In))
		}
	case query.Lt, query.Lte, query.Gt, query.Gte:
		return w.ordered(o, f.Op, query.Canonical(f.Value), want)
	case query.Contains, query.StartsWith:
		return w.text(o, f.Op, query.Canonical(f.Value), want)
	case query.IsNull:
		if null, ok := f.Value.(bool); ok {
			return o.null(null == want)
		}
	}
	return falsehood
}

// null returns the condition that the column is NULL, or is not.
func (o *operand) null(want bool) string {
	if o.notNull {
		return constant(!want)
	}
	return o.column + either(want, " IS NULL", " IS NOT NULL")
}

// orNull extends a condition to rows with NULL in the column.
func (o *operand) orNull(condition string) string {
	if o.notNull {
		return condition
	}
	return "(" + condition + " OR " + o.null(true) + ")"
}

// among returns the condition that the column is equal, or is not, to one of the values. Values
// that the column cannot store are omitted.
func (w *writer) among(o *operand, values []any, want bool) string {
	var list []string
	for _, v := range values {
		v = query.Canonical(v)
		if classOf(v) != o.class {
			continue
		}
		if p := o.operandFor(v).locate(v); o.operandFor(v) == o && p.relation == exactly && o.casts(v) {
			list = append(list, w.bind(p.arg, o.cast))
		}
	}
	if list == nil {
		return constant(!want)
	}
	if !want {
		return o.orNull(o.plain + either(len(list) > 1, " NOT IN ", " <> ") + alternatives(list))
	}
	switch o.index {
	case indexEnum:
		return o.indexCondition(list)
	case indexNative:
		return "(" + o.indexCondition(list) + " AND " + o.plain + equals(list) + ")"
	}
	return o.plain + equals(list)
}

// equals returns the operator for one of the placeholders.
func equals(list []string) string { return either(len(list) > 1, " IN ", " = ") + alternatives(list) }

// alternatives returns the placeholders, in parentheses if there are several.
func alternatives(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// operandFor returns the operand to compare v with: for a UUID column its text, if v is not a UUID.
func (o *operand) operandFor(v any) *operand {
	if s, ok := v.(string); ok && o.kind == UUID && !isUUID(s) {
		return o.text
	}
	return o
}

// isUUID reports whether s has the spelling that PostgreSQL returns.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if !strings.Contains("0123456789abcdef", s[i:i+1]) {
				return false
			}
		}
	}
	return true
}

// negated maps each operator to its negation.
var negated = map[query.Op]query.Op{
	query.Lt:  query.Gte,
	query.Lte: query.Gt,
	query.Gt:  query.Lte,
	query.Gte: query.Lt,
}

// ordered returns the condition that the column is less or greater than v, or is not. Values of
// another class are neither.
func (w *writer) ordered(o *operand, op query.Op, v any, want bool) string {
	if classOf(v) != o.class || o.class == classNull {
		return constant(!want)
	}
	if want {
		return w.side(o, op, v)
	}
	return o.orNull(w.side(o, negated[op], v))
}

// side returns the condition that the column is less or greater than a value of its class, and not
// NULL.
func (w *writer) side(o *operand, op query.Op, v any) string {
	o = o.operandFor(v)
	p := o.locate(v)
	sign, outcome := p.compare(op)
	switch outcome {
	case matchesNone:
		return falsehood
	case matchesAll:
		return o.null(false)
	}
	return o.ordered + " " + sign + " " + w.bind(p.arg, o.cast)
}

// text returns the condition that the column contains part or starts with it, or does not.
func (w *writer) text(o *operand, op query.Op, v any, want bool) string {
	part, ok := v.(string)
	if !ok || o.class != classText || !o.storable(part) || !utf8.ValidString(part) {
		return constant(!want)
	}
	if o.text != nil {
		o = o.text
	}
	switch {
	case part == "":
		return o.null(!want)
	case op == query.Contains:
		return w.contains(o, part, want)
	}
	return w.startsWith(o, part, want)
}

// contains uses LIKE in PostgreSQL, which is case-sensitive and can use a trigram index. LIKE of
// SQLite is not case-sensitive, so it uses instr.
func (w *writer) contains(o *operand, part string, want bool) string {
	var condition string
	if o.dialect == PostgreSQL {
		pattern := "%" + escapeLike.Replace(part) + "%"
		condition = o.plain + either(want, " LIKE ", " NOT LIKE ") + w.bind(pattern, o.cast)
	} else {
		condition = "instr(" + o.plain + ", " + w.bind(part, o.cast) + ")" + either(want, " > 0", " = 0")
	}
	if want {
		return condition
	}
	return o.orNull(condition)
}

// escapeLike escapes the special characters of LIKE with backslashes.
var escapeLike = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// startsWith uses a range instead of a pattern, which can use an index and is case-sensitive in
// SQLite too.
func (w *writer) startsWith(o *operand, part string, want bool) string {
	condition := o.ordered + either(want, " >= ", " < ") + w.bind(part, o.cast)
	if end, ok := successor(part); ok {
		other := o.ordered + either(want, " < ", " >= ") + w.bind(end, o.cast)
		condition = joined([]string{condition, other}, want)
	}
	if want {
		return condition
	}
	return o.orNull(condition)
}
