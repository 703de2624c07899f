package sqlquery

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
)

const (
	truth     = "TRUE"
	falsehood = "FALSE"
)

// writer collects the arguments of one statement, and the first thing that is wrong with it.
type writer struct {
	t    *Translator
	args []any
	err  error
}

// newWriter never appends to the caller's slice.
func (t *Translator) newWriter(args []any) *writer {
	return &writer{t: t, args: args[:len(args):len(args)]}
}

// bind adds an argument and returns its placeholder. Those of SQLite are numbered too, as the caller may use them again.
func (w *writer) bind(arg any, cast string) string {
	w.args = append(w.args, arg)
	n := strconv.Itoa(len(w.args))
	if w.t.dialect == PostgreSQL {
		return "$" + n + cast
	}
	return "?" + n
}

// column returns the operand of a field. The zero operand stands in for one that is not there, so that only the end has
// to look at the error.
func (w *writer) column(field string) *operand {
	if o := w.t.columns[field]; o != nil {
		return o
	}
	if w.err == nil {
		w.err = fmt.Errorf("sqlquery: there is no column for the field %q", field)
	}
	return &operand{}
}

// clauses puts the parts together.
func (w *writer) clauses(q query.Query, keys []key, conditions []string) (Clauses, error) {
	c := Clauses{Where: joined(conditions, true), OrderBy: orderBy(keys)}
	if q.Limit > 0 {
		c.Limit = w.bind(int64(q.Limit), "::bigint")
	}
	if q.Token != "" && w.err == nil {
		w.err = fmt.Errorf("sqlquery: a table has no natural order to continue by a token")
	}
	if w.err != nil {
		return Clauses{}, w.err
	}
	c.Args = w.args
	return c, nil
}

// conditions is the filter as a list, which is empty for the zero Filter.
func (w *writer) conditions(f query.Filter) []string {
	if f.IsZero() {
		return nil
	}
	return []string{w.filter(f, true)}
}

// filter writes when f comes to want. Negation is handed down to the comparisons, like in query.Match, and for the same
// two reasons: SQL's own NOT does not know that every comparison is true or false, and what cannot be read as a filter
// must match nothing, negated or not.
//
// Comparisons may come to NULL instead of false. As nothing above them negates, that is the same.
func (w *writer) filter(f query.Filter, want bool) string {
	switch {
	case f.Op == query.NotOp:
		return w.connective(query.AndOp, f.Filters, !want)
	case f.Op == query.AndOp || f.Op == query.OrOp:
		return w.connective(f.Op, f.Filters, want)
	case f.IsZero():
		return constant(want)
	}
	return w.comparison(f, want)
}

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

// joined connects conditions by AND or by OR, in parentheses if there are several.
func joined(parts []string, conjunction bool) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return "(" + strings.Join(parts, either(conjunction, " AND ", " OR ")) + ")"
}

func constant(b bool) string { return either(b, truth, falsehood) }

// comparison writes when one comparison comes to want.
func (w *writer) comparison(f query.Filter, want bool) string {
	o := w.column(f.Field)
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

// null writes when the column is NULL, or is not.
func (o *operand) null(want bool) string {
	if o.notNull {
		return constant(!want)
	}
	return o.plain + either(want, " IS NULL", " IS NOT NULL")
}

// orNull adds the rows in which the column is NULL.
func (o *operand) orNull(condition string) string {
	if o.notNull {
		return condition
	}
	return "(" + condition + " OR " + o.null(true) + ")"
}

// among writes when the column is, or is not, equal to one of the values. Those that it cannot keep are left out.
func (w *writer) among(o *operand, values []any, want bool) string {
	var list []string
	for _, v := range values {
		v = query.Canonical(v)
		if classOf(v) != o.class {
			continue
		}
		if p := o.facing(v).locate(v); o.facing(v) == o && p.at == exactly {
			list = append(list, w.bind(p.arg, o.cast))
		}
	}
	if list == nil {
		return constant(!want)
	}
	right := list[0]
	if len(list) > 1 {
		right = "(" + strings.Join(list, ", ") + ")"
	}
	sign := either(len(list) > 1, either(want, " IN ", " NOT IN "), either(want, " = ", " <> "))
	if want {
		return o.plain + sign + right
	}
	return o.orNull(o.plain + sign + right)
}

// facing returns the operand to compare v with: of a UUID its text, if v is none.
func (o *operand) facing(v any) *operand {
	if s, ok := v.(string); ok && o.text != nil && !isUUID(s) {
		return o.text
	}
	return o
}

// isUUID knows the one spelling that PostgreSQL gives back.
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

// opposite are the comparisons that are true where these are false.
var opposite = map[query.Op]query.Op{query.Lt: query.Gte, query.Lte: query.Gt, query.Gt: query.Lte, query.Gte: query.Lt}

// ordered writes when the column is on one side of v, or is not. Nothing is on any side of another class.
func (w *writer) ordered(o *operand, op query.Op, v any, want bool) string {
	if classOf(v) != o.class || o.class == classNull {
		return constant(!want)
	}
	if want {
		return w.side(o, op, v)
	}
	return o.orNull(w.side(o, opposite[op], v))
}

// side writes when the column is on one side of a value of its class, and not NULL.
func (w *writer) side(o *operand, op query.Op, v any) string {
	o = o.facing(v)
	p := o.locate(v)
	sign, outcome := p.compare(op)
	switch outcome {
	case none:
		return falsehood
	case all:
		return o.null(false)
	}
	return o.ordered + " " + sign + " " + w.bind(p.arg, o.cast)
}

// text writes when the column contains a part or starts with it, or does not.
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

// contains uses LIKE in PostgreSQL, where it minds case and a trigram index can serve it. In SQLite it does not mind
// case, so that has to search by itself.
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

// escapeLike makes ordinary characters of those that mean something to LIKE, whose escape is the backslash.
var escapeLike = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// startsWith asks for a range instead of a pattern: an index can serve that, and it minds case in SQLite too.
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
