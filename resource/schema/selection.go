package schema

import (
	"fmt"
	"strings"
)

// Selection is some of the fields of an object, chosen by name. It is immutable and safe for concurrent use.
type Selection struct {
	of     *Type
	fields []*Field
}

// Select chooses top-level fields by JSON name. The order of names does not matter and repetitions are ignored: a
// [Selection] writes in the order of the schema. A name that is unknown, and that of a writeOnly field, which cannot be
// told apart from one, is an error whose text is meant for clients.
func (t *Type) Select(names []string) (*Selection, error) {
	// A set first, as the schema decides the order: two requests for the same fields get the same bytes.
	wanted := make(map[*Field]bool, len(names))
	for _, name := range names {
		f := t.byName[name]
		if f == nil || f.WriteOnly {
			return nil, fmt.Errorf("there is no field %q; there are %s", name, strings.Join(t.readable(), ", "))
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

// readable returns the names that a client may ask for.
func (t *Type) readable() []string {
	var names []string
	for _, f := range t.Fields {
		if !f.WriteOnly {
			names = append(names, f.Name)
		}
	}
	return names
}

// Fields returns what was selected, in the order of the schema. The slice is not to be changed.
func (s *Selection) Fields() []*Field { return s.fields }

// Append appends the selected fields of v as [Type.Append] would write them.
func (s *Selection) Append(dst []byte, v any) ([]byte, error) {
	value, err := s.of.target(v)
	if err != nil {
		return dst, err
	}
	out, err := appendMembers(dst, s.fields, value, writing{depth: 1})
	if err != nil {
		return dst, fmt.Errorf("schema: writing %s: %w", s.of.label(), err)
	}
	return out, nil
}
