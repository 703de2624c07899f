package header

// Content negotiation (RFC 9110, section 12.5.1). REST and GraphQL call Accept with their offers.

import "strings"

// Accept selects from offers the media type that an Accept field prefers (RFC 9110 section 12.5.1).
// The offers are media types in the server's order of preference. Accept returns the index of the
// selected offer; ok is false if the field accepts none of them.
//
// The weight of an offer is that of the most specific range that matches it. A range with
// parameters is more specific than type/subtype, which is more specific than type/*, which is more
// specific than */*. If two equally specific ranges match, the higher weight applies. Of several
// offers with the same weight, the first is selected. An absent or empty field accepts every offer.
// Accept ignores a range if the range or its weight has invalid syntax.
//
// A range with parameters matches only the offers that have the same parameters with the same
// values. The exception is charset=utf-8, which matches every JSON type, because JSON is always
// UTF-8 and its media type has no charset parameter (RFC 8259 section 11).
func Accept(lines []string, offers []string) (index int, ok bool) {
	if i, ok := acceptUsual(lines, offers); ok {
		return i, true
	}
	var buf [32]offerWeight // avoids an allocation for up to 32 offers
	weights := buf[:]
	if len(offers) > len(buf) {
		weights = make([]offerWeight, len(offers))
	}
	empty := true
	for _, line := range lines {
		for member := ""; line != ""; {
			member, line = cutMember(line)
			if member == "" {
				continue
			}
			empty = false
			if r, ok := parseRange(member); ok {
				r.weigh(offers, weights)
			}
		}
	}
	if empty {
		return firstOffer(offers)
	}
	return heaviest(weights[:len(offers)])
}

// acceptUsual handles the usual fields: an absent field, "*/*", and exactly one of the offers. In
// all other cases ok is false, and Accept parses the field.
func acceptUsual(lines, offers []string) (index int, ok bool) {
	if len(lines) == 0 {
		return firstOffer(offers)
	}
	if len(lines) > 1 {
		return -1, false
	}
	if lines[0] == "*/*" {
		return firstOffer(offers)
	}
	for i, offer := range offers {
		if strings.IndexByte(offer, ';') >= 0 {
			return -1, false // its type may match too, and it precedes the other offers
		}
		if strings.EqualFold(offer, lines[0]) {
			return i, true
		}
	}
	return -1, false
}

// firstOffer selects the first offer, for a client that accepts every media type.
func firstOffer(offers []string) (index int, ok bool) {
	if len(offers) == 0 {
		return -1, false
	}
	return 0, true
}

// offerWeight is the weight of one offer, and the rank of the range that decided it. The zero value
// means that no range has matched.
type offerWeight struct {
	rank    int64
	quality quality
}

// heaviest returns the index of the first offer with the highest weight above zero.
func heaviest(weights []offerWeight) (index int, ok bool) {
	index = -1
	greatest := quality(0)
	for i, v := range weights {
		if v.quality > greatest {
			index, greatest = i, v.quality
		}
	}
	return index, index >= 0
}

// mediaRange is one member of an Accept field.
type mediaRange struct {
	typ, subtype string // "*" is any
	params       string // in the form of the field, including the weight
	quality      quality
	rank         int64 // how specific the range is; the highest rank that matches decides
}

// The rank of a range is one of these constants plus the number of its parameters, fewer than
// 1<<20.
const (
	rankAny int64 = 1 << (20 * iota)
	rankType
	rankSubtype
)

// parseRange parses one member. The weight may be at any place among the parameters. A second
// weight makes the member invalid.
func parseRange(member string) (r mediaRange, ok bool) {
	r.typ, r.subtype, r.params, ok = cutType(member)
	if !ok || r.typ == "*" && r.subtype != "*" {
		return r, false
	}
	r.rank, r.quality = rankOf(r.typ, r.subtype), maxQuality
	weighed := false
	for rest := r.params; ; {
		var name, value string
		name, value, rest, ok = cutParam(rest)
		switch {
		case !ok || name == "":
			return r, ok
		case !isWeight(name):
			r.rank++
		case weighed:
			return r, false
		default:
			weighed = true
			if r.quality, ok = parseQuality(value); !ok {
				return r, false
			}
		}
	}
}

// rankOf returns the rank of a range without parameters.
func rankOf(typ, subtype string) int64 {
	switch {
	case typ == "*":
		return rankAny
	case subtype == "*":
		return rankType
	}
	return rankSubtype
}

// weigh sets the weight of each offer that the range matches, unless a more specific range has
// already set it.
func (r *mediaRange) weigh(offers []string, weights []offerWeight) {
	for i, offer := range offers {
		v := &weights[i]
		if r.rank < v.rank || r.rank == v.rank && r.quality <= v.quality || !r.matches(offer) {
			continue
		}
		v.rank, v.quality = r.rank, r.quality
	}
}

// matches reports whether the range contains the offer: type and subtype match, and the offer has
// every parameter of the range. It parses the offer again for each range, because that is cheaper
// than allocating memory for the parsed offers.
func (r *mediaRange) matches(offer string) bool {
	typ, subtype, params, ok := cutType(offer)
	if !ok ||
		r.typ != "*" && !strings.EqualFold(r.typ, typ) ||
		r.subtype != "*" && !strings.EqualFold(r.subtype, subtype) {
		return false
	}
	for rest := r.params; ; {
		var name, value string
		name, value, rest, _ = cutParam(rest)
		if name == "" {
			return true
		}
		if !isWeight(name) && !hasParam(params, name, value) && !(isUTF8(name, value) && isJSON(subtype)) {
			return false
		}
	}
}

// hasParam reports whether params contains the parameter. Values are compared exactly, except those
// of charset, which are case-insensitive (RFC 9110 section 8.3.2).
func hasParam(params, name, value string) bool {
	value = unquote(value)
	for {
		n, v, rest, ok := cutParam(params)
		if !ok || n == "" {
			return false
		}
		if strings.EqualFold(n, name) {
			v = unquote(v)
			return v == value || strings.EqualFold(n, "charset") && strings.EqualFold(v, value)
		}
		params = rest
	}
}

// cutType cuts type "/" subtype off s. It accepts media ranges too, because "*" is a token.
func cutType(s string) (typ, subtype, rest string, ok bool) {
	typ, rest = cutToken(s)
	if typ == "" || rest == "" || rest[0] != '/' {
		return "", "", s, false
	}
	subtype, rest = cutToken(rest[1:])
	return typ, subtype, rest, subtype != ""
}

// isWeight reports whether a parameter of a range is its weight. The name is reserved for this
// purpose (RFC 9110 section 12.4.2).
func isWeight(name string) bool {
	return name == "q" || name == "Q"
}

// isUTF8 reports whether a parameter is charset=utf-8, the encoding of all JSON.
func isUTF8(name, value string) bool {
	return strings.EqualFold(name, "charset") && strings.EqualFold(unquote(value), "utf-8")
}

// isJSON reports whether the subtype is json or has the suffix +json (RFC 6839 section 3.1).
func isJSON(subtype string) bool {
	const suffix = "+json"
	return strings.EqualFold(subtype, suffix[1:]) ||
		len(subtype) > len(suffix) && strings.EqualFold(subtype[len(subtype)-len(suffix):], suffix)
}
