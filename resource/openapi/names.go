package openapi

// Names of components and operations, and words of summaries.

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource"
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

// itemName returns the name of the items of a resource, in the style of Go: that of the stored Go type,
// also for a view, so that all contracts use the same name. A view of a type that differs by case only keeps
// its own name. Package graphql has the same rule. rest.ResourceOptions.Media replaces the name.
func (b *builder) itemName(r *resource.Resource) string {
	media, stored := b.o.REST.Resource(r).Media, r.Describe().Stored.Name
	switch name := r.Type().Name; {
	case media != strings.ToLower(stored):
		return pascal(media)
	case strings.EqualFold(name, stored):
		return pascal(name)
	}
	return pascal(stored)
}

// itemWord returns the name of the items in sentences: book genre for BookGenre, and Media if it is set.
func (b *builder) itemWord(r *resource.Resource) string {
	media := b.o.REST.Resource(r).Media
	if media != strings.ToLower(r.Describe().Stored.Name) {
		return media
	}
	var words []byte
	name := b.itemName(r)
	for i := range len(name) {
		// A word begins with the first capital of a run, or with the last one before a small letter.
		if isUpper(name, i) && i > 0 && (!isUpper(name, i-1) || isLower(name, i+1)) {
			words = append(words, ' ')
		}
		words = append(words, name[i])
	}
	return strings.ToLower(string(words))
}

func isUpper(s string, i int) bool { return 'A' <= s[i] && s[i] <= 'Z' }

func isLower(s string, i int) bool { return i < len(s) && 'a' <= s[i] && s[i] <= 'z' }

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
