package model

// Filters, sort keys and groups through relations: the members of a filter type that are filters of related
// items, and the values of enums that are fields of related items.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource"
)

// relationFilters returns an input for each relation through which a resource can be filtered: the
// filter of the related item or, for many, a type with some, none and every.
func (b *builder) relationFilters(r *resource.Resource) []*Input {
	var inputs []*Input
	of := r.QueryTarget()
	for _, relation := range of.Support.Relations {
		target, _ := r.Related(relation)
		if target == nil || b.names[target] == "" || of.Relation(relation) == nil || !b.hasFilters(target) {
			continue
		}
		name := fieldName(relation)
		if slices.Contains(connectives(), name) {
			b.fail("resource %s: the relation %q cannot be a filter, because %s combines filters; "+
				"give it another name, or take it out of Options.Query.Relations", r.Name(), relation, name)
			continue
		}
		in := &Input{Name: name, Relation: relation, Type: refTo(b.filter(target)),
			Doc: "The related item exists, you are allowed to see it, and it matches. An empty filter " +
				"matches each item."}
		if of.Relation(relation).Many {
			in.Many, in.Type = true, refTo(b.listFilter(target))
			in.Doc = "The conditions on the related items that you are allowed to see. " +
				"All of them must be true."
		}
		inputs = append(inputs, in)
	}
	return inputs
}

// listFilter returns the type of the conditions on related items of a resource. All relations to the
// resource share it.
func (b *builder) listFilter(target *resource.Resource) *Type {
	if t := b.listFilters[target]; t != nil {
		return t
	}
	t := b.define(InputObject, b.names[target]+"ListFilter", ofResource(target, "the filter of a relation"))
	b.listFilters[target] = t
	t.Doc = "The conditions on related items of " + strconv.Quote(target.Name()) +
		". All of them must be true."
	filter := b.filter(target)
	t.Inputs = []*Input{
		{Name: "some", Doc: "At least one related item matches.", Type: refTo(filter)},
		{Name: "none", Doc: "No related item matches.", Type: refTo(filter)},
		{Name: "every", Doc: "All related items match. True if there are none.", Type: refTo(filter)},
	}
	return t
}

// relatedSorts returns the sort fields of a resource that are fields of related items, such as customer_name
// for customer.name. others are those of the resource itself.
func (b *builder) relatedSorts(r *resource.Resource, others []*Value) (values []*Value) {
	for _, path := range r.Describe().Query.Sort {
		if !strings.Contains(path, ".") || r.Type().Field(path) != nil {
			continue
		}
		value, _ := b.related(r, path)
		if slices.ContainsFunc(others, func(v *Value) bool { return v.Name == value.Name }) {
			b.fail("resource %s: the sort field %q would have the name %s, which is that of a member; "+
				"give it another JSON name, or take it out of Options.Query.Sort", r.Name(), path, value.Name)
			continue
		}
		values = append(values, value)
	}
	return values
}

// related returns the value of an enum for the path of a field of a related item, and the resource of that
// item.
func (b *builder) related(r *resource.Resource, path string) (*Value, *resource.Resource) {
	relation, field, _ := strings.Cut(path, ".")
	target, _ := r.Related(relation)
	f := target.Type().Field(field)
	doc := "The value of `" + path + "`, null if there is no such item that you are allowed to see."
	return &Value{Name: fieldName(relation) + "_" + fieldName(field), Go: path, Doc: sentences(doc, f.Doc),
		Deprecated: f.Deprecated}, target
}
