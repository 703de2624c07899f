package schema

// Single values as text, for parameters of URLs, ids and columns.

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

	"github.com/stoa-go/stoa/resource/internal/jsonappend"
)

var (
	errNotNumber   = errors.New("must be a number")
	errNotBoolean  = errors.New("must be true or false")
	errNotTime     = errors.New("must be a date-time as in RFC 3339, like 2006-01-02T15:04:05Z")
	errNotUTF8     = errors.New("must be valid UTF-8")
	errNotValid    = errors.New("is not in the expected format")
	errNotScalar   = errors.New("has no text form")
	errWrongStruct = errors.New("schema: the field belongs to another struct type")
)

// This file converts scalars from and to canonical values and text, for filters, ids, cursors and
// tags.

// Get returns the canonical value of the field of v, a pointer to the struct: nil for a nil
// pointer, and a string for types with text methods. For an array of scalars it returns a []any,
// which is empty for a nil slice, as in JSON. For a field with a Key it is the id that the fields of
// the key have, whatever the field contains. Get returns nil for other arrays and objects, if the text
// method returns an error, if the text does not have the format decimal or duration of the field, or
// if v has another type.
func (f *Field) Get(v any) any {
	if f.Key != nil {
		return f.Text(v)
	}
	value, ok := f.scalarIn(v)
	switch {
	case !ok:
		return nil
	case f.Type.Kind == Array:
		return f.canonicalElements(value)
	}
	return f.canonical(f.Type, value)
}

// canonicalElements returns the canonical values of the elements of an array.
func (f *Field) canonicalElements(v reflect.Value) any {
	if !f.ComparableElem() {
		return nil
	}
	values := make([]any, v.Len())
	for i := range values {
		elem := v.Index(i)
		if f.Type.ElemNullable {
			if elem.IsNil() {
				continue
			}
			elem = elem.Elem()
		}
		values[i] = f.canonical(f.Type.Elem, elem)
	}
	return values
}

// canonical returns the canonical value of v, a scalar of type t that must be addressable.
func (f *Field) canonical(t *Type, v reflect.Value) any {
	if f.parseForm == nil {
		return t.canonical(v)
	}
	value, err := f.parseForm(t.formatText(v))
	if err != nil {
		return nil
	}
	return value
}

// Text returns the field of v, a pointer to the struct, in the text form that [Field.Parse] parses.
// It returns "" for a nil pointer, for a field that is not a scalar, and if v has another type, and for
// a field with a Key if the text of one of its fields is empty.
func (f *Field) Text(v any) string {
	if f.Key != nil {
		if s, ok := f.structOf(v); ok {
			return f.compose(s)
		}
		return ""
	}
	value, ok := f.scalarIn(v)
	if !ok {
		return ""
	}
	if f.Type.op == opText {
		return f.withoutExponent(f.Type.formatText(value))
	}
	return f.Type.formatText(value)
}

// scalarIn returns the value of the field of v, dereferenced if it is a pointer. ok is false if it
// is nil.
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

// Parse parses the canonical value of the field from a text in a URL or an id. For an array of
// scalars it parses an element. Integers have no plus sign and no leading zeros, booleans are true or
// false, times are RFC 3339 date-times, and a type with text methods must format the value as the
// same text. So each value has exactly one valid spelling, except numbers with a fraction, times,
// decimals and durations.
//
// A value that overflows the Go type or is not in Enum is an error, and so is a field that is not a
// scalar. The text of the error is a predicate for the name of the field, such as "must be an
// integer". It can be sent to the client.
func (f *Field) Parse(text string) (any, error) {
	if f.Key != nil {
		_, err := f.ParseKey(text)
		return text, err
	}
	if !f.Comparable() && !f.ComparableElem() {
		return nil, errNotScalar
	}
	v, err := f.parseScalar(f.scalarType(), text)
	if err != nil {
		return nil, err
	}
	if f.Enum != nil && !slices.Contains(f.allowed, v) {
		return nil, fmt.Errorf("must be %s", oneOf(f.Enum))
	}
	return v, nil
}

// ParseOperand is [Field.Parse] for a value with which a client compares the field. The value must have the
// format of the field, because no item can match another one, and an order of texts would sort it
// anywhere. A UUID can be in upper case.
func (f *Field) ParseOperand(text string) (any, error) {
	if f.Key != nil {
		return f.parseKeyOperand(text)
	}
	text = f.Spell(text)
	v, err := f.Parse(text)
	switch {
	// Numbers of clients may have an exponent.
	case err != nil, f.check == nil, f.IsDecimal(), f.IsDuration(), f.check(text):
		return v, err
	case text == "" && !f.Nullable && f.Type.Elem == nil && f.optional(): // valid in a document
		return v, nil
	}
	return nil, errors.New("must be " + formatDetail(f.Format))
}

// parseKeyOperand is ParseOperand for a field with a Key.
func (f *Field) parseKeyOperand(text string) (any, error) {
	text = f.Spell(text)
	parts, err := f.splitKey(text)
	for i := 0; i < len(parts) && err == nil; i++ {
		if _, err = f.Key[i].ParseOperand(parts[i]); err != nil {
			err = f.keyError()
		}
	}
	return text, err
}

// parseScalar parses the canonical value of a scalar of type t.
func (f *Field) parseScalar(t *Type, text string) (any, error) {
	if f.parseForm != nil {
		return f.parseForm(text)
	}
	return t.parseText(text)
}

// SetText sets the field of v, a pointer to the struct, to the value of the text. It accepts the
// same texts as [Field.Parse], and no arrays. After an error v is unchanged. For a field with a Key it
// also sets the fields of the key.
func (f *Field) SetText(v any, text string) error {
	if f.Key != nil {
		return f.setKey(v, text)
	}
	s, ok := f.structOf(v)
	switch {
	case !ok:
		return errWrongStruct
	case !f.Comparable():
		return errNotScalar
	}
	value, err := f.Parse(text)
	if err != nil {
		return err
	}
	if f.parseForm != nil && !f.check(text) {
		text = fmt.Sprint(value) // a document cannot have an exponent
	}
	// A text method may fail after it has modified the value, so set a new one.
	fresh := reflect.New(f.Type.GoType)
	if err := f.Type.setFromText(fresh.Elem(), text); err != nil {
		return err
	}
	if f.pointer {
		f.in(s).Set(fresh)
	} else {
		f.in(s).Set(fresh.Elem())
	}
	return nil
}

// canonical returns the canonical value of v, which must be addressable. A text method that fails
// makes the value nil, as if it were null.
func (t *Type) canonical(v reflect.Value) any {
	switch t.op {
	case opString:
		return v.String()
	case opInt:
		return v.Int()
	case opUint:
		return canonicalUint(v.Uint())
	case opFloat:
		return canonicalFloat(v.Float(), t.Bits)
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

// canonicalUint returns an int64 if the value fits, so that signed and unsigned fields can be
// compared.
func canonicalUint(u uint64) any {
	if u <= math.MaxInt64 {
		return int64(u)
	}
	return u
}

// canonicalFloat returns the number of the JSON text. A conversion of the float32 0.1 to float64 would
// return 0.10000000149011612, a number that no client has written.
func canonicalFloat(f float64, bits int) float64 {
	if bits == 32 && !math.IsNaN(f) && !math.IsInf(f, 0) {
		var space [32]byte
		f, _ = strconv.ParseFloat(string(strconv.AppendFloat(space[:0], f, 'g', -1, 32)), 64)
	}
	return f
}

// formatText returns the text form of v, which must be addressable.
func (t *Type) formatText(v reflect.Value) string {
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
		return jsonappend.WholeMinutes(*timeIn(v)).Format(time.RFC3339Nano)
	case opText:
		if text, err := appendText(nil, v); err == nil {
			return string(text)
		}
	}
	return ""
}

// parseText parses a canonical value from text.
func (t *Type) parseText(text string) (any, error) {
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
		if err := t.setFromText(probe, text); err != nil {
			return nil, err
		}
		// Another spelling would never match in a filter, and would give an item a second URL.
		if back, err := appendText(nil, probe); err != nil || string(back) != text {
			return nil, errNotValid
		}
		return text, nil
	}
	return nil, errNotScalar
}

// parseInt parses an integer in canonical form, so that 1 and 01 are not two URLs of the same item.
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

// parseFloat parses a JSON number. strconv.ParseFloat also accepts hexadecimal digits and
// infinities.
func (t *Type) parseFloat(text string) (any, error) {
	if !isNumber([]byte(text)) {
		return nil, errNotNumber
	}
	f, err := strconv.ParseFloat(text, t.Bits)
	if err != nil {
		return nil, errRange
	}
	return canonicalFloat(f, t.Bits), nil
}

// setFromText sets v, which must be addressable and of type t, from text. With text
// methods it accepts every spelling that they accept; parseText also rejects those that are not
// canonical.
func (t *Type) setFromText(v reflect.Value, text string) error {
	if t.op == opText {
		return unmarshalText(v, []byte(text))
	}
	canonical, err := t.parseText(text)
	if err != nil {
		return err
	}
	switch c := canonical.(type) {
	case string:
		v.SetString(c)
	case bool:
		v.SetBool(c)
	case float64:
		c, _ = strconv.ParseFloat(text, t.Bits) // SetFloat would round a float32 twice
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

// timeIn returns a pointer to the time v, which must be addressable.
func timeIn(v reflect.Value) *time.Time {
	t, _ := reflect.TypeAssert[*time.Time](v.Addr())
	return t
}

// appendText appends the result of the text methods of v, which must be addressable.
func appendText(dst []byte, v reflect.Value) ([]byte, error) {
	p := v.Addr()
	if appender, ok := reflect.TypeAssert[encoding.TextAppender](p); ok {
		return appender.AppendText(dst)
	}
	marshaler, _ := reflect.TypeAssert[encoding.TextMarshaler](p)
	text, err := marshaler.MarshalText()
	return append(dst, text...), err
}

// unmarshalText sets v, which must be addressable, by its text method. The text of the method's
// error is not sent to clients, because it may contain internal details.
func unmarshalText(v reflect.Value, text []byte) error {
	unmarshaler, _ := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr())
	if err := unmarshaler.UnmarshalText(text); err != nil {
		return errNotValid
	}
	return nil
}

// parseTime parses an RFC 3339 date-time. Contrary to section 5.6, package time accepts an hour of
// one digit, a comma before the fraction, and invalid offsets; parseTime does not.
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

// oneOf lists the valid values, for violations.
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
