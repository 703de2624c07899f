package query

import (
	"reflect"
	"strings"
	"sync"
)

// FieldOf reads a field of a struct, or of a pointer to one, by its JSON name, and makes it canonical. Fields of
// embedded structs are found as JSON finds them. It is nil for a field that is null, behind a nil pointer, or not
// there. Authors of stores hand it to [Select]:
//
//	query.Select(q, orders, func(o *Order, field string) any { return query.FieldOf(o, field) })
//
// A type is examined once; still, a switch over the names written by hand is faster.
func FieldOf(v any, name string) any {
	item := reflect.ValueOf(v)
	for item.Kind() == reflect.Pointer || item.Kind() == reflect.Interface {
		item = item.Elem() // of nil: the zero Value, whose Kind is Invalid
	}
	if item.Kind() != reflect.Struct {
		return nil
	}
	path := pathsOf(item.Type())[name]
	if path == nil {
		return nil
	}
	for _, i := range path {
		if item.Kind() == reflect.Pointer {
			if item.IsNil() {
				return nil
			}
			item = item.Elem()
		}
		item = item.Field(i)
	}
	return canonicalOf(item)
}

// paths says, for each JSON name of a struct type, by which steps its field is reached.
type paths map[string][]int

// pathsByType only ever grows, by one entry for each struct type of the program that is asked about.
var pathsByType sync.Map // reflect.Type -> paths

// pathsOf may find the same paths in two goroutines at once; both then use the first that were stored.
func pathsOf(t reflect.Type) paths {
	if cached, ok := pathsByType.Load(t); ok {
		return cached.(paths)
	}
	found, _ := pathsByType.LoadOrStore(t, findPaths(t))
	return found.(paths)
}

// level is a struct type met on the way down, and the steps to it.
type level struct {
	of   reflect.Type
	path []int
}

// findPaths goes through t and what it embeds, level by level, since the shallowest field of a name is the one meant.
func findPaths(t reflect.Type) paths {
	found := make(paths)
	seen := map[reflect.Type]bool{t: true} // a type that embeds a pointer to itself would go on for ever
	for this := []level{{of: t}}; len(this) > 0; {
		candidates := make(map[string][]candidate)
		var next []level
		for _, l := range this {
			for i := range l.of.NumField() {
				field := l.of.Field(i)
				path := append(l.path[:len(l.path):len(l.path)], i)
				name, tagged, embedded := jsonName(field)
				switch {
				case embedded != nil && !seen[embedded]:
					next = append(next, level{embedded, path})
				case embedded == nil && name != "":
					candidates[name] = append(candidates[name], candidate{path, tagged})
				}
			}
		}
		settle(found, candidates)
		for _, l := range next {
			seen[l.of] = true
		}
		this = next
	}
	return found
}

// candidate is one of the fields of one level that share a name.
type candidate struct {
	path   []int
	tagged bool
}

// settle adds the winner of each name to found: the only field, or the only one whose tag says the name. Names without
// a winner are taken as well, by nobody, so that no deeper field gets them.
func settle(found paths, candidates map[string][]candidate) {
	for name, cs := range candidates {
		if _, taken := found[name]; taken {
			continue
		}
		var winners [2][][]int // without a tag, with one
		for _, c := range cs {
			if c.tagged {
				winners[1] = append(winners[1], c.path)
			} else {
				winners[0] = append(winners[0], c.path)
			}
		}
		switch {
		case len(winners[1]) == 1:
			found[name] = winners[1][0]
		case len(winners[1]) == 0 && len(winners[0]) == 1:
			found[name] = winners[0][0]
		default:
			found[name] = nil
		}
	}
}

// jsonName gives a field's name in JSON, empty if it has none, and whether its tag says so. A field that lends its own
// fields to the struct gives their type instead.
func jsonName(f reflect.StructField) (name string, tagged bool, embedded reflect.Type) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() && !f.Anonymous {
		return "", false, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if name != "" {
		return name, true, nil
	}
	if f.Anonymous || options == "embed" {
		t := f.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct {
			return "", false, t
		}
	}
	if !f.IsExported() {
		return "", false, nil
	}
	return f.Name, false, nil
}
