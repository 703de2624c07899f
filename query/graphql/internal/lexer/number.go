package lexer

// number reads an Int or a Float (sections 2.9.1 and 2.9.2). What follows directly must not look like more of it: 0xF,
// 1a and 1.2.3 are mistakes and not two tokens.
func (l *Lexer) number() (Token, error) {
	kind, pos := Int, l.pos
	if l.at(pos) == '-' {
		pos++
	}
	if l.at(pos) == '0' {
		pos++
		if isDigit(l.at(pos)) {
			return l.fail(pos, "Invalid number, unexpected digit after 0: "+l.described(pos)+".")
		}
	} else if pos = l.digits(pos); pos < 0 {
		return l.noDigit(^pos)
	}
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
	if c := l.at(pos); c == '.' || nameStart(c) {
		return l.noDigit(pos)
	}
	return l.token(kind, pos), nil
}

// digits returns the position behind one or more digits; where there is none, its complement, which is negative.
func (l *Lexer) digits(pos int) int {
	if !isDigit(l.at(pos)) {
		return ^pos
	}
	for isDigit(l.at(pos)) {
		pos++
	}
	return pos
}

// noDigit is the error where a digit has to be, or where the number should have ended.
func (l *Lexer) noDigit(pos int) (Token, error) {
	return l.fail(pos, "Invalid number, expected digit but got: "+l.described(pos)+".")
}
