package query

// Full-text search: its terms, the words of a text, and the reference evaluation. search_parse.go
// parses and writes the text of a client.

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Rank is the Field of an Order by the rank of a search. Its value is a float64: the rank that
// [Search.Match] or the store returns. It is valid only in a Query with a Search.
const Rank = "rank()"

// Search is a full-text search of an item. The item matches if all terms of one element of Any hold.
// The zero Search matches all items. [ParseSearch] makes one from the text of a client.
//
// # Words
//
// A text is a sequence of words: the longest sequences of letters (Unicode categories L), decimal digits
// (Nd) and the combining marks (Mn and Mc) after them. All other characters, and variation selectors,
// separate words. Words are compared in lower case, as [unicode.ToLower] converts each character, and
// characters that [unicode.SimpleFold] relates are equal, such as ς and σ. There is no other
// normalization: accents count, and a word equals only itself. A store with a language also finds other
// forms of a word. Package sqltable lists the characters that its databases read otherwise.
type Search struct {
	// Any has the alternatives. Each has at least one term without Not.
	Any [][]Term
	// Fields lists the searched fields by JSON name, the most important first. Package resource sets
	// it to Support.Search. Null is the empty text.
	Fields []string
}

// Term is one condition of a [Search].
type Term struct {
	// Words are adjacent words of one field, in lower case.
	Words []string
	// Prefix means that the last word can be the beginning of a longer one.
	Prefix bool
	// Not means that no field has the words.
	Not bool
}

// IsZero reports whether s matches all items.
func (s Search) IsZero() bool { return len(s.Any) == 0 }

// Match reports whether an item matches s, and its rank, which is positive. value returns a field of
// the item by JSON name. Match is the reference: all stores match the same items, except if they use
// a language. The ranks of stores may differ.
//
// The rank depends on the item and s alone. Each field adds its weight times a number below 1 that
// grows with the occurrences of terms, and shrinks with the length of the text. The weights of the
// fields are 1, 0.4 and 0.2, and 0.1 for all others.
func (s Search) Match(value func(field string) any) (rank float64, ok bool) {
	if s.IsZero() {
		return 0, true
	}
	d := wordListPool.Get().(*wordLists)
	defer wordListPool.Put(d)
	d.read(s.Fields, value)
	if !slices.ContainsFunc(s.Any, d.matches) {
		return 0, false
	}
	for i, words := range d.fields {
		hits := 0
		for _, terms := range s.Any {
			for _, t := range terms {
				if !t.Not {
					hits += d.count(words, t)
				}
			}
		}
		damping := 1 + float64(d.lengths[i])/100
		rank += FieldWeight(i) * (1 - damping/(float64(hits)+damping))
	}
	return rank, true
}

// Words returns the different words of the searched fields of an item, in the order of their bytes, for
// stores that keep an index of words. An item can match a Term without Not only if it has all of the
// term's words; with Prefix, a word that begins with the last one is enough.
func (s Search) Words(value func(field string) any) []string {
	d := wordListPool.Get().(*wordLists)
	defer wordListPool.Put(d)
	d.read(s.Fields, value)
	words := make([]string, 0, len(d.words))
	for _, w := range d.words {
		words = append(words, string(d.folded[w.from:w.to]))
	}
	slices.Sort(words)
	return slices.Clip(slices.Compact(words))
}

// FieldWeight returns the weight of the field at an index of Search.Fields; see [Search.Match].
func FieldWeight(index int) float64 {
	if weights := [...]float64{1, 0.4, 0.2}; index < len(weights) {
		return weights[index]
	}
	return 0.1
}

// TextPart is a part of a text, for display. Text is not escaped.
type TextPart struct {
	Text  string `json:"text"`
	Match bool   `json:"match,omitzero"` // the part has the words of a term
}

// Highlight returns the parts of text, of which those that match a term without Not are marked. The
// texts of the parts, joined, are text. It returns nil if no part matches.
func (s Search) Highlight(text string) []TextPart {
	d := wordListPool.Get().(*wordLists)
	defer wordListPool.Put(d)
	d.reset()
	words := d.add(text)
	var parts []TextPart
	end := 0 // of parts
	for i := range words {
		n := 0
		for _, terms := range s.Any {
			for _, t := range terms {
				if !t.Not && d.at(words[i:], t) {
					n = max(n, len(t.Words))
				}
			}
		}
		if n == 0 {
			continue
		}
		from, to := words[i].start, words[i+n-1].end
		to += marks(text[to:]) // a keycap or a variation selector is drawn with the character before
		switch last := len(parts) - 1; {
		case to <= end:
		case from < end: // overlaps the match before it
			parts[last].Text += text[end:to]
			end = to
		default:
			if from > end {
				parts = append(parts, TextPart{Text: text[end:from]})
			}
			parts = append(parts, TextPart{text[from:to], true})
			end = to
		}
	}
	if parts != nil && end < len(text) {
		parts = append(parts, TextPart{Text: text[end:]})
	}
	return parts
}

// wordLists has the words of the searched fields of one item. They are pooled.
type wordLists struct {
	folded  []byte // the words in lower case
	words   []word
	fields  [][]word // parts of words
	lengths []int    // characters of each field
}

// word is a word of a text.
type word struct {
	start, end int // bytes of the text
	from, to   int // bytes of wordLists.folded
}

var wordListPool = sync.Pool{New: func() any { return new(wordLists) }}

func (d *wordLists) reset() {
	d.folded, d.words, d.fields, d.lengths = d.folded[:0], d.words[:0], d.fields[:0], d.lengths[:0]
}

// read replaces the words of d.
func (d *wordLists) read(fields []string, value func(string) any) {
	d.reset()
	for _, name := range fields {
		text, _ := scalar(value(name)).(string)
		d.fields = append(d.fields, d.add(text))
		d.lengths = append(d.lengths, utf8.RuneCountInString(text))
	}
}

// add appends the words of a text and returns them.
func (d *wordLists) add(text string) []word {
	first := len(d.words)
	start := -1 // of a word
	from := 0
	for i, r := range text {
		folded := rune(0)
		switch {
		case r < utf8.RuneSelf:
			folded = rune(foldASCII[r])
		case inWord(r) || start >= 0 && isMark(r):
			folded = foldCase(r)
		}
		if folded == 0 {
			if start >= 0 {
				d.words = append(d.words, word{start, i, from, len(d.folded)})
				start = -1
			}
			continue
		}
		if start < 0 {
			start, from = i, len(d.folded)
		}
		d.folded = utf8.AppendRune(d.folded, folded)
	}
	if start >= 0 {
		d.words = append(d.words, word{start, len(text), from, len(d.folded)})
	}
	return d.words[first:len(d.words):len(d.words)]
}

// foldASCII has the lower case of each letter and digit, and 0 for the characters that separate words.
var foldASCII = func() (table [utf8.RuneSelf]byte) {
	for r := range rune(utf8.RuneSelf) {
		if inWord(r) {
			table[r] = byte(unicode.ToLower(r))
		}
	}
	return table
}()

// foldCase returns a letter in lower case. Of several lower forms, such as those of sigma, it returns that
// of the capital.
func foldCase(r rune) rune {
	switch r = unicode.ToLower(r); r {
	case 'µ', 'ſ', '\u0345', 'ς', 'ϐ', 'ϑ', 'ϕ', 'ϖ', 'ϰ', 'ϱ', 'ϵ', 'ẛ', '\u1fbe',
		0x1c80, 0x1c81, 0x1c82, 0x1c83, 0x1c84, 0x1c85, 0x1c86, 0x1c87, 0x1c88:
		return unicode.ToLower(unicode.ToUpper(r))
	}
	return r
}

// inWord reports whether a character is part of a word.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// isMark reports whether a character after a letter or a digit is part of its word.
func isMark(r rune) bool {
	return r >= 0x300 && (r < 0xfe00 || r > 0xfe0f) && r < 0xe0100 && unicode.In(r, unicode.Mn, unicode.Mc)
}

// marks returns the length of the combining marks at the beginning of a text.
func marks(text string) int {
	rest := strings.TrimLeftFunc(text, func(r rune) bool { return r >= 0x300 && unicode.Is(unicode.M, r) })
	return len(text) - len(rest)
}

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	var d wordLists
	var found []string
	for _, w := range d.add(text) {
		found = append(found, string(d.folded[w.from:w.to]))
	}
	return found
}

// matches reports whether all terms hold.
func (d *wordLists) matches(terms []Term) bool {
	for _, t := range terms {
		has := slices.ContainsFunc(d.fields, func(words []word) bool { return d.has(words, t) })
		if has == t.Not {
			return false
		}
	}
	return true
}

// has reports whether words has the words of a term.
func (d *wordLists) has(words []word, t Term) bool {
	for i := range words {
		if d.at(words[i:], t) {
			return true
		}
	}
	return false
}

// count returns the number of places at which words has the words of a term.
func (d *wordLists) count(words []word, t Term) int {
	n := 0
	for i := range words {
		if d.at(words[i:], t) {
			n++
		}
	}
	return n
}

// at reports whether words begins with the words of a term.
func (d *wordLists) at(words []word, t Term) bool {
	if len(t.Words) == 0 || len(words) < len(t.Words) {
		return false
	}
	last := len(t.Words) - 1
	for i, want := range t.Words {
		got := d.folded[words[i].from:words[i].to]
		if string(got) != want && !(t.Prefix && i == last && strings.HasPrefix(string(got), want)) {
			return false
		}
	}
	return true
}
