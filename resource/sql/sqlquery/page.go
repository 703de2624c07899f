package sqlquery

// Sort keys and positions as SQL: ORDER BY, and the condition that a row is after a cursor. The
// condition is divided into segments, because engines can search an index for each segment, but not
// for their combination with OR.

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
)

// key is a sort key and, with a position, the location of its value.
type key struct {
	*operand
	desc   bool
	isNull bool  // the value of the position is NULL
	bound  bound // otherwise
	// joined is the table of a field of related rows, and inner the operand for rows that have one.
	joined *joinedTable
	inner  *operand
	value  any // of the position
	// unknown reports a forged position in a collation: a text that the column cannot store.
	unknown bool
	// written is the placeholder of the value, which is used several times.
	written string
}

// keys returns the sort keys of q.
func (w *writer) keys(q query.Query) []key {
	keys := make([]key, len(q.Sort))
	for i, order := range q.Sort {
		if order.Joined != nil {
			keys[i] = w.joinedKey(order)
			continue
		}
		o := w.column(order.Field)
		if o.coalesced != nil {
			o = o.coalesced
		}
		keys[i] = key{operand: o, desc: order.Desc}
		if !keys[i].orderable() {
			w.fail("%s has no order", order.Field)
		}
	}
	if len(q.After) != len(keys) || w.err != nil {
		return keys
	}
	for i := range keys {
		keys[i].setPosition(query.Canonical(q.After[i]))
	}
	return keys
}

// setPosition locates a value of any class, because positions may be forged.
func (k *key) setPosition(v any) {
	k.value = v
	switch c := classOf(v); {
	case c == classNull && k.notNull && k.kind == Decimal && k.dialect == PostgreSQL:
		k.bound = bound{exactly, notANumber} // has no canonical value
	case c == classNull, k.nullZero && isZero(v):
		k.isNull = true
	case c < k.class:
		k.bound = bound{relation: belowAll}
	case c > k.class:
		k.bound = bound{relation: aboveAll}
	default:
		k.operand = k.operand.operandFor(v)
		k.bound = k.locate(v)
		// The next text that can be stored is known for the order of code points only.
		k.unknown = k.collated && k.bound.relation != exactly
	}
}

// orderBy returns the order of the rows of a segment, or of all rows for the zero segment. It writes NULLS
// FIRST or LAST if the default of the engine differs: in PostgreSQL NULL is the greatest value.
func orderBy(keys []key, of segment) string {
	var parts []string
	for i := range keys {
		k := &keys[i]
		if of.isConstant(k) {
			continue
		}
		part := k.sorted + either(k.desc, " DESC", "")
		if k.dialect == PostgreSQL && !k.notNull {
			part += either(k.desc, " NULLS LAST", " NULLS FIRST")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// segment is a range of rows after a position that an index can find: rows that equal the position
// in the first keys and are beyond it in the next ones.
type segment struct {
	equal  []*key
	beyond []*key // several are compared as one row value
	null   bool   // the rows with NULL in the last key, instead of those beyond it
}

// segmentsOf returns the segments of all rows after the position, in order. A position without a
// value per key, or with one that no row can have, is not of this list, so nothing is after it.
func segmentsOf(q query.Query, keys []key) []segment {
	unknown := func(k key) bool { return k.unknown }
	if len(q.After) != len(keys) || slices.ContainsFunc(keys, unknown) {
		return nil
	}
	groups := groupsOf(keys)
	var segments []segment
	end := len(keys)
	for i := len(groups) - 1; i >= 0; i-- {
		group := groups[i]
		end -= len(group)
		equal := make([]*key, end)
		possible := true
		for j := range equal {
			equal[j] = &keys[j]
			possible = possible && keys[j].canEqual()
		}
		if !possible {
			continue
		}
		if group[0].canExceed() {
			segments = append(segments, segment{equal: equal, beyond: group})
		}
		if k := group[0]; k.desc && !k.notNull && !k.isNull { // NULL sorts last
			segments = append(segments, segment{equal: equal, beyond: group, null: true})
		}
	}
	return segments
}

// groupsOf groups adjacent keys that can be compared as one row value: keys of one direction and
// without NULL.
func groupsOf(keys []key) [][]*key {
	var groups [][]*key
	for i := range keys {
		k := &keys[i]
		last := len(groups) - 1
		if last >= 0 && k.joins(groups[last][0]) {
			groups[last] = append(groups[last], k)
		} else {
			groups = append(groups, []*key{k})
		}
	}
	return groups
}

// joins reports whether both keys can be in one row value.
func (k *key) joins(first *key) bool {
	simple := func(k *key) bool {
		return k.joined == nil && k.notNull && !k.isNull && k.bound.relation == exactly
	}
	return simple(k) && simple(first) && k.desc == first.desc
}

// canEqual reports whether a row can equal the position in this key.
func (k *key) canEqual() bool {
	return k.isNull && !k.notNull || !k.isNull && k.bound.relation == exactly
}

// canExceed reports whether a row without NULL can be beyond the position in this key.
func (k *key) canExceed() bool {
	if k.isNull {
		return !k.desc
	}
	_, o := k.bound.compare(k.direction())
	return o != matchesNone
}

// direction returns the operator for rows beyond a position.
func (k *key) direction() query.Op {
	if k.desc {
		return query.Lt
	}
	return query.Gt
}

// afterCondition returns the condition that a row is after the position.
func (w *writer) afterCondition(keys []key, segments []segment) string {
	if len(segments) == 0 {
		return falsehood
	}
	parts := make([]string, len(segments))
	for i, s := range segments {
		parts[i] = w.segmentCondition(s)
	}
	alternatives := joined(parts, false)
	if k := &keys[0]; len(parts) > 1 && k.joined == nil && !k.isNull && k.bound.relation == exactly &&
		(k.notNull || !k.desc) {
		// This condition is redundant, but the planner needs it to find the start in an index.
		sign := signs[k.direction()] + "="
		return joined([]string{k.sorted + " " + sign + " " + w.value(k), alternatives}, true)
	}
	return alternatives
}

// segmentCondition returns the condition that a row is in the segment.
func (w *writer) segmentCondition(s segment) string {
	var conditions []string
	for _, k := range s.equal {
		if k.isNull {
			conditions = append(conditions, k.null(true))
		} else {
			conditions = append(conditions, k.sorted+" = "+w.value(k))
		}
	}
	if s.null {
		return joined(append(conditions, s.beyond[0].null(true)), true)
	}
	return joined(append(conditions, w.beyondCondition(s.beyond)), true)
}

// beyondCondition returns the condition that a row is beyond the position in a group of keys.
func (w *writer) beyondCondition(group []*key) string {
	first := group[0]
	if first.isNull {
		return first.notNullInOrder() // NULL sorts first
	}
	sign, outcome := first.bound.compare(first.direction())
	if outcome == matchesAll {
		return first.notNullInOrder()
	}
	if len(group) == 1 {
		return first.sorted + " " + sign + " " + w.value(first)
	}
	left, right := make([]string, len(group)), make([]string, len(group))
	for i, k := range group {
		left[i], right[i] = k.sorted, w.value(k)
	}
	return "(" + strings.Join(left, ", ") + ") " + sign + " (" + strings.Join(right, ", ") + ")"
}

// notNullInOrder returns IS NOT NULL that can use an index of SQLite.
func (o *operand) notNullInOrder() string {
	if o.notNull || o.least == "" {
		return o.null(false)
	}
	return o.sorted + " >= " + o.least
}

// value returns the placeholder of a key's value.
func (w *writer) value(k *key) string {
	if k.written == "" {
		k.written = w.bind(k.bound.arg, k.cast)
	}
	return k.written
}
