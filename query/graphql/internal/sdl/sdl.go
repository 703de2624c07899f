// Package sdl prints a schema in the schema definition language (section 3).
//
// The output equals that of the reference implementation for the response to an introspection
// query: printSchema(buildClientSchema(response)) of npm graphql 16. A test in .ci/clients compares
// both. Directives and types are sorted by name. Fields, arguments, input fields and enum values
// have the order of the model, which introspection preserves.
//
// Package graphql prints the schema once, when a handler is created. The parser of the reference
// implementation accepts the output, and clients generate code from it.
package sdl

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Print returns the definition of s, including descriptions. It omits what each schema contains:
// the scalars and directives of the specification, and the introspection types. The result does not
// end in a newline.
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

// builtIn reports whether t is a scalar of section 3.5 or an introspection type, which need no
// definition.
func builtIn(t *model.Type) bool {
	switch t.Name {
	case "Int", "Float", "String", "Boolean", "ID":
		return true
	}
	return strings.HasPrefix(t.Name, "__")
}

// printer writes definitions to a buffer. Writes to a strings.Builder cannot fail, so its methods
// return no errors.
type printer struct{ b strings.Builder }

// begin separates a definition from the previous one and writes its description. The first
// definition has no separator, so the output begins without empty lines.
func (p *printer) begin(doc string) {
	if p.b.Len() > 0 {
		p.b.WriteString("\n\n")
	}
	p.doc(doc, "", true)
}

// doc writes a description. Empty lines of a description are indented too, as in the reference
// implementation. first reports that it is the first one of its list. Others are separated by an
// empty line if they have a description.
func (p *printer) doc(text, indent string, first bool) {
	if text == "" {
		return
	}
	if indent != "" && !first {
		p.b.WriteByte('\n')
	}
	// A block string would lose control characters and outer blank lines.
	literal := quoted(text)
	if printable(text) {
		literal = block(text)
	}
	p.b.WriteString(indent + strings.ReplaceAll(literal, "\n", "\n"+indent) + "\n")
}

// schema writes the schema definition. It is omitted if the schema has no description and its root
// types have the default names (section 3.3.1).
func (p *printer) schema(s *model.Schema) {
	roots := []struct {
		kind, usual string
		root        *model.Type
	}{{"query", "Query", s.Query}, {"mutation", "Mutation", s.Mutation},
		{"subscription", "Subscription", s.Subscription}}
	// A root type that is nil does not prevent the omission: an absent Mutation needs no
	// definition.
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

// specified lists the directives of the specification (section 3.13).
var specified = []string{"skip", "include", "deprecated", "specifiedBy", "oneOf"}

// directive writes the definition of a directive.
func (p *printer) directive(d *model.Directive) {
	p.begin(d.Doc)
	p.b.WriteString("directive @" + d.Name)
	p.args(d.Args, "")
	if d.Repeatable {
		p.b.WriteString(" repeatable")
	}
	p.b.WriteString(" on " + strings.Join(d.Locations, " | "))
}

// definition writes the definition of a type. model.Reflect defines no unions, so these are not
// printed.
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
		for i, in := range t.Interfaces {
			p.b.WriteString([]string{" implements ", " & "}[min(i, 1)] + in.Name)
		}
		braces(p, t.Fields, p.field)
	case model.Interface:
		p.b.WriteString("interface " + t.Name)
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

// braces writes items in braces, and nothing if there are none.
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

// field writes a field definition.
func (p *printer) field(f *model.Field, first bool) {
	p.doc(f.Doc, "  ", first)
	p.b.WriteString("  " + f.Name)
	p.args(f.Args, "  ")
	p.b.WriteString(": " + f.Type.String())
	p.deprecated(f.Deprecated)
}

// value writes an enum value.
func (p *printer) value(v *model.Value, first bool) {
	p.doc(v.Doc, "  ", first)
	p.b.WriteString("  " + v.Name)
	p.deprecated(v.Deprecated)
}

// args writes arguments on one line, or on one line each if any of them has a description.
// Arguments of fields are indented by two spaces more than the field.
func (p *printer) args(args []*model.Input, indent string) {
	if len(args) == 0 {
		return
	}
	p.b.WriteByte('(')
	// One description puts every argument on a line of its own.
	if !slices.ContainsFunc(args, func(in *model.Input) bool { return in.Doc != "" }) {
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

// input writes an argument or input field without its description. The description is written by
// the caller, because its place depends on the layout.
func (p *printer) input(in *model.Input) {
	p.b.WriteString(in.Name + ": " + in.Type.String())
	if text, ok := Default(in); ok {
		p.b.WriteString(" = " + text)
	}
	p.deprecated(in.Deprecated)
}

// deprecated writes the directive @deprecated if reason is not empty. It omits the default reason
// (section 3.13.3). An empty reason means that the element is not deprecated.
func (p *printer) deprecated(reason string) {
	switch reason {
	case "":
	case "No longer supported":
		p.b.WriteString(" @deprecated")
	default:
		p.b.WriteString(" @deprecated(reason: " + quoted(reason) + ")")
	}
}
