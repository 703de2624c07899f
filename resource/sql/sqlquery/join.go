package sqlquery

// Filters through relations, as conditions with a subquery of the related table. join_sort.go has the sort
// keys and groups.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

// Source is a table with rows that are related to those of another one. The Target of a [query.Join] in a
// filter for a [Translator] implements it.
type Source interface {
	// Source returns the table as it is written in FROM, the Translator of its columns, and a filter
	// that each row must match.
	Source() (table string, t *Translator, filter query.Filter)
}

// From returns a Translator for filters with [query.SomeOp] and a *[query.Join] as Value. table is
// the table as it is written in the FROM of the statement, without an alias: the columns of the
// statement must be those of one table alone.
func (t *Translator) From(table string) *Translator {
	from := *t
	from.table = table
	return &from
}

// CanJoin reports whether a filter through j can be translated: its Target is a [Source] of the same
// dialect, and the values of each pair of fields are equal if the database treats the columns as equal.
func (t *Translator) CanJoin(j *query.Join) bool {
	target, ok := j.Target.(Source)
	if !ok || t.table == "" || len(j.Field) == 0 || len(j.Field) != len(j.By) {
		return false
	}
	_, other, _ := target.Source()
	if other.dialect != t.dialect {
		return false
	}
	for i := range j.Field {
		a, b := t.columns[j.Field[i]], other.columns[j.By[i]]
		if a == nil || b == nil || !a.equates(b) {
			return false
		}
	}
	return true
}

// equates reports whether two columns can be compared with each other as keys.
func (o *operand) equates(other *operand) bool {
	if o.name == "" || other.name == "" || o.kind != other.kind || o.list+other.list != listNone {
		return false
	}
	switch o.kind {
	case Text:
		texts := []string{sqltype.Text, sqltype.VarChar}
		return o.dialect == SQLite ||
			slices.Contains(texts, o.typ.Name) && slices.Contains(texts, other.typ.Name)
	case Integer, UUID:
		return true
	}
	return false
}

// some returns the condition that a related row matches the operand of f, or that none does.
func (w *writer) some(f query.Filter, want bool) string {
	j, _ := f.Value.(*query.Join)
	if j == nil || len(f.Filters) != 1 || !w.t.CanJoin(j) {
		w.fail("cannot join the relation %q", f.Field)
		return falsehood
	}
	table, t, always := j.Target.(Source).Source()
	alias := quote(t.dialect, "related "+strconv.Itoa(w.level+1))
	inner := writer{t: t, args: w.args, err: w.err, table: alias, level: w.level + 1}
	operand := f.Filters[0]
	conditions := inner.conditions(always)
	switch {
	case operand.IsZero():
	case !want && !valid(operand): // as in query.Match, an invalid filter is not false
		conditions = append(conditions, "("+inner.filter(operand, false)+") IS NOT TRUE")
	default:
		conditions = append(conditions, inner.filter(operand, true))
	}
	w.args, w.err = inner.args, inner.err
	from := " FROM " + table + " AS " + alias + " WHERE "
	if want && len(j.Field) == 1 && t.dialect == SQLite && inner.selects(operand) {
		// SQLite reads the subquery of an IN first, and evaluates EXISTS for each row. PostgreSQL
		// chooses by the number of rows.
		own, by := w.t.columns[j.Field[0]], t.columns[j.By[0]]
		return own.plain + " IN (SELECT " + alias + "." + by.name + from + joined(conditions, true) + ")"
	}
	var keys []string
	for i := range j.Field {
		own, by := w.t.columns[j.Field[i]], t.columns[j.By[i]]
		keys = append(keys, keyEquals(alias+"."+by.name, by, w.table, own))
	}
	conditions = append(keys, conditions...)
	return either(want, "", "NOT ") + "EXISTS (SELECT 1" + from + joined(conditions, true) + ")"
}

// keyEquals returns the condition that a column of a related row, which is by, equals a column of table.
func keyEquals(name string, by *operand, table string, own *operand) string {
	// The collation is that of the plain operand.
	collation := strings.TrimPrefix(by.plain, by.name)
	explicit := ""
	if by.dialect == PostgreSQL {
		collation = ""
		// PostgreSQL does not choose between two collations, although both are deterministic.
		if own.spec.Collation != by.spec.Collation {
			explicit = " COLLATE " + quote(by.dialect, cmp.Or(by.spec.Collation, "C"))
		}
	}
	return name + collation + " = " + table + "." + own.name + explicit
}

// selects reports whether f probably matches few rows: an equality must hold.
func (w *writer) selects(f query.Filter) bool {
	switch f.Op {
	case query.Eq, query.In, query.StartsWith:
		return w.column(f.Field).kind != Bool
	case query.AndOp:
		return slices.ContainsFunc(f.Filters, w.selects)
	case query.OrOp:
		return !slices.ContainsFunc(f.Filters, func(sub query.Filter) bool { return !w.selects(sub) })
	case query.SomeOp:
		if j, ok := f.Value.(*query.Join); ok && len(f.Filters) == 1 {
			if target, ok := j.Target.(Source); ok {
				_, t, _ := target.Source()
				return t.newWriter(nil).selects(f.Filters[0])
			}
		}
	}
	return false
}

// valid reports whether the comparisons of f evaluate to true or false for each row.
func valid(f query.Filter) bool {
	if f.Op == query.AndOp || f.Op == query.OrOp || f.Op == query.NotOp || f.Op == query.SomeOp {
		return !slices.ContainsFunc(f.Filters, func(sub query.Filter) bool { return !valid(sub) })
	}
	null := func(string) any { return nil }
	return f.IsZero() || query.Match(f, null) != query.Match(query.Not(f), null)
}
