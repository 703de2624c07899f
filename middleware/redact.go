package middleware

import (
	"net/url"
	"strconv"
	"strings"
)

// longest is how many bytes of a value get into a log.
const longest = 256

// clean makes of what a client chose something that fits in a log: it is cut, and what cannot be printed is escaped as in
// Go, so that no line can be forged and no terminal told anything.
func clean(s string) string {
	whole := s
	if len(s) > longest {
		s = s[:longest]
	}
	if !isPlain(s) {
		s = strconv.QuoteToGraphic(s)
		s = s[1 : len(s)-1]
		if len(s) > longest { // which escaping may have made of it
			s = strings.ToValidUTF8(s[:longest], "") + "..."
			return s
		}
	}
	if len(whole) > longest {
		s += "..."
	}
	return s
}

// isPlain reports whether s is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// withoutSecrets returns a query in which the values of some parameters are left out. What cannot be read as a parameter is
// left out as well.
func withoutSecrets(query string) string {
	var b strings.Builder
	for pair := range strings.SplitSeq(query, "&") {
		if b.Len() > longest {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		name, _, has := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		switch {
		case err != nil, strings.Contains(pair, ";"): // which parted parameters once, and to some still does
			b.WriteString("[unreadable]")
		case has && soundsSecret(plain):
			b.WriteString(name + "=[redacted]")
		default:
			b.WriteString(pair)
		}
	}
	return b.String()
}

// secretWords are parts of names whose values open something. It is meant to be too long.
var secretWords = [...]string{"token", "key", "secret", "pass", "auth", "code", "sig", "session",
	"credential", "cookie", "jwt", "otp", "pin"}

// soundsSecret reports whether the value of a parameter or field of this name may be a secret.
func soundsSecret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
