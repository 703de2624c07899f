package header

import (
	"net/http"
	"slices"
	"strings"
)

// AddVary adds to the Vary field of h (RFC 9110 section 12.5.5) the members that it does not have
// yet, and keeps those that a middleware has set. members is one field line, with its members
// separated by a comma and a space. If h has no Vary field, AddVary stores the slice itself, so the
// caller must not modify it afterward.
func AddVary(h http.Header, members []string) {
	old := h["Vary"]
	if old == nil {
		h["Vary"] = members
		return
	}
	merged := strings.Join(old, ", ")
	have := strings.FieldsFunc(strings.ToLower(merged), func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(have, "*") { // includes every field
		return
	}
	for member := range strings.SplitSeq(members[0], ", ") {
		if !slices.Contains(have, strings.ToLower(member)) {
			merged += ", " + member
		}
	}
	h["Vary"] = []string{merged}
}
