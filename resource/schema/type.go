package schema

// Types, the result of compile.go. A Type is immutable and shared.

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
)

// Kind is the JSON type of the values of a Go type.
type Kind uint8

// The kinds of types. Object, Array and Map are composed of other types.
const (
	Any     Kind = iota // any JSON value: the type any, or a type with JSON methods
	Object              // a struct
	Array               // a slice or a Go array
	Map                 // an object with arbitrary member names
	String              // a string; see Type.Format for times and bytes
	Integer             // an integer of Type.Bits bits
	Number              // a floating-point number
	Boolean             // true or false
)

// String returns the JSON Schema type of the kind. It returns "object" for Map and "any" for Any.
func (k Kind) String() string {
	names := [...]string{"any", "object", "array", "object", "string", "integer", "number", "boolean"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Type is the description of a Go type. It is immutable and safe for concurrent use.
//
// There is exactly one Type per Go type, so Types can be compared as pointers, and a recursive type
// refers to itself. A Go pointer has no Type of its own, but the Type of the value that it points
// to; [Field].Nullable or ElemNullable reports that null is valid.
type Type struct {
	// Name is the name of the Go type without its package, or empty for unnamed types. For an
	// instance of a generic type it includes the type arguments, such as PageOfPlace.
	Name string
	// Doc is that of the [Description] of the Go type, in CommonMark; empty if it has none.
	Doc string
	// Deprecated is that of the Description, and empty if the type is not deprecated.
	Deprecated string
	// Kind is the JSON type.
	Kind Kind
	// GoType is the Go type. It is not an unnamed pointer.
	GoType reflect.Type
	// Fields are the members of an Object in the order of the encoding, including those of embedded
	// structs.
	Fields []*Field
	// Elem is the type of the elements of an Array or a Map, and nil for other kinds.
	Elem *Type
	// Key is the type of the member names of a Map, a String or an Integer, and nil for other kinds.
	Key *Type
	// ElemNullable reports whether elements of an Array or a Map may be null.
	ElemNullable bool
	// Len is the length of a Go array, and -1 for other types.
	Len int
	// Format is "date-time" for time.Time, "byte" for base64, and otherwise empty. See Field.Format
	// for the formats of struct tags.
	Format string
	// Bits is the size of an Integer or a Number: 8, 16, 32 or 64.
	Bits int
	// Unsigned reports whether the Go type of an Integer is unsigned.
	Unsigned bool

	pointer reflect.Type // the type of pointers to GoType
	op      op
	byName  map[string]*Field
	id      *Field          // the field with the tag id, or nil
	values  map[any]Comment // of enum values, by canonical value
	// assign copies a value of the Go type, without reflection. It is nil until For is called.
	assign atomic.Pointer[assignment]
	traits
}

// assignment sets the value that dst points to, to that of src. It returns false, without an effect, if
// either is nil or has another type.
type assignment func(dst, src any) bool

// traits are properties of a type and all types that it is composed of. They allow functions to
// skip values for which they have nothing to do.
type traits struct {
	constrained bool // has constraints to validate
	defaults    bool // has defaults, in itself or in structs without pointers to them
	zeroInvalid bool // the zero value of a struct, with its defaults, violates constraints
	readOnly    bool // has readOnly fields, in itself or in structs inside it
	secret      bool // has writeOnly fields, in itself or in all that is inside it
	preset      bool // has fields with defaults that clients can set, likewise
	omits       bool // the encoding can omit one of these
	renews      bool // a document can have new objects with such fields, or array elements with secret ones
}

// For returns the Type of T. It panics if T is not a valid schema, with a message that names all
// mistakes with their fixes. It is intended for program initialization.
func For[T any]() *Type {
	t, err := Of(reflect.TypeFor[T]())
	if err != nil {
		panic(err.Error())
	}
	// T may be a pointer to the Go type.
	if t.assign.Load() == nil && t.GoType == reflect.TypeFor[T]() {
		assign := assignment(func(dst, src any) bool {
			to, _ := dst.(*T)
			from, _ := src.(*T)
			if to == nil || from == nil {
				return false
			}
			*to = *from
			return true
		})
		t.assign.CompareAndSwap(nil, &assign)
	}
	return t
}

// Of returns the Type of a Go type, or of the type that an unnamed pointer points to. The error has
// all mistakes of the type: for each the field, the tag and the fix. Of caches Types, so later calls
// only cost a map access. It is safe for concurrent use.
func Of(t reflect.Type) (*Type, error) {
	if t == nil {
		return nil, errors.New("schema: Of requires a type, not nil")
	}
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if known, ok := types.known.Load(t); ok {
		return known.(*Type), nil
	}
	// The lock ensures one Type per Go type. Types are compiled at program start, so contention is
	// rare.
	types.Lock()
	defer types.Unlock()
	c := compiler{fresh: map[reflect.Type]*Type{}}
	compiled, err := c.compile(t, source{})
	if err == nil {
		err = c.checkElemKeys()
	}
	if err != nil {
		return nil, report(err)
	}
	c.propagateTraits()
	for t, compiled := range c.fresh {
		types.known.Store(t, compiled)
	}
	return compiled, nil
}

// types caches all Types. The mutex is held while new ones are compiled.
var types struct {
	sync.Mutex
	known sync.Map // of reflect.Type to *Type
}

// Field returns the field with the JSON name, or nil. Names are case-sensitive.
func (t *Type) Field(name string) *Field {
	return t.byName[name]
}

// target returns the value that v points to. It returns an error if v is nil or not a pointer to
// the Go type.
func (t *Type) target(v any) (reflect.Value, error) {
	if reflect.TypeOf(v) != t.pointer {
		return reflect.Value{}, fmt.Errorf("schema: got a %T, want a %v", v, t.pointer)
	}
	value := reflect.ValueOf(v)
	if value.IsNil() {
		return reflect.Value{}, fmt.Errorf("schema: got a nil %T", v)
	}
	return value.Elem(), nil
}

// New returns a pointer to a new value of the Go type with the defaults of its fields.
func (t *Type) New() any {
	v := reflect.New(t.GoType)
	if t.defaults {
		new(decoder).setDefaults(t, v.Elem(), false)
	}
	return v.Interface()
}
