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
	ask := func(part query.Support, format string, args ...any) {
		if err := check(part); err != nil {
			found = append(found, fmt.Sprintf("%s.%s, which the collection does not support: %v",
				option, fmt.Sprintf(format, args...), err))
		}
	}
	own := func(field string) bool {
		f := typ.Field(field)
		return f != nil && f.Key == nil
	}
	for _, field := range slices.Sorted(maps.Keys(s.Filter)) {
		for _, op := range s.Filter[field] {
			if own(field) {
				ask(query.Support{Filter: map[string][]query.Op{field: {op}}},
					"Filter[%q] has the operator %q", field, op)
			}
		}
	}
	for _, field := range s.Sort {
		if own(field) {
			ask(query.Support{Sort: []string{field}}, "Sort names %q", field)
		}
	}
	for _, field := range s.Group {
		if own(field) {
			ask(query.Support{Group: []string{field}}, "Group names %q", field)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(s.Aggregate)) {
		for _, fn := range s.Aggregate[field] {
			if own(field) {
				one := map[string][]query.Func{field: {fn}}
				ask(query.Support{Aggregate: one}, "Aggregate[%q] has %q", field, fn)
			}
		}
	}
	if len(s.Search) > 0 {
		ask(query.Support{Search: s.Search}, "Search is set")
	}
	if s.Natural {
		ask(query.Support{Natural: true}, "Natural is set")
	}
	return found
}
