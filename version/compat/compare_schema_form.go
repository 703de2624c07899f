package compat

// Schemas without wrappers, so that schemas that allow the same values are equal. Called by
// compare_schema.go.

import (
	"maps"
	"slices"
	"strings"
)

// form is a schema in which references, allOf, and anyOf or oneOf with one branch beside null are
// replaced by what they contain.
type form struct {
	object
	value    any    // the schema as it is written
	name     string // the last reference; "" if there is none
	beside   string // the conditions beside the references as JSON; "" if there are none
	followed bool   // a reference was followed, so that the schema can contain itself
	null     bool   // null is valid
}

// annotations are keywords that exclude no value. The outermost one applies.
var annotations = []string{"default", "readOnly", "writeOnly", "deprecated", "discriminator"}

// formOf returns the form of a schema.
func formOf(document object, v any) form { return formWithout(document, v, map[string]bool{}) }

// formWithout follows each reference once. A schema that contains itself as a condition is not stricter.
func formWithout(document object, v any, followed map[string]bool) form {
	f, core, local := form{value: v, null: true}, asSchema(v), object{}
	for nullBranch := false; ; {
		f.null = f.null && (nullBranch || acceptsNull(core))
		keyword, branches, null := branchesOf(document, core)
		var inner any
		beside := maps.Clone(core)
		if ref, ok := core["$ref"].(string); ok {
			if f.name, keyword = ref, "$ref"; !followed[ref] {
				followed[ref] = true
				inner = lookup(document, ref)
			}
		} else if list := listOf(core["allOf"]); len(list) > 0 {
			i := max(0, slices.IndexFunc(list, func(v any) bool { return asSchema(v)["$ref"] != nil }))
			keyword, inner = "allOf", list[i]
			for _, v := range slices.Delete(slices.Clone(list), i, i+1) {
				element := formWithout(document, v, followed)
				beside = merge(element.object, beside)
				f.null = f.null && (nullBranch || element.null)
			}
		} else if len(branches) == 1 {
			inner, nullBranch = branches[0], nullBranch || null
		} else {
			f.null = f.null && (nullBranch || null || len(branches) == 0 ||
				slices.ContainsFunc(branches, func(v any) bool {
					return formWithout(document, v, maps.Clone(followed)).null
				}))
			break
		}
		delete(beside, keyword)
		local = merge(beside, local)
		core = asSchema(inner)
	}
	f.object, f.followed = merge(core, local), len(followed) > 0
	conditions := maps.Clone(local)
	maps.DeleteFunc(conditions, func(key string, _ any) bool { return slices.Contains(annotations, key) })
	if len(conditions) > 0 {
		f.beside = canonical(conditions)
	}
	return f
}

// acceptsNull reports whether the types and the values of a schema contain null.
func acceptsNull(o object) bool {
	types := typesOf(o)
	constant, isConstant := o["const"]
	values, isEnum := o["enum"].([]any)
	isNull := func(v any) bool { return v == nil }
	return (types == nil || slices.Contains(types, "null")) && !(isConstant && constant != nil) &&
		!(isEnum && !slices.ContainsFunc(values, isNull)) && !isAny(o["not"])
}

// lookup returns the target of a reference; nil if there is none.
func lookup(document object, ref string) any {
	var found any = document
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		container, _ := found.(object)
		found = container[part]
	}
	return found
}

// branchesOf returns the keyword anyOf or oneOf and its branches without the type null.
func branchesOf(document, o object) (keyword string, branches []any, null bool) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		for _, v := range listOf(o[keyword]) {
			if branch, _ := resolve(document, asSchema(v)); branch["type"] == "null" {
				null = true
			} else {
				branches = append(branches, v)
			}
		}
		if len(branches) > 0 {
			return keyword, branches, null
		}
	}
	return "", nil, null
}

// typed are the keywords that concern values of one type only.
var typed = map[string]string{"minLength": "string", "maxLength": "string", "pattern": "string",
	"minimum": "number", "maximum": "number", "exclusiveMinimum": "number", "exclusiveMaximum": "number",
	"multipleOf": "number", "items": "array", "minItems": "array", "maxItems": "array",
	"uniqueItems": "array", "properties": "object", "required": "object", "additionalProperties": "object"}

// alternatives returns the branches of a schema with the keywords beside them. A schema without branches
// has one for each of its types.
func (f form) alternatives(document object) (all []form) {
	keyword, branches, _ := branchesOf(document, f.object)
	beside := maps.Clone(f.object)
	delete(beside, keyword)
	for _, v := range branches {
		all = append(all, formOf(document, object{"allOf": []any{v, beside}}))
	}
	if len(branches) == 0 {
		all = []form{f}
	}
	for i, f := range slices.Backward(all) {
		var split []form
		for _, t := range valueTypes(f.object) {
			o := maps.Clone(f.object)
			o["type"] = t
			maps.DeleteFunc(o, func(key string, _ any) bool {
				of := typed[key]
				return of != "" && of != t && !(of == "number" && t == "integer")
			})
			split = append(split, form{object: o, value: o, followed: f.followed})
		}
		switch len(split) {
		case 0:
			continue
		case 1:
			split[0].name, split[0].beside = f.name, f.beside
		}
		all = slices.Replace(all, i, i+1, split...)
	}
	return all
}

// merge returns the conditions of two schemas. Conditions that one keyword cannot state become elements
// of allOf.
func merge(a, b object) object {
	if len(a) == 0 {
		return b
	}
	all := maps.Clone(a)
	for _, key := range sorted(b) {
		x, known := a[key]
		y := b[key]
		switch {
		case !known, slices.Contains(annotations, key):
			all[key] = y
		case canonical(x) == canonical(y):
		case key == "required":
			all[key] = slices.Concat(listOf(x), listOf(y))
		case key == "properties":
			p, _ := x.(object)
			q, _ := y.(object)
			members := object{}
			maps.Copy(members, p)
			for name, v := range q {
				if members[name] = v; p[name] != nil {
					members[name] = object{"allOf": []any{p[name], v}}
				}
			}
			all[key] = members
		default:
			all["allOf"] = slices.Concat(listOf(all["allOf"]), []any{object{key: y}})
		}
	}
	return all
}
