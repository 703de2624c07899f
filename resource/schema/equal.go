package schema

import (
	"bytes"
	"reflect"
)

// Equal reports whether a and b, pointers to values of the Go type, have the same content: whether all fields that JSON
// can see, writeOnly ones included, have the same values. Times are equal if they are the same instant, nil slices and
// maps equal empty ones, and types with methods are equal if they are written alike. It is false for pointers to
// anything else.
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
		// Databases keep instants, and clients send back whichever zone they like.
		return timeIn(a).Equal(*timeIn(b))
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
	return t.writtenAlike(a, b)
}

// equal compares the Go field in two structs.
func (f *Field) equal(a, b reflect.Value) bool {
	if !f.pointer {
		return f.Type.equal(a, b)
	}
	return equalPointers(f.Type, a, b)
}

// equalPointers compares what two pointers point to; null equals only null.
func equalPointers(t *Type, a, b reflect.Value) bool {
	if a.IsNil() || b.IsNil() {
		return a.IsNil() && b.IsNil()
	}
	// A value that points to itself is equal to itself, and to compare it would not end.
	return a.Pointer() == b.Pointer() || t.equal(a.Elem(), b.Elem())
}

// equalElem compares two elements of an array or a map.
func (t *Type) equalElem(a, b reflect.Value) bool {
	if a.Kind() == reflect.Pointer {
		return equalPointers(t.Elem, a, b)
	}
	return t.Elem.equal(a, b)
}

// equalArray compares slices and Go arrays by their elements, so that nil equals empty, as both are written [].
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

// equalMap compares maps member by member, without an order.
func (t *Type) equalMap(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
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

// writtenAlike compares values whose inside is not known here. Those that cannot be written are compared in memory.
func (t *Type) writtenAlike(a, b reflect.Value) bool {
	aText, aErr := t.append(nil, a, writing{full: true})
	bText, bErr := t.append(nil, b, writing{full: true})
	if aErr != nil || bErr != nil {
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
	return bytes.Equal(aText, bText)
}

// sameReadOnly reports whether the read-only fields of two structs are equal, those of structs inside them included.
// Arrays and maps inside were looked at when they were read.
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

// sameReadOnlyIn compares the read-only fields of a struct, or of one behind a pointer. Nil has none, which is as good
// as if they were zero.
func (f *Field) sameReadOnlyIn(a, b reflect.Value) bool {
	if f.pointer {
		if a.IsNil() && b.IsNil() {
			return true
		}
		a, b = f.orZero(a), f.orZero(b)
	}
	return f.Type.sameReadOnly(a, b)
}

// orZero returns what the pointer p points to, or for nil a zero value.
func (f *Field) orZero(p reflect.Value) reflect.Value {
	if p.IsNil() {
		return reflect.New(f.Type.GoType).Elem()
	}
	return p.Elem()
}
