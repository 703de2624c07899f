package resourcetest

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// overAggregates is the most aggregates of one request.
const overAggregates = 8

// aggregate follows the pages of groups of the server, as list does for items. Aggregates of all items may
// take several requests.
func (o *over[T]) aggregate(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error] {
	return func(yield func(query.Group, error) bool) {
		if len(a.Group) == 0 && len(a.Aggregates) > overAggregates && a.Having.IsZero() {
			yield(o.total(ctx, a))
			return
		}
		key := func(after []any) string { return a.Values().Encode() + fmt.Sprintf("%q", after) }
		cursor, known := o.cursorAt(key(a.After))
		read := a
		read.Sort = shortest(a)
		if read.After = nil; !known && a.After != nil { // search from the beginning
			read.Limit = 0
		}
		for n := 0; ; {
			groups, next, err := o.groups(ctx, read, cursor)
			if err != nil {
				yield(query.Group{}, err)
				return
			}
			if next != "" && len(groups) > 0 {
				var after []any
				for _, order := range a.TotalOrder() {
					after = append(after, a.ValueOf(groups[len(groups)-1], order.Field))
				}
				o.rememberAt(key(after), next)
			}
			if !known {
				valueOf := func(g *query.Group, name string) any { return a.ValueOf(*g, name) }
				groups = query.Select(query.Query{Sort: a.TotalOrder(), After: a.After}, groups, valueOf)
			}
			for _, g := range groups {
				if n++; !yield(g, nil) || n == a.Limit {
					return
				}
			}
			if cursor = next; cursor == "" {
				return
			}
		}
	}
}

// shortest returns the fewest keys that are the order of a, because a server accepts few.
func shortest(a query.Aggregation) []query.Order {
	order := a.TotalOrder()
	for n := range order {
		short := a
		if short.Sort = order[:n]; slices.Equal(short.TotalOrder(), order) {
			return short.Sort
		}
	}
	return order
}

// total returns the group of all items.
func (o *over[T]) total(ctx context.Context, a query.Aggregation) (query.Group, error) {
	var all query.Group
	for some := range slices.Chunk(a.Aggregates, overAggregates) {
		part := a
		part.Aggregates = some
		groups, _, err := o.groups(ctx, part, "")
		if err != nil {
			return query.Group{}, err
		}
		if len(groups) != 1 {
			return query.Group{}, fmt.Errorf("the server returned %d groups, want 1", len(groups))
		}
		all.Values = append(all.Values, groups[0].Values...)
	}
	return all, nil
}

// groups requests a page of groups.
func (o *over[T]) groups(ctx context.Context, a query.Aggregation, cursor string) (
	groups []query.Group, next string, err error,
) {
	params := a.Values()
	if cursor != "" {
		params.Set("after", cursor)
	}
	answer, err := o.do(ctx, http.MethodGet, o.at+"?"+params.Encode(), nil)
	if err != nil {
		return nil, "", err
	}
	var p struct {
		Groups []map[string]jsontext.Value `json:"groups"`
		Next   string                      `json:"next"`
	}
	if err := json.Unmarshal(answer.body, &p); err != nil {
		return nil, "", err
	}
	for _, members := range p.Groups {
		g := query.Group{Keys: make([]any, len(a.Group)), Values: make([]any, len(a.Aggregates))}
		for i, field := range a.Group {
			if g.Keys[i], err = o.fieldValue(field, members[field]); err != nil {
				return nil, "", err
			}
		}
		for i, v := range a.Aggregates {
			text := members[string(v.Func)]
			if v.Func != query.Count {
				var fields map[string]jsontext.Value
				if err := json.Unmarshal(text, &fields); err != nil {
					return nil, "", fmt.Errorf("%s is %s: %w", v.Func, text, err)
				}
				text = fields[v.Field]
			}
			if g.Values[i], err = o.aggregateValue(v, text); err != nil {
				return nil, "", fmt.Errorf("%s is %s: %w", v.Name(), text, err)
			}
		}
		groups = append(groups, g)
	}
	return groups, p.Next, nil
}

// fieldValue returns the canonical value of a field from its JSON.
func (o *over[T]) fieldValue(field string, raw jsontext.Value) (any, error) {
	if raw.Kind() == 'n' {
		return nil, nil
	}
	text := string(raw)
	if raw.Kind() == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
	}
	v, err := o.typ.Field(field).Parse(text)
	return query.Canonical(v), err
}

// aggregateValue returns an aggregate from its JSON, in the kind that the function has.
func (o *over[T]) aggregateValue(a query.Aggregate, raw jsontext.Value) (any, error) {
	switch {
	case a.Func == query.Count || a.Func == query.Distinct:
		return strconv.ParseInt(string(raw), 10, 64)
	case a.Func == query.Min || a.Func == query.Max || raw.Kind() == 'n':
		return o.fieldValue(a.Field, raw)
	}
	f := o.typ.Field(a.Field)
	if f.Type.Kind == schema.Number {
		return strconv.ParseFloat(string(raw), 64)
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && a.Func == query.Sum && !f.IsDecimal() {
		return n, nil
	}
	if quoted := raw.Kind() == '"'; quoted != f.IsDecimal() {
		return nil, fmt.Errorf("want a string for a decimal and a number for others")
	}
	return query.ParseDecimal(strings.Trim(string(raw), `"`))
}
