package resourcetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// filterCases test Query.Filter and Counter.
func filterCases() []testCase {
	const truth = "A filter selects the items for which query.Match returns true. Every comparison is true " +
		"or false: for null, eq, in, lt, lte, gt, gte, contains and startsWith are false, and ne and notIn " +
		"are true. (SQL needs (a <> ? OR a IS NULL).) "
	return []testCase{
		{
			name:  "filter-comparisons",
			needs: filterer,
			contract: truth + "Text is compared exactly: case matters, and % and _ have no special " +
				"meaning. If the store cannot evaluate a comparison, omit it from Support, and the library " +
				"rejects it.",
			run: filterComparisons,
		},
		{
			name:     "filter-trees",
			needs:    filterer,
			contract: truth + "And, or and not nest to any depth. (Use parentheses.)",
			run:      filterTrees,
		},
		{
			name:  "count-list",
			needs: counter,
			contract: "Count returns the number of items that List returns for the filter. Clients " +
				"receive it as the total of a list.",
			run: countList,
		},
	}
}

// samples are the values that occur in each filterable field, or in its elements.
type samples map[string][]any

// collectSamples returns the values of items, which need not be stored.
func (k *kit) collectSamples(items []resource.Item[any]) samples {
	s := samples{}
	for field := range k.Support.Filter {
		for i := range items {
			v := k.fieldOf(&items[i], field)
			elements, isList := v.([]any)
			if !isList {
				elements = []any{v}
			}
			for _, v := range elements {
				known := func(other any) bool { return query.Compare(v, other) == 0 }
				if v != nil && !slices.ContainsFunc(s[field], known) {
					s[field] = append(s[field], v)
				}
			}
		}
	}
	return s
}

// isList reports whether a field is a list, which is compared by its elements.
func (k *kit) isList(field string) bool {
	f := k.typ.Field(field)
	return f != nil && f.ComparableElem()
}

// withOthers returns items and some that are not stored, so that filters also contain values that
// no item has.
func (k *kit) withOthers(items []resource.Item[any]) []resource.Item[any] {
	all := slices.Clone(items)
	for range 10 {
		all = append(all, resource.Item[any]{Value: k.styled(clustered)})
	}
	return all
}

// comparison generates a comparison, if the field ever had a value.
func (k *kit) comparison(s samples, field string, op query.Op) (query.Filter, bool) {
	if op == query.IsNull {
		return query.Where(field, op, k.rng.IntN(2) == 0), true
	}
	values := s[field]
	if len(values) == 0 {
		return query.Filter{}, false
	}
	one := values[k.rng.IntN(len(values))]
	switch op {
	case query.In, query.NotIn:
		list := []any{}
		for range k.rng.IntN(4) {
			list = append(list, values[k.rng.IntN(len(values))])
		}
		return query.Where(field, op, list), true
	case query.Contains, query.StartsWith:
		if k.isList(field) {
			break
		}
		text, ok := one.(string)
		return query.Where(field, op, k.part(text)), ok
	}
	return query.Where(field, op, one), true
}

// trickyParts are texts with special characters of pattern languages.
var trickyParts = []string{"%", "_", `\`, "a_", "*", "?", "[a-z]", "'", ""}

// part returns a part of a text, or one of trickyParts.
func (k *kit) part(text string) string {
	if k.rng.IntN(3) == 0 {
		return trickyParts[k.rng.IntN(len(trickyParts))]
	}
	runes := []rune(text)
	if len(runes) == 0 {
		return ""
	}
	from := k.rng.IntN(2) * k.rng.IntN(len(runes)) // from the start, half of the time
	return string(runes[from : from+1+k.rng.IntN(len(runes)-from)])
}

// leaf generates a comparison of any supported kind.
func (k *kit) leaf(s samples) query.Filter {
	fields := slices.Sorted(maps.Keys(k.Support.Filter))
	const tries = 20
	for range tries {
		field := fields[k.rng.IntN(len(fields))]
		ops := k.Support.Filter[field]
		if len(ops) == 0 {
			continue
		}
		if f, ok := k.comparison(s, field, ops[k.rng.IntN(len(ops))]); ok {
			return f
		}
	}
	return query.Filter{}
}

// tree generates a filter of at most this depth. It does not use the constructors of package query,
// because they simplify forms that a store may receive.
func (k *kit) tree(s samples, depth int) query.Filter {
	if depth == 0 {
		return k.leaf(s)
	}
	parts := make([]query.Filter, 2+k.rng.IntN(2))
	for i := range parts {
		parts[i] = k.tree(s, depth-1)
	}
	switch k.rng.IntN(4) {
	case 0:
		return query.And(parts...)
	case 1:
		return query.Or(parts...)
	case 2:
		return query.Not(parts[0])
	default:
		return k.leaf(s)
	}
}

// boundedTree returns a tree that a server with the default limits accepts.
func (k *kit) boundedTree(s samples, depth int) query.Filter {
	for {
		if f := k.tree(s, depth); f.Terms() <= maxComparisons {
			return f
		}
	}
}

// maxComparisons is the default of resource.Limits.Terms.
const maxComparisons = 20

// disagrees reports whether the store returns the wrong items for a filter.
func (k *kit) disagrees(f query.Filter, items []resource.Item[any]) bool {
	q := k.ordered(query.Query{Filter: f})
	got := map[string]bool{}
	for _, it := range k.list(q) {
		got[it.ID] = true
	}
	want := k.expect(query.Query{Filter: f}, items)
	for _, it := range want {
		if !got[it.ID] {
			return true
		}
	}
	return len(want) != len(got)
}

// checkFilter compares a filtered list with the reference and reports the smallest part of the
// filter that fails.
func (k *kit) checkFilter(f query.Filter, items []resource.Item[any]) bool {
	if !k.disagrees(f, items) {
		return true
	}
	for i := 0; i < len(f.Filters); i++ {
		if k.disagrees(f.Filters[i], items) {
			f, i = f.Filters[i], -1
		}
	}
	q := k.ordered(query.Query{Filter: f})
	var shown []query.Order
	for field := range f.Fields() {
		shown = append(shown, query.Order{Field: field})
	}
	k.sameIDs(k.expect(q, items), k.list(q), "List where "+showFilter(f), shown...)
	return false
}

// filterComparisons tests each supported comparison of each field alone, so that a failure names
// one of them.
func filterComparisons(k *kit) {
	items := k.inOrder(k.fill(max(30, k.Items/4), clustered))
	s := k.collectSamples(k.withOthers(items))
	for _, field := range slices.Sorted(maps.Keys(k.Support.Filter)) {
		for _, op := range k.Support.Filter[field] {
			for _, f := range k.comparisons(s, field, op) {
				if !k.checkFilter(f, items) {
					break
				}
			}
		}
	}
}

// comparisons generates comparisons of one kind, beginning with the most error-prone values.
func (k *kit) comparisons(s samples, field string, op query.Op) (fs []query.Filter) {
	switch op {
	case query.IsNull:
		return []query.Filter{query.Where(field, op, true), query.Where(field, op, false)}
	case query.In, query.NotIn:
		fs = append(fs, query.Where(field, op, []any{}))
	case query.Contains, query.StartsWith:
		for _, part := range trickyParts {
			if k.isList(field) {
				break
			}
			fs = append(fs, query.Where(field, op, part))
		}
	}
	for range 8 {
		if f, ok := k.comparison(s, field, op); ok {
			fs = append(fs, f)
		}
	}
	return fs
}

// filterTrees combines comparisons. It reduces the first tree that fails and ends the case.
func filterTrees(k *kit) {
	items := k.inOrder(k.fill(max(30, k.Items/4), clustered))
	s := k.collectSamples(k.withOthers(items))
	for range max(30, k.Items/2) {
		if !k.checkFilter(k.boundedTree(s, 1+k.rng.IntN(3)), items) {
			return
		}
	}
}

// inOrder sorts items in the order of the whole list.
func (k *kit) inOrder(items []resource.Item[any]) []resource.Item[any] {
	if k.able.has(natural) {
		return k.all()
	}
	return k.expect(k.ordered(query.Query{}), items)
}

// countList compares Count with List. The filter cases check List.
func countList(k *kit) {
	items := k.fill(max(20, k.Items/4), clustered)
	filters := []query.Filter{{}}
	if k.able.has(filterer) {
		s := k.collectSamples(k.withOthers(items))
		for range 20 {
			filters = append(filters, k.boundedTree(s, 2))
		}
	}
	for _, f := range filters {
		n, err := k.ops.Count(k.ctx, query.Query{Filter: f})
		k.must(err, "Count")
		if listed := len(k.list(k.ordered(query.Query{Filter: f}))); n != listed {
			k.errorf("Count where %s returned %d, but List returns %d items", showFilter(f), n, listed)
		}
	}
}

// show formats a query for a message.
func show(q query.Query) string {
	parts := []string{"where " + showFilter(q.Filter)}
	for _, o := range q.Sort {
		direction := "asc"
		if o.Desc {
			direction = "desc"
		}
		parts = append(parts, fmt.Sprintf("by %s %s", o.Field, direction))
	}
	if q.Limit > 0 {
		parts = append(parts, fmt.Sprintf("limit %d", q.Limit))
	}
	if q.After != nil {
		parts = append(parts, "after "+showValue(q.After))
	}
	if q.Token != "" {
		parts = append(parts, fmt.Sprintf("token %q", q.Token))
	}
	if q.Fields != nil {
		parts = append(parts, "fields "+strings.Join(q.Fields, " "))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// showFilter formats a filter for a message.
func showFilter(f query.Filter) string {
	switch f.Op {
	case query.AndOp, query.OrOp, query.NotOp:
		parts := make([]string, len(f.Filters))
		for i, sub := range f.Filters {
			parts[i] = showFilter(sub)
		}
		return fmt.Sprintf("%s(%s)", f.Op, strings.Join(parts, ", "))
	}
	if f.IsZero() {
		return "everything"
	}
	return fmt.Sprintf("%s %s %s", f.Field, f.Op, showValue(f.Value))
}

// showValue formats a canonical value, or a list of them, for a message.
func showValue(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = showValue(v[i])
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprint(v)
}
