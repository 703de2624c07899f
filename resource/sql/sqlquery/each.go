package sqlquery

// Queries for each of many values of a field, in one statement. Called by packages that read the first
// rows of each value.

import (
	"strings"

	"github.com/stoa-go/stoa/query"
)

// Each returns q for the items that hold, in a field, the value of the SQL expression key: a column of the
// rows. rows are the values, each as a parenthesized row for VALUES, without those that the column cannot
// store. It is empty if there are none. The arguments of rows precede those of the clauses.
//
// It returns the errors of [Translator.Translate]. The values must be distinct, and the order must be one
// of columns.
func (t *Translator) Each(
	q query.Query, field, key string, values []any,
) (rows string, c Clauses, err error) {
	w := t.newWriter(nil)
	o := w.column(field)
	var list []string
	for _, v := range values {
		v = query.Canonical(v)
		if classOf(v) != o.class || o.operandFor(v) != o || !o.casts(v) {
			continue
		}
		if p := o.locate(v); p.relation == exactly {
			list = append(list, "("+w.bind(p.arg, o.cast)+")")
		}
	}
	condition := o.plain + " = " + key
	switch o.index {
	case indexEnum:
		condition = o.indexCondition([]string{key})
	case indexNative:
		condition = o.indexCondition([]string{key}) + " AND " + condition
	}
	keys := w.keys(q)
	c, err = w.clauses(q, keys, append([]string{condition}, w.conditions(q.Filter)...), segment{})
	return strings.Join(list, ", "), c, err
}
