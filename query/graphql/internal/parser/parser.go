// Package parser makes graphql-go's tree of an executable document.
//
// It is for query/graphql alone, which uses it in place of graphql-go's own parser. That one does not know null
// literals, directives and descriptions of variables, \u{...} and pairs of surrogates, gets block strings wrong, and
// recurses as deep as a text asks for. Everything else of graphql-go works on the tree made here: its rules, its
// executor, its printer. What its tree has no place for stands beside it, in [Document] and [NullValue].
//
// The grammar is the one of the September 2025 edition, section 2, without the type system: definitions of types break
// the rule ExecutableDefinitions, and no document with one is ever executed. The words and places of errors are those of
// the reference implementation (graphql-js 16).
package parser

import (
	"github.com/graphql-go/graphql/language/ast"
	"github.com/graphql-go/graphql/language/kinds"

	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
)

// MaxNesting is how deep selections, values and types may stand in each other, whatever [lexer.Guard] was told to let
// pass: recursion is bounded here for its own sake.
const MaxNesting = 500

// Document is a parsed document. Its nodes share the memory of the text for names and strings; the text is otherwise
// not kept.
type Document struct {
	*ast.Document
	// Variables has the directives of variables, and nil where no variable has one. graphql-go's tree has no place for
	// them.
	Variables map[*ast.VariableDefinition][]*ast.Directive
}

// Place returns where a node begins: line and column from 1, the column in UTF-16 code units, and zeros where it is not
// known. The locations of this package hold just these two, in Start and End, since offsets would need the whole text
// kept to be of use to anyone.
func Place(loc *ast.Location) (line, column int) {
	if loc == nil {
		return 0, 0
	}
	return loc.Start, loc.End
}

// Parse reads a document. An error is a [*lexer.Error]. Give it only what [lexer.Guard] let pass: it works in proportion
// to the text, however long that is.
func Parse(text string) (*Document, error) {
	p := &parser{lexer: lexer.NewLexer(text)}
	p.advance()
	doc := &Document{Document: &ast.Document{Kind: kinds.Document, Loc: &ast.Location{}}}
	p.doc = doc
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
	doc   *Document

	// Lists grow here and are copied out once their length is known.
	selections []ast.Selection
	values     []ast.Value
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
func (p *parser) loc() *ast.Location { return &ast.Location{Start: p.tok.Line, End: p.tok.Column} }

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
		field ast.Field
		name  ast.Name
		loc   ast.Location
	}
	nameNode struct {
		name ast.Name
		loc  ast.Location
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
func (p *parser) name() *ast.Name {
	n := p.names.next()
	n.loc = ast.Location{Start: p.tok.Line, End: p.tok.Column}
	n.name = ast.Name{Kind: kinds.Name, Loc: &n.loc}
	if p.tok.Kind == lexer.Name {
		n.name.Value = p.lexer.Raw(p.tok)
	}
	p.expect(lexer.Name)
	return &n.name
}
