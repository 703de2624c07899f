package query

import (
	"encoding"
	"math"
	"reflect"
	"strconv"
	"time"
)

// Canonical converts a Go scalar to the form that filters and positions use. It accepts bools,
// strings, integers and floats of any type, [Decimal], [Duration], [time.Time] (converted to UTC),
// pointers to these (nil is null), and types that implement [encoding.TextMarshaler], as their text.
// A float32 becomes the number of its JSON text, so 0.1 equals 0.1. A slice or an array of scalars,
// except bytes, becomes a []any, which is empty for a nil slice, as in JSON. Any other value, such as
// a struct, becomes nil.
func Canonical(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int64, float64, Decimal, Duration:
		return v
	case int:
		return int64(v)
	case uint64:
		return canonicalUint(v)
	case time.Time:
		return canonicalTime(v)
	}
	return canonicalOf(reflect.ValueOf(v))
}

// canonicalOf is Canonical for values that need reflection.
func canonicalOf(v reflect.Value) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	// Only named types have methods, so this skips most fields.
	if v.IsValid() && v.Type().PkgPath() != "" {
		switch v := v.Interface().(type) {
		case time.Time:
			return canonicalTime(v)
		case Decimal, Duration:
			return v
		}
		if m, ok := textMarshaler(v); ok {
			return marshaledText(m)
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return canonicalUint(v.Uint())
	case reflect.Float32:
		return canonicalFloat32(float32(v.Float()))
	case reflect.Float64:
		return v.Float()
	case reflect.Slice, reflect.Array:
		if v.Type().Elem() != reflect.TypeFor[byte]() {
			return canonicalElements(v)
		}
	}
	return nil
}

// canonicalUint returns an int64 if u fits, so that each number has one representation.
func canonicalUint(u uint64) any {
	if u <= math.MaxInt64 {
		return int64(u)
	}
	return u
}

// canonicalTime removes the zone and the monotonic clock, which are not part of the instant.
func canonicalTime(t time.Time) any { return t.Round(0).UTC() }

// canonicalFloat32 converts through the text. A direct conversion of 0.1 would return
// 0.10000000149011612, a number that no client has written.
func canonicalFloat32(f float32) any {
	// FormatFloat always returns a valid number.
	exact, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	return exact
}

// textMarshaler also finds methods of the pointer type, as JSON does.
func textMarshaler(v reflect.Value) (encoding.TextMarshaler, bool) {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		return m, true
	}
	if !reflect.PointerTo(v.Type()).Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return nil, false
	}
	// A copy, because v may not be addressable, and the method must not modify the item.
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	m, ok := p.Interface().(encoding.TextMarshaler)
	return m, ok
}

// marshaledText returns the text of m. Such values are ordered by their text.
func marshaledText(m encoding.TextMarshaler) any {
	text, err := m.MarshalText()
	if err != nil {
		return nil // a value without a text sorts as null
	}
	return string(text)
}

// canonicalList returns a []any of canonical values for a slice or array. A scalar becomes a list
// with one element.
func canonicalList(v any) []any {
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Invalid:
		return []any{}
	case reflect.Slice, reflect.Array:
		return canonicalElements(rv)
	}
	return []any{Canonical(v)}
}

// canonicalElements returns the canonical values of the elements of a slice or an array.
func canonicalElements(v reflect.Value) []any {
	list := make([]any, v.Len())
	for i := range list {
		list[i] = canonicalOf(v.Index(i))
	}
	return list
}

// scalar is Canonical for comparisons. It returns values that Compare accepts unchanged, such as a
// time in any zone, and so rarely allocates. Lists remain as they are.
func scalar(v any) any {
	switch v.(type) {
	case nil, bool, string, int64, uint64, float64, time.Time, Decimal, Duration, []any:
		return v
	}
	return Canonical(v)
}

// appendText appends a value as in a URL. bare reports whether JSON represents it without quotes.
func appendText(b []byte, v any) (text []byte, bare bool) {
	switch v := scalar(v).(type) {
	case nil:
		return append(b, "null"...), true
	case bool:
		return strconv.AppendBool(b, v), true
	case int64:
		return strconv.AppendInt(b, v, 10), true
	case uint64:
		return strconv.AppendUint(b, v, 10), true
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64), !math.IsNaN(v) && !math.IsInf(v, 0)
	case time.Time:
		return v.UTC().AppendFormat(b, time.RFC3339Nano), false
	case string:
		return append(b, v...), false
	case Decimal:
		return append(b, v.String()...), true
	case Duration:
		return append(b, v.String()...), false
	}
	return b, false
}
