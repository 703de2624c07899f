package lexer

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Error is what is wrong with a text, and where. Its message is fit for clients.
type Error struct {
	// Message begins with "Syntax Error: " where the text breaks the grammar.
	Message string
	// Line and Column count from 1, the column in UTF-16 code units. Both are 0 where the whole text is meant.
	Line, Column int
	// Limit reports that the text may be right, but is more than is accepted.
	Limit bool
	// Rule names the rule of validation that is broken, where it is not the grammar: "ExecutableDefinitions" or "".
	Rule string
}

// Error returns the message with its place.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return e.Message + " (" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column) + ")"
}

// Wrong is the error for a token that the grammar has no place for, in a sentence.
func (t Token) Wrong(message string) *Error {
	return &Error{Message: "Syntax Error: " + message, Line: t.Line, Column: t.Column}
}

// Describe returns how messages call a token of the text: its kind and, unless that says it all, its value.
func (l *Lexer) Describe(t Token) string {
	switch t.Kind {
	case Name, Int, Float:
		return t.Kind.String() + ` "` + shortened(l.Raw(t)) + `"`
	case String, BlockString:
		return t.Kind.String() + ` "` + shortened(l.Text(t)) + `"`
	}
	return t.Kind.String()
}

// shortened keeps what a client sent from coming back to it in full. Nobody looks at more than this.
func shortened(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	end := most
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

// fail is an error on the line where the Lexer is.
func (l *Lexer) fail(pos int, message string) (Token, error) { return l.failAfter(pos, 0, message) }

// failAfter is fail behind characters with some more bytes than UTF-16 code units.
func (l *Lexer) failAfter(pos, extra int, message string) (Token, error) {
	t := Token{Line: l.line + 1, Column: pos - l.columns - extra}
	return Token{}, t.Wrong(message)
}

// unexpected is the error for a character that begins no token.
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

// described shows a character: itself where it can be seen, else its code point.
func (l *Lexer) described(pos int) string {
	if pos >= len(l.text) {
		return "<EOF>"
	}
	c := l.text[pos]
	switch {
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
