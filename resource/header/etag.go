package header

// Entity tags and the fields with lists of them (RFC 9110, section 8.8.3).

import (
	"errors"
	"strings"
)

// Tag is an entity tag (RFC 9110 section 8.8.3).
type Tag struct {
	Opaque string // the text between the quotation marks
	Weak   bool   // the tag has the prefix W/
}

// Tags is the value of an If-Match or If-None-Match field. The zero value is an absent field, which
// matches nothing.
type Tags struct {
	Any  bool // "*", and then List is nil
	List []Tag
}

// Errors of ParseTags. Servers send them to the client.
var (
	errTagSyntax = errors.New("must be a list of entity tags such as \"abc\" or W/\"abc\"")
	errTagAny    = errors.New("\"*\" must be the only member")
	errTagNone   = errors.New("must not be an empty list of entity tags")
)

// ParseTags parses an If-Match or If-None-Match field. For an absent field (no lines) it returns
// the zero value. A list without tags is an error, and so is "*" together with other members.
//
// An entity tag is not a quoted string: a backslash escapes nothing, commas are allowed, white
// space and control characters are not. Bytes above 0x7f are allowed. The prefix "W/" is
// case-sensitive.
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

// Strong reports whether the field is "*" or lists the tag by strong comparison, which If-Match
// requires (RFC 9110 section 13.1.1). A weak tag in the list matches nothing.
func (t Tags) Strong(opaque string) bool {
	for _, tag := range t.List {
		if !tag.Weak && tag.Opaque == opaque {
			return true
		}
	}
	return t.Any
}

// Weak reports whether the field is "*" or lists the tag by weak comparison, which If-None-Match
// requires (RFC 9110 section 13.1.2). A weak tag in the list matches like a strong one.
func (t Tags) Weak(opaque string) bool {
	for _, tag := range t.List {
		if tag.Opaque == opaque {
			return true
		}
	}
	return t.Any
}

// MatchTag parses the field and compares the candidate with it, without allocating. It is
// equivalent to ParseTags followed by [Tags.Weak] or, if weak is false, [Tags.Strong]. The
// candidate is a complete tag, such as `"abc"` or `W/"abc"`; a weak candidate matches only by weak
// comparison. ok is false if ParseTags would return an error.
func MatchTag(lines []string, candidate string, weak bool) (match, ok bool) {
	if len(lines) == 0 {
		return false, true
	}
	// The loop continues after a match, because ok must not depend on the candidate.
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

// AppendTag appends the tag in the form of an ETag field. The caller must ensure that ParseTags
// accepts its text.
func AppendTag(dst []byte, tag Tag) []byte {
	if tag.Weak {
		dst = append(dst, "W/"...)
	}
	dst = append(dst, '"')
	dst = append(dst, tag.Opaque...)
	return append(dst, '"')
}

// cutTag cuts a tag or "*" off a list, and the comma and the empty members that follow.
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

// cutOneTag cuts a tag off s. The tag ends at the next quotation mark, because there is no escape.
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

// trimList removes white space and commas, which are empty members, from the front of a list.
func trimList(list string) string {
	return strings.TrimLeft(list, " \t,")
}
