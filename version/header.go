package version

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Header names a contract by a header field. The contract that was selected is told in the same field of every response,
// however it was named.
type Header struct {
	// Name of the field, such as API-Version. It is required, and none of the registered names that mean something else:
	// Version, Accept-Version.
	Name string
}

// Source returns "the header field" and its name.
func (h Header) Source() string { return "the header field " + h.Name }

// Vary returns the name of the field.
func (h Header) Vary() []string { return []string{h.Name} }

// Find returns the first member of the field.
func (h Header) Find(r *http.Request) (name string, ok bool) {
	lines := r.Header.Values(h.Name)
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			if member = strings.Trim(member, " \t"); member != "" {
				return member, true
			}
		}
	}
	return "", len(lines) > 0
}

// headerField is a Header whose name is known to be good, in the form in which net/http keeps it.
type headerField string

// install refuses names that others have taken (RFC 9205 section 4.7): a field has one meaning.
func (h Header) install(n *Negotiator) {
	switch strings.ToLower(h.Name) {
	case "":
		panic("version: Header without a Name")
	case "version", "accept-version", "accept", "content-type", "host":
		panic("version: the header field " + h.Name + " means something else; API-Version is free")
	}
	if strings.ContainsFunc(h.Name, func(c rune) bool { return !isTokenRune(c) }) {
		panic("version: no header field can have the name " + h.Name)
	}
	key := textproto.CanonicalMIMEHeaderKey(h.Name)
	once(slices.Contains(n.echo, key), "Header "+h.Name)
	n.echo = append(n.echo, key)
	n.add(h, place{locator: headerField(key), header: h.Name})
}

// locate reads all lines as one list (RFC 9110 section 5.3), of which all members must say the same.
func (h headerField) locate(n *Negotiator, r *http.Request, now time.Time) (found finding) {
	lines, ok := r.Header[string(h)]
	if !ok {
		return finding{}
	}
	if len(lines) == 1 { // the ordinary case, read at once
		if v, ok := parseName(lines[0]); ok {
			return n.find(lines[0], v, now)
		}
	}
	empty := true
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			if member = strings.Trim(member, " \t"); member != "" {
				empty = false
				found = found.and(n.read(member, now))
			}
		}
	}
	if empty {
		return finding{kind: problem.MalformedVersion}
	}
	return found
}

// isTokenRune reports whether c may stand in the name of a field (RFC 9110 section 5.6.2).
func isTokenRune(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}
