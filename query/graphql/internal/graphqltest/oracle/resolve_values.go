package oracle

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

// shown makes of a Go value what graphql-go's executor completes: nil, []any, a pointer to a struct for an object, and plain
// values for scalars and enums. What cannot be shown is an error, where graphql-go would say null.
func shown(t *model.Ref, v reflect.Value) (any, error) {
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
			if err != nil { // of the element, and not of the list (section 6.4.3)
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

// broken is an element that cannot be shown. graphql-go takes an error from a function in its place, but then lets the null
// go up as far as to the root; where there must be a value it makes the error itself.
func broken(t *model.Ref, err error) any {
	if t.NonNull {
		return nil
	}
	return func() (any, error) { return nil, failure{gqlerror.Of(err)} }
}

// addressable returns a copy that methods of pointers can be called on.
func addressable(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Elem()
}

// enumValue checks that there is such a value.
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

// rawJSON is what the catalog writes too, since what stands in a map may have fields that are not for clients.
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

// integerOf returns an int64 or, for what has no sign, a uint64 where only that holds it.
func integerOf(v reflect.Value) any {
	if v.CanInt() {
		return v.Int()
	}
	if n := v.Uint(); n > math.MaxInt64 {
		return n
	}
	return int64(v.Uint())
}

// floatOf gives the float64 that is written like a float32, rather than the one that is equal to it.
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

// stringOf writes what is a string in JSON: text, types with text methods, bytes, quoted numbers, and ids that are numbers.
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
