package parser

// Definitions: operations with their variables and types, and fragments. Definitions of the type
// system are rejected.

import (
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
)

// definition parses ExecutableDefinition (section 2.3). A description before it is skipped, because
// it has no effect on execution.
func (p *parser) definition() Definition {
	loc := p.loc()
	if p.tok.Kind == lexer.BraceL {
		return &OperationDefinition{Loc: loc, Operation: OperationQuery,
			SelectionSet: p.selectionSet()}
	}
	// A description and the keyword are compared by position, because both are a single token.
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
	// The two errors below have messages of their own in the reference implementation.
	case hasDescription && p.tok.Kind == lexer.BraceL:
		p.fail(described.SyntaxError("Unexpected description, descriptions are not supported on shorthand " +
			"queries."))
	case hasDescription && p.tok.Kind == lexer.Name:
		p.fail(described.SyntaxError("Unexpected description, only GraphQL definitions support " +
			"descriptions."))
	default:
		p.unexpected(p.tok)
	}
	return nil
}

// description skips the optional description of a definition.
func (p *parser) description() {
	if p.tok.Kind == lexer.String || p.tok.Kind == lexer.BlockString {
		p.advance()
	}
}

// atTypeSystem reports whether a definition of the type system begins at the current token. An
// extension cannot have a description (section 3).
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

// typeSystem rejects a definition or extension of the type system. It reads up to its name, which
// the error message contains.
func (p *parser) typeSystem(loc *Location) {
	// "extend" must be followed by the keyword of a definition that can be extended. Anything else
	// is a syntax error, not a definition of the type system.
	if p.at("extend") {
		p.advance()
		if p.err == nil && (p.at("directive") || !p.atTypeSystem(true)) {
			p.unexpected(p.tok)
		}
	}
	// A schema definition has no name. A directive definition has an at sign before its name.
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

// operation parses OperationDefinition from its keyword (section 2.4). A list of variable
// definitions has at least one element, so the loop ends after an element, not before one.
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
	// Directives of operations may contain variables, unlike those of variable definitions.
	op.Directives = p.directives(false)
	op.SelectionSet = p.selectionSet()
	return op
}

// variableDefinition parses VariableDefinition (section 2.11). Its default value and directives
// cannot contain variables.
func (p *parser) variableDefinition() *VariableDefinition {
	def := &VariableDefinition{Loc: p.loc()}
	// The September 2025 edition permits a description here, too.
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

// variable parses Variable. Whitespace may separate the dollar sign from the name.
func (p *parser) variable() *Variable {
	v := &Variable{Loc: p.loc()}
	p.expect(lexer.Dollar)
	v.Name = p.name()
	return v
}

// typeReference parses Type (section 2.12). It reads at most one exclamation mark. A second one is
// an error of the caller, so a NonNullType never contains another.
func (p *parser) typeReference() Type {
	loc := p.loc()
	var typ Type
	if p.tok.Kind == lexer.BracketL {
		// Brackets of types nest without limit in the grammar, so they count as nesting.
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

// namedType parses NamedType.
func (p *parser) namedType() *NamedType {
	name := p.name()
	return &NamedType{Loc: name.Loc, Name: name}
}

// fragmentDefinition parses FragmentDefinition (section 2.9).
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

// fragmentName parses FragmentName: any name except "on", which begins a type condition.
func (p *parser) fragmentName() *Name {
	if p.at("on") {
		p.unexpected(p.tok)
	}
	return p.name()
}
