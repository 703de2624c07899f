package resourcetest

import (
	"encoding"
	"reflect"
)

// unmarshaler is implemented by types with text methods.
var unmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// settable returns the field at index, and allocates embedded pointers on the way.
func settable(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		v = target(v).Field(i)
	}
	return v
}

// target follows pointers, and allocates nil ones.
func target(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	return v
}

// ownField returns the field at index, unless it is reached through a pointer and so shared with
// copies.
func ownField(v reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			return v, false
		}
		v = v.Field(i)
	}
	return v, true
}

// scribble overwrites all memory that a copy of v would share with it: elements of slices, entries
// of maps, and targets of pointers. It reports whether there was any. shared means that v itself is
// shared.
func scribble(v reflect.Value, shared bool) (found bool) {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && scribble(v.Elem(), true)
	case reflect.Interface:
		return !v.IsNil() && scribble(v.Elem(), false)
	case reflect.Slice:
		for i := range v.Len() {
			found = scribble(v.Index(i), true) || found
		}
		return found
	case reflect.Array:
		for i := range v.Len() {
			found = scribble(v.Index(i), shared) || found
		}
		return found
	case reflect.Map:
		return scribbleMap(v)
	case reflect.Struct:
		return scribbleStruct(v, shared)
	default:
		return shared && alter(v)
	}
}

// scribbleMap overwrites the shared memory of a map's values, and then the map.
func scribbleMap(v reflect.Value) (found bool) {
	for _, key := range v.MapKeys() {
		elem := reflect.New(v.Type().Elem()).Elem()
		elem.Set(v.MapIndex(key))
		scribble(elem, true)
		v.SetMapIndex(key, reflect.Value{})
		found = true
	}
	return found
}

// scribbleStruct overwrites each field. A struct without exported fields, such as a time, is
// overwritten as a whole.
func scribbleStruct(v reflect.Value, shared bool) (found bool) {
	visible := false
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			visible = true
			found = scribble(v.Field(i), shared) || found
		}
	}
	if !visible {
		return shared && alter(v)
	}
	return found
}

// alter changes a scalar.
func alter(v reflect.Value) bool {
	switch {
	case !v.CanSet():
		return false
	case !v.IsZero():
		v.SetZero()
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(1)
	case v.Kind() == reflect.String:
		v.SetString("scribbled")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	default:
		return false
	}
	return true
}
