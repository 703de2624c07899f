// Package parser parses executable GraphQL documents, as package lexer splits them into tokens.
//
// The grammar is section 2 of the September 2025 edition of the GraphQL specification. Definitions
// of the type system are rejected with the rule ExecutableDefinitions. Messages and locations of
// errors equal those of the reference implementation, graphql-js 16.
//
// Package exec calls [Parse] for documents that [lexer.Guard] accepts. Package validate then checks
// the rules that the grammar does not express, such as unique names.
package parser

import (
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
)

// MaxNesting limits how deep selection sets, values and types nest, because the parser is
// recursive. It applies regardless of the limits passed to [lexer.Guard].
const MaxNesting = 500

// Parse parses a document. An error is a [*lexer.Error]. The caller passes text through
// [lexer.Guard] first, because the work is proportional to the length of the text.
func Parse(text string) (*Document, error) {
	p := &parser{lexer: lexer.NewLexer(text)}
	p.advance()
	doc := &Document{}
	// A document has at least one definition, so the end is checked after it.
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

// parser is a recursive descent parser with a lookahead of one token.
//
// After the first error the current token is always [lexer.End], so that all loops terminate. Nodes
// parsed so far are discarded.
type parser struct {
	lexer lexer.Lexer
	tok   lexer.Token
	err   error
	depth int

	// Stacks of list items. A finished list is copied to a slice of exact size.
	// A selection set pushes its selections here, and pops them when it ends. Nested sets use the
	// same stack above it. Growing one slice is cheaper than growing one for each set.
	selections []Selection
	values     []Value
	fields     slab[fieldNode]
	names      slab[nameNode]
}

// advance reads the next token.
func (p *parser) advance() {
	if p.err != nil {
		return
	}
	// Every token of the grammar is consumed here, so parsing is linear in the length of the text.
	tok, err := p.lexer.Next()
	if err != nil {
		p.fail(err)
		return
	}
	p.tok = tok
}

// fail records the first error and makes the current token the end of the text. Later errors would
// be consequences of the first one.
func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.tok = lexer.Token{Kind: lexer.End}
}

// unexpected records an error for a token if several kinds of token are valid.
func (p *parser) unexpected(t lexer.Token) {
	if p.err == nil {
		p.fail(t.SyntaxError("Unexpected " + p.lexer.Describe(t) + "."))
	}
}

// loc returns the location of the current token.
func (p *parser) loc() *Location { return &Location{Line: p.tok.Line, Column: p.tok.Column} }

// take advances if the current token is of kind k, and reports whether it did. After an error
// it returns false. Loops that wait for a closing token check p.err for this reason.
func (p *parser) take(k lexer.Kind) bool {
	if p.tok.Kind != k || p.err != nil {
		return false
	}
	p.advance()
	return true
}

// expect advances if the current token is of kind k, and records an error otherwise.
func (p *parser) expect(k lexer.Kind) {
	if !p.take(k) && p.err == nil {
		p.fail(p.tok.SyntaxError("Expected " + k.String() + ", found " + p.lexer.Describe(p.tok) + "."))
	}
}

// at reports whether the current token is the name word.
func (p *parser) at(word string) bool { return p.tok.Kind == lexer.Name && p.lexer.Raw(p.tok) == word }

// expectWord advances if the current token is the name word, and records an error otherwise.
func (p *parser) expectWord(word string) {
	if !p.at(word) {
		if p.err == nil {
			p.fail(p.tok.SyntaxError(`Expected "` + word + `", found ` + p.lexer.Describe(p.tok) + "."))
		}
		return
	}
	p.advance()
}

// enter starts a level of nesting and reports whether parsing may continue. Each successful call
// needs a call of leave.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > MaxNesting && p.err == nil {
		err := p.tok.SyntaxError("The document nests too deep.")
		err.Limit = true
		p.fail(err)
	}
	return p.err == nil
}

// leave ends a level of nesting.
func (p *parser) leave() { p.depth-- }

// The most frequent nodes are allocated together with their names and locations, several at a time.
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

// slab allocates values in chunks. The size of a chunk doubles up to a limit, so that small
// documents use little memory. A chunk stays in memory as long as any of its nodes does, which is
// the lifetime of the document.
type slab[T any] struct {
	free []T
	size int
}

// next returns a new zero value. Chunks remain smaller than the sizes for which the allocator uses
// whole pages.
func (s *slab[T]) next() *T {
	if len(s.free) == 0 {
		s.size = min(2*s.size+2, 62)
		s.free = make([]T, s.size)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// name parses Name (section 2.1.8). After an error its value is empty.
func (p *parser) name() *Name {
	// The name and its location are one allocation, because a document has thousands of names.
	n := p.names.next()
	n.loc = Location{Line: p.tok.Line, Column: p.tok.Column}
	n.name = Name{Loc: &n.loc}
	if p.tok.Kind == lexer.Name {
		n.name.Value = p.lexer.Raw(p.tok)
	}
	p.expect(lexer.Name)
	return &n.name
}
