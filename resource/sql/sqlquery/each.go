package sqlquery

// Queries for each of many values of a field, in one statement. Called by packages that read the first
// rows of each value.

import (
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
)

// Each returns q for the items that hold, in a field, the value of the SQL expression key: a column of the
// rows. With q.Links the field is one of the links, and the items are those to which they lead. rows are
// the values, each as a parenthesized row for VALUES with the value and its index, without those that the
// column cannot store. It is empty if there are none. The arguments of rows precede those of the clauses.
//
// It returns the errors of [Translator.Translate]. The values must be distinct. Without q.Links the order
// must be one of columns.
func (t *Translator) Each(
	q query.Query, field, key string, values []any,
) (rows string, c Clauses, err error) {
	w := t.newWriter(nil)
	o := w.keyColumn(q.Links, field)
	var list []string
	for n, v := range values {
		v = query.Canonical(v)
		if classOf(v) != o.class || o.operandFor(v) != o || !o.casts(v) {
			continue
		}
		if p := o.locate(v); p.relation == exactly {
			list = append(list, "("+w.bind(p.arg, o.cast)+", "+strconv.Itoa(n)+")")
		}
	}
	condition := o.plain + " = " + key
	switch o.index {
	case indexEnum:
		condition = o.indexCondition([]string{key})
	case indexNative:
		condition = o.indexCondition([]string{key}) + " AND " + condition
	}
	conditions, links := []string{condition}, ""
	if q.Links != nil && w.err == nil {
		conditions, links = nil, w.joinLinks(q.Links, condition)
	}
	keys := w.keys(q)
	c, err = w.clauses(q, keys, append(conditions, w.conditions(q.Filter)...), segment{})
	c.Links = links
	return strings.Join(list, ", "), c, err
}

// keyColumn returns the operand of a field of the links or, without links, of the items.
func (w *writer) keyColumn(l *query.Links, field string) *operand {
	if l == nil {
		return w.column(field)
	}
	if !w.t.CanJoin(l.Join) || len(l.Join.By) != 1 {
		w.fail("cannot join the links")
		return &operand{}
	}
	_, t, _ := l.Join.Target.(Source).Source()
	if o := t.columns[field]; o != nil {
		return o
	}
	w.fail("no column for field %q of the links", field)
	return &operand{}
}

// joinLinks returns the join of the links that fulfill a condition, one for each item. The links are read in
// a subquery with a single column, so the unqualified column names of the statement stay unambiguous.
func (w *writer) joinLinks(l *query.Links, condition string) string {
	table, t, always := l.Join.Target.(Source).Source()
	inner := writer{t: t, args: w.args, err: w.err, table: table}
	conditions := append([]string{condition}, inner.conditions(always)...)
	conditions = append(conditions, inner.conditions(l.Filter)...)
	w.args, w.err = inner.args, inner.err
	own, to := w.t.columns[l.Join.Field[0]], t.columns[l.Join.By[0]]
	id := quote(t.dialect, "related id")
	links := "SELECT " + either(l.Unique, "", "DISTINCT ") + to.plain + " AS " + id + " FROM " + table +
		" WHERE " + joined(conditions, true)
	return "JOIN (" + links + ") AS " + quote(t.dialect, "related links") + " ON " +
		keyEquals(id, to, w.table, own)
}
