package mistakes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// ofAggregates returns the mistakes of the groups and aggregates that a store declares.
func ofAggregates(option string, s query.Support, typ *schema.Type) (found []string) {
	for _, field := range s.Group {
		f, mistake := fieldOf(option+".Group", field, typ)
		switch {
		case mistake != "":
		case !f.Comparable() || f.IsDuration() || f.Key != nil:
			mistake = fmt.Sprintf("%s.Group names %q, which is a list, a duration or a composite id; "+
				"remove it", option, field)
		case IsAggregateName(field):
			mistake = fmt.Sprintf("%s.Group names %q, which is the name of an aggregate; remove it",
				option, field)
		}
		if mistake != "" {
			found = append(found, mistake)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(s.Aggregate)) {
		f, mistake := fieldOf(option+".Aggregate", field, typ)
		if mistake != "" {
			found = append(found, mistake)
			continue
		}
		allowed := funcsOf(f)
		for _, fn := range s.Aggregate[field] {
			if slices.Contains(allowed, fn) {
				continue
			}
			place := fmt.Sprintf("%s.Aggregate[%q] has %q", option, field, fn)
			switch {
			case len(allowed) == 0:
				found = append(found, place+", but a list, a duration or a composite id has no aggregates; "+
					"remove it")
			case slices.Contains(query.Funcs(), fn) && fn != query.Count:
				found = append(found, fmt.Sprintf("%s, which does not apply to a %s; remove it",
					place, describe(f)))
			default:
				found = append(found, fmt.Sprintf("%s; use one of %s", place, constants(allowed)))
			}
		}
	}
	return found
}

// funcsOf returns the functions that apply to a field.
func funcsOf(f *schema.Field) []query.Func {
	switch {
	case !f.Comparable() || f.IsDuration() || f.Key != nil:
		return nil
	case f.IsDecimal(), f.Type.Kind == schema.Integer, f.Type.Kind == schema.Number:
		return query.Funcs()[1:]
	case f.Type.Kind == schema.Boolean:
		return []query.Func{query.Distinct}
	}
	return []query.Func{query.Distinct, query.Min, query.Max}
}

// IsAggregateName reports whether a field with this name could be confused with an aggregate in a group.
func IsAggregateName(field string) bool {
	return slices.ContainsFunc(query.Funcs(), func(f query.Func) bool {
		return field == string(f) || strings.HasPrefix(field, string(f)+".")
	})
}

// constants returns the names of functions in package query.
func constants(funcs []query.Func) string {
	names := make([]string, len(funcs))
	for i, f := range funcs {
		names[i] = constant(query.Op(f))
	}
	return strings.Join(names, ", ")
}
