package parser

import (
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
)

// definition is ExecutableDefinition (section 2.2), perhaps with a description, which means nothing to execution.
func (p *parser) definition() Definition {
	loc := p.loc()
	if p.tok.Kind == lexer.BraceL {
		return &OperationDefinition{Loc: loc, Operation: OperationQuery,
			SelectionSet: p.selectionSet()}
	}
	described := p.tok
	if p.description(); p.err != nil {
		return nil
	}
	switch hasDescription := described.Start != p.tok.Start; {
	case p.at("query"), p.at("mutation"), p.at("subscription"):
		return p.operation(loc)
	case p.at("fragment"):
		return p.fragmentDefinition(loc)
	case p.atTypeSystem(hasDescription):
		p.typeSystem(loc)
	case hasDescription && p.tok.Kind == lexer.BraceL:
		p.fail(described.Wrong("Unexpected description, descriptions are not supported on shorthand " +
			"queries."))
	case hasDescription && p.tok.Kind == lexer.Name:
		p.fail(described.Wrong("Unexpected description, only GraphQL definitions support descriptions."))
	default:
		p.unexpected(p.tok)
	}
	return nil
}

// description passes a string in front of a definition.
func (p *parser) description() {
	if p.tok.Kind == lexer.String || p.tok.Kind == lexer.BlockString {
		p.advance()
	}
}

// atTypeSystem reports whether a definition of the type system begins here. Extensions have no description (section 3).
func (p *parser) atTypeSystem(described bool) bool {
	if p.tok.Kind != lexer.Name {
		return false
	}
	switch p.lexer.Raw(p.tok) {
	case "schema", "scalar", "type", "interface", "union", "enum", "input", "directive":
		return true
	case "extend":
		return !described
	}
	return false
}

// typeSystem refuses the definition or extension of something. It reads up to its name only, for the message.
func (p *parser) typeSystem(loc *Location) {
	if p.at("extend") {
		p.advance()
		if p.err == nil && (p.at("directive") || !p.atTypeSystem(true)) {
			p.unexpected(p.tok)
		}
	}
	what := "schema"
	if !p.at("schema") {
		directive := p.at("directive")
		p.advance()
		if directive {
			p.expect(lexer.At)
		}
		what = `"` + p.name().Value + `"`
	}
	p.fail(&lexer.Error{Message: "The " + what + " definition is not executable.", Line: loc.Line,
		Column: loc.Column,
		Rule:   "ExecutableDefinitions"})
}

// operation is OperationDefinition with its keyword (section 2.3).
func (p *parser) operation(loc *Location) Definition {
	op := &OperationDefinition{Loc: loc, Operation: p.lexer.Raw(p.tok)}
	p.advance()
	if p.tok.Kind == lexer.Name {
		op.Name = p.name()
	}
	if p.take(lexer.ParenL) {
		for more := true; more && p.err == nil; more = !p.take(lexer.ParenR) {
			op.VariableDefinitions = append(op.VariableDefinitions, p.variableDefinition())
		}
	}
	op.Directives = p.directives(false)
	op.SelectionSet = p.selectionSet()
	return op
}

// variableDefinition is VariableDefinition (section 2.10). Its default and directives are constant.
func (p *parser) variableDefinition() *VariableDefinition {
	def := &VariableDefinition{Loc: p.loc()}
	p.description()
	def.Variable = p.variable()
	p.expect(lexer.Colon)
	def.Type = p.typeReference()
	if p.take(lexer.Equals) {
		def.DefaultValue = p.value(true)
	}
	def.Directives = p.directives(true)
	return def
}

// variable is Variable: the name may stand apart from the dollar.
func (p *parser) variable() *Variable {
	v := &Variable{Loc: p.loc()}
	p.expect(lexer.Dollar)
	v.Name = p.name()
	return v
}

// typeReference is Type (section 2.11).
func (p *parser) typeReference() Type {
	loc := p.loc()
	var typ Type
	if p.tok.Kind == lexer.BracketL {
		if !p.enter() {
			return nil
		}
		p.advance()
		list := &ListType{Loc: loc, Type: p.typeReference()}
		p.expect(lexer.BracketR)
		p.leave()
		typ = list
	} else {
		typ = p.namedType()
	}
	if p.take(lexer.Bang) {
		return &NonNullType{Loc: loc, Type: typ}
	}
	return typ
}

// namedType is NamedType. It begins where its name does and shares its location.
func (p *parser) namedType() *NamedType {
	name := p.name()
	return &NamedType{Loc: name.Loc, Name: name}
}

// fragmentDefinition is FragmentDefinition (section 2.8).
func (p *parser) fragmentDefinition(loc *Location) Definition {
	def := &FragmentDefinition{Loc: loc}
	p.advance()
	def.Name = p.fragmentName()
	p.expectWord("on")
	def.TypeCondition = p.namedType()
	def.Directives = p.directives(false)
	def.SelectionSet = p.selectionSet()
	return def
}

// fragmentName is any name but "on", which would be read as the start of a type condition.
func (p *parser) fragmentName() *Name {
	if p.at("on") {
		p.unexpected(p.tok)
	}
	return p.name()
}
