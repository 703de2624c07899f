package openapi

// The parameters of the operations of a resource. Those that several operations share are
// components.

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
)

// share defines a parameter as a component unless it exists, and returns a reference to it. The
// first definition is kept, so callers with the same component must pass the same parameter.
func (b *builder) share(component string, p *parameter) *parameter {
	if !b.doc.Components.Parameters.has(component) {
		b.doc.Components.Parameters.add(component, p)
	}
	return &parameter{Ref: "#/components/parameters/" + component}
}

// commaList describes a parameter with comma-separated values. maxLen 0 means no maximum. MinItems
// is 1, because the style form writes an empty list like a list of one empty string.
func commaList(name, description string, items *schemaObject, maxLen int) *parameter {
	together, one := false, 1 // explode=false: one parameter with a list, as package query parses it
	s := array(items)
	s.MinItems = &one
	if maxLen > 0 {
		s.MaxItems = &maxLen
	}
	return &parameter{Name: name, In: "query", Description: description, Style: "form", Explode: &together,
		Schema: s}
}

// idParameter describes the id in the path. An invalid id is 404, so the schema has no constraints
// except the type. A string needs one character, because an empty segment is the path of the
// collection.
func (d *described) idParameter() *parameter {
	s := scalar(d.r.Type().Field(d.r.Describe().ID).Type)
	if s.Type[0] == "string" {
		one := 1
		s.MinLength = &one
	}
	p := &parameter{Name: "id", In: "path", Required: true, Schema: s,
		Description: "The `" + d.r.Describe().ID + "` of the item, percent-encoded as one path segment."}
	p.Example = d.samples.id
	return p
}

// Limits of package query that a catalog does not override.
const (
	maxSort   = 4
	maxValues = 200
)

// listParameters returns the parameters of a list: filters, order, limit and position. With a
// natural order, the store can only continue a list. It has no sort, and no previous page.
func (d *described) listParameters() []*parameter {
	support := d.r.Describe().Query
	d.where = d.filters(&support)
	out := slices.Clone(d.where)
	if !d.full {
		out = d.simpleFilters(&support)
	}
	out = append(out, d.groupParameters(&support)...)
	if keys := d.sortKeys(&support); len(keys) > 0 {
		if d.full {
			keys = append(keys, d.groupSortKeys(&support, keys)...)
		}
		key := &schemaObject{Type: typeNames{"string"}, Enum: jsonStrings(keys...)}
		sort := commaList("sort",
			"The fields to sort by, each at most once. A leading minus means descending order.",
			key, maxSort)
		// Package query rejects a field that is given twice; the schema excludes equal values only.
		sort.Schema.UniqueItems = true
		out = append(out, sort)
	}
	out = append(out, d.searchParameters(&support)...)
	// Not shared, because the numbers differ between resources.
	limit := integer(1, d.policy.MaxPageSize)
	limit.Default = jsonOf(d.policy.PageSize)
	out = append(out,
		&parameter{Name: "limit", In: "query", Schema: limit,
			Description: "The maximum number of items in the page."},
		d.share("After", &parameter{Name: "after", In: "query", Schema: text(),
			Description: "The `next` of the previous page. A cursor is only valid for the same list."}))
	if !support.Natural {
		out = append(out, d.share("Before", &parameter{Name: "before", In: "query", Schema: text(),
			Description: "The cursor in the link `prev` or `last`. It cannot be combined with `after`."}))
	}
	out = append(out, d.partParameters()...)
	if d.counted {
		out = append(out, d.prefer("count=exact", "handling=lenient"))
	} else {
		out = append(out, d.prefer("handling=lenient"))
	}
	// Other preconditions would never be met: the entity tag of a list is weak, and If-Match compares
	// strongly (RFC 9110 section 13.1.1). A list has no time of modification.
	return append(out, d.precondition("If-None-Match"))
}

// searchParameters returns the parameters of a search.
func (d *described) searchParameters(support *query.Support) []*parameter {
	if len(support.Search) == 0 {
		return nil
	}
	var fields []string
	for _, name := range support.Search {
		fields = append(fields, "`"+name+"`")
	}
	return []*parameter{
		{Name: "q", In: "query", Schema: text(), Example: quote("green tea"),
			Description: "A text search in " + strings.Join(fields, ", ") + ", in any case: words, " +
				"`\"adjacent words\"`, `begin*`, `-excluded` and `OR` between alternatives. The best match " +
				"is first, unless `sort` is given."},
		d.share("Highlight", &parameter{Name: "highlight", In: "query",
			Schema:      &schemaObject{Type: typeNames{"boolean"}},
			Description: "With `q`: return `highlights`, the parts of the texts that match."}),
	}
}

// sortKeys returns the values of sort. They are in the order of the fields of the type, and fields of
// related items follow. The id can always be a key.
func (d *described) sortKeys(support *query.Support) []string {
	if support.Natural {
		return nil
	}
	var out []string
	for _, f := range d.r.Type().Fields {
		if f.Name == d.r.Describe().ID || slices.Contains(support.Sort, f.Name) {
			out = append(out, f.Name, "-"+f.Name)
		}
	}
	for _, path := range support.Sort {
		if d.r.Type().Field(path) == nil {
			out = append(out, path, "-"+path)
		}
	}
	return out
}

// partParameters returns the parameters that select members and related items. They apply to writes
// too, because the response of a write is the item.
func (d *described) partParameters() []*parameter {
	var out []*parameter
	if d.full { // with fields, no member of a response is required
		var fields []string
		for _, f := range d.r.Type().Fields {
			if !f.WriteOnly {
				fields = append(fields, f.Name)
			}
		}
		out = append(out, commaList("fields", "The members to return. Default all.",
			&schemaObject{Type: typeNames{"string"}, Enum: jsonStrings(fields...)}, 0))
	}
	if relations := d.r.Describe().Relations; len(relations) > 0 {
		example, items := d.expandItems(relations)
		expand := commaList("expand", "The related items to return as members of each item: "+
			d.relatedText()+".", items, d.c.Limits().Expand)
		if example != "" {
			expand.Description += " Lists accept parameters: `" + example + "`."
			expand.Example = jsontext.Value("[" + string(quote(example)) + "]")
			expand = d.share(pascal(d.r.Name())+"Expand", expand)
		}
		out = append(out, expand)
	}
	return out
}

// expandItems returns the schema of an element of expand, and an example with parameters. In the
// full document a list with parameters is any text, because generators have no type for an alternative of
// an enum and a pattern. The default document has the names alone.
func (d *described) expandItems(relations []string) (example string, items *schemaObject) {
	names := &schemaObject{Type: typeNames{"string"}, Enum: jsonStrings(relations...)}
	paged := slices.IndexFunc(relations, func(name string) bool {
		return d.r.Paged(name) && d.r.Type().Field(name+"Page") == nil
	})
	if paged < 0 || !d.full {
		return "", names
	}
	return relations[paged] + "(limit=5;sort=-id)", &schemaObject{Type: typeNames{"string"}}
}

// relatedText describes the relations.
func (d *described) relatedText() string {
	var out []string
	for _, name := range d.r.Describe().Relations {
		target, most := d.r.Related(name)
		end := "an item"
		if most > 0 {
			end = "a list of items"
		}
		out = append(out, "`"+name+"` is "+end+" of "+target.Name())
	}
	return strings.Join(out, ", ")
}

// writeParameters returns the parameters of POST, PUT and PATCH, without preconditions.
func (d *described) writeParameters() []*parameter {
	out := append(d.partParameters(), d.prefer("return=minimal", "return=representation", "handling=lenient"))
	return append(out, d.keyParameter()...)
}

// preferences are the supported preferences and their effects. Only registered preferences and
// count of this library are listed (RFC 7240 section 4).
var preferences = [...]struct{ value, does string }{
	{"count=exact", "returns the number of matching items in `total`"},
	{"return=minimal", "omits the response body"},
	{"return=representation", "returns the item, which is the default"},
	{"handling=lenient", "ignores unknown parameters and members"},
	{"respond-async", "does not wait for the end of the command"},
	{"wait=10", "waits at most 10 seconds for it"},
}

// prefer describes the field Prefer with the given preferences. Each list of values has a component
// of its own. The values determine its name, so callers pass the same list for the same purpose.
func (b *builder) prefer(values ...string) *parameter {
	component, description := "Prefer", "RFC 7240."
	for _, p := range preferences {
		if slices.Contains(values, p.value) {
			description += " `" + p.value + "` " + p.does + "."
		}
	}
	// The first value and return=representation identify the lists that callers pass.
	switch {
	case values[0] == "count=exact":
		component = "PreferCount"
	case values[0] == "respond-async":
		component = "PreferAsync"
	case slices.Contains(values, "return=representation"):
		component = "PreferReturn"
	case values[0] == "return=minimal":
		component = "PreferMinimal"
	}
	return b.share(component, &parameter{Name: "Prefer", In: "header", Schema: text(),
		Example:     quote(values[0]),
		Description: description + " The response lists the applied preferences in `Preference-Applied`."})
}

// readConditions returns the preconditions of GET of an item. A read accepts all four;
// If-Modified-Since is defined for GET and HEAD only (RFC 9110 section 13.1.3).
func (b *builder) readConditions() []*parameter {
	return []*parameter{b.precondition("If-Match"), b.precondition("If-None-Match"),
		b.precondition("If-Modified-Since"),
		b.precondition("If-Unmodified-Since")}
}

// writeConditions returns the preconditions of methods that change an item. If there is true, the
// item must exist, and If-Match is required if the policy requires it.
func (d *described) writeConditions(there bool) []*parameter {
	match := d.precondition("If-Match")
	if there && d.policy.RequireIfMatch {
		p := d.conditional("If-Match")
		p.Required = true
		match = d.share("IfMatchRequired", p)
	}
	return []*parameter{match, d.precondition("If-None-Match"), d.precondition("If-Unmodified-Since")}
}

// precondition returns a reference to a precondition field.
func (b *builder) precondition(name string) *parameter {
	return b.share(pascal(name), b.conditional(name))
}

// conditional describes a precondition field (RFC 9110 section 13.1). The name of its component is
// the field name without hyphens.
func (b *builder) conditional(name string) *parameter {
	p := &parameter{Name: name, In: "header", Schema: text(), Example: quote(`"5.Gk2Vq9bU"`)}
	switch name {
	case "If-Match":
		p.Description = "Entity tags, or `*`. If the item has none of them, the request fails with 412. A " +
			"write accepts those of all representations, a read that of the selected one."
	case "If-None-Match":
		p.Description = "Entity tags, or `*`. If the item has one of them, the response is 304 to a read " +
			"and 412 to a write."
	default:
		p.Example = quote("Sat, 21 Nov 2026 06:00:00 GMT")
		p.Description = "A date. If the item has not been modified since, the response is 304."
		if name == "If-Unmodified-Since" {
			p.Description = "A date. If the item has been modified since, the request fails with 412."
		}
	}
	return p
}

// jsonPatch describes a JSON Patch. It is a single component for the whole document, because it
// does not depend on the type. The members from and value are required by some operations only. A
// oneOf of six schemas would state that, but generated types would be less readable.
func (d *described) jsonPatch() *schemaObject {
	const name = "JSONPatch"
	if d.doc.Components.Schemas.has(name) {
		return schemaRef(name)
	}
	maxLen := d.c.Limits().Operations
	// ~0 and ~1 are the escapes of RFC 6901 section 3.
	pointer := func(description string) *schemaObject {
		return &schemaObject{Type: typeNames{"string"}, Pattern: "^(/([^~/]|~[01])*)*$",
			Description: description}
	}
	op := &schemaObject{Type: typeNames{"object"}, Required: []string{"op", "path"},
		Properties: ordered[*schemaObject]{
			{"op", &schemaObject{Type: typeNames{"string"},
				Enum: jsonStrings("add", "remove", "replace", "move", "copy", "test"),
				Description: "`add`, `remove` and `replace` change the target, `move` and `copy` take the " +
					"value at `from`, and `test` compares the target with `value`."}},
			{"path", pointer("The target, as a JSON Pointer (RFC 6901).")},
			{"from", pointer("The source of move and copy, as a JSON Pointer.")},
			{"value", &schemaObject{Description: "Any JSON, for add, replace and test."}},
		}}
	list := array(op)
	list.MaxItems, list.Description = &maxLen,
		"A JSON Patch (RFC 6902). The operations are applied in order, all of them or none."
	d.doc.Components.Schemas.add(name, list)
	return schemaRef(name)
}

// hasStrategy reports whether one of the strategies is a T.
func hasStrategy[T any](b *builder) bool {
	for _, s := range b.o.strategies() {
		if _, ok := s.(T); ok {
			return true
		}
	}
	return false
}
