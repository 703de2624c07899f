package patch

// JSON Pointers (RFC 6901), for patches and for the places of violations.

import (
	"math"
	"strings"
)

// pointer is a parsed JSON Pointer (RFC 6901). Without tokens it refers to the whole document.
type pointer struct {
	text   string
	tokens []token
}

// token is one reference token of a pointer. Whether it is a member name or an array index depends
// on the container.
type token struct {
	name  []byte // quoted, in the form that members yields
	index int    // the token as an array index, or noIndex or endIndex
}

const (
	noIndex  = -1 // the token is not an array index
	endIndex = -2 // "-": after the last element
)

// unescape replaces the two escapes of a reference token in one pass, so that "~01" becomes "~1"
// and not "/".
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// parsePointer parses a JSON Pointer (RFC 6901 section 3).
func parsePointer(text string) (pointer, *Error) {
	if text == "" {
		return pointer{}, nil
	}
	if text[0] != '/' {
		return pointer{}, malformed(codePointer, text, "a JSON Pointer must be empty or begin with %q", "/")
	}
	if !validEscapes(text) {
		return pointer{},
			malformed(codePointer, text, "in a JSON Pointer, %q must be followed by 0 or 1", "~")
	}
	p := pointer{text: text, tokens: make([]token, 0, strings.Count(text, "/"))}
	for step := range strings.SplitSeq(text[1:], "/") {
		p.tokens = append(p.tokens, token{name: quote(unescape.Replace(step)), index: parseIndex(step)})
	}
	return p, nil
}

// validEscapes reports whether every "~" is part of "~0" or "~1".
func validEscapes(text string) bool {
	for i := range len(text) {
		if text[i] == '~' && (i+1 == len(text) || text[i+1] != '0' && text[i+1] != '1') {
			return false
		}
	}
	return true
}

// parseIndex parses an array index (RFC 6901 section 4): digits without a leading zero. An index
// that overflows becomes the largest int.
func parseIndex(step string) int {
	if step == "-" { // the nonexistent element after the last one (section 4)
		return endIndex
	}
	if step == "" || step[0] == '0' && len(step) > 1 {
		return noIndex
	}
	index := 0
	for _, c := range []byte(step) {
		if c < '0' || c > '9' {
			return noIndex
		}
		if index > (math.MaxInt-9)/10 {
			index = math.MaxInt
			continue
		}
		index = index*10 + int(c-'0')
	}
	return index
}

// within reports whether p points into the value at other. It compares the texts, because a value
// has exactly one pointer: "~" and "/" are always escaped, and no other character ever is.
func (p pointer) within(other pointer) bool {
	return len(p.text) > len(other.text) && strings.HasPrefix(p.text, other.text) &&
		p.text[len(other.text)] == '/'
}
