package resource

// Searches of a projection: the fields that they cover, and the places that they have found. Called by
// projection.go and protocols.

import "github.com/stoa-go/stoa/query"

// searchSupport returns the searched fields in the names of the projection, or nil if it does not show
// all of them.
func (p *projection) searchSupport(stored []string) []string {
	var fields []string
	for _, name := range stored {
		f := p.fieldOf(name)
		if f == "" || p.typ.Field(f).WriteOnly {
			return nil
		}
		fields = append(fields, f)
	}
	return fields
}

// Highlight has the parts of a field that a search has found.
type Highlight struct {
	Field string           // the JSON name of the field
	Parts []query.TextPart // all parts of its text, in order
}

// Highlights returns the fields of an entry of r in which words of s are, in the order of
// [query.Support].Search. Only whole words are found, and no other forms of a word, which a store with a
// language finds. The entry must have a Value.
func (raw Raw) Highlights(e *Entry, s query.Search) []Highlight {
	r := raw.r
	var found []Highlight
	for _, name := range r.projection.searchSupport(r.core.query.Search) {
		text, _ := r.projection.typ.Field(name).Get(e.Value).(string)
		if parts := s.Highlight(text); parts != nil {
			found = append(found, Highlight{name, parts})
		}
	}
	return found
}
