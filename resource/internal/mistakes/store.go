package mistakes

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// OfStore returns which parts of s a store does not support, by calling check with each alone; nil
// supports all. A composite id and paths of related items are not fields of the store.
func OfStore(
	option string, s query.Support, typ *schema.Type, check func(query.Support) error,
) (found []string) {
	if check == nil {
		return nil
	}
	ask := func(field string, part query.Support, format string, args ...any) {
		if f := typ.Field(field); field != "" && (f == nil || f.Key != nil) {
			return
		}
		if err := check(part); err != nil {
			found = append(found, fmt.Sprintf("%s.%s, which the collection does not support: %v",
				option, fmt.Sprintf(format, args...), err))
		}
	}
	for _, field := range slices.Sorted(maps.Keys(s.Filter)) {
		for _, op := range s.Filter[field] {
			part := query.Support{Filter: map[string][]query.Op{field: {op}}}
			ask(field, part, "Filter[%q] has the operator %q", field, op)
		}
	}
	for _, field := range s.Sort {
		ask(field, query.Support{Sort: []string{field}}, "Sort names %q", field)
	}
	for _, field := range s.Group {
		ask(field, query.Support{Group: []string{field}}, "Group names %q", field)
	}
	for _, field := range slices.Sorted(maps.Keys(s.Aggregate)) {
		for _, fn := range s.Aggregate[field] {
			part := query.Support{Aggregate: map[string][]query.Func{field: {fn}}}
			ask(field, part, "Aggregate[%q] has %q", field, fn)
		}
	}
	ask("", query.Support{Search: s.Search}, "Search is %q", s.Search)
	ask("", query.Support{Natural: s.Natural}, "Natural is %t", s.Natural)
	return found
}
