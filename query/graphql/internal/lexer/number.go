package lexer

// Numbers. Next in lexer.go calls number for a token that begins with a digit or a minus sign. The
// text is validated here and converted by package coerce, because the result depends on the type of
// the input.

// number reads an IntValue or FloatValue (sections 2.10.1 and 2.10.2). A digit, letter, underscore
// or dot directly after a number is an error: 0xF, 1a and 1.2.3 are not two tokens.
func (l *Lexer) number() (Token, error) {
	kind, pos := Int, l.pos
	if l.at(pos) == '-' {
		pos++
	}
	// A leading zero must be the only digit before a fraction or exponent.
	if l.at(pos) == '0' {
		pos++
		if isDigit(l.at(pos)) {
			return l.fail(pos, "Invalid number, unexpected digit after 0: "+l.described(pos)+".")
		}
	} else if pos = l.digits(pos); pos < 0 {
		return l.noDigit(^pos)
	}
	// A fraction and an exponent need a digit each: 1. and 1e are not valid.
	if l.at(pos) == '.' {
		kind = Float
		if pos = l.digits(pos + 1); pos < 0 {
			return l.noDigit(^pos)
		}
	}
	if c := l.at(pos); c == 'e' || c == 'E' {
		kind = Float
		pos++
		if c := l.at(pos); c == '+' || c == '-' {
			pos++
		}
		if pos = l.digits(pos); pos < 0 {
			return l.noDigit(^pos)
		}
	}
	// The lookahead restriction of sections 2.10.1 and 2.10.2.
	if c := l.at(pos); c == '.' || nameStart(c) {
		return l.noDigit(pos)
	}
	return l.token(kind, pos), nil
}

// digits returns the offset after one or more digits. Without a digit at pos it returns ^pos, which
// is negative.
func (l *Lexer) digits(pos int) int {
	if !isDigit(l.at(pos)) {
		return ^pos
	}
	for isDigit(l.at(pos)) {
		pos++
	}
	return pos
}

// noDigit returns the error for a character in place of a digit or directly after a number.
func (l *Lexer) noDigit(pos int) (Token, error) {
	return l.fail(pos, "Invalid number, expected digit but got: "+l.described(pos)+".")
}
