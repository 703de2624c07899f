package openapi

// The type of all maps in the document. model.go uses it for objects with members that are not
// fixed by the format.

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ordered is a JSON object with dynamic members, written in the order in which they were added, so
// that the document is deterministic. A Go map would lose the order, which groups operations and
// properties as the catalog and the Go types do.
type ordered[T any] []entry[T]

type entry[T any] struct {
	name  string
	value T
}

// add does not check for an existing member of this name; a caller that may repeat one calls has
// first. Duplicates would make the document invalid (RFC 8259 section 4).
func (o *ordered[T]) add(name string, value T) { *o = append(*o, entry[T]{name, value}) }

// has is linear: a list is as long as a type has fields or a catalog has types.
func (o ordered[T]) has(name string) bool {
	for i := range o {
		if o[i].name == name {
			return true
		}
	}
	return false
}

// get returns the value of a member; the zero value if there is none.
func (o ordered[T]) get(name string) (value T) {
	for i := range o {
		if o[i].name == name {
			return o[i].value
		}
	}
	return value
}

// MarshalJSONTo writes the members. A nil list is written as {}, so omitzero in the tag decides
// whether the member is absent.
func (o ordered[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range o {
		if err := enc.WriteToken(jsontext.String(o[i].name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, &o[i].value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}
