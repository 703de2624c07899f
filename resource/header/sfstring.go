package header

import (
	"errors"
	"strings"
)

var (
	errStringAbsent = errors.New("the field is absent or empty")
	errStringMany   = errors.New("the field has more than one value")
	errStringSyntax = errors.New("not a string such as \"abc\"")
)

// String reads a field that is a Structured Field string (RFC 9651 section 3.3.3), as Idempotency-Key is: printable
// ASCII between quotation marks, with backslashes only before another one or a quotation mark.
//
// Many clients leave the quotation marks out, so a bare word is read as well: visible ASCII without comma, semicolon,
// backslash and quotation mark. Then quoted is false, and the caller decides whether that is good enough.
// Parameters are refused, as no field that is a string defines any.
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

// checkQuoted returns an error unless s is a Structured Field string and nothing else. That is narrower than a quoted
// string of HTTP: no tabs, no bytes beyond ASCII, no backslash before other characters.
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

// checkBare returns an error unless s is a word that can be told from a list and from parameters.
func checkBare(s string) error {
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
