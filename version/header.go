package version

import (
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Header names a contract by a header field. Every response has the selected contract in the same
// field, even if another strategy selected it.
type Header struct {
	// Name is the field name, such as API-Version. It is required. Registered fields with another
	// meaning are not allowed: Version, Accept-Version, Accept, Content-Type and Host.
	Name string
}

// Source returns "the header field NAME".
func (h Header) Source() string { return "the header field " + h.Name }

// Vary returns the field name.
func (h Header) Vary() []string { return []string{h.Name} }

// Find returns the first list member of the field. It returns "" and true for a field without
// members.
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

// headerField is a valid field name in canonical form.
type headerField string

// install rejects field names that have another meaning (RFC 9205 section 4.7).
func (h Header) install(n *Negotiator) {
	switch strings.ToLower(h.Name) {
	case "":
		panic("version: Header.Name is empty; set a field name such as API-Version")
	case "version", "accept-version", "accept", "content-type", "host":
		panic("version: the header field " + h.Name + " has another meaning; use a name such as API-Version")
	}
	if strings.ContainsFunc(h.Name, func(c rune) bool { return !isTokenRune(c) }) {
		panic(fmt.Sprintf("version: Header.Name %q is not a valid header field name", h.Name))
	}
	key := textproto.CanonicalMIMEHeaderKey(h.Name)
	rejectTwice(slices.Contains(n.echoFields, key), "Header "+h.Name)
	n.echoFields = append(n.echoFields, key)
	n.add(h, place{locator: headerField(key), header: h.Name})
}

// locate reads all field lines as one list (RFC 9110 section 5.3). All members must name the same
// contract.
func (h headerField) locate(n *Negotiator, r *http.Request, now time.Time) (found match) {
	lines, ok := r.Header[string(h)]
	if !ok {
		return match{}
	}
	if len(lines) == 1 { // the common case, without splitting
		if v, ok := parseName(lines[0]); ok {
			return n.matchVersion(lines[0], v, now)
		}
	}
	empty := true
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			if member = strings.Trim(member, " \t"); member != "" {
				empty = false
				found = found.merge(n.matchName(member, now))
			}
		}
	}
	if empty {
		return match{kind: problem.MalformedVersion}
	}
	return found
}

// isTokenRune reports whether c is allowed in a field name (RFC 9110 section 5.6.2).
func isTokenRune(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}
