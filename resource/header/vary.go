package header

import (
	"net/http"
	"slices"
	"strings"
)

// AddVary adds to Vary (RFC 9110 section 12.5.5) what is not there yet, beside what a middleware outside has put there.
// members is one field line, its members divided by a comma and a space; h keeps it if it has no Vary, so that it must not
// be changed later.
func AddVary(h http.Header, members []string) {
	old := h["Vary"]
	if old == nil {
		h["Vary"] = members
		return
	}
	merged := strings.Join(old, ", ")
	have := strings.FieldsFunc(strings.ToLower(merged), func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(have, "*") { // says more than any list
		return
	}
	for member := range strings.SplitSeq(members[0], ", ") {
		if !slices.Contains(have, strings.ToLower(member)) {
			merged += ", " + member
		}
	}
	h["Vary"] = []string{merged}
}
