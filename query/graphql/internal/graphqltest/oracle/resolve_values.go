package oracle

// Conversion of Go values to the values that graphql-go completes. Called by resolve.go.

import (
	"encoding"
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/schema"
)

// shown converts a Go value to one that graphql-go completes: nil, []any, a pointer to a struct for
// an object, or a plain value for scalars and enums. It returns an error for a value that cannot be
// represented, for which graphql-go would return null.
func shown(t *model.Ref, v reflect.Value) (any, error) {
	// A nil pointer becomes the zero Value, which is not valid.
	for v.IsValid() && v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil, nil
	}
	if t.Elem != nil {
		list := make([]any, v.Len())
		for i := range list {
			item, err := shown(t.Elem, v.Index(i))
			if err != nil { // the error belongs to the element, not to the list (section 6.4.3)
				item = broken(t.Elem, err)
			}
			list[i] = item
		}
		return list, nil
	}
	if !v.CanAddr() {
		v = addressable(v)
	}
	switch t.Type.Kind {
	case model.Object:
		return v.Addr().Interface(), nil
	case model.Enum:
		return enumValue(t.Type, v)
	}
	return scalarValue(t.Type.Name, v)
}

// broken returns the value for a list element that cannot be represented. graphql-go accepts a
// function that returns an error, but then propagates null to the root. For a non-null element
// broken returns nil, for which graphql-go makes the error itself.
func broken(t *model.Ref, err error) any {
	if t.NonNull {
		return nil
	}
	return func() (any, error) { return nil, failure{gqlerror.Of(err)} }
}

// addressable returns an addressable copy, for methods with pointer receivers.
func addressable(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Elem()
}

// enumValue returns the text of an enum value. It returns an error if the enum has no such value.
func enumValue(t *model.Type, v reflect.Value) (any, error) {
	text, err := stringOf(v)
	if err != nil {
		return nil, err
	}
	for _, value := range t.Values {
		if value.Go == text {
			return text, nil
		}
	}
	return nil, fmt.Errorf("graphql: %q is no value of %s", text, t.Name)
}

// scalarValue converts the Go value of a scalar. The error of a value out of range becomes that of
// its field.
func scalarValue(name string, v reflect.Value) (any, error) {
	switch name {
	case "DateTime":
		return v.Addr().Convert(reflect.TypeFor[*time.Time]()).Elem().Interface(), nil
	case "JSON":
		return rawJSON(v)
	case "Boolean":
		return v.Bool(), nil
	case "Float":
		return floatOf(v)
	case "Int":
		n := integerOf(v)
		if i, ok := n.(int64); ok && i == int64(int32(i)) {
			return int(i), nil
		}
		return nil, fmt.Errorf("graphql: %v is no Int", n)
	case "Int64":
		return integerOf(v), nil
	}
	return stringOf(v)
}

// rawJSON encodes a value as the catalog does, because a value in a map may have fields that are
// hidden from clients.
func rawJSON(v reflect.Value) (any, error) {
	t, err := schema.Of(v.Type())
	if err != nil {
		return nil, err
	}
	raw, err := t.Append(nil, v.Addr().Interface())
	if err != nil || string(raw) == "null" {
		return nil, err
	}
	return jsontext.Value(raw), nil
}

// integerOf returns an int64, or a uint64 if the value exceeds the range of int64.
func integerOf(v reflect.Value) any {
	if v.CanInt() {
		return v.Int()
	}
	if n := v.Uint(); n > math.MaxInt64 {
		return n
	}
	return int64(v.Uint())
}

// floatOf returns a float64. For a float32 it is the float64 with the same shortest decimal form,
// not the one with the same value.
func floatOf(v reflect.Value) (any, error) {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("graphql: %v is no Float", f)
	}
	if v.Kind() == reflect.Float32 {
		return strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	}
	return f, nil
}

// stringOf converts the values that are strings in JSON: strings, types with text methods, bytes,
// quoted numbers and numeric ids.
func stringOf(v reflect.Value) (string, error) {
	if m, ok := v.Addr().Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		return string(text), err
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Slice:
		return base64.StdEncoding.EncodeToString(v.Bytes()), nil
	case reflect.Float32, reflect.Float64:
		f, err := floatOf(v)
		if err != nil {
			return "", err
		}
		return jsontext.Float(f.(float64)).String(), nil
	}
	return fmt.Sprint(integerOf(v)), nil
}
