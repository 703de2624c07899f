package header

import (
	"errors"
	"strings"
)

// Tag is an entity tag (RFC 9110 section 8.8.3).
type Tag struct {
	Opaque string // what stands between the quotation marks
	Weak   bool
}

// Tags is what an If-Match or If-None-Match field says. The zero value is an absent field, and matches nothing.
type Tags struct {
	Any  bool // "*", and then List is nil
	List []Tag
}

// Three errors, so that a client learns which of the three mistakes it made.
var (
	errTagSyntax = errors.New("not a list of entity tags such as \"abc\" or W/\"abc\"")
	errTagAny    = errors.New("\"*\" stands together with other members")
	errTagNone   = errors.New("an empty list of entity tags")
)

// ParseTags reads an If-Match or If-None-Match field. No lines are no error: the field is absent. A list without tags is
// one, and so is "*" beside anything else.
//
// An entity tag is no quoted string: a backslash in it is just a backslash, commas belong to it, blanks do not; bytes
// beyond ASCII are as good as others, and "W/" is in upper case.
func ParseTags(lines []string) (Tags, error) {
	var tags Tags
	for _, line := range lines {
		for line = trimList(line); line != ""; {
			tag, star, rest, ok := cutTag(line)
			switch {
			case !ok:
				return Tags{}, errTagSyntax
			case tags.Any, star && tags.List != nil:
				return Tags{}, errTagAny
			case star:
				tags.Any = true
			default:
				tags.List = append(tags.List, tag)
			}
			line = rest
		}
	}
	if len(lines) > 0 && !tags.Any && tags.List == nil {
		return Tags{}, errTagNone
	}
	return tags, nil
}

// Strong reports whether a strong tag with that text is listed, or "*". A weak tag in the list matches nothing by this
// comparison, which is the one for If-Match (RFC 9110 section 13.1.1).
func (t Tags) Strong(opaque string) bool {
	for _, tag := range t.List {
		if !tag.Weak && tag.Opaque == opaque {
			return true
		}
	}
	return t.Any
}

// Weak reports whether a tag with that text is listed, weak or not, or "*". This is the comparison for If-None-Match
// (RFC 9110 section 13.1.2).
func (t Tags) Weak(opaque string) bool {
	for _, tag := range t.List {
		if tag.Opaque == opaque {
			return true
		}
	}
	return t.Any
}

// MatchTag is ParseTags with one comparison, without allocating. The candidate is a whole tag, such as `"abc"` or
// `W/"abc"`. If weak is false the comparison is strong, and then neither side may be weak. Where ok is false the field
// is one that ParseTags has an error for.
func MatchTag(lines []string, candidate string, weak bool) (match, ok bool) {
	if len(lines) == 0 {
		return false, true
	}
	// Even after a match the rest is read: whether the field is one that can be parsed must not depend on what matches.
	want, rest, valid := cutOneTag(candidate)
	valid = valid && rest == "" && (weak || !want.Weak)
	var count, stars int
	for _, line := range lines {
		for line = trimList(line); line != ""; {
			tag, star, rest, ok := cutTag(line)
			switch {
			case !ok:
				return false, false
			case star:
				stars++
			case valid && tag.Opaque == want.Opaque && (weak || !tag.Weak):
				match = true
			}
			count++
			line = rest
		}
	}
	if count == 0 || stars > 0 && count > 1 {
		return false, false
	}
	return match || stars > 0, true
}

// AppendTag appends the tag as it stands in an ETag field. The text of a tag is the server's own; it must consist of what
// ParseTags admits.
func AppendTag(dst []byte, tag Tag) []byte {
	if tag.Weak {
		dst = append(dst, "W/"...)
	}
	dst = append(dst, '"')
	dst = append(dst, tag.Opaque...)
	return append(dst, '"')
}

// cutTag cuts a tag or "*", and the comma and empty members after it, off a list.
func cutTag(list string) (tag Tag, star bool, rest string, ok bool) {
	if rest, star = strings.CutPrefix(list, "*"); !star {
		if tag, rest, ok = cutOneTag(list); !ok {
			return Tag{}, false, list, false
		}
	}
	if rest = trimLeft(rest); rest != "" && rest[0] != ',' {
		return Tag{}, false, list, false
	}
	return tag, star, trimList(rest), true
}

// cutOneTag cuts a tag off s. It ends at the next quotation mark, whatever stands before that: there is no escape.
func cutOneTag(s string) (tag Tag, rest string, ok bool) {
	rest, tag.Weak = strings.CutPrefix(s, "W/")
	if rest == "" || rest[0] != '"' {
		return Tag{}, s, false
	}
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			tag.Opaque = rest[1:i]
			return tag, rest[i+1:], true
		case c <= ' ' || c == 0x7f:
			return Tag{}, s, false
		}
	}
	return Tag{}, s, false
}

// trimList removes the blanks and commas, which are empty members, at the front of a list.
func trimList(list string) string {
	return strings.TrimLeft(list, " \t,")
}
