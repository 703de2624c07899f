package openapi

// Names of components and operations, and words of summaries.

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pascal converts a name to the style of Go and of most generators: line-items becomes LineItems.
// An empty result is replaced by X, because a key or an operation id cannot be empty.
func pascal(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return "X"
	}
	return b.String()
}

// camel is pascal with a lower-case first letter, for operation ids.
func camel(name string) string {
	p := pascal(name)
	_, n := utf8.DecodeRuneInString(p)
	return strings.ToLower(p[:n]) + p[n:]
}

// names is a set of names that are in use. Schemas and the entries of reserve share one set; nouns
// and operation ids have their own.
type names map[string]bool

// unique returns name, or if it is in use, name with a number. The number depends on the order of
// the calls, which is that of the catalog.
func (n names) unique(name string) string {
	got := name
	for i := 2; n[got]; i++ {
		got = name + strconv.Itoa(i)
	}
	n[got] = true
	return got
}

// article returns the word with its indefinite article, for summaries: an order, a user. The rule
// is that of sounds, approximated by prefixes: an order, but a user and a one-time code. An unusual
// name gets the wrong article, which affects summaries only.
func article(word string) string {
	for _, prefix := range []string{"eu", "one", "uni", "usa", "use", "usu", "uti"} {
		if strings.HasPrefix(strings.ToLower(word), prefix) {
			return "a " + word
		}
	}
	if word != "" && strings.ContainsRune("aeiouAEIOU", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}
