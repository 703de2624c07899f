package header

// The content codings that a client accepts (RFC 9110, section 12.5.3).

import "strings"

// Encodings lists the content codings that a client accepts. If both fields are false, the client
// accepts no coding that this package supports.
type Encodings struct {
	// Gzip is true if gzip is acceptable and its weight is at least that of identity.
	Gzip bool
	// Identity is true if content without a coding is acceptable.
	Identity bool
}

// AcceptEncoding parses an Accept-Encoding field (RFC 9110 section 12.5.3).
//
// An absent field accepts every coding. AcceptEncoding treats it as identity, because a client that
// does not send the field may not support gzip. An empty field accepts identity only. Identity is
// acceptable unless its weight, or the weight of "*" if the field does not list identity, is zero.
// If the field lists neither, identity has a lower weight than any listed coding.
func AcceptEncoding(lines []string) Encodings {
	gzip, identity, other := unset, unset, unset
	for _, line := range lines {
		for member := ""; line != ""; {
			member, line = cutMember(line)
			coding, q, ok := parseCoding(member)
			switch {
			case !ok:
			case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
				// The names are synonyms (section 8.4.1.3).
				gzip = max(gzip, q)
			case strings.EqualFold(coding, "identity"):
				identity = max(identity, q)
			case coding == "*":
				other = max(other, q)
			}
		}
	}
	// The wildcard matches each coding that the field does not list, identity included (section
	// 12.5.3).
	if gzip == unset {
		gzip = other
	}
	if identity == unset {
		identity = other
	}
	return Encodings{Gzip: gzip > 0 && gzip >= identity, Identity: identity != 0}
}

// unset is the weight of a coding that the field does not list. It is less than any weight.
const unset quality = -1

// parseCoding parses one member: a coding, optionally with a weight.
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
		return coding, maxQuality, true
	case !isWeight(name):
		return "", 0, false
	}
	// A coding has no parameters. Semicolons without a parameter are allowed.
	if name, _, _, ok = cutParam(rest); !ok || name != "" {
		return "", 0, false
	}
	q, ok = parseQuality(value)
	return coding, q, ok
}
