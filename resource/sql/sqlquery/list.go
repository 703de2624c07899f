package sqlquery

// Columns with lists of values: arrays of PostgreSQL and arrays in JSON. filter.go calls
// listComparison.

import (
	"errors"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

// listForm is the way in which a column stores a list.
type listForm uint8

const (
	listNone      listForm = iota
	listArray              // an array of PostgreSQL; in SQLite JSON
	listJSON               // jsonb; in SQLite text
	listPlainJSON          // json, which has no operators
)

// setList sets the SQL of a list. The operand is that of its elements, apart from column.
func (o *operand) setList(expr string, inJSON bool) error {
	o.column = expr
	switch {
	case inJSON:
		return errors.New("a List in JSON is not supported: it must be a whole column")
	case o.list == listArray && o.kind == Duration:
		return errors.New("arrays of interval are not supported")
	case o.dialect == SQLite:
		o.list = listJSON
	}
	if o.kind == UUID && (o.typ.Name != sqltype.UUID || o.list != listArray) {
		o.kind = Text
	}
	if o.list == listArray && o.dialect == PostgreSQL {
		o.write(elementName, false)
	}
	return nil
}

// elementName is the name of an element in subqueries.
const elementName = "e"

// searchable reports whether contains can search the list. Times, decimals and durations in JSON
// have several texts for one value.
func (o *operand) searchable() bool {
	return o.list == listArray || o.kind != Time && o.kind != Decimal && o.kind != Duration
}

// listComparison returns the condition that a comparison of a list evaluates to want. Contains is
// true if an element equals the value. Others are not valid for a list, so neither they nor their
// negations match one. They can match NULL, as in [query.Match].
func (w *writer) listComparison(o *operand, f query.Filter, want bool) string {
	if !o.searchable() {
		w.fail("the list %s cannot be searched", f.Field)
	}
	v := query.Canonical(f.Value)
	switch {
	case f.Op != query.Contains:
		if !want {
			f = query.Not(f)
		}
		if query.Match(f, func(string) any { return nil }) {
			return o.null(true)
		}
		return falsehood
	case classOf(v) == o.class && o.storesElement(v):
		return w.element(o, o.locate(v), want)
	}
	return constant(!want)
}

// storesElement reports whether PostgreSQL accepts v as an element.
func (o *operand) storesElement(v any) bool {
	if s, ok := v.(string); ok && o.kind == UUID {
		return isUUID(s)
	}
	if n, ok := v.(int64); ok && o.list == listArray {
		switch o.typ.Name {
		case sqltype.SmallInt:
			return n == int64(int16(n))
		case sqltype.Integer:
			return n == int64(int32(n))
		}
	}
	return true
}

// element returns the condition that an element equals the value at p, or that none does. It uses
// operators that an inverted index of PostgreSQL supports, if there is one.
func (w *writer) element(o *operand, p bound, want bool) string {
	if p.relation != exactly {
		return constant(!want)
	}
	var condition string
	switch {
	case o.dialect == SQLite:
		condition = "EXISTS (SELECT 1 FROM json_each(" + o.column + ") AS e WHERE e.value = " +
			w.bind(p.arg, "") + ")"
	case o.list != listArray:
		column := o.column + either(o.list == listPlainJSON, "::jsonb", "")
		condition = column + " @> to_jsonb(" + w.bind(p.arg, "::"+o.jsonType()) + ")"
	case o.plain == elementName:
		condition = o.column + " @> ARRAY[" + w.bind(p.arg, o.cast) + "]::" + typeName(o.typ) + "[]"
	default:
		condition = "EXISTS (SELECT 1 FROM unnest(" + o.column + ") AS e WHERE " + o.plain + " = " +
			w.bind(p.arg, o.cast) + ")"
	}
	if want {
		return condition
	}
	return o.orNull("NOT " + either(strings.HasPrefix(condition, "EXISTS"), condition, "("+condition+")"))
}

// jsonType returns the type of an argument that to_jsonb converts to an element.
func (o *operand) jsonType() string {
	switch o.kind {
	case Integer:
		return "bigint"
	case Number:
		return "float8"
	case Bool:
		return "boolean"
	}
	return "text"
}
