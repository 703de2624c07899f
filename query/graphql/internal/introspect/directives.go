package introspect

// __Directive, and the directives of every schema. Called by Extend in introspect.go.

import "github.com/stoa-go/stoa/query/graphql/internal/model"

// directiveType defines __Directive (section 4.2.6). Its fields isDeprecated and deprecationReason
// are not yet in the specification. They are false and null, because no directive of the schema is
// deprecated.
func (b *builder) directiveType() {
	texts := func(d *model.Directive) (string, string) { return d.Name, d.Doc }
	b.directive.Fields = append(described(b, texts),
		meta("isRepeatable", "Whether it can be repeated at one location.", required(b.boolean),
			func(d *model.Directive) any { return d.Repeatable }),
		meta("locations", "Where it can be used.", requiredList(b.location), func(d *model.Directive) any {
			// Enum values are strings in responses, and Meta functions return lists as []any.
			list := make([]any, len(d.Locations))
			for i, l := range d.Locations {
				list[i] = l
			}
			return list
		}),
		arguments(b, func(d *model.Directive) []*model.Input { return d.Args }))
	b.directive.Fields = append(b.directive.Fields,
		deprecation(b, func(*model.Directive) string { return "" })...)
}

// directives adds the directives of section 3.13. Documents can use skip and include only; the
// others occur in the SDL. The SDL omits their definitions, because each schema has them.
func (b *builder) directives() {
	// Both have the same locations and an argument of the same name and type.
	conditional := func(name, doc, condition string) *model.Directive {
		return &model.Directive{Name: name, Doc: doc,
			Locations: []string{"FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"},
			Args:      []*model.Input{{Name: "if", Doc: condition, Type: required(b.boolean)}}}
	}
	b.model.Directives = append(b.model.Directives,
		conditional("skip", "Skips a field or fragment if the condition is true.",
			"Skipped if true."),
		conditional("include", "Includes a field or fragment only if the condition is true.",
			"Included if true."),
		&model.Directive{Name: "deprecated", Doc: "Marks an element that is no longer supported.",
			Locations: []string{"FIELD_DEFINITION", "ARGUMENT_DEFINITION", "INPUT_FIELD_DEFINITION",
				"ENUM_VALUE",
				"DIRECTIVE_DEFINITION"},
			Args: []*model.Input{{Name: "reason", Doc: "The reason, and what to use instead, in CommonMark.",
				Type: nullable(b.text), Default: "No longer supported", HasDefault: true}}},
		&model.Directive{Name: "specifiedBy", Doc: "Links to the specification of a scalar.",
			Locations: []string{"SCALAR"},
			Args: []*model.Input{{Name: "url", Doc: "The URL of the specification.",
				Type: required(b.text)}}},
		&model.Directive{Name: "oneOf",
			Doc:       "Requires exactly one field of an input object, which must not be null.",
			Locations: []string{"INPUT_OBJECT"}})
}
