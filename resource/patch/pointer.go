package patch

import (
	"math"
	"strings"
)

// pointer is a JSON Pointer (RFC 6901), parsed. No tokens point at the whole document.
type pointer struct {
	text   string
	tokens []token
}

// token is one step of a pointer. Whether it is a name or an index is for the container to say that it meets.
type token struct {
	name  []byte // quoted, as members yields names
	index int    // the array index that the token spells, or one of the two below
}

const (
	noIndex  = -1
	endIndex = -2 // "-": after the last element
)

// unescape undoes the two escapes of a reference token; in one pass, so that "~01" is "~1" and not "/".
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// parsePointer reads text by the grammar of RFC 6901 section 3.
func parsePointer(text string) (pointer, *Error) {
	if text == "" {
		return pointer{}, nil
	}
	if text[0] != '/' {
		return pointer{}, malformed(codePointer, text, "a JSON Pointer is empty or begins with %q", "/")
	}
	if !validEscapes(text) {
		return pointer{}, malformed(codePointer, text, "in a JSON Pointer %q is followed by 0 or 1", "~")
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

// parseIndex reads an array index by the grammar of RFC 6901 section 4: digits, and no zero before other digits. An
// index too large for any array is the largest int.
func parseIndex(step string) int {
	if step == "-" { // section 4 again: the element after the last one, which does not exist yet
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

// Two pointers to one place are the same text, because only "~" and "/" can be escaped and both always are. So places
// are compared as texts.

// within reports whether p points at something inside of what other points at.
func (p pointer) within(other pointer) bool {
	return len(p.text) > len(other.text) && strings.HasPrefix(p.text, other.text) && p.text[len(other.text)] == '/'
}
