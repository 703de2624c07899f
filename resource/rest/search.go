package rest

// The parameter highlight of a search: the parts of texts that it has found. Called by list.go.

import (
	"encoding/json"
	"net/url"

	"github.com/stoa-go/stoa/resource"
)

// parseHighlight parses the parameter highlight.
func (a *listRequest) parseHighlight(params url.Values, whole bool) error {
	values := params["highlight"]
	if values == nil {
		return nil
	}
	for _, v := range values {
		if v != values[0] || v != "true" && v != "false" {
			return badParameter("highlight", "invalidValue", "must be true or false")
		}
	}
	a.highlight = values[0] == "true"
	switch {
	case !a.highlight:
		return nil
	case a.q.Search.IsZero():
		return badParameter("highlight", "invalidValue", "marks what q finds; add q, or leave highlight out")
	case whole:
		return badParameter("highlight", "unsupported", "is supported by pages of JSON only")
	}
	a.q.Fields = nil // a text may not be selected
	return nil
}

// appendHighlights appends the member highlights: for each item, in order, an object with the parts of
// its texts.
func (a *listRequest) appendHighlights(dst []byte, r *resource.Resource, entries []resource.Entry) []byte {
	dst = append(dst, `,"highlights":[`...)
	for i := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		for j, found := range r.Raw().Highlights(&entries[i], a.q.Search) {
			if j > 0 {
				dst = append(dst, ',')
			}
			// Strings and booleans can always be encoded.
			name, _ := json.Marshal(found.Field)
			parts, _ := json.Marshal(found.Parts)
			dst = append(append(append(dst, name...), ':'), parts...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
