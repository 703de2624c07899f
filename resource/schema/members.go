package schema

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Labelled is a field and how it is to be written by [Members].
type Labelled struct {
	Field *Field
	// Label is what stands in front of the value, such as a name of the caller's and a colon. It must not be changed any
	// more.
	Label []byte
	// Quote puts a number in quotation marks, as if it were a string.
	Quote bool
}

// Members writes some fields of an object, one behind the other, each behind a label of the caller's: for answers in which
// the client says what is there and what it is called. It is immutable and safe for concurrent use.
//
// It does what [Type.AppendField] does for each of them, with less to look up for each value.
type Members struct {
	of   *Type
	list []labelled
}

// labelled is a Labelled with what is to be known for each value worked out.
type labelled struct {
	label   []byte
	opening []byte // the label with the opening quotation mark of a string
	plain   op     // if the value is a string or a number in a field of the struct itself; else opForeign
	at      int    // the place of the Go field; -1 for one of an embedded struct
	op      op
	pointer bool
	quote   bool
	bits    int
	field   *Field
}

// Members returns what writes these fields. It is an error if one of them is not of t.
func (t *Type) Members(list ...Labelled) (*Members, error) {
	m := &Members{of: t}
	for _, l := range list {
		f := l.Field
		if f.owner != t.pointer {
			return nil, errNotItsField
		}
		w := labelled{label: l.Label, at: f.at, op: f.Type.op, pointer: f.pointer, bits: f.Type.Bits, field: f,
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

// Append appends the labels and the values of the fields of v, a pointer to a value of the Go type. A field is written even
// where omitzero or omitempty would leave it out, and even if it is writeOnly. After an error dst is returned with its old
// length, and all fields may be to blame.
func (m *Members) Append(dst []byte, v any) ([]byte, error) {
	s, err := m.of.target(v)
	if err != nil {
		return dst, err
	}
	out := dst
	for i := range m.list {
		// As in appendMembers, what most fields are is written without a call for each.
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
			out, err = w.append(out, s)
		}
		if err != nil {
			return dst, fmt.Errorf("schema: writing %s: %s: %w", m.of.label(), m.list[i].field.GoName, err)
		}
	}
	return out, nil
}

// append appends one field of the struct s.
func (w *labelled) append(dst []byte, s reflect.Value) ([]byte, error) {
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
		dst, err := w.field.Type.append(append(dst, '"'), v, writing{})
		return append(dst, '"'), err
	}
	switch w.op {
	case opString:
		return appendString(dst, v.String())
	case opInt: // behind a pointer, or embedded
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case opBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case opFloat:
		return appendFloat(dst, v.Float(), w.bits)
	case opTime:
		return appendTime(dst, timeIn(v))
	}
	return w.field.Type.append(dst, v, writing{})
}
