package openapi

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ordered is a JSON object with dynamic members, written in the order in which they were added, so
// that the document is deterministic.
type ordered[T any] []entry[T]

type entry[T any] struct {
	name  string
	value T
}

func (o *ordered[T]) add(name string, value T) { *o = append(*o, entry[T]{name, value}) }

func (o ordered[T]) has(name string) bool {
	for i := range o {
		if o[i].name == name {
			return true
		}
	}
	return false
}

// MarshalJSONTo writes the members.
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
