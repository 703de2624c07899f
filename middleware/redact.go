package middleware

// Text for logs: control characters are escaped, and secrets in a query are replaced.

import (
	"net/url"
	"strconv"
	"strings"
)

// maxLogValue is the maximum number of bytes of a logged value.
const maxLogValue = 256

// sanitize prepares a value of a client for a log. It truncates the value and escapes unprintable
// characters as Go does, so that it cannot forge log lines or control a terminal.
func sanitize(s string) string {
	whole := s
	if len(s) > maxLogValue {
		s = s[:maxLogValue]
	}
	if !isPlain(s) {
		s = strconv.QuoteToGraphic(s)
		s = s[1 : len(s)-1]
		if len(s) > maxLogValue { // escaping may have lengthened it
			s = strings.ToValidUTF8(s[:maxLogValue], "") + "..."
			return s
		}
	}
	if len(whole) > maxLogValue {
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

// redactQuery returns a query without the values of secret parameters. Pairs that cannot be parsed
// are replaced.
func redactQuery(query string) string {
	var b strings.Builder
	for pair := range strings.SplitSeq(query, "&") {
		if b.Len() > maxLogValue {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		name, _, has := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		switch {
		case err != nil, strings.Contains(pair, ";"): // some servers treat ; as a separator
			b.WriteString("[unreadable]")
		// the variables of GraphQL, which may contain any secret
		case has && (isSecretName(plain) || plain == "variables"):
			b.WriteString(name + "=[redacted]")
		default:
			b.WriteString(pair)
		}
	}
	return b.String()
}

// secretWords are parts of the names of secret parameters. A false positive is better than a leak.
var secretWords = [...]string{"token", "key", "secret", "pass", "auth", "code", "sig", "session",
	"credential", "cookie", "jwt", "otp", "pin"}

// isSecretName reports whether a parameter or field with this name may contain a secret.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
