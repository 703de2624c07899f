package schema

import (
	"fmt"
	"reflect"
	"slices"
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

	op     op
	byName map[string]*Field
	key    *textCodec // how the keys of a Map are written
	text   *textCodec // how a type with text methods is written
	traits traits
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
	return nil, nil
}

// Field returns the field with this JSON name, or nil. Names are compared exactly.
func (t *Type) Field(name string) *Field {
	return t.byName[name]
}

var _ = slices.Sort[[]string]
var _ sync.Mutex

type op uint8
type textCodec struct{}
type traits uint8
