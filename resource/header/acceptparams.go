package header

// Ranges of an Accept field with parameters, for media types with parameters that select a form.

import "strings"

// AcceptParams returns the members of an Accept field that name a media type, in lower case, and have
// parameters other than the weight, which is left out. The order is that of the field. A member with
// invalid syntax is omitted, as [Accept] ignores it.
//
// A media type of which the server produces every form that its parameters select is offered once
// without parameters, and once for each result of AcceptParams with [MediaType.String].
func AcceptParams(lines []string, mediaType string) []MediaType {
	var found []MediaType
	for _, line := range lines {
		for member := ""; line != ""; {
			member, line = cutMember(line)
			typ, subtype, _, ok := cutType(member)
			if n := len(typ); !ok || n >= len(mediaType) || !strings.EqualFold(typ, mediaType[:n]) ||
				!strings.EqualFold(subtype, mediaType[n+1:]) {
				continue
			}
			m, err := ParseMediaType(member)
			if err != nil {
				continue
			}
			params := m.Params[:0]
			for _, p := range m.Params {
				if !isWeight(p.Name) {
					params = append(params, p)
				}
			}
			if m.Params = params; len(params) > 0 {
				found = append(found, m)
			}
		}
	}
	return found
}

// String returns the media type in the form of a field, with each value quoted.
func (m MediaType) String() string {
	text := []byte(m.Type)
	for _, p := range m.Params {
		text = append(append(append(text, "; "...), p.Name...), '=')
		text = appendQuoted(text, p.Value)
	}
	return string(text)
}
