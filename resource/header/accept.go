package header

import "strings"

// Accept chooses among offers, which are media types in the server's order of preference, the one that an Accept field
// wants most (RFC 9110 section 12.5.1). It returns its index; ok is false where the field admits none of them.
//
// Each offer has the weight of the most specific range that matches it: one with parameters before type/subtype, that
// before type/*, that before */*; of two equally specific ranges the greater weight counts. Equal weights leave the
// choice to the order of offers. An absent field and an empty one admit everything. A range that cannot be read, or
// whose weight cannot, is ignored.
//
// A range with parameters matches only offers that have them with the same values. The exception is charset=utf-8, which
// every JSON type satisfies, although it has no such parameter (RFC 8259 section 11).
func Accept(lines []string, offers []string) (index int, ok bool) {
	if i, ok := acceptSimply(lines, offers); ok {
		return i, true
	}
	var few [32]verdict // More offers than this cost an allocation.
	verdicts := few[:]
	if len(offers) > len(few) {
		verdicts = make([]verdict, len(offers))
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
				r.judge(offers, verdicts)
			}
		}
	}
	if empty {
		return first(offers)
	}
	return best(verdicts[:len(offers)])
}

// acceptSimply decides the fields that nearly every client sends: none, "*/*", or the very type that is offered.
func acceptSimply(lines, offers []string) (index int, ok bool) {
	if len(lines) == 0 {
		return first(offers)
	}
	if len(lines) > 1 {
		return -1, false
	}
	if lines[0] == "*/*" {
		return first(offers)
	}
	for i, offer := range offers {
		if strings.IndexByte(offer, ';') >= 0 {
			return -1, false // Its type may match nevertheless, and it comes first.
		}
		if strings.EqualFold(offer, lines[0]) {
			return i, true
		}
	}
	return -1, false
}

// first chooses for a client that takes everything.
func first(offers []string) (index int, ok bool) {
	if len(offers) == 0 {
		return -1, false
	}
	return 0, true
}

// verdict is the weight of one offer, and how specific the range was that gave it. The zero value is: no range matched.
type verdict struct {
	rank    int64
	quality quality
}

// best returns the first of the offers with the greatest weight above zero.
func best(verdicts []verdict) (index int, ok bool) {
	index = -1
	greatest := quality(0)
	for i, v := range verdicts {
		if v.quality > greatest {
			index, greatest = i, v.quality
		}
	}
	return index, index >= 0
}

// mediaRange is one member of an Accept field.
type mediaRange struct {
	typ, subtype string // "*" is any
	params       string // as they stand, the weight among them
	quality      quality
	rank         int64 // of two ranges that match, the one with the greater rank decides
}

// Ranks. The number of parameters is added to them, and never reaches the next one.
const (
	rankAny int64 = 1 << (20 * iota)
	rankType
	rankSubtype
)

// parseRange reads a member. The weight may stand anywhere among the parameters, but not twice.
func parseRange(member string) (r mediaRange, ok bool) {
	r.typ, r.subtype, r.params, ok = cutType(member)
	if !ok || r.typ == "*" && r.subtype != "*" {
		return r, false
	}
	r.rank, r.quality = rankOf(r.typ, r.subtype), wanted
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

func rankOf(typ, subtype string) int64 {
	switch {
	case typ == "*":
		return rankAny
	case subtype == "*":
		return rankType
	}
	return rankSubtype
}

// judge notes the weight of the range for each offer that it matches, unless a more specific one did so before.
func (r *mediaRange) judge(offers []string, verdicts []verdict) {
	for i, offer := range offers {
		v := &verdicts[i]
		if r.rank < v.rank || r.rank == v.rank && r.quality <= v.quality || !r.matches(offer) {
			continue
		}
		v.rank, v.quality = r.rank, r.quality
	}
}

// matches reports whether the offer is in the range: type and subtype are, and the offer has every parameter of the range.
// The offer is read again for each range, which costs less than a place to keep it read would.
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

// hasParam reports whether params has that parameter. Values are compared exactly, but for charset, whose values are
// case-insensitive (RFC 9110 section 8.3.2).
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

// cutType cuts type "/" subtype off s. The star of a range is a token, too, so it need not know about ranges.
func cutType(s string) (typ, subtype, rest string, ok bool) {
	typ, rest = cutToken(s)
	if typ == "" || rest == "" || rest[0] != '/' {
		return "", "", s, false
	}
	subtype, rest = cutToken(rest[1:])
	return typ, subtype, rest, subtype != ""
}

// isWeight reports whether a parameter is the weight. No other parameter of a range may have that name (section 12.4.2).
func isWeight(name string) bool {
	return name == "q" || name == "Q"
}

// isUTF8 reports whether a parameter says what JSON always is.
func isUTF8(name, value string) bool {
	return strings.EqualFold(name, "charset") && strings.EqualFold(unquote(value), "utf-8")
}

// isJSON reports whether the subtype is JSON, by name or by its suffix (RFC 6839 section 3.1).
func isJSON(subtype string) bool {
	const suffix = "+json"
	return strings.EqualFold(subtype, suffix[1:]) ||
		len(subtype) > len(suffix) && strings.EqualFold(subtype[len(subtype)-len(suffix):], suffix)
}
