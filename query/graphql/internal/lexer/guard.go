package lexer

import "fmt"

// Limits bound a document before anything is built from it. A field that is 0 or below has the default that its comment
// names.
type Limits struct {
	Bytes      int // of the text; 1 MiB
	Tokens     int // comments and commas are none; 10,000
	Nesting    int // of braces, brackets and parentheses in each other; 60
	Directives int // uses of one, in the whole document; 50
}

// orDefault puts the defaults where nothing was said.
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

// Guard goes over the text once and refuses what is too much for whoever comes after it: parsers and rules recurse as deep
// as documents nest, and do work for each token. Its error is an [*Error] that tells the first thing that is wrong. It
// allocates nothing for a text that passes. A text that passes consists of tokens; whether they make a document is the
// parser's question.
func Guard(text string, limits Limits) error {
	limits = limits.orDefault()
	if len(text) > limits.Bytes {
		return &Error{Message: fmt.Sprintf("The document has more than %d bytes.", limits.Bytes), Limit: true}
	}
	if passes(text, limits) {
		return nil
	}
	return place(text, limits)
}

// passes goes over the text without a thought for lines and columns, and reports whether it consists of tokens, and not
// of too many. What texts mostly consist of is passed right here; the rest is left to a Lexer.
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
				depth-- // below zero the parser will have none of it
			case '@':
				directives++
			}
			pos++
		case comment:
			l.pos = pos
			l.comment()
			pos = l.pos
			continue
		case wide:
			if !hasAt(text, pos, "\ufeff") {
				return false
			}
			pos += 3
			continue
		default: // numbers, strings, dots, and what is wrong
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

// place goes over a text that does not pass, and says where it fails.
func place(text string, limits Limits) error {
	l := NewLexer(text)
	depth, directives := 0, 0
	for tokens := 0; ; tokens++ {
		t, err := l.Next()
		if err != nil {
			return err
		}
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

// limitError is the error at the token that is one too many.
func limitError(t Token, format string, limit int) error {
	return &Error{Message: fmt.Sprintf(format, limit), Line: t.Line, Column: t.Column, Limit: true}
}
