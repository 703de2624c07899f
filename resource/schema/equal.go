package schema

// Equality of values by their JSON meaning. The core calls it to find writes that change nothing.

import (
	"bytes"
	"reflect"
)

// This file compares values: for patches that change nothing, and for read-only members.

// Equal reports whether a and b, pointers to values of the Go type, have equal content, which is
// all fields of the JSON including writeOnly ones. Times are equal if they are the same instant. A
// nil slice or map equals an empty one. Values of types with methods are equal if their encodings
// are. Equal returns false if a or b has another type or is nil.
func (t *Type) Equal(a, b any) bool {
	av, err := t.target(a)
	if err != nil {
		return false
	}
	bv, err := t.target(b)
	return err == nil && t.equal(av, bv)
}

// equal compares two addressable values.
func (t *Type) equal(a, b reflect.Value) bool {
	switch t.op {
	case opString:
		return a.String() == b.String()
	case opInt:
		return a.Int() == b.Int()
	case opUint:
		return a.Uint() == b.Uint()
	case opFloat:
		return a.Float() == b.Float()
	case opBool:
		return a.Bool() == b.Bool()
	case opTime:
		// Databases store instants, and clients may send a different zone. Readings of the monotonic
		// clock, which time.Now has, are not part of the instant.
		return timeIn(a).Round(0).Equal(timeIn(b).Round(0))
	case opBytes:
		return bytes.Equal(a.Bytes(), b.Bytes())
	case opObject:
		for _, f := range t.Fields {
			if !f.equal(f.in(a), f.in(b)) {
				return false
			}
		}
		return true
	case opSlice, opArray:
		return t.equalArray(a, b)
	case opMap:
		return t.equalMap(a, b)
	}
	return t.equalEncoding(a, b)
}

// Equal reports whether the structs that a and b point to have equal values in this field, as
// [Type.Equal] compares them. It returns false if a or b is not a pointer to the struct type of the
// field, or is nil.
func (f *Field) Equal(a, b any) bool {
	av, bv := reflect.ValueOf(a), reflect.ValueOf(b)
	if !av.IsValid() || !bv.IsValid() || av.Type() != f.owner || bv.Type() != f.owner ||
		av.IsNil() || bv.IsNil() {
		return false
	}
	return f.equal(f.in(av.Elem()), f.in(bv.Elem()))
}

// equal compares the Go field of two structs.
func (f *Field) equal(a, b reflect.Value) bool {
	if !f.pointer {
		return f.Type.equal(a, b)
	}
	return equalPointers(f.Type, a, b)
}

// equalPointers compares the values of two pointers. A nil pointer equals only nil.
func equalPointers(t *Type, a, b reflect.Value) bool {
	if a.IsNil() || b.IsNil() {
		return a.IsNil() && b.IsNil()
	}
	// Comparing the pointers first ends the recursion for a value that contains itself.
	return a.Pointer() == b.Pointer() || t.equal(a.Elem(), b.Elem())
}

// equalElem compares two elements of an array or a map.
func (t *Type) equalElem(a, b reflect.Value) bool {
	if a.Kind() == reflect.Pointer {
		return equalPointers(t.Elem, a, b)
	}
	return t.Elem.equal(a, b)
}

// equalArray compares slices and Go arrays. A nil slice equals an empty one, because both are
// encoded as [].
func (t *Type) equalArray(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !t.equalElem(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

// equalMap compares maps.
func (t *Type) equalMap(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	// One variable for all elements, because reflection cannot address those in the map.
	elem := reflect.New(t.GoType.Elem()).Elem()
	for iter := a.MapRange(); iter.Next(); {
		other := t.lookup(b, iter.Key())
		if !other.IsValid() {
			return false
		}
		elem.SetIterValue(iter)
		if !t.equalElem(elem, other) {
			return false
		}
	}
	return true
}

// equalEncoding compares values of types with methods by their encodings. It uses reflect.DeepEqual
// if encoding fails. The result of a method may differ for values that == considers equal, and the
// encoding is what clients see.
func (t *Type) equalEncoding(a, b reflect.Value) bool {
	aText, aErr := t.appendValue(nil, a, encodeState{full: true})
	bText, bErr := t.appendValue(nil, b, encodeState{full: true})
	if aErr != nil || bErr != nil {
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
	return bytes.Equal(aText, bText)
}

// sameReadOnly reports whether the read-only fields of two structs are equal, including those of
// structs inside them. Read-only fields in arrays and maps are compared when those are decoded.
func (t *Type) sameReadOnly(a, b reflect.Value) bool {
	for _, f := range t.Fields {
		switch {
		case f.ReadOnly:
			if !f.equal(f.in(a), f.in(b)) {
				return false
			}
		case f.Type.op == opObject && f.Type.readOnly:
			if !f.sameReadOnlyIn(f.in(a), f.in(b)) {
				return false
			}
		}
	}
	return true
}

// sameReadOnlyIn compares the read-only fields of a field that is a struct or a pointer to one. A
// nil pointer is equivalent to a zero struct.
func (f *Field) sameReadOnlyIn(a, b reflect.Value) bool {
	if f.pointer {
		if a.IsNil() && b.IsNil() {
			return true
		}
		a, b = f.orZero(a), f.orZero(b)
	}
	return f.Type.sameReadOnly(a, b)
}

// orZero returns the value of the pointer p, or a zero value for nil.
func (f *Field) orZero(p reflect.Value) reflect.Value {
	if p.IsNil() {
		return reflect.New(f.Type.GoType).Elem()
	}
	return p.Elem()
}
