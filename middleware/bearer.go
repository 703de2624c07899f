package middleware

// The syntax of Authorization and WWW-Authenticate (RFC 9110, section 11, and RFC 6750).

import "strings"

// credentials classifies the Authorization field of a request.
type credentials uint8

const (
	absent    credentials = iota // no field, or another scheme
	malformed                    // syntax error, or several fields
	bearer                       // a bearer token
)

// readBearer parses the lines of an Authorization field (RFC 9110 section 11.6.2, RFC 6750 section
// 2.1).
func readBearer(lines []string) (token string, is credentials) {
	switch len(lines) {
	case 0:
		return "", absent
	case 1:
	// Several fields are ambiguous: proxies may use a different one.
	default:
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

// isToken68 reports whether s is a token68 (RFC 9110 section 11.2), the b64token of RFC 6750
// section 2.1.
func isToken68(s string) bool {
	s = strings.TrimRight(s, "=")
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("-._~+/", r)
	})
}

// notInToken reports whether r is not allowed in a token (RFC 9110 section 5.6.2).
func notInToken(r rune) bool {
	return !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

// Challenge returns the WWW-Authenticate value that requests a bearer token (RFC 6750 section 3),
// for the option Challenge of packages serve, rest and graphql. An empty realm is omitted. Control
// characters in realm become spaces.
func Challenge(realm string) string { return challenge(realm, "", "") }

// challenge is Challenge with an error code and its description, either of which may be empty.
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

// quotable escapes s for a quoted string (RFC 9110 section 5.6.4).
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
