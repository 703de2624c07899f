package lexer

// String literals. Next in lexer.go calls lexString and lexBlockString, which validate a literal
// and find its end. Text returns the value. The parser calls it for values and error messages. A
// description has no effect on execution and is never decoded.

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// lexString reads a StringValue in single quotation marks (section 2.10.4) and validates its
// escapes. [Lexer.Text] returns its value.
func (l *Lexer) lexString() (Token, error) {
	extra := 0 // bytes in excess of UTF-16 code units
	for pos := l.pos + 1; pos < len(l.text); {
		switch c := l.text[pos]; c {
		case '"':
			// Column is that of the start of the token, so the excess of its characters is added
			// afterwards.
			t := l.token(String, pos+1)
			l.columns += extra
			return t, nil
		// A string in single quotation marks ends on its line.
		case '\n', '\r':
			return l.failAfter(pos, extra, "Unterminated string.")
		case '\\':
			_, size := l.escape(pos)
			if size < 0 {
				return l.failAfter(pos, extra, escapeMessage(l.text[pos:], -size))
			}
			// The escape is validated here and decoded in Text, because most strings are read once
			// or never.
			pos += size
		default:
			if c < utf8.RuneSelf {
				pos++
				continue
			}
			size, units := character(l.text, pos)
			if size == 0 {
				return l.failAfter(pos, extra, "Invalid character within String: "+l.described(pos)+".")
			}
			pos += size
			extra += size - units
		}
	}
	return l.failAfter(len(l.text), extra, "Unterminated string.")
}

// escape reads the escape sequence at pos. It returns the character and the size of the sequence in
// bytes. A negative size means that the sequence is invalid; -size is the number of UTF-16 code
// units that the error message shows. The sequences are EscapedCharacter and EscapedUnicode of
// section 2.10.4.
func (l *Lexer) escape(pos int) (r rune, size int) {
	switch c := l.at(pos + 1); c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if l.at(pos+2) == '{' {
			return l.escapeBraced(pos)
		}
		return l.escapeFixed(pos)
	}
	return 0, -2
}

// escapeBraced reads an escape such as \u{1F600}. Leading zeros are valid, up to a total of 12
// bytes.
func (l *Lexer) escapeBraced(pos int) (r rune, size int) {
	point := int64(0)
	for size = 3; size < 12; {
		c := l.at(pos + size)
		size++
		if c == '}' {
			// There is at least one digit. A surrogate is not a Unicode scalar value.
			if size < 5 || point > utf8.MaxRune || !utf8.ValidRune(rune(point)) {
				return 0, -size
			}
			return rune(point), size
		}
		digit := hex(c)
		point = point<<4 | int64(digit)
		// The reference implementation also stops at a value of more than 31 bits. The error
		// message shows the escape up to this digit.
		if digit < 0 || point > 1<<31-1 {
			return 0, -size
		}
	}
	return 0, -size
}

// escapeFixed reads an escape such as \u0041, or two of them that form a surrogate pair. A
// surrogate without its other half is invalid, because it is not a Unicode scalar value.
func (l *Lexer) escapeFixed(pos int) (r rune, size int) {
	r = l.hex4(pos + 2)
	if r >= 0 && !utf16.IsSurrogate(r) {
		return r, 6
	}
	if r >= 0 && hasAt(l.text, pos+6, `\u`) {
		// The second escape has to be the low surrogate of the first.
		if low := l.hex4(pos + 8); low >= 0 {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return 0, -6
}

// hex4 returns the value of four hexadecimal digits at pos, or -1 if there are fewer.
func (l *Lexer) hex4(pos int) rune {
	var r rune
	for i := range 4 {
		digit := hex(l.at(pos + i))
		if digit < 0 {
			return -1
		}
		r = r<<4 | digit
	}
	return r
}

// hex returns the value of a hexadecimal digit, or -1 if c is not one.
func hex(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	}
	return -1
}

// escapeMessage returns the error message for the invalid escape sequence at the start of text, of
// which it shows the given number of UTF-16 code units.
func escapeMessage(text string, units int) string {
	what := "Unicode"
	if units == 2 {
		what = "character"
	}
	end := 0
	for units > 0 && end < len(text) {
		size, n := character(text, end)
		end += max(size, 1)
		units -= n
	}
	return "Invalid " + what + ` escape sequence: "` + strings.ToValidUTF8(text[:end], "\ufffd") + `".`
}

// lexBlockString reads a StringValue in triple quotation marks (section 2.10.4). The only escape in
// it is \""".
func (l *Lexer) lexBlockString() (Token, error) {
	ahead := *l // ahead counts lines; l keeps the position of the token's start
	for ahead.pos += 3; ahead.pos < len(l.text); {
		switch c := l.text[ahead.pos]; {
		case c == '"' && hasAt(l.text, ahead.pos, `"""`):
			t := l.token(BlockString, ahead.pos+3)
			ahead.pos += 3
			*l = ahead
			return t, nil
		case c == '\\' && hasAt(l.text, ahead.pos, `\"""`):
			ahead.pos += 4
		case c == '\n' || c == '\r':
			ahead.newline()
		case c < utf8.RuneSelf:
			ahead.pos++
		default:
			size, units := character(l.text, ahead.pos)
			if size == 0 {
				return ahead.fail(ahead.pos, "Invalid character within String: "+l.described(ahead.pos)+".")
			}
			ahead.pos += size
			ahead.columns += size - units
		}
	}
	return ahead.fail(ahead.pos, "Unterminated string.")
}

// Text returns the value of t, a String or BlockString read by this Lexer. It resolves escapes and
// removes the common indentation of block strings. The result shares memory with the text if
// nothing changes. Next has validated the escapes, so Text does not check them again.
func (l *Lexer) Text(t Token) string {
	if t.Kind == BlockString {
		return dedent(l.text[t.Start+3 : t.End-3])
	}
	inner := l.text[t.Start+1 : t.End-1]
	first := strings.IndexByte(inner, '\\')
	if first < 0 {
		return inner
	}
	// An escape is never shorter than its character, so the buffer does not grow.
	b := append(make([]byte, 0, len(inner)), inner[:first]...)
	for pos := t.Start + 1 + first; pos < t.End-1; {
		if c := l.text[pos]; c != '\\' {
			b = append(b, c)
			pos++
			continue
		}
		r, size := l.escape(pos)
		b = utf8.AppendRune(b, r)
		pos += size
	}
	return string(b)
}
