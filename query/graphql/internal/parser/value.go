package parser

// Literals and variables (section 2.10). Called by definition.go for default values and by
// selection.go for arguments.

import (
	"slices"

	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
)

// value parses Value. If constant, variables are an error. Default values and directives of
// variable definitions are constant.
func (p *parser) value(constant bool) Value {
	loc := p.loc()
	switch p.tok.Kind {
	case lexer.BracketL:
		return p.list(constant)
	case lexer.BraceL:
		return p.object(constant)
	case lexer.Int:
		v := &IntValue{Loc: loc, Value: p.lexer.Raw(p.tok)}
		p.advance()
		return v
	case lexer.Float:
		v := &FloatValue{Loc: loc, Value: p.lexer.Raw(p.tok)}
		p.advance()
		return v
	case lexer.String, lexer.BlockString:
		v := &StringValue{Loc: loc, Value: p.lexer.Text(p.tok)}
		p.advance()
		return v
	// true, false and null are names to the lexer.
	case lexer.Name:
		word := p.lexer.Raw(p.tok)
		p.advance()
		return named(word, loc)
	case lexer.Dollar:
		if constant {
			p.variableInConstant()
			return nil
		}
		return p.variable()
	}
	p.unexpected(p.tok)
	return nil
}

// named returns the value for a name: a boolean, null or an enum value. The words true, false and
// null are not valid enum values (section 2.10.6).
func named(word string, loc *Location) Value {
	switch word {
	case "true", "false":
		return &BooleanValue{Loc: loc, Value: word == "true"}
	case "null":
		return &NullValue{Loc: loc}
	}
	return &EnumValue{Loc: loc, Value: word}
}

// variableInConstant records the error for a variable in a constant value, with its name if it has
// one.
func (p *parser) variableInConstant() {
	dollar := p.tok
	p.advance()
	if p.err == nil && p.tok.Kind == lexer.Name {
		p.fail(dollar.SyntaxError(`Unexpected variable "$` + p.lexer.Raw(p.tok) + `" in constant value.`))
	}
	p.unexpected(dollar)
}

// list parses ListValue (section 2.10.7), which may be empty.
func (p *parser) list(constant bool) Value {
	v := &ListValue{Loc: p.loc()}
	if !p.enter() {
		return v
	}
	p.advance()
	// See selectionSet for the use of the stack.
	first := len(p.values)
	for p.err == nil && !p.take(lexer.BracketR) {
		item := p.value(constant)
		p.values = append(p.values, item)
	}
	// Nested lists have already removed their items from the stack.
	v.Values = slices.Clone(p.values[first:])
	p.values = p.values[:first]
	p.leave()
	return v
}

// object parses ObjectValue (section 2.10.8), which may be empty. Validation rejects duplicate
// names. Fields keep their order, because a literal of the scalar JSON keeps it.
func (p *parser) object(constant bool) Value {
	v := &ObjectValue{Loc: p.loc()}
	if !p.enter() {
		return v
	}
	p.advance()
	for p.err == nil && !p.take(lexer.BraceR) {
		name := p.name()
		p.expect(lexer.Colon)
		v.Fields = append(v.Fields,
			&ObjectField{Loc: name.Loc, Name: name, Value: p.value(constant)})
	}
	p.leave()
	return v
}
