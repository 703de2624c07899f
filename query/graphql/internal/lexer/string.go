package lexer

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// lexString reads a String with quotation marks (section 2.9.4) and checks its escapes; [Lexer.Text] has its value.
func (l *Lexer) lexString() (Token, error) {
	extra := 0 // bytes more than UTF-16 code units
	for pos := l.pos + 1; pos < len(l.text); {
		switch c := l.text[pos]; c {
		case '"':
			t := l.token(String, pos+1)
			l.columns += extra
			return t, nil
		case '\n', '\r':
			return l.failAfter(pos, extra, "Unterminated string.")
		case '\\':
			_, size := l.escape(pos)
			if size < 0 {
				return l.failAfter(pos, extra, escapeMessage(l.text[pos:], -size))
			}
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

// escape reads the escape at a position: the character that it stands for and how many bytes it has. A size below zero
// is a mistake, and its amount is how much of the text shows it.
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

// escapeBraced reads \u{1F600}, which may have zeros in front but is never longer than 12 bytes.
func (l *Lexer) escapeBraced(pos int) (r rune, size int) {
	point := int64(0)
	for size = 3; size < 12; {
		c := l.at(pos + size)
		size++
		if c == '}' {
			if size < 5 || point > utf8.MaxRune || !utf8.ValidRune(rune(point)) {
				return 0, -size
			}
			return rune(point), size
		}
		digit := hex(c)
		point = point<<4 | int64(digit)
		if digit < 0 || point > 1<<31-1 {
			return 0, -size
		}
	}
	return 0, -size
}

// escapeFixed reads \u0041, or two of them that are the halves of a pair.
func (l *Lexer) escapeFixed(pos int) (r rune, size int) {
	r = l.hex4(pos + 2)
	if r >= 0 && !utf16.IsSurrogate(r) {
		return r, 6
	}
	if r >= 0 && hasAt(l.text, pos+6, `\u`) {
		if low := l.hex4(pos + 8); low >= 0 {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return 0, -6
}

// hex4 reads four digits, as \u has them, and returns a negative number where there are less.
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

// hex returns what a digit is worth, and a negative number for what is none.
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

// escapeMessage shows the wrong escape at the start of text, of which a number of UTF-16 code units belong to it.
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

// lexBlockString reads a String with three quotation marks (section 2.9.4), in which only \""" is an escape.
func (l *Lexer) lexBlockString() (Token, error) {
	ahead := *l // sees the lines go by, while the token is where it starts
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

// Text returns the value of a String or BlockString that this Lexer has read: without marks, escapes resolved, block
// strings without their common indentation. Where nothing was to be changed it shares the memory of the text.
func (l *Lexer) Text(t Token) string {
	if t.Kind == BlockString {
		return dedent(l.text[t.Start+3 : t.End-3])
	}
	inner := l.text[t.Start+1 : t.End-1]
	first := strings.IndexByte(inner, '\\')
	if first < 0 {
		return inner
	}
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
