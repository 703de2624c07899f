package parser

// Selection sets, fields, fragments, arguments and directives. Called by definition.go. value.go
// parses the values of arguments.

import (
	"slices"

	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
)

// selectionSet parses SelectionSet (section 2.5), which has at least one selection. It counts a
// level of nesting, because fields and fragments contain further sets.
func (p *parser) selectionSet() *SelectionSet {
	set := &SelectionSet{Loc: p.loc()}
	if !p.enter() {
		return set
	}
	p.expect(lexer.BraceL)
	// Selections before first belong to the sets around this one.
	first := len(p.selections)
	for more := true; more && p.err == nil; more = !p.take(lexer.BraceR) {
		var s Selection
		if p.tok.Kind == lexer.Spread {
			s = p.fragment()
		} else {
			s = p.field()
		}
		p.selections = append(p.selections, s)
	}
	// Nested selection sets have already removed their selections from the stack.
	set.Selections = slices.Clone(p.selections[first:])
	p.selections = p.selections[:first]
	p.leave()
	return set
}

// field parses Field (section 2.6). The node, its name or alias and their location share one
// allocation.
func (p *parser) field() *Field {
	n := p.fields.next()
	n.loc = Location{Line: p.tok.Line, Column: p.tok.Column}
	n.name = Name{Loc: &n.loc}
	if p.tok.Kind == lexer.Name {
		n.name.Value = p.lexer.Raw(p.tok)
	}
	p.expect(lexer.Name)
	f := &n.field
	f.Loc, f.Name = &n.loc, &n.name
	// The first name was an alias if a colon follows.
	if p.take(lexer.Colon) {
		f.Alias, f.Name = f.Name, p.name()
	}
	f.Arguments = p.arguments(false)
	f.Directives = p.directives(false)
	if p.tok.Kind == lexer.BraceL {
		f.SelectionSet = p.selectionSet()
	}
	return f
}

// fragment parses FragmentSpread or InlineFragment (section 2.9). The name after the dots decides
// which one follows.
func (p *parser) fragment() Selection {
	loc := p.loc()
	p.advance()
	// "on" after the dots begins a type condition. No fragment can have this name.
	if p.tok.Kind == lexer.Name && !p.at("on") {
		return &FragmentSpread{Loc: loc, Name: p.name(), Directives: p.directives(false)}
	}
	f := &InlineFragment{Loc: loc}
	if p.at("on") {
		p.advance()
		f.TypeCondition = p.namedType()
	}
	f.Directives = p.directives(false)
	f.SelectionSet = p.selectionSet()
	return f
}

// arguments parses optional Arguments (section 2.7). Parentheses contain at least one argument.
// constant excludes variables, as in directives of variable definitions.
func (p *parser) arguments(constant bool) []*Argument {
	if !p.take(lexer.ParenL) {
		return nil
	}
	var list []*Argument
	for more := true; more && p.err == nil; more = !p.take(lexer.ParenR) {
		name := p.name()
		p.expect(lexer.Colon)
		list = append(list, &Argument{Loc: name.Loc, Name: name, Value: p.value(constant)})
	}
	return list
}

// directives parses any number of directives. If constant, their arguments cannot contain variables
// (section 2.13).
func (p *parser) directives(constant bool) []*Directive {
	var list []*Directive
	for p.tok.Kind == lexer.At {
		d := &Directive{Loc: p.loc()}
		p.advance()
		d.Name = p.name()
		d.Arguments = p.arguments(constant)
		list = append(list, d)
	}
	return list
}
