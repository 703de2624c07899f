// Package lexer reads GraphQL text token by token, without allocating, and bounds a document before anything else looks
// at it.
//
// It is for query/graphql alone, which calls [Guard] on every text that comes from outside and hands what passes to
// package parser, which reads the same tokens from the same [Lexer]. The language is the one of the September 2025
// edition, section 2: every Unicode scalar value is a source character, and \u{...} and pairs of surrogates are escapes.
//
// The words of errors, and the places that they name, are those of the reference implementation (graphql-js 16), since
// editors and people know them; a differential test in .ci/clients holds the two together.
package lexer

import "unicode/utf8"

// Kind is what sort of token a [Token] is. Its zero value is the end of the text.
type Kind uint8

// The kinds of tokens (section 2.1.6 and Appendix B.2). Whitespace, commas, comments and byte order marks are none.
const (
	End Kind = iota
	Bang
	Dollar
	Amp
	ParenL
	ParenR
	Spread
	Colon
	Equals
	At
	BracketL
	BracketR
	BraceL
	Pipe
	BraceR
	Name
	Int
	Float
	String
	BlockString
)

// String is how messages call a kind: punctuators by themselves in quotation marks, the others by their name.
func (k Kind) String() string {
	names := [...]string{"<EOF>", `"!"`, `"$"`, `"&"`, `"("`, `")"`, `"..."`, `":"`, `"="`, `"@"`, `"["`,
		`"]"`, `"{"`,
		`"|"`, `"}"`, "Name", "Int", "Float", "String", "BlockString"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Token is a piece of the text that means something.
type Token struct {
	Kind Kind
	// Start and End are offsets in bytes; what is between them is the token as it was written, quotation marks included.
	Start, End int
	// Line and Column count from 1, the column in UTF-16 code units, as editors and the reference implementation do.
	Line, Column int
}

// Lexer reads the tokens of one text. Its zero value reads the empty text. It may be copied: each copy goes on from
// where it is, which is how one looks ahead.
type Lexer struct {
	text string
	pos  int
	line int // lines before this one
	// columns is what to take from an offset to have a column: where the line starts, less one, and one for each byte
	// that is more than the UTF-16 code units of its character.
	columns int
}

// NewLexer returns a Lexer at the start of text.
func NewLexer(text string) Lexer { return Lexer{text: text, columns: -1} }

// Raw returns a token as it was written. It shares the memory of the text.
func (l *Lexer) Raw(t Token) string { return l.text[t.Start:t.End] }

// What the first byte of a token says about it.
const (
	bad        = '?'
	ignored    = ' '
	newline    = 'n'
	comment    = '#'
	punctuator = '{'
	dots       = '.'
	letter     = 'a'
	digit      = '0'
	quote      = 'q'
	wide       = 'w' // the first byte of a longer character, which only a byte order mark may be
)

// classes has the class of each ASCII byte. It is a string because that is the only table that is a constant.
const classes = "????????? n??n??????????????????" +
	" {q#{?{?{{?? 0.?0000000000{??{??" +
	"{aaaaaaaaaaaaaaaaaaaaaaaaaa{?{?a" +
	"?aaaaaaaaaaaaaaaaaaaaaaaaaa{{{??"

// classOf returns the class of a byte.
func classOf(c byte) byte {
	if c < utf8.RuneSelf {
		return classes[c]
	}
	return wide
}

// punctuatorKind returns the kind of a punctuator of one byte.
func punctuatorKind(c byte) Kind {
	switch c {
	case '{':
		return BraceL
	case '}':
		return BraceR
	case '(':
		return ParenL
	case ')':
		return ParenR
	case '[':
		return BracketL
	case ']':
		return BracketR
	case ':':
		return Colon
	case '!':
		return Bang
	case '$':
		return Dollar
	case '&':
		return Amp
	case '=':
		return Equals
	case '@':
		return At
	}
	return Pipe
}

// Next reads the next token, and goes on giving [End] after the last. After an error, which is an [*Error], the Lexer
// stays where it was.
func (l *Lexer) Next() (Token, error) {
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		switch classOf(c) {
		case ignored:
			l.pos++
		case newline:
			l.newline()
		case comment:
			l.comment()
		case letter:
			end := l.pos + 1
			for end < len(l.text) && nameByte(l.text[end]) {
				end++
			}
			return l.token(Name, end), nil
		case punctuator:
			return l.token(punctuatorKind(c), l.pos+1), nil
		case digit:
			return l.number()
		case quote:
			if hasAt(l.text, l.pos, `"""`) {
				return l.lexBlockString()
			}
			return l.lexString()
		case dots:
			if !hasAt(l.text, l.pos, "...") {
				return l.unexpected(l.pos)
			}
			return l.token(Spread, l.pos+3), nil
		case wide:
			if !hasAt(l.text, l.pos, "\ufeff") {
				return l.unexpected(l.pos)
			}
			l.pos += 3
			l.columns += 2
		default:
			return l.unexpected(l.pos)
		}
	}
	return l.token(End, len(l.text)), nil
}

// token makes a token of what is between here and end, and goes there.
func (l *Lexer) token(k Kind, end int) Token {
	t := Token{Kind: k, Start: l.pos, End: end, Line: l.line + 1, Column: l.pos - l.columns}
	l.pos = end
	return t
}

// newline passes a line terminator: \n, \r or both (section 2.1.2).
func (l *Lexer) newline() {
	if l.text[l.pos] == '\r' && l.pos+1 < len(l.text) && l.text[l.pos+1] == '\n' {
		l.pos++
	}
	l.pos++
	l.line++
	l.columns = l.pos - 1
}

// comment passes everything up to the end of the line, or up to bytes that are no character, which are then unexpected.
func (l *Lexer) comment() {
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		if c == '\n' || c == '\r' {
			return
		}
		if c < utf8.RuneSelf {
			l.pos++
			continue
		}
		size, units := character(l.text, l.pos)
		if size == 0 {
			return
		}
		l.pos += size
		l.columns += size - units
	}
}

// nameByte reports whether a byte may stand in a name, behind its start (NameContinue).
func nameByte(c byte) bool {
	class := classOf(c)
	return class == letter || class == digit && c != '-'
}

// nameStart reports whether a name may begin with a byte (NameStart).
func nameStart(c byte) bool { return classOf(c) == letter }

// isDigit leaves out the minus, which begins a number but is no digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// hasAt reports whether something stands at a position.
func hasAt(text string, pos int, what string) bool {
	return len(text)-pos >= len(what) && text[pos:pos+len(what)] == what
}

// at returns the byte at a position, and 0 behind the end. A NUL is as unwelcome everywhere it is asked about.
func (l *Lexer) at(pos int) byte {
	if pos < len(l.text) {
		return l.text[pos]
	}
	return 0
}

// character returns how many bytes and UTF-16 code units the character at a position has, and 0 bytes where there is
// none: the text is not UTF-8 there.
func character(text string, pos int) (size, units int) {
	if text[pos] < utf8.RuneSelf {
		return 1, 1
	}
	r, size := utf8.DecodeRuneInString(text[pos:])
	switch {
	case r == utf8.RuneError && size <= 1:
		return 0, 1
	case r > 0xffff:
		return size, 2
	}
	return size, 1
}
