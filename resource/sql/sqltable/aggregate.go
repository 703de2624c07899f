package sqltable

// Groups and their aggregates. sqlquery writes the statement; the values are read like those of fields.

import (
	"context"
	"errors"
	"iter"
	"reflect"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// aggregate implements [resource.Aggregator] with one statement.
func (t *untyped) aggregate(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error] {
	return func(yield func(query.Group, error) bool) {
		a.Filter = t.living(a.Filter)
		from, args, err := t.from(a.Search, false)
		if err != nil {
			yield(query.Group{}, err)
			return
		}
		g, err := t.tr.Aggregate(a, from, args...)
		if err != nil {
			yield(query.Group{}, err)
			return
		}
		var kept []query.Group
		err = t.groups(ctx, a, &g, func(group query.Group) bool {
			if g.Complete {
				return yield(group, nil)
			}
			kept = append(kept, group)
			if a.Limit > 0 && len(kept) >= 2*a.Limit+mostKept { // the memory does not grow with the groups
				kept = finish(a, kept)
			}
			return true
		})
		if err != nil {
			yield(query.Group{}, err)
			return
		}
		for _, group := range finish(a, kept) {
			if !yield(group, nil) {
				return
			}
		}
	}
}

// mostKept is the number of groups beyond two pages that are kept before they are sorted.
const mostKept = 1000

// finish applies what the statement of an aggregation does not.
func finish(a query.Aggregation, groups []query.Group) []query.Group {
	q := query.Query{Filter: a.Having, Sort: a.TotalOrder(), After: a.After, Limit: a.Limit}
	return query.Select(q, groups, func(g *query.Group, name string) any { return a.ValueOf(*g, name) })
}

// groups runs the statement and calls fn with each group, until it returns false.
func (t *untyped) groups(
	ctx context.Context, a query.Aggregation, g *sqlquery.Groups, fn func(query.Group) bool,
) error {
	answer, err := t.db.Reader(ctx).QueryContext(ctx, g.Text, g.Args...)
	if err != nil {
		return t.fault(err)
	}
	defer answer.Close()
	r := t.newGroupRow(a, g)
	for answer.Next() {
		if err = answer.Scan(r.dests...); err != nil {
			break
		}
		var group query.Group
		if group, err = r.group(g); err != nil {
			break
		}
		if !fn(group) {
			return nil // yield must not be called again, not even with an error
		}
	}
	return t.fault(errors.Join(err, answer.Err()))
}

// groupRow is the destination of Scan for groups, one after the other.
type groupRow struct {
	keys   []*groupValue
	values []*groupValue // nil for aggregates that are computed
	raw    [][]any       // the columns of those
	dests  []any
}

func (t *untyped) newGroupRow(a query.Aggregation, g *sqlquery.Groups) *groupRow {
	r := &groupRow{}
	for _, field := range a.Group {
		of, name := t, field
		if key := a.Joined[field]; key != nil {
			of, name = key.Join.Target.(joiner).t, key.Field // Joins has accepted it
		}
		v := newGroupValue(of.typ.GoType, of.byField[name])
		r.keys, r.dests = append(r.keys, v), append(r.dests, v)
	}
	for i, v := range a.Aggregates {
		if g.Stored(i) {
			value := newGroupValue(t.typ.GoType, t.byField[v.Field])
			r.values, r.raw, r.dests = append(r.values, value), append(r.raw, nil), append(r.dests, value)
			continue
		}
		raw := make([]any, g.Width(i))
		for j := range raw {
			r.dests = append(r.dests, &raw[j])
		}
		r.values, r.raw = append(r.values, nil), append(r.raw, raw)
	}
	return r
}

// group returns the last scanned group.
func (r *groupRow) group(g *sqlquery.Groups) (query.Group, error) {
	group := query.Group{Keys: make([]any, len(r.keys)), Values: make([]any, len(r.values))}
	for i, v := range r.keys {
		group.Keys[i] = v.get()
	}
	for i, v := range r.values {
		if v != nil {
			group.Values[i] = v.get()
			continue
		}
		var err error
		if group.Values[i], err = g.Compute(i, r.raw[i]); err != nil {
			return query.Group{}, err
		}
	}
	return group, nil
}

// groupValue is a [sql.Scanner] for a value of a column, in an item that has nothing else.
type groupValue struct {
	field  *schema.Field
	item   any // a pointer to it
	scan   *fieldScanner
	isNull bool
}

func newGroupValue(typ reflect.Type, c *column) *groupValue {
	item := reflect.New(typ)
	return &groupValue{
		field: c.field, item: item.Interface(), scan: c.scanner(item.Elem().FieldByIndex(c.field.Index)),
	}
}

// Scan implements [sql.Scanner].
func (v *groupValue) Scan(src any) error {
	if v.isNull = src == nil; v.isNull {
		return nil
	}
	return v.scan.Scan(src)
}

// get returns the canonical value.
func (v *groupValue) get() any {
	if v.isNull {
		return nil
	}
	value := query.Canonical(v.field.Get(v.item))
	if value == 0.0 {
		return 0.0 // without a sign
	}
	return value
}
