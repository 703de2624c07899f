// Package lexer splits GraphQL text into tokens without allocating, and bounds the size of a
// document before it is parsed.
//
// Package graphql calls [Guard] for each document that it receives. Package parser then reads the
// tokens from a [Lexer]. The language is section 2 of the September 2025 edition of the GraphQL
// specification: every Unicode scalar value is a source character, and strings may contain \u{...}
// escapes and surrogate pairs.
//
// Messages and locations of errors equal those of the reference implementation, graphql-js 16,
// because editors and developers know them. A differential test in .ci/clients compares both.
package lexer

import "unicode/utf8"

// Kind is the lexical kind of a [Token]. The zero value is [End], the end of the text.
type Kind uint8

// The kinds of tokens of section 2.1.5 and Appendix C. Whitespace, commas, comments and byte
// order marks are not tokens.
const (
	End    Kind = iota
	Bang        // non-null type
	Dollar      // variable
	Amp         // only in type system definitions
	ParenL      // arguments, variable definitions
	ParenR
	Spread   // fragment
	Colon    // alias, argument, type
	Equals   // default value
	At       // directive
	BracketL // list
	BracketR
	BraceL // selection set, input object
	Pipe   // only in type system definitions
	BraceR
	Name // includes keywords, which are valid names
	Int
	Float
	String      // in single quotation marks
	BlockString // in triple quotation marks
)

// String returns the kind as error messages show it: a punctuator in quotation marks, or the name
// of the kind.
func (k Kind) String() string {
	names := [...]string{"<EOF>", `"!"`, `"$"`, `"&"`, `"("`, `")"`, `"..."`, `":"`, `"="`, `"@"`, `"["`,
		`"]"`, `"{"`,
		`"|"`, `"}"`, "Name", "Int", "Float", "String", "BlockString"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Token is a lexical token of a text.
type Token struct {
	Kind Kind
	// Start and End are byte offsets into the text. A string includes its quotation marks.
	Start, End int
	// Line and Column count from 1. Column is in UTF-16 code units, as in the reference
	// implementation.
	Line, Column int
}

// Lexer reads the tokens of one text. The zero value reads an empty text.
//
// A copy of a Lexer continues independently from the same position, which allows lookahead. A Lexer
// is not safe for concurrent use.
type Lexer struct {
	text string
	pos  int
	line int // number of line terminators read
	// columns is subtracted from a byte offset to get a column. It is the offset of the line, less
	// one, plus the number of bytes on this line in excess of UTF-16 code units.
	columns int
}

// NewLexer returns a Lexer at the start of text.
func NewLexer(text string) Lexer { return Lexer{text: text, columns: -1} }

// Raw returns t as it is written in the text, without a copy.
func (l *Lexer) Raw(t Token) string { return l.text[t.Start:t.End] }

// The classes of bytes, which decide how the token that begins with a byte is read.
const (
	bad        = '?' // begins no token
	ignored    = ' ' // space, tab and comma
	newline    = 'n' // \n and \r
	comment    = '#' // #
	punctuator = '{' // a token of one byte
	dots       = '.' // valid only as three of them
	letter     = 'a' // letters and the underscore
	digit      = '0' // digits and the minus sign
	quote      = 'q' // ", which begins either kind of string
	// wide is the first byte of a multi-byte character. Outside strings and comments only a byte
	// order mark is valid.
	wide = 'w'
)

// classes maps each ASCII byte to its class. It is a string constant because Go has no constant
// arrays.
const classes = "????????? n??n??????????????????" +
	" {q#{?{?{{?? 0.?0000000000{??{??" +
	"{aaaaaaaaaaaaaaaaaaaaaaaaaa{?{?a" +
	"?aaaaaaaaaaaaaaaaaaaaaaaaaa{{{??"

// classOf returns the class of c.
func classOf(c byte) byte {
	if c < utf8.RuneSelf {
		return classes[c]
	}
	return wide
}

// punctuatorKind returns the kind of the punctuator c, which has the class punctuator.
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

// Next returns the next token, and [End] at the end of the text and for each later call. An error
// is an [*Error] and leaves the position of the Lexer unchanged. Ignored tokens (section 2.1.6) are
// skipped.
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
			// A byte order mark has three bytes and is one UTF-16 code unit.
			l.pos += 3
			l.columns += 2
		default:
			return l.unexpected(l.pos)
		}
	}
	return l.token(End, len(l.text)), nil
}

// token returns the token from the current position to end and advances to end.
func (l *Lexer) token(k Kind, end int) Token {
	t := Token{Kind: k, Start: l.pos, End: end, Line: l.line + 1, Column: l.pos - l.columns}
	l.pos = end
	return t
}

// newline skips a line terminator: \n, \r or \r\n (section 2.1.2).
func (l *Lexer) newline() {
	// \r\n is one line terminator, so that line numbers equal those of editors.
	if l.text[l.pos] == '\r' && l.pos+1 < len(l.text) && l.text[l.pos+1] == '\n' {
		l.pos++
	}
	l.pos++
	l.line++
	l.columns = l.pos - 1
}

// comment skips to the end of the line. It stops at bytes that are not valid UTF-8; Next then
// reports them.
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

// nameByte reports whether c may appear in a name after the first byte (NameContinue).
func nameByte(c byte) bool {
	class := classOf(c)
	return class == letter || class == digit && c != '-'
}

// nameStart reports whether a name may begin with c (NameStart).
func nameStart(c byte) bool { return classOf(c) == letter }

// isDigit reports whether c is a decimal digit. The class digit also contains the minus sign.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// hasAt reports whether text contains what at offset pos.
func hasAt(text string, pos int, what string) bool {
	return len(text)-pos >= len(what) && text[pos:pos+len(what)] == what
}

// at returns the byte at pos, or 0 at the end of the text. Callers need not distinguish the end
// from a NUL byte, because NUL is valid in none of the places they check.
func (l *Lexer) at(pos int) byte {
	if pos < len(l.text) {
		return l.text[pos]
	}
	return 0
}

// character returns the number of bytes and UTF-16 code units of the character at pos. size is 0 if
// the bytes are not valid UTF-8.
func character(text string, pos int) (size, units int) {
	if text[pos] < utf8.RuneSelf {
		return 1, 1
	}
	r, size := utf8.DecodeRuneInString(text[pos:])
	switch {
	case r == utf8.RuneError && size <= 1:
		return 0, 1
	// Characters beyond the basic plane are surrogate pairs in UTF-16.
	case r > 0xffff:
		return size, 2
	}
	return size, 1
}
