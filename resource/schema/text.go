package schema

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	errNotNumber   = errors.New("must be a number")
	errNotBoolean  = errors.New("must be true or false")
	errNotTime     = errors.New("must be a date-time as in RFC 3339, like 2006-01-02T15:04:05Z")
	errNotUTF8     = errors.New("must be valid UTF-8")
	errNotValid    = errors.New("is not valid here")
	errNotScalar   = errors.New("has no text form")
	errNotItsField = errors.New("schema: the value is not of the struct that the field belongs to")
)

// Get returns the canonical value of the field in v, a pointer to the struct: nil for a nil pointer, a string for string
// types and for types with text methods. For fields that are not scalar, and for a text method that fails, it returns
// nil.
func (f *Field) Get(v any) any {
	value, ok := f.scalarIn(v)
	if !ok {
		return nil
	}
	return f.Type.canonical(value)
}

// Text returns the field in v, a pointer to the struct, as the text which [Field.Parse] reads. For a nil pointer, and
// for a field that is not scalar, it is empty.
func (f *Field) Text(v any) string {
	value, ok := f.scalarIn(v)
	if !ok {
		return ""
	}
	return f.Type.textOf(value)
}

// scalarIn returns the value of the field in v, behind its pointer if it is one, if there is any.
func (f *Field) scalarIn(v any) (value reflect.Value, ok bool) {
	s, ok := f.structOf(v)
	if !ok {
		return s, false
	}
	value = f.in(s)
	if f.pointer {
		if value.IsNil() {
			return value, false
		}
		value = value.Elem()
	}
	return value, true
}

// Parse reads the canonical value of the field from text, as it stands in a URL, an id or a cursor. It accepts one
// spelling of each value: integers have no plus sign and no leading zeros, booleans are true or false, times are RFC
// 3339 date-times, and a type with text methods must write what it read. A value outside the Go type's range or outside
// Enum is an error. The text of the error is meant for clients and goes on after the name of the field.
func (f *Field) Parse(text string) (any, error) {
	v, err := f.Type.parse(text)
	if err != nil {
		return nil, err
	}
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, v) {
		return nil, fmt.Errorf("must be %s", oneOf(f.Enum))
	}
	return v, nil
}

// SetText sets the field in v, a pointer to the struct, to what [Field.Parse] reads from text. After an error v is
// unchanged.
func (f *Field) SetText(v any, text string) error {
	s, ok := f.structOf(v)
	if !ok {
		return errNotItsField
	}
	if _, err := f.Parse(text); err != nil {
		return err
	}
	// Set aside first: a text method may fail half-way.
	fresh := reflect.New(f.Type.GoType)
	if err := f.Type.set(fresh.Elem(), text); err != nil {
		return err
	}
	if f.pointer {
		f.in(s).Set(fresh)
	} else {
		f.in(s).Set(fresh.Elem())
	}
	return nil
}

// canonical returns the canonical value of v, which is addressable.
func (t *Type) canonical(v reflect.Value) any {
	switch t.op {
	case opString:
		return v.String()
	case opInt:
		return v.Int()
	case opUint:
		return canonicalUint(v.Uint())
	case opFloat:
		return v.Float()
	case opBool:
		return v.Bool()
	case opTime:
		return *timeIn(v)
	case opText:
		if text, err := appendText(nil, v); err == nil {
			return string(text)
		}
	}
	return nil
}

// canonicalUint makes an int64 of whatever fits, so that values of signed and unsigned fields compare with each other.
func canonicalUint(u uint64) any {
	if u <= math.MaxInt64 {
		return int64(u)
	}
	return u
}

// textOf returns v, which is addressable, as text.
func (t *Type) textOf(v reflect.Value) string {
	switch t.op {
	case opString:
		return v.String()
	case opInt:
		return strconv.FormatInt(v.Int(), 10)
	case opUint:
		return strconv.FormatUint(v.Uint(), 10)
	case opFloat:
		return string(jsontext.AppendFloat(nil, v.Float(), t.Bits))
	case opBool:
		return strconv.FormatBool(v.Bool())
	case opTime:
		return timeIn(v).Format(time.RFC3339Nano)
	case opText:
		if text, err := appendText(nil, v); err == nil {
			return string(text)
		}
	}
	return ""
}

// parse reads a canonical value from text.
func (t *Type) parse(text string) (any, error) {
	switch t.op {
	case opString:
		if !utf8.ValidString(text) {
			return nil, errNotUTF8
		}
		return text, nil
	case opInt, opUint:
		return t.parseInt(text)
	case opFloat:
		return t.parseFloat(text)
	case opBool:
		if text != "true" && text != "false" {
			return nil, errNotBoolean
		}
		return text == "true", nil
	case opTime:
		return parseTime([]byte(text))
	case opText:
		probe := reflect.New(t.GoType).Elem()
		if err := t.set(probe, text); err != nil {
			return nil, err
		}
		// A filter by a spelling that is never written would find nothing, and an id would have a second address.
		if back, err := appendText(nil, probe); err != nil || string(back) != text {
			return nil, errNotValid
		}
		return text, nil
	}
	return nil, errNotScalar
}

// parseInt reads an integer in its only canonical spelling, so that 1 and 01 are not two addresses of one thing.
func (t *Type) parseInt(text string) (any, error) {
	n, err := parseCanonical(text)
	if err != nil {
		return nil, err
	}
	if t.Unsigned {
		if u, ok := n.unsigned(t.Bits); ok {
			return canonicalUint(u), nil
		}
	} else if i, ok := n.signed(t.Bits); ok {
		return i, nil
	}
	return nil, errRange
}

// parseFloat reads a JSON number; package strconv would accept hexadecimal digits and infinities as well.
func (t *Type) parseFloat(text string) (any, error) {
	if !isNumber([]byte(text)) {
		return nil, errNotNumber
	}
	f, err := strconv.ParseFloat(text, t.Bits)
	if err != nil {
		return nil, errRange
	}
	return f, nil
}

// set sets v, which is addressable and of type t, from text.
func (t *Type) set(v reflect.Value, text string) error {
	if t.op == opText {
		return unmarshalText(v, []byte(text))
	}
	canonical, err := t.parse(text)
	if err != nil {
		return err
	}
	switch c := canonical.(type) {
	case string:
		v.SetString(c)
	case bool:
		v.SetBool(c)
	case float64:
		v.SetFloat(c)
	case time.Time:
		*timeIn(v) = c
	case uint64:
		v.SetUint(c)
	case int64:
		if t.Unsigned {
			v.SetUint(uint64(c))
		} else {
			v.SetInt(c)
		}
	}
	return nil
}

// timeIn returns the time that v is, which is addressable.
func timeIn(v reflect.Value) *time.Time {
	t, _ := reflect.TypeAssert[*time.Time](v.Addr())
	return t
}

// appendText appends what the text methods of v, which is addressable, write.
func appendText(dst []byte, v reflect.Value) ([]byte, error) {
	p := v.Addr()
	if appender, ok := reflect.TypeAssert[encoding.TextAppender](p); ok {
		return appender.AppendText(dst)
	}
	marshaler, _ := reflect.TypeAssert[encoding.TextMarshaler](p)
	text, err := marshaler.MarshalText()
	return append(dst, text...), err
}

// unmarshalText sets v, which is addressable, by its text method. What that has to say stays in the server: it is not
// written for clients.
func unmarshalText(v reflect.Value, text []byte) error {
	unmarshaler, _ := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr())
	if err := unmarshaler.UnmarshalText(text); err != nil {
		return errNotValid
	}
	return nil
}

// parseTime reads an RFC 3339 date-time. Package time accepts a little more than section 5.6 does: an hour of one digit,
// a comma before the fraction, and offsets that no clock has.
func parseTime(text []byte) (time.Time, error) {
	var t time.Time
	if err := t.UnmarshalText(text); err != nil {
		return t, errNotTime
	}
	if text[len("2006-01-02T1")] == ':' || text[len("2006-01-02T15:04:05")] == ',' {
		return t, errNotTime
	}
	if text[len(text)-1] != 'Z' {
		if zone := text[len(text)-len("00:00"):]; string(zone[:2]) > "23" || string(zone[3:]) > "59" {
			return t, errNotTime
		}
	}
	return t, nil
}

// oneOf lists values for a client.
func oneOf(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "one of " + strings.Join(texts, ", ")
}
