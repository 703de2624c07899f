package schema

import "regexp"

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
	Unique    bool // tag unique: no two elements of the array may be equal; on a scalar, no two items of a collection
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

	bounds
}

type bounds struct{}

// Comparable reports whether the field is a scalar, so that it has a canonical value and items can be filtered and
// sorted by it.
func (f *Field) Comparable() bool { return false }

// Get returns the canonical value of the field in v, a pointer to the struct: nil for a nil pointer, a string for string
// types and for types with text methods. For fields that are not scalar, and for a text method that fails, it returns
// nil.
func (f *Field) Get(v any) any { return nil }

// IsZero reports whether the field in v, a pointer to the struct, has its zero value, or says so itself in a method
// IsZero.
func (f *Field) IsZero(v any) bool { return false }

// Parse reads the canonical value of the field from text, as it stands in a URL, an id or a cursor. It accepts one
// spelling of each value: integers have no plus sign and no leading zeros, booleans are true or false, times are RFC
// 3339 date-times, and a type with text methods must write what it read. A value outside the Go type's range or outside
// Enum is an error. The text of the error is meant for clients.
func (f *Field) Parse(text string) (any, error) { return nil, nil }

// SetText sets the field in v, a pointer to the struct, to what [Field.Parse] reads from text. After an error v is
// unchanged.
func (f *Field) SetText(v any, text string) error { return nil }

// Text returns the field in v, a pointer to the struct, as the text which [Field.Parse] reads. For a nil pointer, and
// for a field that is not scalar, it is empty.
func (f *Field) Text(v any) string { return "" }
