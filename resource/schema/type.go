package schema

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// Kind says which JSON a type is written as.
type Kind uint8

// The kinds. Object, Array and Map are composed of others; the rest are written as one value.
const (
	Any     Kind = iota // any JSON: an interface, or a type that marshals itself
	Object              // a struct
	Array               // a slice or a Go array
	Map                 // a JSON object whose member names are data
	String              // a string; Type.Format tells date-time, byte and text types apart
	Integer             // an integer of Type.Bits bits
	Number              // a floating-point number
	Boolean             // true or false
)

// String returns the name of the kind in JSON Schema; Map is an object there as well, and Any is "any".
func (k Kind) String() string {
	names := [...]string{"any", "object", "array", "object", "string", "integer", "number", "boolean"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Type is a Go type reflected once. It is immutable and safe for concurrent use.
//
// There is exactly one Type for each Go type, whatever leads to it, so that pointers to Types can be compared and a
// recursive type leads back to itself. A Go pointer has no Type of its own: it has that of what it points to, and
// [Field].Nullable or ElemNullable says that null may stand there.
type Type struct {
	// Name is the name of the Go type without its package, and empty for unnamed types. For an instance of a generic
	// type the arguments are part of it, as in PageOfPlace.
	Name string
	// Kind is the JSON it is written as.
	Kind Kind
	// GoType is the reflected type, never a pointer.
	GoType reflect.Type
	// Fields are the members of an Object in the order in which they are written, those of embedded structs included.
	Fields []*Field
	// Elem is the type of the elements of an Array or a Map, and nil for every other kind.
	Elem *Type
	// ElemNullable says that elements of the Array or Map may be null.
	ElemNullable bool
	// Len is the number of elements of a Go array, which is part of its type, and -1 for everything else.
	Len int
	// Format is "date-time" for time.Time, "byte" for bytes written as base64, and else empty. What a struct tag adds
	// is in the Field.
	Format string
	// Bits is the size of an Integer or a Number: 8, 16, 32 or 64.
	Bits int
	// Unsigned says that an Integer has no negative values.
	Unsigned bool

	pointer reflect.Type // to GoType: what Append and the others are given
	op      op
	byName  map[string]*Field
	key     op // how the keys of a Map are written
	keyBits int
	traits
}

// traits are what is worth knowing of a type before walking its values, because most values need no walk.
type traits struct {
	constrained bool // has something to validate, in itself or in anything it is composed of
	defaults    bool // has defaults that a new value needs, in itself or in structs that are part of it
	readOnly    bool // has readOnly fields, in itself or in structs inside of it, behind pointers or not
}

// For returns the Type of T. It panics if T cannot be a schema, and names the field and what to change: it is meant for
// program start.
func For[T any]() *Type {
	t, err := Of(reflect.TypeFor[T]())
	if err != nil {
		panic(err.Error())
	}
	return t
}

// Of returns the Type of a Go type; for a pointer, that of what it points to. The result is remembered, so that later
// calls cost a map access.
func Of(t reflect.Type) (*Type, error) {
	if t == nil {
		return nil, errors.New("schema: there is no type to reflect")
	}
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if known, ok := types.known.Load(t); ok {
		return known.(*Type), nil
	}
	// Two compilers at once would make two Types of one Go type. This happens at program start, so waiting is cheap.
	types.Lock()
	defer types.Unlock()
	c := compiler{fresh: map[reflect.Type]*Type{}}
	compiled, err := c.compile(t)
	if err != nil {
		return nil, err
	}
	c.settle()
	for t, compiled := range c.fresh {
		types.known.Store(t, compiled)
	}
	return compiled, nil
}

// types are all Types there are. The lock is held while new ones are made, so that none is made twice.
var types struct {
	sync.Mutex
	known sync.Map // of reflect.Type to *Type
}

// Field returns the field with this JSON name, or nil. Names are compared exactly.
func (t *Type) Field(name string) *Field {
	return t.byName[name]
}

// target returns the struct, or other value, that v points to. It is an error if v points to something else.
func (t *Type) target(v any) (reflect.Value, error) {
	if reflect.TypeOf(v) != t.pointer {
		return reflect.Value{}, fmt.Errorf("schema: the value is a %T and should be a %v", v, t.pointer)
	}
	value := reflect.ValueOf(v)
	if value.IsNil() {
		return reflect.Value{}, fmt.Errorf("schema: the %T is nil", v)
	}
	return value.Elem(), nil
}

// New returns a pointer to a new value of the Go type in which every field that has a default holds it.
func (t *Type) New() any {
	v := reflect.New(t.GoType)
	if t.defaults {
		new(decoder).fill(t, v.Elem(), false)
	}
	return v.Interface()
}
