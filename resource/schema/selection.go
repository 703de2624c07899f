package schema

// Sparse fields: the encoding of some members of an object, chosen by the parameter fields.

import (
	"fmt"
	"strings"
)

// Selection encodes some fields of an object, selected by name. It is immutable and safe for
// concurrent use.
type Selection struct {
	of     *Type
	fields []*Field
}

// Select returns a selection of top-level fields by JSON name. The order of names and duplicates
// are ignored: a [Selection] encodes fields in the order of the schema. An unknown name is an error
// that lists the valid names, and can be sent to the client. The name of a writeOnly field is
// treated as unknown.
func (t *Type) Select(names []string) (*Selection, error) {
	// The order of the schema applies, so that requests for the same fields have the same ETag.
	wanted := make(map[*Field]bool, len(names))
	for _, name := range names {
		f := t.byName[name]
		if f == nil || f.WriteOnly {
			fields := strings.Join(t.readableNames(), ", ")
			return nil, fmt.Errorf("there is no field %q; the fields are %s", name, fields)
		}
		wanted[f] = true
	}
	s := &Selection{of: t}
	for _, f := range t.Fields {
		if wanted[f] {
			s.fields = append(s.fields, f)
		}
	}
	return s, nil
}

// readableNames returns the names of the fields that clients can select.
func (t *Type) readableNames() []string {
	var names []string
	for _, f := range t.Fields {
		if !f.WriteOnly {
			names = append(names, f.Name)
		}
	}
	return names
}

// Fields returns the selected fields in the order of the schema. The caller must not modify the
// slice.
func (s *Selection) Fields() []*Field { return s.fields }

// Append appends a JSON object with the selected fields of v, a pointer to a value of the Go type.
// It encodes them like [Type.Append], and returns dst unchanged after an error.
func (s *Selection) Append(dst []byte, v any) ([]byte, error) {
	value, err := s.of.target(v)
	if err != nil {
		return dst, err
	}
	out, err := appendMembers(dst, s.fields, value, encodeState{depth: 1})
	if err != nil {
		return dst, fmt.Errorf("schema: encode %s: %w", s.of.label(), err)
	}
	return out, nil
}
