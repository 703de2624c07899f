package schema

// Encoding: values to JSON text. Each [Type] has a plan of steps, made once by compile.go, so that
// encoding uses no reflection on names or tags.

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/internal/jsonappend"
)

// This file encodes values as JSON. The entry points are Append, AppendFull and AppendField, and
// those of Selection and Members. They call appendValue, which recurses through objects, arrays and
// maps by reflection. Encoding lists dominates the time of GET requests, so common cases avoid
// calls and copies.

// maxEncodeDepth is the maximum nesting depth of encoded JSON, as in package jsontext. A deeper
// value most likely contains itself.
const maxEncodeDepth = 10_000

var errTooDeep = errors.New("nested too deeply; the value may contain itself")

// encodeState has the options of an encoding, and the current depth in the document.
type encodeState struct {
	full  bool // include writeOnly fields
	depth int
}

// enter increments the depth. It is called for objects, arrays and maps only, so that it costs
// nothing for scalars.
func (w encodeState) enter() (encodeState, error) {
	w.depth++
	if w.depth > maxEncodeDepth {
		return w, errTooDeep
	}
	return w, nil
}

// Append appends the JSON encoding of v, a non-nil pointer to a value of the Go type, to dst.
//
// The encoding is compact and deterministic: the same bytes that go-json-experiment/json generates
// with the option Deterministic, except that writeOnly fields are omitted. Append returns an error
// in the same cases: NaN and infinities, invalid UTF-8, cycles, and methods that return an error.
// After an error the length of the returned slice is that of dst.
//
// Converting a pointer to any does not allocate, so a list can be encoded by calls of Append with
// &items[i].
func (t *Type) Append(dst []byte, v any) ([]byte, error) {
	return t.appendTarget(dst, v, encodeState{})
}

// AppendFull is like [Type.Append] but includes writeOnly fields. Patches are applied to this
// document. It must not be sent to clients.
func (t *Type) AppendFull(dst []byte, v any) ([]byte, error) {
	return t.appendTarget(dst, v, encodeState{full: true})
}

// appendTarget implements Append and AppendFull. After an error it returns dst unchanged, so that a
// caller cannot send a partial document by mistake.
func (t *Type) appendTarget(dst []byte, v any, w encodeState) ([]byte, error) {
	value, err := t.target(v)
	if err != nil {
		return dst, err
	}
	out, err := t.appendValue(dst, value, w)
	if err != nil {
		return dst, fmt.Errorf("schema: encode %s: %w", t.label(), err)
	}
	return out, nil
}

// AppendField appends the JSON value of the field f of v, a pointer to a value of the Go type,
// without the member name. It ignores omitzero and omitempty, and includes writeOnly fields; the
// caller must check whether the client may read the field. After an error it returns dst unchanged.
func (t *Type) AppendField(dst []byte, f *Field, v any) ([]byte, error) {
	value, err := t.target(v)
	if err == nil && f.owner != t.pointer {
		err = errWrongStruct
	}
	if err != nil {
		return dst, err
	}
	out, err := f.appendValue(dst, f.in(value), encodeState{})
	if err != nil {
		return dst, fmt.Errorf("schema: encode %s: %w", t.label(), err)
	}
	return out, nil
}

// AppendMember appends a comma and the member of the field f of v, a pointer to a value of the Go type,
// as [Type.Append] encodes it: nothing if the member is omitted. It returns the errors of Append, and dst
// unchanged after an error.
func (t *Type) AppendMember(dst []byte, f *Field, v any) ([]byte, error) {
	value, err := t.target(v)
	if err == nil && f.owner != t.pointer {
		err = errWrongStruct
	}
	if err != nil {
		return dst, err
	}
	out, err := appendMembers(dst, []*Field{f}, value, encodeState{depth: 1})
	if err != nil {
		return dst, fmt.Errorf("schema: encode %s: %w", t.label(), err)
	}
	if len(out) == len(dst)+len("{}") {
		return dst, nil
	}
	out[len(dst)] = ',' // in place of the brace
	return out[:len(out)-1], nil
}

// label returns the name of the type for error messages.
func (t *Type) label() string {
	if t.Name != "" {
		return t.Name
	}
	return t.GoType.String()
}

// appendValue appends v, which must be addressable.
func (t *Type) appendValue(dst []byte, v reflect.Value, w encodeState) ([]byte, error) {
	switch t.op {
	case opString:
		return jsonappend.String(dst, v.String())
	case opInt:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case opUint:
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	case opFloat:
		return jsonappend.Float(dst, v.Float(), t.Bits)
	case opBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case opTime:
		return jsonappend.Time(dst, timeIn(v))
	case opText:
		return appendQuotedText(dst, v)
	case opBytes:
		// Base64 needs no escapes.
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), v.Bytes())
		return append(dst, '"'), nil
	case opJSON:
		return appendJSON(dst, v)
	}
	w, err := w.enter()
	if err != nil {
		return dst, err
	}
	switch t.op {
	case opObject:
		return appendMembers(dst, t.Fields, v, w)
	case opMap:
		return t.appendMap(dst, v, w)
	}
	return t.appendArray(dst, v, w)
}

// appendValue appends the value of a field. f.pointer is the only pointer: Types never describe
// pointers.
func (f *Field) appendValue(dst []byte, v reflect.Value, w encodeState) ([]byte, error) {
	if f.pointer {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		v = v.Elem()
	}
	if f.Quoted {
		// Only numbers have this option, and they need no escapes.
		dst, err := f.Type.appendValue(append(dst, '"'), v, w)
		return append(dst, '"'), err
	}
	return f.Type.appendValue(dst, v, w)
}

// appendMembers appends an object with some fields of the struct s. Each label begins with a comma;
// the brace replaces the first one.
//
// Most of the time for encoding a list is spent here. The common types of fields are therefore
// encoded inline, without a function call for each value.
func appendMembers(dst []byte, fields []*Field, s reflect.Value, w encodeState) ([]byte, error) {
	start := len(dst)
	for _, f := range fields {
		var err error
		switch f.plain {
		case opString:
			text := s.Field(f.at).String()
			if jsonappend.IsUnescaped(text) {
				dst = append(append(append(dst, f.label...), text...), '"')
				continue
			}
			// Without the quotation mark of the label: AppendQuote writes its own.
			dst, err = jsontext.AppendQuote(append(dst, f.label[:len(f.label)-1]...), text)
		case opInt:
			dst = strconv.AppendInt(append(dst, f.label...), s.Field(f.at).Int(), 10)
		case opFloat:
			dst, err = jsonappend.Float(append(dst, f.label...), s.Field(f.at).Float(), f.Type.Bits)
		case opBool:
			dst = strconv.AppendBool(append(dst, f.label...), s.Field(f.at).Bool())
		default:
			dst, err = f.appendWithName(dst, s, w)
		}
		if err != nil {
			return dst, fmt.Errorf("%s: %w", f.GoName, err)
		}
	}
	if len(dst) == start {
		return append(dst, '{', '}'), nil
	}
	dst[start] = '{'
	return append(dst, '}'), nil
}

// setLabel sets label and plain. A field is plain if its member is always present and is a string,
// a number or a boolean. The label of a plain string includes the opening quotation mark of the
// value. Fields of embedded structs are never plain, because they need more than one index.
func (f *Field) setLabel(quotedName []byte) {
	f.label = append(quotedName, ':')
	if f.pointer || f.Quoted || f.OmitZero || f.OmitEmpty || f.WriteOnly || len(f.Index) != 1 {
		return
	}
	switch f.Type.op {
	case opString:
		f.label = append(f.label, '"')
		f.plain = opString
	case opInt, opFloat, opBool:
		f.plain = f.Type.op
	}
}

// appendWithName appends a field of the struct s with its name, or nothing if the member is omitted.
func (f *Field) appendWithName(dst []byte, s reflect.Value, w encodeState) ([]byte, error) {
	if f.WriteOnly && !w.full {
		return dst, nil
	}
	v := f.in(s)
	if f.OmitZero && f.isZero(v) {
		return dst, nil
	}
	before := len(dst)
	dst = append(dst, f.label...)
	start := len(dst)
	dst, err := f.appendValue(dst, v, w)
	// Only the encoding shows whether a value is empty, because of nested omitempty and of methods.
	if err == nil && f.OmitEmpty && isEmpty(dst[start:]) {
		dst = dst[:before]
	}
	return dst, err
}

// isEmpty reports whether omitempty omits a JSON value.
func isEmpty(value []byte) bool {
	switch string(value) {
	case "null", `""`, "{}", "[]":
		return true
	}
	return false
}

// appendArray appends a slice or a Go array. A nil slice is encoded as an empty array, so that
// clients need not distinguish null from an empty list.
func (t *Type) appendArray(dst []byte, v reflect.Value, w encodeState) ([]byte, error) {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = t.appendElem(dst, v.Index(i), w); err != nil {
			return dst, fmt.Errorf("%d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

// appendElem appends an element of an array or a map. It checks for pointers, because t.Elem is the
// type that they point to.
func (t *Type) appendElem(dst []byte, v reflect.Value, w encodeState) ([]byte, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		v = v.Elem()
	}
	return t.Elem.appendValue(dst, v, w)
}

// appendQuotedText appends the result of the text methods of v as a JSON string.
func appendQuotedText(dst []byte, v reflect.Value) ([]byte, error) {
	// Append the text directly, and encode it again only if it needs escapes.
	start := len(dst)
	dst, err := appendText(append(dst, '"'), v)
	if err != nil {
		return dst, err
	}
	text := dst[start+1:]
	for _, c := range text {
		if c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			return jsontext.AppendQuote(dst[:start], bytes.Clone(text))
		}
	}
	return append(dst, '"'), nil
}

// appendJSON encodes the value with go-json-experiment/json. Deterministic sorts the keys of maps
// inside the value, for the same reason as appendMap.
func appendJSON(dst []byte, v reflect.Value) ([]byte, error) {
	b, err := json.Marshal(v.Addr().Interface(), json.Deterministic(true))
	return append(dst, b...), err
}
