package query

// The reference evaluator of aggregations, which stores in memory use.

import (
	"context"
	"math/big"
	"slices"
	"strconv"
)

// Summarize evaluates a over items: it groups those that match the filter and the search, and returns
// the groups that match Having, in the total order of a, after the position, up to the limit. field returns a
// field of an item by JSON name, as [FieldOf] does, and the value of a path in Group.
//
// A text that JSON omits because it is empty, such as a date with omitzero, is a value: the empty text. A
// store that keeps it as null computes the aggregates of null.
//
// If After does not have one value per key of [Aggregation.TotalOrder], there are no groups. The error
// is that of [Summary.Add]. Summarize is the reference for the meaning of aggregates; all stores must
// agree with it.
func Summarize[E any](a Aggregation, items []E, field func(e *E, name string) any) ([]Group, error) {
	var item *E // one closure for all items
	value := func(name string) any { return field(item, name) }
	s := NewSummary(a)
	for i := range items {
		item = &items[i]
		if !evaluatesTo(a.Filter, true, value) {
			continue
		}
		if _, found := a.Search.Match(value); !found {
			continue
		}
		if err := s.Add(value); err != nil {
			return nil, err
		}
	}
	return s.Groups(context.Background())
}

// MaxSummary limits the memory of a [Summary]: it is the number of its groups, plus the number of their
// aggregates, plus the number of different values that [Distinct] has counted in all of them. Each 64
// bytes of the fields of a group, and of such a value, count as one more.
const MaxSummary = 100_000

// sizeOf returns what the text that identifies a group or a value adds to the size.
func sizeOf(packed []byte) int { return 1 + len(packed)/64 }

// Summary computes an aggregation item by item. Create it with [NewSummary]. It is not safe for
// concurrent use.
type Summary struct {
	a      Aggregation
	groups []*summaryGroup
	byKey  map[string]*summaryGroup
	key    []byte
	size   int // compared with MaxSummary
}

// summaryGroup is a group while items are added.
type summaryGroup struct {
	keys   []any
	values []accumulator
}

// NewSummary returns a Summary of no items.
func NewSummary(a Aggregation) *Summary {
	s := &Summary{a: a, byKey: map[string]*summaryGroup{}}
	if len(a.Group) == 0 {
		s.group(func(string) any { return nil })
	}
	return s
}

// Add adds an item, whether or not it matches the filter. value returns a field by JSON name; any
// scalar is accepted, because [Canonical] is applied. If the Summary is larger than [MaxSummary], Add
// returns an *[Error] with the code tooMany.
func (s *Summary) Add(value func(field string) any) error {
	g := s.group(value)
	for i, a := range s.a.Aggregates {
		if a.Func == Count {
			g.values[i].count++
			continue
		}
		if v := normal(value(a.Field)); kindOf(v) != nullKind {
			s.add(&g.values[i], a.Func, v)
		}
	}
	if s.size <= MaxSummary {
		return nil
	}
	parameter := "group"
	if len(s.a.Group) == 0 {
		parameter = string(Distinct)
	}
	return &Error{Parameter: parameter, Code: tooMany, Detail: "there are more than " +
		strconv.Itoa(MaxSummary) + " groups, aggregates and different values; use a more specific filter"}
}

// add adds a value that is not null to an aggregate.
func (s *Summary) add(c *accumulator, f Func, v any) {
	if f != Distinct {
		c.add(f, v)
		return
	}
	s.key = packValue(s.key[:0], v)
	if c.seen[string(s.key)] {
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[string(s.key)] = true
	s.size += sizeOf(s.key)
}

// group returns the group of an item, which it creates if there is none.
func (s *Summary) group(value func(field string) any) *summaryGroup {
	s.key = s.key[:0]
	for _, field := range s.a.Group {
		s.key = packValue(s.key, normal(value(field)))
	}
	g := s.byKey[string(s.key)]
	if g != nil {
		return g
	}
	g = &summaryGroup{keys: make([]any, len(s.a.Group)), values: make([]accumulator, len(s.a.Aggregates))}
	for i, field := range s.a.Group {
		g.keys[i] = normal(value(field))
	}
	s.byKey[string(s.key)] = g
	s.groups = append(s.groups, g)
	s.size += sizeOf(s.key) + len(g.values)
	return g
}

// normal is Canonical with one representation for equal numbers: zero has no sign.
func normal(v any) any {
	v = Canonical(v)
	if v == 0.0 {
		return 0.0
	}
	return v
}

// Groups returns the groups of the items so far, as [Summarize] does. The error is that of ctx.
func (s *Summary) Groups(ctx context.Context) ([]Group, error) {
	order := s.a.TotalOrder()
	if s.a.After != nil && len(s.a.After) != len(order) {
		return nil, nil
	}
	current := Group{Values: make([]any, len(s.a.Aggregates))} // of each group in turn
	value := func(name string) any { return s.a.ValueOf(current, name) }
	page := newPage(Query{Sort: order, After: s.a.After, Limit: s.a.Limit})
	for i, g := range s.groups {
		if i%64 == 0 && ctx.Err() != nil { // a sum of floats of many exponents is slow
			return nil, ctx.Err()
		}
		current.Keys = g.keys
		s.results(g, current.Values)
		if evaluatesTo(s.a.Having, true, value) && !page.offer(i, value) {
			break
		}
	}
	var groups []Group
	for _, row := range page.close() { // computed again, which is cheaper than to keep all groups
		g := s.groups[row.index]
		group := Group{Keys: slices.Clone(g.keys), Values: make([]any, len(g.values))}
		s.results(g, group.Values)
		groups = append(groups, group)
	}
	return groups, nil
}

// results sets the values of a group.
func (s *Summary) results(g *summaryGroup, values []any) {
	for i, a := range s.a.Aggregates {
		values[i] = g.values[i].result(a.Func)
	}
}

// accumulator computes one aggregate of a group.
type accumulator struct {
	count int64           // items for Count, otherwise values that are not null
	seen  map[string]bool // of Distinct
	best  any             // of Min and Max

	// The sum is that of small and exact or, if there are float64 values, of floats. decimal reports
	// whether a value was a Decimal.
	floats  *floatSum
	small   int64
	exact   *exactSum
	decimal bool
}

// add adds a value that is not null, except for Distinct.
func (c *accumulator) add(f Func, v any) {
	c.count++
	switch f {
	case Min:
		if c.count == 1 || Compare(v, c.best) < 0 {
			c.best = v
		}
	case Max:
		if c.count == 1 || Compare(v, c.best) > 0 {
			c.best = v
		}
	case Sum, Avg:
		c.addNumber(v)
	}
}

// addNumber adds to the sum. Integers are added as int64 while that does not overflow.
func (c *accumulator) addNumber(v any) {
	switch v := v.(type) {
	case float64:
		if c.floats == nil {
			c.floats = &floatSum{}
		}
		c.floats.add(v)
	case int64:
		if sum := c.small + v; (sum > c.small) == (v > 0) {
			c.small = sum
			return
		}
		c.largeSum().add(big.NewInt(v), 0)
	case uint64:
		c.largeSum().add(new(big.Int).SetUint64(v), 0)
	case Decimal:
		c.decimal = true
		c.largeSum().add(unscaled(v))
	default:
		c.count-- // not a number
	}
}

func (c *accumulator) largeSum() *exactSum {
	if c.exact == nil {
		c.exact = &exactSum{}
	}
	return c.exact
}

// result returns the value of the aggregate.
func (c *accumulator) result(f Func) any {
	switch f {
	case Count:
		return c.count
	case Distinct:
		return int64(len(c.seen))
	case Min, Max:
		return c.best
	}
	if c.count == 0 {
		return nil
	}
	if c.floats != nil {
		sum := c.floats.total().float64()
		if total, ok := sum.(float64); ok && f == Avg {
			return normal(total / float64(c.count))
		}
		return sum
	}
	if f == Sum && c.exact == nil {
		return c.small
	}
	total := &exactSum{}
	total.add(big.NewInt(c.small), 0)
	if c.exact != nil {
		total.add(&c.exact.unscaled, c.exact.scale)
	}
	switch {
	case f == Avg:
		return total.mean(c.count)
	case !c.decimal && total.unscaled.IsInt64():
		return total.unscaled.Int64()
	}
	return scaledDecimal(&total.unscaled, total.scale)
}
