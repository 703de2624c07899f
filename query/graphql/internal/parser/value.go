package parser

import (
	"slices"

	"github.com/graphql-go/graphql/language/ast"
	"github.com/graphql-go/graphql/language/kinds"

	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
)

// NullValue is the literal null (section 2.9.5), which graphql-go's tree lacks. Its rules and its executor take it for a
// value of a kind that they do not know.
type NullValue struct{ Loc *ast.Location }

var _ ast.Value = (*NullValue)(nil)

// GetKind returns "NullValue".
func (*NullValue) GetKind() string { return "NullValue" }

// GetLoc returns where it stands; see [Place].
func (v *NullValue) GetLoc() *ast.Location { return v.Loc }

// GetValue returns nil.
func (*NullValue) GetValue() any { return nil }

// value is Value (section 2.9), in which variables have a place unless it is constant.
func (p *parser) value(constant bool) ast.Value {
	loc := p.loc()
	switch p.tok.Kind {
	case lexer.BracketL:
		return p.list(constant)
	case lexer.BraceL:
		return p.object(constant)
	case lexer.Int:
		v := &ast.IntValue{Kind: kinds.IntValue, Loc: loc, Value: p.lexer.Raw(p.tok)}
		p.advance()
		return v
	case lexer.Float:
		v := &ast.FloatValue{Kind: kinds.FloatValue, Loc: loc, Value: p.lexer.Raw(p.tok)}
		p.advance()
		return v
	case lexer.String, lexer.BlockString:
		v := &ast.StringValue{Kind: kinds.StringValue, Loc: loc, Value: p.lexer.Text(p.tok)}
		p.advance()
		return v
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

// named is the value that a name is: a boolean, null or of an enum.
func named(word string, loc *ast.Location) ast.Value {
	switch word {
	case "true", "false":
		return &ast.BooleanValue{Kind: kinds.BooleanValue, Loc: loc, Value: word == "true"}
	case "null":
		return &NullValue{Loc: loc}
	}
	return &ast.EnumValue{Kind: kinds.EnumValue, Loc: loc, Value: word}
}

// variableInConstant refuses a variable by its name, where it has one.
func (p *parser) variableInConstant() {
	dollar := p.tok
	p.advance()
	if p.err == nil && p.tok.Kind == lexer.Name {
		p.fail(dollar.Wrong(`Unexpected variable "$` + p.lexer.Raw(p.tok) + `" in constant value.`))
	}
	p.unexpected(dollar)
}

// list is ListValue (section 2.9.7), which may be empty.
func (p *parser) list(constant bool) ast.Value {
	v := &ast.ListValue{Kind: kinds.ListValue, Loc: p.loc()}
	if !p.enter() {
		return v
	}
	p.advance()
	first := len(p.values)
	for p.err == nil && !p.take(lexer.BracketR) {
		item := p.value(constant)
		p.values = append(p.values, item)
	}
	v.Values = slices.Clone(p.values[first:])
	p.values = p.values[:first]
	p.leave()
	return v
}

// object is ObjectValue (section 2.9.8), which may be empty. Names that come twice are for validation to refuse.
func (p *parser) object(constant bool) ast.Value {
	v := &ast.ObjectValue{Kind: kinds.ObjectValue, Loc: p.loc()}
	if !p.enter() {
		return v
	}
	p.advance()
	for p.err == nil && !p.take(lexer.BraceR) {
		name := p.name()
		p.expect(lexer.Colon)
		v.Fields = append(v.Fields,
			&ast.ObjectField{Kind: kinds.ObjectField, Loc: name.Loc, Name: name, Value: p.value(constant)})
	}
	p.leave()
	return v
}
