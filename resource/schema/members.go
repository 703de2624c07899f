package schema

// Encoding of several fields with text between them, for the plans of GraphQL.

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Labelled is a field together with the text that [Members] writes before its value.
type Labelled struct {
	Field *Field
	// Label is written before the value, for example a member name and a colon. The caller must not
	// modify it afterward.
	Label []byte
	// Quote encodes a number as a string.
	Quote bool
}

// Members encodes selected fields of an object under labels of the caller, for responses in which
// the client chooses the members and their names, such as those of GraphQL. It is immutable and
// safe for concurrent use.
//
// The output is that of [Type.AppendField] for each field, with less work per value.
type Members struct {
	of   *Type
	list []labelled
}

// labelled is a Labelled with the properties that Append needs for each value. They are copied from
// Field and Type, so that the loop reads one block of memory per field.
type labelled struct {
	label   []byte
	opening []byte // the label with the opening quotation mark of a string
	plain   op     // opString or opInt if the field is encoded inline; otherwise opJSON
	at      int    // index of the Go field; -1 for a field of an embedded struct
	op      op
	pointer bool
	quote   bool
	bits    int
	field   *Field
}

// Members returns an encoder for the fields. It returns an error if one of them is not a field of
// t.
func (t *Type) Members(list ...Labelled) (*Members, error) {
	m := &Members{of: t}
	for _, l := range list {
		f := l.Field
		if f.owner != t.pointer {
			return nil, errWrongStruct
		}
		w := labelled{label: l.Label, at: f.at, op: f.Type.op, pointer: f.pointer, bits: f.Type.Bits,
			field: f,
			quote: f.Quoted || l.Quote && (f.Type.op == opInt || f.Type.op == opUint || f.Type.op == opFloat)}
		if len(f.Index) > 1 {
			w.at = -1
		} else if !w.pointer && !w.quote && (w.op == opString || w.op == opInt) {
			w.plain = w.op
		}
		w.opening = append(append(w.opening, w.label...), '"')
		m.list = append(m.list, w)
	}
	return m, nil
}

// Append appends the labels and values of the fields of v, a pointer to a value of the Go type. It
// ignores omitzero and omitempty, and includes writeOnly fields. After an error it returns dst
// unchanged.
func (m *Members) Append(dst []byte, v any) ([]byte, error) {
	s, err := m.of.target(v)
	if err != nil {
		return dst, err
	}
	out := dst
	for i := range m.list {
		// As in appendMembers, the common types are encoded inline.
		switch w := &m.list[i]; w.plain {
		case opString:
			text := s.Field(w.at).String()
			if isPlain(text) || isUnescaped(text) {
				out = append(append(append(out, w.opening...), text...), '"')
				continue
			}
			out, err = jsontext.AppendQuote(append(out, w.label...), text)
		case opInt:
			out = strconv.AppendInt(append(out, w.label...), s.Field(w.at).Int(), 10)
		default:
			out, err = w.appendValue(out, s)
		}
		if err != nil {
			return dst, fmt.Errorf("schema: encode %s: %s: %w", m.of.label(), m.list[i].field.GoName, err)
		}
	}
	return out, nil
}

// appendValue appends the label and the value of one field of the struct s.
func (w *labelled) appendValue(dst []byte, s reflect.Value) ([]byte, error) {
	dst = append(dst, w.label...)
	var v reflect.Value
	if w.at >= 0 {
		v = s.Field(w.at)
	} else {
		v = w.field.in(s)
	}
	if w.pointer {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		v = v.Elem()
	}
	if w.quote {
		dst, err := w.field.Type.appendValue(append(dst, '"'), v, encodeState{})
		return append(dst, '"'), err
	}
	switch w.op {
	case opString:
		return appendString(dst, v.String())
	case opInt: // a pointer, or in an embedded struct
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case opBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case opFloat:
		return appendFloat(dst, v.Float(), w.bits)
	case opTime:
		return appendTime(dst, timeIn(v))
	}
	return w.field.Type.appendValue(dst, v, encodeState{})
}
