package header

import "strings"

// Encodings says which content codings a client takes. Neither is possible: then it takes nothing that we can send.
type Encodings struct {
	// Gzip is true if gzip is acceptable and wanted at least as much as identity.
	Gzip bool
	// Identity is true if the bytes as they are are acceptable.
	Identity bool
}

// AcceptEncoding reads an Accept-Encoding field (RFC 9110 section 12.5.3).
//
// An absent field admits every coding; it is answered here as if it said identity, since a client that does not name
// gzip may not know it. An empty one says identity. Identity is acceptable unless its weight, or else that of "*", is
// zero; where neither is named it is wanted less than any coding that is.
func AcceptEncoding(lines []string) Encodings {
	gzip, identity, other := unset, unset, unset
	for _, line := range lines {
		for member := ""; line != ""; {
			member, line = cutMember(line)
			coding, q, ok := parseCoding(member)
			switch {
			case !ok:
			case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"): // the same (section 8.4.1.3)
				gzip = max(gzip, q)
			case strings.EqualFold(coding, "identity"):
				identity = max(identity, q)
			case coding == "*":
				other = max(other, q)
			}
		}
	}
	// The wildcard stands for what is not named, and identity is no exception (section 12.5.3).
	if gzip == unset {
		gzip = other
	}
	if identity == unset {
		identity = other
	}
	return Encodings{Gzip: gzip > 0 && gzip >= identity, Identity: identity != 0}
}

// unset is the weight of a coding that the field does not name. It is less than any weight.
const unset quality = -1

// parseCoding reads a member: a coding, and nothing else but a weight.
func parseCoding(member string) (coding string, q quality, ok bool) {
	coding, rest := cutToken(member)
	if coding == "" {
		return "", 0, false
	}
	name, value, rest, ok := cutParam(rest)
	switch {
	case !ok:
		return "", 0, false
	case name == "":
		return coding, wanted, true
	case !isWeight(name):
		return "", 0, false
	}
	// A coding has no parameters, so only empty ones may follow.
	if name, _, _, ok = cutParam(rest); !ok || name != "" {
		return "", 0, false
	}
	q, ok = parseQuality(value)
	return coding, q, ok
}
