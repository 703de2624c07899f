package sqlquery

// Sort keys and groups that are fields of related rows. The related table is joined as a subquery. No table
// has the names of its columns, so the columns of the statement stay those of one table. page.go and
// aggregate.go call it.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
)

// joinedTable is a related table that is joined for sort keys or groups.
type joinedTable struct {
	join   *query.Join
	number string
	source string // the table and the conditions of its rows
	names  []string
	on     string
	// inner reports that the statement needs rows with a related one only.
	inner bool
}

// name returns the quoted name of a column of the join.
func (j *joinedTable) name(d Dialect, column string) string {
	return quote(d, "sort "+j.number+" "+column)
}

// text returns the clause, which follows the table in FROM.
func (j *joinedTable) text(d Dialect) string {
	return either(j.inner, "JOIN", "LEFT JOIN") + " (SELECT " + strings.Join(j.names, ", ") + " FROM " +
		j.source + ") AS " + quote(d, "sort "+j.number) + " ON " + j.on
}

// joinedKey returns the key of a field of a related row. It is null if there is no row.
func (w *writer) joinedKey(o query.Order) key {
	j := o.Joined.Join
	if !w.t.CanJoin(j) {
		w.fail("cannot join for the key %q", o.Field)
		return key{operand: &operand{}}
	}
	_, t, _ := j.Target.(Source).Source()
	field := t.columns[o.Joined.Field]
	if field == nil || !field.orderable() || len(field.spec.Path) > 0 {
		w.fail("the key %q has no order", o.Field)
		return key{operand: &operand{}}
	}
	if field.coalesced != nil && field.coalesced.notNull { // NULL of the key is then that there is no row
		field = field.coalesced
	}
	s := w.joinTable(o.Joined)
	name := "value " + strconv.Itoa(len(s.names))
	s.names = append(s.names, field.raw+" AS "+s.name(t.dialect, name))
	spec := field.spec
	spec.Expr, spec.Name = "", "sort "+s.number+" "+name
	inner, err := newOperand(t.dialect, o.Field, spec)
	spec.NotNull = false
	outer, errOuter := newOperand(t.dialect, o.Field, spec)
	if err != nil || errOuter != nil {
		w.fail("the key %q: %v", o.Field, err)
		return key{operand: &operand{}}
	}
	if field.notNull { // PostgreSQL then plans an anti-join
		outer.column = s.name(t.dialect, "key 1")
	}
	return key{operand: outer, desc: o.Desc, joined: s, inner: inner}
}

// joinTable returns the join for a key. Keys of one relation share it.
func (w *writer) joinTable(f *query.JoinedField) *joinedTable {
	for _, s := range w.joins {
		if s.join == f.Join {
			return s
		}
	}
	table, t, always := f.Join.Target.(Source).Source()
	s := &joinedTable{join: f.Join, number: strconv.Itoa(len(w.joins) + 1)}
	inner := writer{t: t, args: w.args, err: w.err, table: table}
	conditions := append(inner.conditions(always), inner.conditions(f.Filter)...)
	w.args, w.err = inner.args, inner.err
	if s.source = table; len(conditions) > 0 {
		s.source += " WHERE " + joined(conditions, true)
	}
	var keys []string
	for i := range f.Join.Field {
		own, by := w.t.columns[f.Join.Field[i]], t.columns[f.Join.By[i]]
		name := s.name(t.dialect, "key "+strconv.Itoa(i+1))
		s.names = append(s.names, by.name+" AS "+name)
		keys = append(keys, keyEquals(name, by, w.table, own))
	}
	s.on = joined(keys, true)
	w.joins = append(w.joins, s)
	return s
}

// require makes the joins of a segment inner joins if it has only rows with a related one. An index of the
// related table can then lead to the rows in order.
func (s segment) require() {
	for _, k := range append(slices.Clip(s.equal), s.beyond...) {
		if k.joined == nil || s.isConstant(k) {
			continue
		}
		k.joined.inner = true
		k.operand = k.inner.operandFor(query.Canonical(k.value))
	}
}

// isConstant reports whether a joined key is null in all rows of the segment, so that sorting by it has no
// effect.
func (s segment) isConstant(k *key) bool {
	inBeyond := s.null && slices.Contains(s.beyond, k)
	return k.joined != nil && (inBeyond || k.isNull && slices.Contains(s.equal, k))
}

// wholeList returns the segments of a list without a position if its first key is joined: the rows without
// a value, and those that the related table leads to.
func wholeList(keys []key) []segment {
	if len(keys) == 0 || keys[0].joined == nil {
		return nil
	}
	first := &keys[0]
	first.isNull = true // all rows with a value are beyond null
	segments := []segment{{beyond: []*key{first}, null: true}, {beyond: []*key{first}}}
	if first.desc {
		slices.Reverse(segments)
	}
	return segments
}

// joinClauses returns the joins of the statement, and the expressions of the joined sort keys.
func (w *writer) joinClauses(keys []key) (join string, names []string) {
	var texts []string
	for _, s := range w.joins {
		texts = append(texts, s.text(w.t.dialect))
	}
	for i := range keys {
		if keys[i].joined != nil {
			names = append(names, keys[i].raw)
		}
	}
	return strings.Join(texts, " "), names
}
