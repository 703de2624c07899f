package query

// Access to the fields of Go values by JSON name, for stores without package schema.

import (
	"reflect"
	"strings"
	"sync"
)

// FieldOf returns a field of a struct, or of a pointer to one, by its JSON name, in canonical form.
// Embedded structs are resolved as in JSON. It returns nil if the field is null, is reached through
// a nil pointer, or does not exist. Stores pass it to [Select]:
//
//	query.Select(q, orders, func(o *Order, field string) any { return query.FieldOf(o, field) })
//
// The fields of each type are cached. A hand-written switch over the names is faster. FieldOf is
// safe for concurrent use.
func FieldOf(v any, name string) any {
	item := reflect.ValueOf(v)
	for item.Kind() == reflect.Pointer || item.Kind() == reflect.Interface {
		item = item.Elem() // for nil: the zero Value, which has Kind Invalid
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

// paths maps the JSON names of a struct type to field indexes.
type paths map[string][]int

// pathsByType caches one entry per struct type of the program.
var pathsByType sync.Map // reflect.Type -> paths

// pathsOf returns the paths of t. Concurrent first calls use the entry that was stored first.
func pathsOf(t reflect.Type) paths {
	if cached, ok := pathsByType.Load(t); ok {
		return cached.(paths)
	}
	found, _ := pathsByType.LoadOrStore(t, findPaths(t))
	return found.(paths)
}

// level is an embedded struct type and the index path to it.
type level struct {
	of   reflect.Type
	path []int
}

// findPaths visits t and its embedded structs level by level, because the shallowest field of a
// name wins.
func findPaths(t reflect.Type) paths {
	found := make(paths)
	// prevents an endless loop for a type that embeds a pointer to itself
	seen := map[reflect.Type]bool{t: true}
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
		resolveNames(found, candidates)
		for _, l := range next {
			seen[l.of] = true
		}
		this = next
	}
	return found
}

// candidate is a field of one level.
type candidate struct {
	path   []int
	tagged bool
}

// resolveNames adds the winner of each name to found: the only field, or the only one with the name
// in its tag. A name without a winner is added with a nil path, so that a deeper field does not
// win.
func resolveNames(found paths, candidates map[string][]candidate) {
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

// jsonName returns the JSON name of a field, empty if it has none, and whether a tag sets it. For a
// field that embeds its fields, it returns their struct type instead.
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
