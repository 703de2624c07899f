package lexer

// The limits on documents. Package exec calls Guard for each document that is not in its plan
// cache, before it calls the parser.

import "fmt"

// Limits bounds a document before it is parsed. A field that is 0 or negative has its default.
type Limits struct {
	Bytes      int // maximum size of the text in bytes; default 1 MiB
	Tokens     int // maximum number of tokens; comments and commas do not count; default 10,000
	Nesting    int // maximum depth of nested braces, brackets and parentheses; default 60
	Directives int // maximum number of directives in the document; default 50
}

// orDefault returns l with defaults for the fields that are not set.
func (l Limits) orDefault() Limits {
	set := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.Bytes, 1<<20)
	set(&l.Tokens, 10_000)
	set(&l.Nesting, 60)
	set(&l.Directives, 50)
	return l
}

// Guard reads text once and reports the first syntax error or limit exceeded as an [*Error]. It
// protects the parser and the validation rules, which recurse as deep as the document nests and do
// work for each token.
//
// Guard checks tokens only. Whether they form a document is checked by the parser. Guard does not
// allocate if text passes.
func Guard(text string, limits Limits) error {
	limits = limits.orDefault()
	if len(text) > limits.Bytes {
		return &Error{Message: fmt.Sprintf("The document has more than %d bytes.", limits.Bytes), Limit: true}
	}
	// Nearly all documents pass, so the first scan omits what only an error needs.
	if passes(text, limits) {
		return nil
	}
	return firstError(text, limits)
}

// passes reports whether text consists of valid tokens and respects limits. It does not track lines
// and columns. Whitespace, names and punctuators, which make up most of a document, are handled
// inline. A Lexer reads the other tokens.
func passes(text string, limits Limits) bool {
	tokens, depth, directives := 0, 0, 0
	l := Lexer{text: text}
	for pos := 0; pos < len(text); {
		switch classOf(text[pos]) {
		case ignored, newline:
			pos++
			continue
		case letter:
			pos++
			for pos < len(text) && nameByte(text[pos]) {
				pos++
			}
		case punctuator:
			switch text[pos] {
			case '{', '[', '(':
				depth++
			case '}', ']', ')':
				// A negative depth is a syntax error. The parser reports it at this bracket, so
				// deeper nesting after it is never parsed.
				depth--
			case '@':
				directives++
			}
			pos++
		case comment:
			l.pos = pos
			// A comment that stops at an invalid byte leaves it to the next round, in which it is
			// of class wide.
			l.comment()
			pos = l.pos
			continue
		case wide:
			// A byte order mark is ignored anywhere (section 2.1.6).
			if !hasAt(text, pos, "\ufeff") {
				return false
			}
			pos += 3
			continue
		default: // number, string, spread or invalid character
			l.pos = pos
			if _, err := l.Next(); err != nil {
				return false
			}
			pos = l.pos
		}
		tokens++
		if tokens > limits.Tokens || depth > limits.Nesting || directives > limits.Directives {
			return false
		}
	}
	return true
}

// firstError returns the first error of a text that does not pass. It repeats the work of passes with a
// Lexer that tracks lines and columns.
func firstError(text string, limits Limits) error {
	l := NewLexer(text)
	depth, directives := 0, 0
	for tokens := 0; ; tokens++ {
		t, err := l.Next()
		if err != nil {
			return err
		}
		// The counters have the same rules as those of passes.
		switch t.Kind {
		case End:
			return nil
		case BraceL, BracketL, ParenL:
			depth++
		case BraceR, BracketR, ParenR:
			depth--
		case At:
			directives++
		}
		switch {
		case tokens >= limits.Tokens:
			return limitError(t, "The document has more than %d tokens.", limits.Tokens)
		case depth > limits.Nesting:
			return limitError(t, "The document nests deeper than %d levels.", limits.Nesting)
		case directives > limits.Directives:
			return limitError(t, "The document uses more than %d directives.", limits.Directives)
		}
	}
}

// limitError returns the error for t, the first token above a limit.
func limitError(t Token, format string, limit int) error {
	return &Error{Message: fmt.Sprintf(format, limit), Line: t.Line, Column: t.Column, Limit: true}
}
