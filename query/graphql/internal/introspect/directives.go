package introspect

// __Directive, and the directives of every schema. Called by Extend in introspect.go.

import "github.com/stoa-go/stoa/query/graphql/internal/model"

// directiveType defines __Directive (section 4.2.6). Its fields isDeprecated and deprecationReason
// are not yet in the specification.
func (b *builder) directiveType() {
	b.directive.Fields = append(described(b, func(d *model.Directive) (string, string) { return d.Name, d.Doc }),
		meta("isRepeatable", "Whether it may stand at one place several times.", required(b.boolean),
			func(d *model.Directive) any { return d.Repeatable }),
		meta("locations", "Where it may stand.", requiredList(b.location), func(d *model.Directive) any {
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

// directives adds the directives of section 3.13, and oneOf, which tools expect. Documents can use
// skip and include only; the others occur in the SDL.
func (b *builder) directives() {
	conditional := func(name, doc, condition string) *model.Directive {
		return &model.Directive{Name: name, Doc: doc,
			Locations: []string{"FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"},
			Args:      []*model.Input{{Name: "if", Doc: condition, Type: required(b.boolean)}}}
	}
	b.model.Directives = append(b.model.Directives,
		conditional("skip", "Leaves a field or a fragment out under a condition.",
			"Whether to leave it out."),
		conditional("include", "Leaves a field or a fragment out unless a condition holds.",
			"Whether to keep it."),
		&model.Directive{Name: "deprecated", Doc: "Marks what should no longer be used.",
			Locations: []string{"FIELD_DEFINITION", "ARGUMENT_DEFINITION", "INPUT_FIELD_DEFINITION",
				"ENUM_VALUE",
				"DIRECTIVE_DEFINITION"},
			Args: []*model.Input{{Name: "reason", Doc: "Why, and what to use instead, in CommonMark.",
				Type: nullable(b.text), Default: "No longer supported", HasDefault: true}}},
		&model.Directive{Name: "specifiedBy", Doc: "Says where the behaviour of a scalar is specified.",
			Locations: []string{"SCALAR"},
			Args: []*model.Input{{Name: "url", Doc: "The URL of the specification.",
				Type: required(b.text)}}},
		&model.Directive{Name: "oneOf",
			Doc:       "Says that exactly one field of an input object is to be given, and not null.",
			Locations: []string{"INPUT_OBJECT"}})
}
