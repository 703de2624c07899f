// Package parser makes the tree of an executable document.
//
// The grammar is the one of the September 2025 edition, section 2, without the type system: definitions of types break
// the rule ExecutableDefinitions, and no document with one is ever executed. The words and places of errors are those of
// the reference implementation (graphql-js 16).
package parser

import (
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
)

// MaxNesting is how deep selections, values and types may stand in each other, whatever [lexer.Guard] was told to let
// pass: recursion is bounded here for its own sake.
const MaxNesting = 500

// Parse reads a document. An error is a [*lexer.Error]. Give it only what [lexer.Guard] let pass: it works in proportion
// to the text, however long that is.
func Parse(text string) (*Document, error) {
	p := &parser{lexer: lexer.NewLexer(text)}
	p.advance()
	doc := &Document{}
	// A document has at least one definition, so the end is asked about behind it.
	for more := true; more && p.err == nil; more = p.tok.Kind != lexer.End {
		if def := p.definition(); p.err == nil {
			doc.Definitions = append(doc.Definitions, def)
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return doc, nil
}

// parser is a parser by recursive descent with one token in hand. The first error stays, and from then on there are no
// more tokens, so that every loop ends; what was made by then is thrown away.
type parser struct {
	lexer lexer.Lexer
	tok   lexer.Token
	err   error
	depth int

	// Lists grow here and are copied out once their length is known.
	selections []Selection
	values     []Value
	fields     slab[fieldNode]
	names      slab[nameNode]
}

// advance takes the next token in hand.
func (p *parser) advance() {
	if p.err != nil {
		return
	}
	tok, err := p.lexer.Next()
	if err != nil {
		p.fail(err)
		return
	}
	p.tok = tok
}

// fail keeps the first error and lets there be no more tokens.
func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.tok = lexer.Token{Kind: lexer.End}
}

// unexpected is the error for a token where several others would do.
func (p *parser) unexpected(t lexer.Token) {
	if p.err == nil {
		p.fail(t.Wrong("Unexpected " + p.lexer.Describe(t) + "."))
	}
}

// loc returns the location of the token in hand.
func (p *parser) loc() *Location { return &Location{Line: p.tok.Line, Column: p.tok.Column} }

// take passes the token in hand if it is of a kind, and reports whether it was.
func (p *parser) take(k lexer.Kind) bool {
	if p.tok.Kind != k || p.err != nil {
		return false
	}
	p.advance()
	return true
}

// expect passes a token of the only kind that can stand here.
func (p *parser) expect(k lexer.Kind) {
	if !p.take(k) && p.err == nil {
		p.fail(p.tok.Wrong("Expected " + k.String() + ", found " + p.lexer.Describe(p.tok) + "."))
	}
}

// at reports whether the token in hand is a Name that says word.
func (p *parser) at(word string) bool { return p.tok.Kind == lexer.Name && p.lexer.Raw(p.tok) == word }

// expectWord passes the only word that can stand here. It is no keyword: elsewhere it is a name like any other.
func (p *parser) expectWord(word string) {
	if !p.at(word) {
		if p.err == nil {
			p.fail(p.tok.Wrong(`Expected "` + word + `", found ` + p.lexer.Describe(p.tok) + "."))
		}
		return
	}
	p.advance()
}

// enter counts a level, and reports whether it may be gone into; leave goes back.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > MaxNesting && p.err == nil {
		err := p.tok.Wrong("The document nests too deep.")
		err.Limit = true
		p.fail(err)
	}
	return p.err == nil
}

// leave goes back a level.
func (p *parser) leave() { p.depth-- }

// The nodes that documents are full of are made together with what belongs to each, several at a time.
type (
	fieldNode struct {
		field Field
		name  Name
		loc   Location
	}
	nameNode struct {
		name Name
		loc  Location
	}
)

// slab hands out values from pieces that grow up to a limit, so that small documents do not pay for large ones.
type slab[T any] struct {
	free []T
	size int
}

// next returns a zero value. Pieces stay below the size from which the allocator takes whole pages.
func (s *slab[T]) next() *T {
	if len(s.free) == 0 {
		s.size = min(2*s.size+2, 62)
		s.free = make([]T, s.size)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// name is Name (section 2.1.9). After an error it is empty, and nobody looks at it.
func (p *parser) name() *Name {
	n := p.names.next()
	n.loc = Location{Line: p.tok.Line, Column: p.tok.Column}
	n.name = Name{Loc: &n.loc}
	if p.tok.Kind == lexer.Name {
		n.name.Value = p.lexer.Raw(p.tok)
	}
	p.expect(lexer.Name)
	return &n.name
}
