package query

// The text of a search, as clients write it.

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxSearchWords limits the words of a search, because each costs a search in the index.
const maxSearchWords = 32

// maxSearchWord limits the bytes of a word. PostgreSQL ignores words of more than 2,046.
const maxSearchWord = 255

// ParseSearch parses the text of a search. The error is an *[Error] for the client, without a
// Parameter.
//
//	green tea        both words, in any order and in any field
//	"green tea"      adjacent words of one field
//	gre*             words that begin with gre; also "green te"*
//	tea -black       tea without black; a minus before a phrase excludes the phrase
//	tea OR coffee    alternatives; words without OR between them belong together
//
// Other characters separate words. Words that only such characters separate are adjacent: e-mail is
// "e mail". A quotation mark that is not closed extends to the end, and an OR without an alternative
// is ignored. So the error is only for a text without words, for an alternative with excluded words
// alone, for more than 32 words, and for a word of more than 255 bytes. The text of spaces alone is the
// zero Search.
func ParseSearch(text string) (Search, error) {
	if strings.TrimSpace(text) == "" {
		return Search{}, nil
	}
	var s Search
	var terms []Term
	words := 0
	for text != "" {
		var t Term
		var or bool
		if t, or, text = nextTerm(text); or && len(terms) > 0 {
			s.Any = append(s.Any, terms)
			terms = nil
		}
		if len(t.Words) > 0 {
			terms = append(terms, t)
		}
		if slices.ContainsFunc(t.Words, func(word string) bool { return len(word) > maxSearchWord }) {
			return Search{}, searchError(tooMany, "has a word of over "+strconv.Itoa(maxSearchWord)+" bytes")
		}
		if words += len(t.Words); words > maxSearchWords {
			return Search{}, searchError(tooMany, "can have at most "+strconv.Itoa(maxSearchWords)+" words")
		}
	}
	if len(terms) > 0 {
		s.Any = append(s.Any, terms)
	}
	if len(s.Any) == 0 {
		return Search{}, searchError(invalidValue, "must have a word; words consist of letters and digits")
	}
	for _, terms := range s.Any {
		if !slices.ContainsFunc(terms, func(t Term) bool { return !t.Not }) {
			return Search{}, searchError(invalidValue,
				"must have a word to find in each alternative; a word after a minus is only excluded")
		}
	}
	return s, nil
}

func searchError(code, detail string) error { return &Error{Code: code, Detail: detail} }

// nextTerm reads one term and returns the rest of the text. A term without words is to be ignored. or
// reports a separator of alternatives.
func nextTerm(text string) (t Term, or bool, rest string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if len(text) > 1 && text[0] == '-' && !unicode.IsSpace(rune(text[1])) {
		t.Not, text = true, text[1:]
	}
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		inner, rest, _ = strings.Cut(inner, `"`)
		t.Words = wordsOf(inner)
		rest, t.Prefix = strings.CutPrefix(rest, "*")
		return t, false, rest
	}
	end := strings.IndexFunc(text, func(r rune) bool { return r == '"' || unicode.IsSpace(r) })
	if end < 0 {
		end = len(text)
	}
	part, rest := text[:end], text[end:]
	if part == "OR" && !t.Not {
		return Term{}, true, rest
	}
	t.Words, t.Prefix = wordsOf(part), strings.HasSuffix(part, "*")
	return t, false, rest
}

// String returns a text that [ParseSearch] parses as s, without the Fields. Equal searches in
// different spellings have the same text.
func (s Search) String() string {
	var b strings.Builder
	for i, terms := range s.Any {
		if i > 0 {
			b.WriteString(" OR ")
		}
		for j, t := range terms {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(t.String())
		}
	}
	return b.String()
}

// String returns the term as in [Search.String].
func (t Term) String() string {
	text := strings.Join(t.Words, " ")
	if len(t.Words) != 1 {
		text = `"` + text + `"`
	}
	if t.Not {
		text = "-" + text
	}
	if t.Prefix {
		text += "*"
	}
	return text
}

// search parses the parameter q. An empty one is no search, as an empty filter is none.
func (p *parser) search() Search {
	text, ok := p.single("q")
	if !ok || strings.TrimSpace(text) == "" {
		return Search{}
	}
	if err := p.opts.Support.checkSearch(); err != nil {
		p.addError("q", err.Code, err.Detail)
		return Search{}
	}
	s, err := ParseSearch(text)
	if err != nil {
		err := err.(*Error)
		p.addError("q", err.Code, err.Detail)
	}
	return s
}

// checkSearch returns an error if the store has no search.
func (s Support) checkSearch() *Error {
	if len(s.Search) > 0 {
		return nil
	}
	detail := "search is not supported by this list"
	if filters := s.filterable(); len(filters) > 0 {
		detail += "; it can be filtered by " + listOf(filters)
	}
	return &Error{Parameter: "q", Code: unsupportedSearch, Detail: detail}
}
