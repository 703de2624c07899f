package oracle

// Conversion of Go values to the values that graphql-go completes (section 6.4.3). Called by
// resolve.go. It follows the type in the schema, as package exec does, but shares no code with it:
// package exec writes JSON directly.

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
// represented, for which graphql-go would return null. A nil value is null. Whether null is an
// error is for graphql-go to decide.
func shown(t *model.Ref, v reflect.Value) (any, error) {
	// A nil pointer becomes the zero Value, which is not valid.
	for v.IsValid() && v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil, nil
	}
	if t.Elem != nil {
		// A nil slice is an empty list.
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
	// Methods and schema.Type.Append need a pointer.
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
// broken returns nil, for which graphql-go makes the error itself. Both executors then report the
// error at the same path.
func broken(t *model.Ref, err error) any {
	if t.NonNull {
		return nil
	}
	return func() (any, error) { return nil, failure{gqlerror.Of(err)} }
}

// addressable returns an addressable copy, for methods with pointer receivers. Elements of maps and
// results of functions are not addressable.
func addressable(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Elem()
}

// enumValue returns the text of an enum value. It returns an error if the enum has no such value. A
// store can contain such a value, because it does not check its items.
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
// its field. The default case is String and ID.
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
		// Int has 32 bits (section 3.5.1), whatever the Go type.
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
// hidden from clients. JSON null becomes nil, so that a non-null field reports it.
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

// integerOf returns an int64, or a uint64 if the value exceeds the range of int64. v has an integer
// type.
func integerOf(v reflect.Value) any {
	if v.CanInt() {
		return v.Int()
	}
	// Int64 is signed in clients. A larger value remains as it is, and graphql-go writes its
	// digits.
	if n := v.Uint(); n > math.MaxInt64 {
		return n
	}
	return int64(v.Uint())
}

// floatOf returns a float64. For a float32 it is the float64 with the same shortest decimal form,
// not the one with the same value. The response then has the digits that package exec writes. JSON
// has no NaN and no infinity.
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
// quoted numbers and numeric ids. Text methods precede the kind: a type with a method may have any
// kind.
func stringOf(v reflect.Value) (string, error) {
	if m, ok := v.Addr().Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		return string(text), err
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	// Bytes are base64 in JSON, and a String in GraphQL.
	case reflect.Slice:
		return base64.StdEncoding.EncodeToString(v.Bytes()), nil
	// A quoted float has the digits of a JSON number.
	case reflect.Float32, reflect.Float64:
		f, err := floatOf(v)
		if err != nil {
			return "", err
		}
		return jsontext.Float(f.(float64)).String(), nil
	}
	// An integer is an id or a quoted number.
	return fmt.Sprint(integerOf(v)), nil
}
