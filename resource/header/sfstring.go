package header

// Strings of Structured Fields (RFC 9651), for idempotency keys.

import (
	"errors"
	"strings"
)

var (
	errStringAbsent = errors.New("the field is absent or empty")
	errStringMany   = errors.New("the field has more than one value")
	errStringSyntax = errors.New("must be a string such as \"abc\"")
	errStringType   = errors.New("must be a string such as \"12\", in quotation marks; " +
		"without them it is a number, a date, a boolean, a byte sequence or a list")
)

// String parses a field that is a Structured Field string (RFC 9651 section 3.3.3), such as
// Idempotency-Key: printable ASCII between quotation marks. A backslash may precede only a
// backslash or a quotation mark.
//
// Many clients omit the quotation marks, so String also accepts a bare word: visible ASCII without
// commas, semicolons, backslashes and quotation marks. quoted is then false, and the caller decides
// whether to accept the value. A bare word is not a value of another structured type: it begins
// with none of ? : @ % ( and is not a number. A UUID is a bare word, even if it begins with a digit.
//
// String returns an error if the field is absent, empty, has more than one value, has parameters,
// has another type (RFC 9651 section 3.3), or has any other syntax.
func String(lines []string) (value string, quoted bool, err error) {
	if len(lines) > 1 {
		return "", false, errStringMany
	}
	if len(lines) == 0 {
		return "", false, errStringAbsent
	}
	s := strings.Trim(lines[0], " ")
	if s == "" {
		return "", false, errStringAbsent
	}
	if s[0] != '"' {
		if err := checkBare(s); err != nil {
			return "", false, err
		}
		return s, false, nil
	}
	if err := checkQuoted(s); err != nil {
		return "", true, err
	}
	return unquote(s), true, nil
}

// checkQuoted returns an error unless s is exactly one Structured Field string. Unlike the quoted
// string of RFC 9110, it contains no tabs, no bytes above 0x7f, and no other escapes.
func checkQuoted(s string) error {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			if i == len(s)-1 {
				return nil
			}
			return errStringSyntax
		case c == '\\':
			i++
			if i == len(s) || s[i] != '"' && s[i] != '\\' {
				return errStringSyntax
			}
		case c < ' ' || c > '~':
			return errStringSyntax
		}
	}
	return errStringSyntax
}

// checkBare returns an error unless s is a word that is distinguishable from a list, from a value
// with parameters, and from a value of another structured type.
func checkBare(s string) error {
	if strings.IndexByte("?:@%(", s[0]) >= 0 || isNumber(s) {
		return errStringType
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ',':
			return errStringMany
		case c <= ' ', c > '~', c == '"', c == '\\', c == ';':
			return errStringSyntax
		}
	}
	return nil
}

// isNumber reports whether s is an Integer or a Decimal of structured fields: at most 15 digits, or
// at most 12 digits, a dot, and one to three digits (RFC 9651 sections 3.3.1 and 3.3.2).
func isNumber(s string) bool {
	whole, fraction, decimal := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if decimal {
		return isDigits(whole, 12) && isDigits(fraction, 3)
	}
	return isDigits(whole, 15)
}

// isDigits reports whether s consists of 1 to n digits.
func isDigits(s string, n int) bool {
	return s != "" && len(s) <= n && strings.Trim(s, "0123456789") == ""
}
