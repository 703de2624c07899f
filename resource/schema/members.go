package schema

// Encoding of several fields with text between them, for the plans of GraphQL.

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/internal/jsonappend"
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
	// idle is the encoder that was released last. A pool would keep one for each processor, and the
	// owners of many Members, such as cached plans, count the memory of one.
	idle atomic.Pointer[MembersEncoder]
}

// labelled is a Labelled with the properties that Append needs for each value. They are copied from
// Field and Type, so that the loop reads one block of memory per field.
type labelled struct {
	// start is the label, with the opening quotation mark of a plain string. short has the same bytes, if
	// they fit. A copy of an array takes less time than one of a slice.
	start   []byte
	short   [shortLabel]byte
	plain   op // opString or opInt if the field is encoded inline; otherwise opJSON
	op      op
	pointer bool
	quote   bool
	bits    int
	field   *Field
}

// shortLabel is the size up to which labels are copied as arrays. Most names are shorter.
const shortLabel = 24

// Members returns an encoder for the fields. It returns an error if one of them is not a field of
// t.
func (t *Type) Members(list ...Labelled) (*Members, error) {
	m := &Members{of: t}
	for _, l := range list {
		f := l.Field
		if f.owner != t.pointer {
			return nil, errWrongStruct
		}
		w := labelled{start: l.Label, op: f.Type.op, pointer: f.pointer, bits: f.Type.Bits, field: f,
			quote: f.Quoted || l.Quote && (f.Type.op == opInt || f.Type.op == opUint || f.Type.op == opFloat)}
		if !w.pointer && !w.quote && (w.op == opString || w.op == opInt) {
			w.plain = w.op
		}
		if w.plain == opString {
			w.start = append(slices.Clip(w.start), '"')
		}
		if len(w.start) <= shortLabel {
			copy(w.short[:], w.start)
		}
		m.list = append(m.list, w)
	}
	return m, nil
}

// Append encodes one value. It may overwrite the capacity of dst; see [MembersEncoder.Append].
func (m *Members) Append(dst []byte, v any) ([]byte, error) {
	e := m.Encoder()
	defer e.Release()
	return e.Append(dst, v)
}

// MembersEncoder encodes several values, one after the other. It is not safe for concurrent use.
type MembersEncoder struct {
	of *Members
	// copied points to a value of the Go type in which the values are encoded, and assign copies them to
	// it. Its fields have fixed addresses, so they are not searched by reflection for each value.
	copied any
	assign assignment // nil if the fields are read from each value
	slots  []slot     // the fields
}

// slot is a field of the value that is encoded.
type slot struct {
	value reflect.Value
	time  *time.Time // value, if it is a time
}

// Encoder returns an encoder: the one that was released last, if it is not in use, or a new one. The
// caller must call Release when it is done.
func (m *Members) Encoder() *MembersEncoder {
	if e := m.idle.Swap(nil); e != nil {
		return e
	}
	e := &MembersEncoder{of: m, slots: make([]slot, len(m.list))}
	if assign := m.of.assign.Load(); assign != nil && m.copies() {
		p := reflect.New(m.of.GoType)
		e.copied, e.assign = p.Interface(), *assign
		e.locate(p.Elem())
	}
	return e
}

// copies reports whether copying a value takes less time than to find each field in it. The copy must
// not read what encoding does not.
func (m *Members) copies() bool {
	return m.of.GoType.Size() <= 64*uintptr(len(m.list)) && isPlainData(m.of.GoType)
}

// isPlainData reports whether all fields of a struct are part of its JSON, in structs inside it, too.
// Encoding reads each of them. A method may change another field while a value is encoded.
func isPlainData(t reflect.Type) bool {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return true
	case t.Kind() == reflect.Array:
		return isPlainData(t.Elem())
	case t.Kind() != reflect.Struct:
		return true
	}
	for i := range t.NumField() {
		f := t.Field(i)
		embedded := f.Anonymous && f.Type.Kind() == reflect.Struct // its exported fields are part of the JSON
		if f.Tag.Get("json") == "-" || !f.IsExported() && !embedded || !isPlainData(f.Type) {
			return false
		}
	}
	return true
}

// Release keeps e, without the last value, for the next call of Encoder.
func (e *MembersEncoder) Release() {
	if e.assign != nil {
		reflect.ValueOf(e.copied).Elem().SetZero()
	} else {
		clear(e.slots)
	}
	e.of.idle.Store(e)
}

// locate sets the slots to the fields of the struct s.
func (e *MembersEncoder) locate(s reflect.Value) {
	for i := range e.slots {
		w, at := &e.of.list[i], &e.slots[i]
		at.value = w.field.in(s)
		if w.op == opTime && !w.pointer {
			at.time = timeIn(at.value)
		}
	}
}

// Append appends the labels and values of the fields of v, a pointer to a value of the Go type. It
// ignores omitzero and omitempty, and includes writeOnly fields. After an error it returns dst
// unchanged. Append may overwrite the memory of dst up to its capacity, also beyond the result.
func (e *MembersEncoder) Append(dst []byte, v any) ([]byte, error) {
	if e.assign == nil || !e.assign(e.copied, v) {
		s, err := e.of.of.target(v)
		if err != nil {
			return dst, err
		}
		e.locate(s)
	}
	out := dst
	for i := range e.of.list {
		w := &e.of.list[i]
		if n := len(out); len(w.start) <= shortLabel && cap(out)-n >= shortLabel {
			*(*[shortLabel]byte)(out[n : n+shortLabel]) = w.short
			out = out[:n+len(w.start)]
		} else {
			out = append(out, w.start...)
		}
		var err error
		// The common types are encoded inline.
		switch at := &e.slots[i]; w.plain {
		case opString:
			text := at.value.String()
			if jsonappend.IsUnescaped(text) {
				out = append(append(out, text...), '"')
				continue
			}
			out, err = jsontext.AppendQuote(out[:len(out)-1], text) // without the quotation mark of start
		case opInt:
			out = strconv.AppendInt(out, at.value.Int(), 10)
		default:
			out, err = w.appendValue(out, at)
		}
		if err != nil {
			return dst, fmt.Errorf("schema: encode %s: %s: %w", e.of.of.label(), w.field.GoName, err)
		}
	}
	return out, nil
}

// appendValue appends the value of one field that is not plain after its start.
func (w *labelled) appendValue(dst []byte, at *slot) ([]byte, error) {
	v := at.value
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
	case opString: // a pointer
		return jsonappend.String(dst, v.String())
	case opInt: // a pointer
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case opBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case opFloat:
		return jsonappend.Float(dst, v.Float(), w.bits)
	case opTime:
		if w.pointer {
			return jsonappend.Time(dst, timeIn(v))
		}
		return jsonappend.Time(dst, at.time)
	}
	return w.field.Type.appendValue(dst, v, encodeState{})
}
