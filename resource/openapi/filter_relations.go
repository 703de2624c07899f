package openapi

// Filters through relations: parameters for equality, and members of the parameter filter.

import (
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// filterRelations returns the relations through which a list of r can be filtered.
func (b *builder) filterRelations(r *resource.Resource) []string {
	t := r.QueryTarget()
	return slices.DeleteFunc(slices.Clone(t.Support.Relations), func(name string) bool {
		target, _ := r.Related(name)
		return t.Relation(name) == nil || len(target.Describe().Query.Filter) == 0
	})
}

// relationFilters describes a parameter for each field of a related item that can be compared for
// equality. Other operators, none, every and further relations have too many names to list.
func (d *described) relationFilters() []*parameter {
	var out []*parameter
	for _, name := range d.filterRelations(d.r) {
		target, most := d.r.Related(name)
		prefix, of := name+".", "the related item of "+target.Name()
		also := "; other comparisons have its name with an operator, as in a filter of " + target.Name()
		if most > 0 {
			prefix, of = name+".some.", "one of the related items of "+target.Name()
			also = "; `none` and `every` can replace `some`, and other comparisons have its name with an " +
				"operator. Conditions with the same prefix are those of one item"
		}
		for _, f := range target.Type().Fields {
			if ops := target.Describe().Query.Filter[f.Name]; slices.Contains(ops, query.Eq) {
				out = append(out, &parameter{Name: prefix + filterName(f.Name, query.Eq, false), In: "query",
					Schema: compared(f, query.Eq), Description: "Selects items if `" + f.Name + "` of " + of +
						" equals the value" + also + "."})
			}
		}
	}
	return out
}

// relationDepth returns a sentence for the description of the parameter filter.
func (d *described) relationDepth() string {
	if len(d.filterRelations(d.r)) == 0 {
		return ""
	}
	return " At most 3 relations can follow each other."
}

// addFilterRelations adds the relations of r to the schema of its filter.
func (b *builder) addFilterRelations(s *schemaObject, r *resource.Resource) {
	for _, name := range b.filterRelations(r) {
		target, most := r.Related(name)
		if isConnective(name) {
			continue
		}
		filter := b.filterTree(target)
		if most == 0 {
			one := *filter
			one.Description = "The related item exists, and matches."
			s.Properties.add(name, &one)
			continue
		}
		many := &schemaObject{Type: typeNames{"object"}, AdditionalProperties: false,
			Description: "The conditions on the related items. All of them must be true.",
			Properties:  ordered[*schemaObject]{}}
		for _, q := range []struct{ name, description string }{
			{"some", "At least one related item matches."}, {"none", "No related item matches."},
			{"every", "All related items match."},
		} {
			of := *filter
			of.Description = q.description
			many.Properties.add(q.name, &of)
		}
		s.Properties.add(name, many)
	}
}
