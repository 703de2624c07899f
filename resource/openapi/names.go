package openapi

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pascal writes a name as Go and most generators do: line-items becomes LineItems.
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

// camel is pascal with a small letter first, as ids of operations have it.
func camel(name string) string {
	p := pascal(name)
	_, n := utf8.DecodeRuneInString(p)
	return strings.ToLower(p[:n]) + p[n:]
}

// names gives each name out once. Generators put schemas, parameters and responses into one name space, so they share
// one here.
type names map[string]bool

// unique returns name, or where that is taken, name with a number.
func (n names) unique(name string) string {
	got := name
	for i := 2; n[got]; i++ {
		got = name + strconv.Itoa(i)
	}
	n[got] = true
	return got
}
