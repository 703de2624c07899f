package openapi

// The groups of a list, which it returns in place of items if a request has a parameter of aggregates. In
// the full profile only: generated clients would have a union as the type of every list. Called by
// operations.go and parameters.go.

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
)

// groupParameters returns the parameters of aggregates; none if the resource declares no groups.
func (d *described) groupParameters(support *query.Support) []*parameter {
	if !d.full || !support.CanAggregate() {
		return nil
	}
	list := func(name, description string, fields []string, most int) *parameter {
		items := &schemaObject{Type: typeNames{"string"}, Enum: jsonStrings(fields...)}
		p := commaList(name, description, items, most)
		p.Schema.UniqueItems = true
		return p
	}
	var out []*parameter
	if len(support.Group) > 0 {
		out = append(out, list("group", "Returns groups of the items that are equal in these fields.",
			support.Group, query.MaxGroup))
	}
	out = append(out, &parameter{Name: "count", In: "query", Schema: textOf(""),
		Description: "Returns the number of items of each group. The value is empty or `true`."})
	for _, f := range query.Funcs() {
		if fields := d.aggregated(support, f); len(fields) > 0 {
			description := "Returns " + aggregateText(f) + " of these fields for each group."
			out = append(out, list(string(f), description, fields, query.MaxAggregates))
		}
	}
	return append(out, &parameter{Name: "having", In: "query", Schema: text(),
		Description: "A condition on aggregates of the request as JSON, such as " +
			"`{\"count\":{\"gte\":3},\"sum.total\":{\"gt\":100}}`."})
}

// groupSortKeys returns the values of sort for groups that are not among those for items: fields of group,
// and aggregates such as sum.total.
func (d *described) groupSortKeys(support *query.Support, others []string) (keys []string) {
	if !support.CanAggregate() {
		return nil
	}
	names := slices.Clone(support.Group)
	for _, f := range query.Funcs() {
		if f == query.Count {
			names = append(names, query.Aggregate{Func: f}.Name())
			continue
		}
		for _, field := range d.aggregated(support, f) {
			names = append(names, query.Aggregate{Func: f, Field: field}.Name())
		}
	}
	for _, name := range names {
		if !slices.Contains(others, name) {
			keys = append(keys, name, "-"+name)
		}
	}
	return keys
}

// aggregated returns the fields with a function, in the order of the type.
func (d *described) aggregated(support *query.Support, f query.Func) (fields []string) {
	for _, field := range d.r.Type().Fields {
		if slices.Contains(support.Aggregate[field.Name], f) {
			fields = append(fields, field.Name)
		}
	}
	return fields
}

// aggregateText names the result of a function.
func aggregateText(f query.Func) string {
	switch f {
	case query.Distinct:
		return "the number of different values"
	case query.Sum:
		return "the sum"
	case query.Avg:
		return "the mean"
	case query.Min:
		return "the least value"
	}
	return "the greatest value"
}

// groupsSchema describes a page of groups.
func (d *described) groupsSchema(support *query.Support) *schemaObject {
	group := &schemaObject{Type: typeNames{"object"}, Properties: ordered[*schemaObject]{},
		Description: "The fields of `group` and the aggregates of the request."}
	for _, field := range d.r.Type().Fields {
		if slices.Contains(support.Group, field.Name) {
			s := nullable(scalar(field.Type))
			s.Description = "`" + field.Name + "` of the items of the group, if `group` has it."
			group.Properties.add(field.Name, s)
		}
	}
	for _, path := range support.Group {
		if d.r.Type().Field(path) != nil {
			continue
		}
		relation, field, _ := strings.Cut(path, ".")
		target, _ := d.r.Related(relation)
		s := nullable(scalar(target.Type().Field(field).Type))
		s.Description = "`" + path + "` of the items of the group, if `group` has it. It is null if there " +
			"is no such item that you are allowed to see."
		group.Properties.add(path, s)
	}
	for _, f := range query.Funcs() {
		fields := d.aggregated(support, f)
		if f == query.Count {
			group.Properties.add(string(f), &schemaObject{Type: typeNames{"integer"}, Minimum: jsonOf(0),
				Description: "The number of items of the group, if the request has `count`."})
		}
		if len(fields) == 0 {
			continue
		}
		values := &schemaObject{Type: typeNames{"object"}, Properties: ordered[*schemaObject]{},
			Description: "The fields of the parameter `" + string(f) + "`."}
		for _, name := range fields {
			field := d.r.Type().Field(name)
			s := nullable(scalar(field.Type)) // a decimal is a string
			switch {
			case f == query.Distinct:
				s = &schemaObject{Type: typeNames{"integer"}, Minimum: jsonOf(0)}
			case f == query.Avg && !field.IsDecimal(), f == query.Sum && !field.IsDecimal():
				s = &schemaObject{Type: typeNames{"number", "null"}}
			}
			s.Description = aggregateText(f) + " of `" + name + "`"
			s.Description = strings.ToUpper(s.Description[:1]) + s.Description[1:] + "."
			values.Properties.add(name, s)
		}
		group.Properties.add(string(f), values)
	}
	groups := array(group)
	groups.Description = "The groups of the page."
	name := d.names.unique(pascal(d.name) + "Groups")
	d.doc.Components.Schemas.add(name, &schemaObject{Type: typeNames{"object"}, Required: []string{"groups"},
		Description: "A page of groups of `" + d.name + "`.", Properties: ordered[*schemaObject]{
			{"groups", groups},
			{"next", textOf("The value of `after` for the next page. The last page has none.")},
		}})
	return schemaRef(name)
}

// nullable returns a schema that accepts null, too.
func nullable(s *schemaObject) *schemaObject {
	out := *s
	out.Type = append(slices.Clone(s.Type), "null")
	return &out
}
