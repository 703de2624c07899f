package query

import (
	"encoding"
	"math"
	"reflect"
	"strconv"
	"time"
)

// Canonical turns a Go scalar into the value that filters and positions hold: bools and strings of any type, integers
// and floats of any size, [time.Time] (in UTC), pointers to these (a nil one is null), and everything that marshals
// itself to text, as its text. A float32 is the number that its JSON says, so that 0.1 is found by 0.1. Anything else,
// such as a struct or a slice, has neither order nor equality here and is nil.
func Canonical(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int64, float64:
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

// canonicalOf is Canonical for what reflection has to look at.
func canonicalOf(v reflect.Value) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	// Only a named type has methods; the common fields, of plain types, need not be asked.
	if v.IsValid() && v.Type().PkgPath() != "" {
		if t, ok := v.Interface().(time.Time); ok {
			return canonicalTime(t)
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
	}
	return nil
}

// canonicalUint is an int64 wherever that can hold u, so that one number has one representation.
func canonicalUint(u uint64) any {
	if u <= math.MaxInt64 {
		return int64(u)
	}
	return u
}

// canonicalTime drops the zone and the monotonic clock, which are no part of the instant.
func canonicalTime(t time.Time) any { return t.Round(0).UTC() }

// canonicalFloat32 goes by way of the text. Widened bit by bit, 0.1 would become 0.10000000149011612, which no client
// ever wrote or read.
func canonicalFloat32(f float32) any {
	// Never an error: it is the text of a number.
	exact, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	return exact
}

// textMarshaler also finds the method on the pointer, where JSON finds it too.
func textMarshaler(v reflect.Value) (encoding.TextMarshaler, bool) {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		return m, true
	}
	if !reflect.PointerTo(v.Type()).Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return nil, false
	}
	// A copy, because v may not be addressable, and because the method must not reach the caller's item.
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	m, ok := p.Interface().(encoding.TextMarshaler)
	return m, ok
}

// marshaledText is the value of what marshals itself. Its order is that of the texts, whatever they mean.
func marshaledText(m encoding.TextMarshaler) any {
	text, err := m.MarshalText()
	if err != nil {
		return nil // what has no text has no place in an order of texts
	}
	return string(text)
}

// canonicalList makes a []any of canonical values out of any slice or array. A scalar is a list of one.
func canonicalList(v any) []any {
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Invalid:
		return []any{}
	case reflect.Slice, reflect.Array:
		list := make([]any, rv.Len())
		for i := range list {
			list[i] = canonicalOf(rv.Index(i))
		}
		return list
	}
	return []any{Canonical(v)}
}

// scalar is Canonical for those who only compare: it leaves alone what Compare understands as it is, such as a time in
// any zone, and so seldom allocates.
func scalar(v any) any {
	switch v.(type) {
	case nil, bool, string, int64, uint64, float64, time.Time:
		return v
	}
	return Canonical(v)
}

// appendText appends the text of a value as it stands in a URL, and tells whether JSON can have it without quotes.
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
	}
	return b, false
}
