package schema

import (
	"reflect"
	"regexp"
)

// Field is one member of an object: where it is found in the Go struct, what it is called in JSON, and what its struct
// tags say about it. It is immutable and safe for concurrent use.
//
// Scalar fields, those for which [Field.Comparable] is true, have a canonical value, the form in which they are
// compared, filtered by and kept in cursors: nil, bool, string, int64, uint64 (only above the largest int64), float64 or
// time.Time. Default, Enum, [Field.Get] and [Field.Parse] give canonical values.
//
// On a field that is an array, MinItems, MaxItems and Unique concern the array; the other constraints and Format concern
// each of its elements. The same holds for maps and their values.
type Field struct {
	Name   string // the JSON name
	GoName string // the name of the Go field
	Index  []int  // for [reflect.Value.FieldByIndex]
	Type   *Type  // what it holds; for a pointer, what it points to

	Doc        string // tag doc
	Deprecated string // tag deprecated: why, and what to use instead

	Nullable  bool // a Go pointer, or any: null may be written and read
	Required  bool // tag required: a document without it is refused
	ReadOnly  bool // tag readOnly: the server decides its value
	WriteOnly bool // tag writeOnly: it is read and never written, like a password
	Unique    bool // tag unique: no two elements of the array are equal; of a scalar, no two items of a collection
	OmitZero  bool // json option omitzero
	OmitEmpty bool // json option omitempty
	Quoted    bool // json option string: the number is written as a JSON string

	Default any // tag default, canonical; nil for none
	Example any // tag example: canonical for scalars, a jsontext.Value for everything else; nil for none
	Enum    []any

	MinLength, MaxLength *int // of a string, in Unicode code points
	MinItems, MaxItems   *int // of an array or a map
	// Minimum and Maximum are inclusive bounds of a number, as the tag wrote them, so that large integers stay exact;
	// empty for none.
	Minimum, Maximum string
	Pattern          *regexp.Regexp // anywhere in the string, unless anchored; nil for none
	Format           string         // tag format, else that of Type

	place       int          // in Type.Fields
	defaultText string       // Default as the tag wrote it
	owner       reflect.Type // the pointer type from which Index leads here
	at          int          // Index[0]
	label       []byte       // the quoted name between comma and colon, as it is written; see setLabel
	pointer     bool         // the Go field is a pointer to Type
	plain       op           // how a plain field is written, see setLabel; opForeign, the zero value, for the others
	omits       omits
	checked     bool // something is to be validated here, apart from what Type has in itself
	min, max    *bound
	check       func(string) bool // Format
}

// omits is how omitzero decides.
type omits uint8

const (
	omitsZero        omits = iota // the zero value
	omitsMethod                   // what a method IsZero says
	omitsNilOrMethod              // nil, or else what a method IsZero says
)

// Comparable reports whether the field is a scalar, so that it has a canonical value and items can be filtered and
// sorted by it.
func (f *Field) Comparable() bool {
	switch f.Type.op {
	case opString, opText, opInt, opUint, opFloat, opBool, opTime:
		return true
	}
	return false
}

// IsZero reports whether the field in v, a pointer to the struct, has its zero value, or says so itself in a method
// IsZero.
func (f *Field) IsZero(v any) bool {
	s, ok := f.structOf(v)
	return ok && f.isZero(f.in(s))
}

// structOf returns the struct that v points to, if it is the one that the field belongs to.
func (f *Field) structOf(v any) (reflect.Value, bool) {
	if reflect.TypeOf(v) != f.owner {
		return reflect.Value{}, false
	}
	p := reflect.ValueOf(v)
	return p.Elem(), !p.IsNil()
}

// in returns the Go field in the struct s. Most fields are not of an embedded struct, and [reflect.Value.FieldByIndex] is
// slower for them.
func (f *Field) in(s reflect.Value) reflect.Value {
	v := s.Field(f.at)
	if len(f.Index) > 1 {
		for _, i := range f.Index[1:] {
			v = v.Field(i)
		}
	}
	return v
}

// isZero reports whether omitzero leaves the Go field out.
func (f *Field) isZero(v reflect.Value) bool {
	if f.omits == omitsZero || f.omits == omitsNilOrMethod && v.IsNil() {
		return v.IsZero()
	}
	if f.omits == omitsMethod {
		v = v.Addr()
	}
	zeroer, ok := reflect.TypeAssert[interface{ IsZero() bool }](v)
	return ok && zeroer.IsZero()
}

// inPlace reports whether the field is an object that is part of its parent's memory, so that it is always there.
func (f *Field) inPlace() bool {
	return f.Type.op == opObject && !f.pointer
}

// optional reports whether the member may be missing from what is written or may be null, so that its zero value says
// that there is nothing to check.
func (f *Field) optional() bool {
	return !f.Required && (f.OmitZero || f.OmitEmpty || f.Nullable)
}
