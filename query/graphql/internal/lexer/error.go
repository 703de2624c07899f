package lexer

// Errors of the lexer and the parser, which package exec adds to the response. Tests in .ci/clients
// compare messages and locations with those of graphql-js, so both are part of the behavior.

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Error reports a text that does not conform to the grammar, or that exceeds a limit. Its message
// may be sent to clients.
type Error struct {
	// Message begins with "Syntax Error: " if the text does not conform to the grammar.
	Message string
	// Line and Column count from 1. Column is in UTF-16 code units. Both are 0 if the error
	// concerns the whole text.
	Line, Column int
	// Limit reports that the text exceeds a limit. It may still conform to the grammar.
	Limit bool
	// Rule is the validation rule that the text breaks, "ExecutableDefinitions", and empty for
	// syntax errors and limits.
	Rule string
}

// Error returns the message, followed by the line and column if they are known.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return e.Message + " (" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column) + ")"
}

// SyntaxError returns a syntax error at the position of t. The message is a full sentence.
func (t Token) SyntaxError(message string) *Error {
	return &Error{Message: "Syntax Error: " + message, Line: t.Line, Column: t.Column}
}

// Describe returns t as error messages show it: its kind, and the value of a name, number or
// string.
func (l *Lexer) Describe(t Token) string {
	switch t.Kind {
	case Name, Int, Float:
		return t.Kind.String() + ` "` + shortened(l.Raw(t)) + `"`
	case String, BlockString:
		return t.Kind.String() + ` "` + shortened(l.Text(t)) + `"`
	}
	return t.Kind.String()
}

// shortened returns at most the first 200 bytes of s, so that an error message cannot return a
// large request to the client.
func shortened(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	end := most
	// The text is cut before a character, not within one.
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

// fail returns a syntax error at a byte offset on the current line.
func (l *Lexer) fail(pos int, message string) (Token, error) { return l.failAfter(pos, 0, message) }

// failAfter is fail for an offset that follows characters within the current token. These have
// extra more bytes than UTF-16 code units.
func (l *Lexer) failAfter(pos, extra int, message string) (Token, error) {
	t := Token{Line: l.line + 1, Column: pos - l.columns - extra}
	return Token{}, t.SyntaxError(message)
}

// unexpected returns the error for a character that cannot begin a token.
func (l *Lexer) unexpected(pos int) (Token, error) {
	if l.text[pos] == '\'' {
		return l.fail(pos, `Unexpected single quote character ('), did you mean to use a double quote (")?`)
	}
	what := "Unexpected"
	if size, _ := character(l.text, pos); size == 0 {
		what = "Invalid"
	}
	return l.fail(pos, what+" character: "+l.described(pos)+".")
}

// described returns the character at pos as error messages show it: printable ASCII in quotation
// marks, otherwise the code point or the byte.
func (l *Lexer) described(pos int) string {
	if pos >= len(l.text) {
		return "<EOF>"
	}
	c := l.text[pos]
	switch {
	// A quotation mark within quotation marks would be hard to read.
	case c == '"':
		return `'"'`
	case c >= ' ' && c <= '~':
		return `"` + string(c) + `"`
	}
	r, size := utf8.DecodeRuneInString(l.text[pos:])
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("byte 0x%02X", c)
	}
	return fmt.Sprintf("U+%04X", r)
}
