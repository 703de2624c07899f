package resource

// Groups of items: counts, sums and other aggregates. Called by protocols. It calls list_cursor.go for
// cursors, relation_filter.go for fields of related items, and the Aggregate method of the collection.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/jsonappend"
	"github.com/stoa-go/stoa/resource/internal/operand"
	"github.com/stoa-go/stoa/resource/schema"
)

// GroupPage is one page of groups.
type GroupPage struct {
	Groups []query.Group
	// Next is a cursor of the next page for [Resource.Aggregate]; empty if there is none.
	Next string

	stored  query.Aggregation // in the names of the collection
	binding string            // of the cursors
}

// Cursor returns a cursor of the group at index i of a page: the page after it begins after the group.
func (p *GroupPage) Cursor(i int) string {
	values := make([]any, len(p.stored.Sort))
	for j, o := range p.stored.Sort {
		values[j] = p.stored.ValueOf(p.Groups[i], o.Field)
	}
	return query.Cursor{Values: values}.Encode(p.binding)
}

// Aggregate returns one page of the groups that a selects from the items of the caller's Scope. It does
// not call Authorize: Options.ScopeComplete declares that Authorize hides none of these items. a is in
// the field names of the Resource, and its After is ignored. after is the Next of an earlier page of the
// same groups, or empty.
// The limit is a.Limit, or Options.PageSize if that is zero or less. The caller checks a with
// [query.Support.CheckAggregation]. If Options.Query declares no aggregates, Aggregate returns an
// internal error.
//
// A field of a related item, such as customer.country, is in the field names of its resource in the
// catalog. It is null if there is no related item, or none that the Scope of that resource selects.
// a.Joined is ignored.
//
// The values of a [View] are those of the collection: its down function does not apply to groups.
func (r *Resource) Aggregate(ctx context.Context, a query.Aggregation, after string) (GroupPage, error) {
	ctx = r.inCatalog(ctx)
	p, err := r.aggregate(ctx, a, after)
	if err != nil {
		return GroupPage{}, r.wrap(OpList, "", err)
	}
	return p, nil
}

// aggregate is Aggregate with errors that have no operation.
func (r *Resource) aggregate(ctx context.Context, a query.Aggregation, after string) (GroupPage, error) {
	c := r.core
	if !c.query.CanAggregate() {
		return GroupPage{}, errNoGroups
	}
	bound := a
	bound.Limit = 0
	binding := r.bindingOf(ctx, "groups\x00"+bound.Values().Encode())
	stored, err := r.storeAggregation(ctx, a)
	if err != nil {
		return GroupPage{}, err
	}
	if after != "" {
		cursor, err := query.DecodeCursor(after, binding)
		if err != nil {
			return GroupPage{}, err
		}
		if !r.fitsGroup(stored, cursor.Values) {
			return GroupPage{}, errCursor("the cursor is damaged or belongs to another list")
		}
		stored.After = cursor.Values
	}
	size := stored.Limit
	if size <= 0 {
		size = c.pageSize
	}
	stored.Limit = size + 1 // one more shows whether there is a next page
	p := GroupPage{stored: stored, binding: binding}
	err = c.limited(ctx, func(ctx context.Context) (err error) {
		p.Groups, err = drainGroups(ctx, stored, c.ops.aggregate(ctx, stored))
		return err
	})
	if err != nil || len(p.Groups) <= size {
		return p, err
	}
	p.Groups = p.Groups[:size]
	p.Next = p.Cursor(size - 1)
	return p, nil
}

var errNoGroups = errors.New("Options.Query declares no groups and no aggregates")

// storeAggregation converts an aggregation from the names of this projection to those of the collection,
// and its operands to the kinds of the aggregates. It adds the filters of the projection and the caller's
// scope, and makes the order total.
func (r *Resource) storeAggregation(ctx context.Context, a query.Aggregation) (query.Aggregation, error) {
	q, err := r.storeQuery(ctx, query.Query{Filter: a.Filter, Search: a.Search})
	if err != nil {
		return a, err
	}
	names := map[string]string{} // of Sort and Having
	a.Filter, a.Search = q.Filter, q.Search
	group := a.Group
	if a.Group, a.Joined, err = r.storeGroup(ctx, group); err != nil {
		return a, err
	}
	for i, field := range group {
		names[field] = a.Group[i]
	}
	a.Aggregates = slices.Clone(a.Aggregates)
	for i, v := range a.Aggregates {
		name := v.Name()
		if v.Func != query.Count {
			a.Aggregates[i].Field = r.projection.storeField(v.Field)
		}
		names[name] = a.Aggregates[i].Name()
	}
	a.Having, err = a.Having.Map(func(c query.Filter) (query.Filter, error) {
		c.Field = names[c.Field]
		return r.core.havingOperands(a, c)
	})
	if err != nil {
		return a, err
	}
	a.Sort = slices.Clone(a.Sort)
	for i, o := range a.Sort {
		var ok bool
		if a.Sort[i].Field, ok = names[o.Field]; !ok {
			return a, fmt.Errorf("sort has %s, which is no group and no aggregate of the query", o.Field)
		}
	}
	a.Sort, a.After = a.TotalOrder(), nil
	return a, nil
}

// storeGroup converts fields by which items are grouped, from the names of this projection to those of the
// collection. joined has those that are fields of related items.
func (r *Resource) storeGroup(ctx context.Context, fields []string) (
	stored []string, joined map[string]*query.JoinedField, err error,
) {
	var keys []query.Order // of related items
	for _, field := range fields {
		if !isPath(field, r.projection.typ) {
			stored = append(stored, r.projection.storeField(field))
			continue
		}
		key, err := r.joinedKey(ctx, pathGroup, query.Order{Field: field}, keys)
		if err != nil {
			return nil, nil, err
		}
		if joined == nil {
			joined = make(map[string]*query.JoinedField)
		}
		joined[key.Field] = key.Joined
		stored, keys = append(stored, key.Field), append(keys, key)
	}
	return stored, joined, nil
}

// havingOperands converts the operands of a comparison of Having to the kind of its aggregate.
func (c *core) havingOperands(a query.Aggregation, term query.Filter) (query.Filter, error) {
	i := slices.IndexFunc(a.Aggregates, func(v query.Aggregate) bool { return v.Name() == term.Field })
	if i < 0 {
		return term, fmt.Errorf("having compares %s, which is no aggregate of the query", term.Field)
	}
	f := c.typ.Field(a.Aggregates[i].Field)
	computed := a.Aggregates[i].Func == query.Sum || a.Aggregates[i].Func == query.Avg
	if term.Op == query.IsNull || f == nil || !computed && !f.IsDecimal() {
		return term, nil
	}
	convert := func(v any) (any, error) {
		if f.Type.Kind != schema.Number {
			return operand.Decimal(v)
		}
		if d, ok := query.Canonical(v).(query.Decimal); ok {
			v, _ = strconv.ParseFloat(d.String(), 64) // infinite if it is out of range
		}
		return v, nil
	}
	var err error
	if list, ok := term.Value.([]any); ok {
		list = slices.Clone(list)
		for i := 0; i < len(list) && err == nil; i++ {
			list[i], err = convert(list[i])
		}
		term.Value = list
	} else {
		term.Value, err = convert(term.Value)
	}
	if err != nil {
		return term, fmt.Errorf("compares %s with an operand that %w", term.Field, err)
	}
	return term, nil
}

// fitsGroup reports whether a cursor has a value of the right kind for each key of the order. Cursors are
// not authenticated, so values can be anything.
func (r *Resource) fitsGroup(a query.Aggregation, values []any) bool {
	if len(values) != len(a.Sort) {
		return false
	}
	for i, o := range a.Sort {
		if slices.Contains(a.Group, o.Field) {
			f := r.core.typ.Field(o.Field)
			if key := a.Joined[o.Field]; key != nil {
				f = r.joinedField(key)
			}
			// A column can contain NULL although its field cannot be null.
			if values[i] != nil && !fits(f, values[i]) {
				return false
			}
			continue
		}
		at := slices.IndexFunc(a.Aggregates, func(v query.Aggregate) bool { return v.Name() == o.Field })
		if !r.core.fitsAggregate(a.Aggregates[at], values[i]) {
			return false
		}
	}
	return true
}

// fitsAggregate reports whether v has the kind of an aggregate.
func (c *core) fitsAggregate(a query.Aggregate, v any) bool {
	isInt, isDecimal, isFloat := false, false, false
	switch v.(type) {
	case int64, uint64:
		isInt = true
	case query.Decimal:
		isDecimal = true
	case float64:
		isFloat = true
	}
	if a.Func == query.Count || a.Func == query.Distinct {
		return isInt
	}
	f := c.typ.Field(a.Field)
	switch {
	case v == nil:
		return true
	case a.Func == query.Min || a.Func == query.Max:
		return fits(f, v)
	case f.Type.Kind == schema.Number:
		return isFloat
	case f.Type.Kind == schema.Integer && a.Func == query.Sum:
		return isInt || isDecimal
	}
	return isDecimal
}

// drainGroups returns the groups of seq, at most a.Limit.
func drainGroups(
	ctx context.Context, a query.Aggregation, seq iter.Seq2[query.Group, error],
) (groups []query.Group, err error) {
	for g, err := range seq {
		if err != nil {
			return nil, err
		}
		if len(g.Keys) != len(a.Group) || len(g.Values) != len(a.Aggregates) {
			return nil, storeFault("returned a group of %d keys and %d values, want %d and %d",
				len(g.Keys), len(g.Values), len(a.Group), len(a.Aggregates))
		}
		if groups = append(groups, g); len(groups) == a.Limit {
			break // the store ignores the limit
		}
	}
	return groups, ctx.Err()
}

// AppendGroup appends the JSON of a group: an object with the fields of a.Group, then count, and for each
// other function an object of the fields that it is computed of. The name of a field of a related item is
// its path, as in {"customer.country":"FR","count":2}. Aggregates of decimals are strings, those of other
// numbers are numbers. After an error it returns dst unchanged.
func (raw Raw) AppendGroup(dst []byte, a query.Aggregation, g query.Group) ([]byte, error) {
	r := raw.r
	start, err := len(dst), error(nil)
	add := func(name string, comma bool) {
		if comma {
			dst = append(dst, ',')
		}
		if err == nil {
			dst, err = jsonappend.String(dst, name)
		}
		dst = append(dst, ':')
	}
	dst = append(dst, '{')
	for i, field := range a.Group {
		add(field, i > 0)
		if err == nil {
			dst, err = appendGroupValue(dst, g.Keys[i], true)
		}
	}
	first := len(a.Group) == 0
	for _, f := range query.Funcs() {
		open := false
		for i, v := range a.Aggregates {
			if v.Func != f {
				continue
			}
			if !open {
				add(string(f), !first)
				first = false
			}
			if f != query.Count {
				if !open {
					dst = append(dst, '{')
				}
				add(v.Field, open)
			}
			open = true
			if err == nil {
				of := r.Type().Field(v.Field) // nil for a count
				dst, err = appendGroupValue(dst, g.Values[i], of != nil && of.IsDecimal())
			}
		}
		if open && f != query.Count {
			dst = append(dst, '}')
		}
	}
	if err != nil {
		return dst[:start], err
	}
	return append(dst, '}'), nil
}

// appendGroupValue appends the JSON of one value of a group. ofDecimal reports that it is an aggregate of
// decimals, or the value of a field, which is a Decimal only if the field is.
func appendGroupValue(dst []byte, v any, ofDecimal bool) ([]byte, error) {
	switch v := query.Canonical(v).(type) {
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case uint64:
		return strconv.AppendUint(dst, v, 10), nil
	case float64:
		return jsonappend.Float(dst, v, 64)
	case query.Decimal:
		if ofDecimal {
			return jsonappend.String(dst, v.String())
		}
		return append(dst, v.String()...), nil
	case string:
		return jsonappend.String(dst, v)
	case time.Time:
		// A program may have stored a time that JSON cannot have.
		if year := v.Year(); year >= 0 && year <= 9999 {
			return jsonappend.Time(dst, &v)
		}
	}
	return append(dst, "null"...), nil
}
