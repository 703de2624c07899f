// Package sdl writes a schema in GraphQL's own language (section 3), for query/graphql and the packages beside it.
//
// What it writes is byte for byte what the reference implementation prints of the answer to an introspection query:
// printSchema(buildClientSchema(answer)) of npm graphql 16, which .ci/clients holds it against. The order is that of the
// model: directives, then types, both by name; and fields, arguments, input fields and values as the model has them.
// Introspection gives them in the same order, and the reference keeps it.
package sdl

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Print writes a schema, with descriptions. What every schema has is left out: the scalars and directives of the
// specification, and the types of introspection. There is no new line at the end.
func Print(s *model.Schema) string {
	var p printer
	p.schema(s)
	for _, d := range s.Directives {
		if !slices.Contains(specified, d.Name) {
			p.directive(d)
		}
	}
	for _, t := range s.Types {
		if !builtIn(t) {
			p.definition(t)
		}
	}
	return p.b.String()
}

// builtIn reports whether a type need not be defined: a scalar of section 3.5, or one of introspection.
func builtIn(t *model.Type) bool {
	switch t.Name {
	case "Int", "Float", "String", "Boolean", "ID":
		return true
	}
	return strings.HasPrefix(t.Name, "__")
}

type printer struct{ b strings.Builder }

// begin parts a definition from the one before it, and describes it.
func (p *printer) begin(doc string) {
	if p.b.Len() > 0 {
		p.b.WriteString("\n\n")
	}
	p.doc(doc, "", true)
}

// doc writes a description in front of what it describes. The lines of a description are indented even where they are
// empty, as in the reference implementation.
func (p *printer) doc(text, indent string, first bool) {
	if text == "" {
		return
	}
	if indent != "" && !first {
		p.b.WriteByte('\n')
	}
	literal := quoted(text)
	if printable(text) {
		literal = block(text)
	}
	p.b.WriteString(indent + strings.ReplaceAll(literal, "\n", "\n"+indent) + "\n")
}

// schema writes the roots where they need a word: where the schema is described, or a root has an unusual name
// (section 3.3.1).
func (p *printer) schema(s *model.Schema) {
	roots := []struct {
		kind, usual string
		root        *model.Type
	}{{"query", "Query", s.Query}, {"mutation", "Mutation", s.Mutation},
		{"subscription", "Subscription", s.Subscription}}
	usual := s.Doc == ""
	for _, r := range roots {
		usual = usual && (r.root == nil || r.root.Name == r.usual)
	}
	if usual {
		return
	}
	p.begin(s.Doc)
	p.b.WriteString("schema {\n")
	for _, r := range roots {
		if r.root != nil {
			p.b.WriteString("  " + r.kind + ": " + r.root.Name + "\n")
		}
	}
	p.b.WriteString("}")
}

// specified are the directives of the specification (section 3.13), and the one for oneOf.
var specified = []string{"skip", "include", "deprecated", "specifiedBy", "oneOf"}

func (p *printer) directive(d *model.Directive) {
	p.begin(d.Doc)
	p.b.WriteString("directive @" + d.Name)
	p.args(d.Args, "")
	if d.Repeatable {
		p.b.WriteString(" repeatable")
	}
	p.b.WriteString(" on " + strings.Join(d.Locations, " | "))
}

func (p *printer) definition(t *model.Type) {
	p.begin(t.Doc)
	switch t.Kind {
	case model.Scalar:
		p.b.WriteString("scalar " + t.Name)
		if t.SpecifiedBy != "" {
			p.b.WriteString(" @specifiedBy(url: " + quoted(t.SpecifiedBy) + ")")
		}
	case model.Object:
		p.b.WriteString("type " + t.Name)
		braces(p, t.Fields, p.field)
	case model.Enum:
		p.b.WriteString("enum " + t.Name)
		braces(p, t.Values, p.value)
	case model.InputObject:
		p.b.WriteString("input " + t.Name)
		if t.OneOf {
			p.b.WriteString(" @oneOf")
		}
		braces(p, t.Inputs, func(in *model.Input, first bool) {
			p.doc(in.Doc, "  ", first)
			p.b.WriteString("  ")
			p.input(in)
		})
	}
}

// braces writes what a type has, each on lines of its own.
func braces[T any](p *printer, items []T, write func(item T, first bool)) {
	if len(items) == 0 {
		return
	}
	p.b.WriteString(" {\n")
	for i, item := range items {
		write(item, i == 0)
		p.b.WriteByte('\n')
	}
	p.b.WriteByte('}')
}

func (p *printer) field(f *model.Field, first bool) {
	p.doc(f.Doc, "  ", first)
	p.b.WriteString("  " + f.Name)
	p.args(f.Args, "  ")
	p.b.WriteString(": " + f.Type.String())
	p.deprecated(f.Deprecated)
}

func (p *printer) value(v *model.Value, first bool) {
	p.doc(v.Doc, "  ", first)
	p.b.WriteString("  " + v.Name)
	p.deprecated(v.Deprecated)
}

// args writes arguments on one line, unless one of them is described.
func (p *printer) args(args []*model.Input, indent string) {
	if len(args) == 0 {
		return
	}
	p.b.WriteByte('(')
	if described := func(in *model.Input) bool { return in.Doc != "" }; !slices.ContainsFunc(args,
		described) {
		for i, in := range args {
			if i > 0 {
				p.b.WriteString(", ")
			}
			p.input(in)
		}
		p.b.WriteByte(')')
		return
	}
	for i, in := range args {
		p.b.WriteByte('\n')
		p.doc(in.Doc, indent+"  ", i == 0)
		p.b.WriteString(indent + "  ")
		p.input(in)
	}
	p.b.WriteString("\n" + indent + ")")
}

// input writes an argument or an input field, but for its description.
func (p *printer) input(in *model.Input) {
	p.b.WriteString(in.Name + ": " + in.Type.String())
	if text, ok := Default(in); ok {
		p.b.WriteString(" = " + text)
	}
	p.deprecated(in.Deprecated)
}

// deprecated leaves out the reason that is understood (section 3.13.3).
func (p *printer) deprecated(reason string) {
	switch reason {
	case "":
	case "No longer supported":
		p.b.WriteString(" @deprecated")
	default:
		p.b.WriteString(" @deprecated(reason: " + quoted(reason) + ")")
	}
}
