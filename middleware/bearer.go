package middleware

import "strings"

// credentials are what an Authorization field says.
type credentials uint8

const (
	absent    credentials = iota // there is none, or it is of a scheme that is somebody else's
	malformed                    // it cannot be read, or there are several
	bearer                       // a token
)

// readBearer reads the lines of an Authorization field (RFC 9110 section 11.6.2, RFC 6750 section 2.1).
func readBearer(lines []string) (token string, is credentials) {
	switch len(lines) {
	case 0:
		return "", absent
	case 1:
	default: // which one counts is not for us to guess: another server on the way may have guessed otherwise
		return "", malformed
	}
	line := strings.Trim(lines[0], " \t")
	scheme, rest, _ := strings.Cut(line, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		if scheme == "" || strings.ContainsFunc(scheme, notInToken) {
			return "", malformed
		}
		return "", absent
	}
	token = strings.TrimLeft(rest, " ") // 1*SP
	if !isToken68(token) {
		return "", malformed
	}
	return token, bearer
}

// isToken68 reports whether s is what RFC 9110 section 11.2 calls so, and RFC 6750 section 2.1 b64token.
func isToken68(s string) bool {
	s = strings.TrimRight(s, "=")
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("-._~+/", r)
	})
}

// notInToken reports whether r has no place in a token, RFC 9110 section 5.6.2.
func notInToken(r rune) bool {
	return !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

// Challenge returns the WWW-Authenticate value that asks for a bearer token (RFC 6750 section 3), for whoever refuses a
// caller behind [Authenticate]: rest.Options.Challenge. An empty realm is left out. Control characters in it
// become spaces.
func Challenge(realm string) string { return challenge(realm, "", "") }

// challenge is Challenge with what was wrong.
func challenge(realm, code, description string) string {
	value := "Bearer"
	sep := " "
	for _, p := range [...]struct{ name, value string }{
		{"realm", realm}, {"error", code}, {"error_description", description},
	} {
		if p.value != "" {
			value += sep + p.name + `="` + quotable(p.value) + `"`
			sep = ", "
		}
	}
	return value
}

// quotable makes s fit between quotation marks, RFC 9110 section 5.6.4.
func quotable(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
