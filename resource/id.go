package resource

// Composite ids in queries: a store never sees a filter or an order by an id that is computed from
// several fields. Called by resource.go, core.go and list_cursor.go.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// keyFilter replaces the comparisons of f with a composite id by comparisons with the fields of the
// key. Only Eq, Ne, In and NotIn apply to it.
func (c *core) keyFilter(f query.Filter) (query.Filter, error) {
	if c.id.Key == nil || f.IsZero() {
		return f, nil
	}
	return f.Map(func(term query.Filter) (query.Filter, error) {
		if term.Field != c.id.Name || term.Op == query.SomeOp {
			return term, nil
		}
		switch term.Op {
		case query.Eq:
			return c.keyIn([]any{term.Value}), nil
		case query.Ne:
			return query.Not(c.keyIn([]any{term.Value})), nil
		case query.In, query.NotIn:
			ids, _ := term.Value.([]any)
			if term.Op == query.NotIn {
				return query.Not(c.keyIn(ids)), nil
			}
			return c.keyIn(ids), nil
		}
		return term, fmt.Errorf("the operator %s does not apply to %s, which is computed from %s",
			term.Op, c.id.Name, strings.Join(c.key, " and "))
	})
}

// keyIn returns the filter for items that have one of the ids. An operand that is no id matches
// nothing.
func (c *core) keyIn(ids []any) query.Filter {
	var some []query.Filter
	for _, id := range ids {
		text, _ := id.(string)
		values, err := c.id.ParseKey(text)
		if err != nil {
			continue
		}
		all := make([]query.Filter, len(values))
		for i, f := range c.id.Key {
			all[i] = query.Where(f.Name, query.Eq, values[i])
		}
		some = append(some, query.And(all...))
	}
	return query.Or(some...)
}

// totalOrder returns the sort keys of a list with the id as the last one. Keys after it would have no
// effect. A composite id is replaced by the fields of its key.
func (c *core) totalOrder(sort []query.Order) []query.Order {
	if c.id.Key == nil {
		byID := func(o query.Order) bool { return o.Field == c.id.Name }
		if i := slices.IndexFunc(sort, byID); i >= 0 {
			return sort[:i+1]
		}
		return append(slices.Clip(sort), query.Order{Field: c.id.Name})
	}
	var out []query.Order
	left := slices.Clone(c.key) // not in out
	add := func(key query.Order) {
		if i := slices.Index(left, key.Field); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else if slices.ContainsFunc(out, func(o query.Order) bool { return o.Field == key.Field }) {
			return // equal in all items that are equal so far
		}
		out = append(out, key)
	}
	for _, o := range append(slices.Clip(sort), query.Order{Field: c.id.Name}) {
		if o.Field != c.id.Name {
			add(o)
		} else {
			for _, name := range slices.Clone(left) {
				add(query.Order{Field: name, Desc: o.Desc})
			}
		}
		if len(left) == 0 {
			break
		}
	}
	return out
}

// namesOf returns the JSON names of fields.
func namesOf(fields []*schema.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
