package parser

// The canonical text of documents, values and types. Package exec identifies a mutation by the
// text of Print. Packages coerce, sdl and validate show values in messages and descriptions.

import (
	"fmt"
	"strings"
)

// Print returns doc on one line. [Parse] returns the same tree for it, except for locations.
// Documents that differ only in whitespace, comments or the notation of strings have the same
// output. An idempotency key is stored with a hash of this output, so a change of the format makes
// retries conflict with keys that are already stored.
func Print(doc *Document) string {
	var p printer
	for i, def := range doc.Definitions {
		if i > 0 {
			p.b.WriteByte(' ')
		}
		p.definition(def)
	}
	return p.b.String()
}

// PrintValue returns v as error messages show it, and an empty string for nil. Variables keep their
// names, because the text shows the document and not the request.
func PrintValue(v Value) string {
	var p printer
	p.value(v)
	return p.b.String()
}

// PrintType returns a type reference, such as [Int!]!.
func PrintType(t Type) string {
	switch t := t.(type) {
	case *NamedType:
		return t.Name.Value
	case *ListType:
		return "[" + PrintType(t.Type) + "]"
	case *NonNullType:
		return PrintType(t.Type) + "!"
	}
	return ""
}

// printer writes nodes to a buffer.
type printer struct{ b strings.Builder }

// definition writes an operation or fragment. It always writes the operation's keyword, so that the
// shorthand form prints the same.
func (p *printer) definition(def Definition) {
	switch def := def.(type) {
	case *OperationDefinition:
		p.b.WriteString(def.Operation)
		if def.Name != nil {
			p.b.WriteString(" " + def.Name.Value)
		}
		p.variables(def.VariableDefinitions)
		p.directives(def.Directives)
		p.selectionSet(def.SelectionSet)
	// A fragment has no variable definitions in the September 2025 edition.
	case *FragmentDefinition:
		p.b.WriteString("fragment " + def.Name.Value + " on " + def.TypeCondition.Name.Value)
		p.directives(def.Directives)
		p.selectionSet(def.SelectionSet)
	}
}

// variables writes variable definitions.
func (p *printer) variables(list []*VariableDefinition) {
	for i, def := range list {
		p.separate(i, "(", ", ")
		p.b.WriteString("$" + def.Variable.Name.Value + ": " + PrintType(def.Type))
		if def.DefaultValue != nil {
			p.b.WriteString(" = ")
			p.value(def.DefaultValue)
		}
		p.directives(def.Directives)
	}
	p.end(len(list), ")")
}

// separate writes before for the first item of a list and between for the others. It and end write
// brackets only around a list that is not empty.
func (p *printer) separate(i int, before, between string) {
	if i > 0 {
		before = between
	}
	p.b.WriteString(before)
}

// end writes after if the list has n > 0 items.
func (p *printer) end(n int, after string) {
	if n > 0 {
		p.b.WriteString(after)
	}
}

// selectionSet writes set, and nothing if it is nil.
func (p *printer) selectionSet(set *SelectionSet) {
	if set == nil {
		return
	}
	p.b.WriteString(" {")
	for _, s := range set.Selections {
		p.b.WriteByte(' ')
		p.selection(s)
	}
	p.b.WriteString(" }")
}

// selection writes a field or a fragment.
func (p *printer) selection(s Selection) {
	switch s := s.(type) {
	case *Field:
		if s.Alias != nil {
			p.b.WriteString(s.Alias.Value + ": ")
		}
		p.b.WriteString(s.Name.Value)
		p.arguments(s.Arguments)
		p.directives(s.Directives)
		p.selectionSet(s.SelectionSet)
	case *FragmentSpread:
		p.b.WriteString("..." + s.Name.Value)
		p.directives(s.Directives)
	case *InlineFragment:
		p.b.WriteString("...")
		if s.TypeCondition != nil {
			p.b.WriteString(" on " + s.TypeCondition.Name.Value)
		}
		p.directives(s.Directives)
		p.selectionSet(s.SelectionSet)
	}
}

// arguments writes nothing for an empty list, because the grammar does not allow empty parentheses.
func (p *printer) arguments(list []*Argument) {
	for i, arg := range list {
		p.separate(i, "(", ", ")
		p.b.WriteString(arg.Name.Value + ": ")
		p.value(arg.Value)
	}
	p.end(len(list), ")")
}

// directives writes directives in their original order, which may be significant (section 2.13).
func (p *printer) directives(list []*Directive) {
	for _, d := range list {
		p.b.WriteString(" @" + d.Name.Value)
		p.arguments(d.Arguments)
	}
}

// value writes a value. Numbers keep their source text; strings are written in single quotation
// marks.
func (p *printer) value(v Value) {
	switch v := v.(type) {
	case *Variable:
		p.b.WriteString("$" + v.Name.Value)
	case *IntValue:
		p.b.WriteString(v.Value)
	case *FloatValue:
		p.b.WriteString(v.Value)
	case *EnumValue:
		p.b.WriteString(v.Value)
	case *BooleanValue:
		fmt.Fprint(&p.b, v.Value)
	case *NullValue:
		p.b.WriteString("null")
	case *StringValue:
		p.quoted(v.Value)
	case *ListValue:
		p.b.WriteByte('[')
		for i, item := range v.Values {
			p.separate(i, "", ", ")
			p.value(item)
		}
		p.b.WriteByte(']')
	case *ObjectValue:
		p.b.WriteByte('{')
		for i, f := range v.Fields {
			p.separate(i, "", ", ")
			p.b.WriteString(f.Name.Value + ": ")
			p.value(f.Value)
		}
		p.b.WriteByte('}')
	}
}

// quoted writes a string literal. It uses short escapes if they exist, and \u escapes for other
// control characters. The escapes are those of the reference implementation. Other characters are
// valid in a literal as they are.
func (p *printer) quoted(s string) {
	p.b.WriteByte('"')
	for _, r := range s {
		// The index in the list of characters is that in the list of their escapes.
		if i := strings.IndexRune("\"\\\b\f\n\r\t", r); i >= 0 {
			p.b.WriteByte('\\')
			p.b.WriteByte(`"\bfnrt`[i])
		} else if r < ' ' || r >= 0x7f && r <= 0x9f {
			fmt.Fprintf(&p.b, `\u%04X`, r)
		} else {
			p.b.WriteRune(r)
		}
	}
	p.b.WriteByte('"')
}
