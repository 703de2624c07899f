package schema

// Fields of structs, with what their tags declare. OpenAPI and GraphQL read them, too.

import (
	"reflect"
	"regexp"
)

// Field is a member of an object: its location in the Go struct, its JSON name, and the constraints
// of its struct tags. It is immutable and safe for concurrent use.
//
// Scalar fields, for which [Field.Comparable] returns true, have a canonical value. Filters, sort
// orders and cursors use it. Its type is nil, bool, string, int64, uint64 (only above the maximum
// int64), float64, time.Time, [query.Decimal] for strings with the format decimal, or
// [query.Duration] for strings with the format duration. [Field.Get] and [Field.Parse] return
// canonical values. Arrays of scalars, for which [Field.ComparableElem] returns true, have a []any.
// Default, Example and Enum are canonical, too, but those of decimals and durations are strings.
//
// For an array or a map, MinItems, MaxItems and Unique apply to the array or map itself. Format and
// the other constraints apply to each element.
type Field struct {
	Name   string // the JSON name
	GoName string // the name of the Go field
	Index  []int  // for [reflect.Value.FieldByIndex]
	Type   *Type  // the type of the value; for a pointer, the type that it points to

	Doc        string // tag doc, or the [Comment] of the field
	Deprecated string // tag deprecated, or that of the [Comment]: the reason, and the replacement

	Nullable  bool // null is a valid value: the Go type is a pointer or any
	Required  bool // tag required: a document without the member is invalid
	ReadOnly  bool // tag readOnly: the server sets the value
	WriteOnly bool // tag writeOnly: the member is decoded but never encoded, such as a password
	Unique    bool // tag unique: array elements are unique; for a scalar, unique in the collection
	// UniqueWith has the JSON names of the other fields in the tag unique: no two items of a collection
	// have equal values in the field and in all of these. Unique is then false.
	UniqueWith []string
	// Set is the tag set: created, modified, createdBy or modifiedBy; empty if there is none. Package
	// resource sets the field on each write, so ReadOnly is true.
	Set string

	OmitZero  bool // json option omitzero
	OmitEmpty bool // json option omitempty
	Quoted    bool // json option string: the number is encoded as a JSON string

	Default any   // tag default; nil if there is none
	Example any   // tag example; a jsontext.Value if the field is not a scalar; nil if there is none
	Enum    []any // tag enum; nil if there is none

	// StoreDefault is the tag default:"db": the store sets a member that is absent in a new item. In a
	// new item a zero value is an absent one and not checked. Default is nil. A store that cannot set
	// members, such as one in memory, keeps the zero value.
	StoreDefault bool

	// MinLength and MaxLength limit the length of a string in code points, MinItems and MaxItems
	// the number of elements of an array or a map. Nil means no limit.
	MinLength, MaxLength *int
	MinItems, MaxItems   *int
	// Minimum and Maximum are the inclusive limits of a number or a decimal, as text, because float64
	// would round large integers. Empty means no limit.
	Minimum, Maximum string
	// Precision is the maximum number of digits of a decimal, of which Scale are after the point. Zero
	// means no limit.
	Precision, Scale int
	Pattern          *regexp.Regexp // not anchored; nil if there is none
	Format           string         // tag format, or Type.Format

	// ElemKey is the tag key of an array of objects: the JSON name of the member by which an element that a
	// client sends is one of the elements before. It then keeps its writeOnly members; see [Type.Complete].
	ElemKey string

	// Key has the fields from which the id is computed, in their order: tag id. Nil for other fields.
	// See [Field.ParseKey] for the form of the id.
	Key []*Field

	position    int          // index in Type.Fields
	keyNames    []string     // tag id
	elemKey     *Field       // tag key
	inKey       bool         // the field is in the Key of another
	defaultText string       // tag default
	owner       reflect.Type // pointer to the struct type that Index refers to
	at          int          // Index[0]
	label       []byte       // comma, quoted name and colon; see setLabel
	pointer     bool         // the Go field is a pointer to Type
	plain       op           // op of a plain field, see setLabel; otherwise opJSON, the zero value
	omits       omits
	checked     bool // the field has constraints, apart from those inside Type
	zeroInvalid bool // the zero value violates them; not of objects, and of fields that may be absent
	min, max    *bound
	run         *charRun          // Pattern, if it has that form
	check       func(string) bool // of Format, or nil
	parseForm   formParser        // of Format, or nil if the canonical value is the text itself
	allowed     []any             // Enum, canonical
	lower       bool              // UUIDs that are strings: documents may spell them in upper case
}

// omits determines the values that omitzero omits.
type omits uint8

const (
	omitsZero        omits = iota // zero values
	omitsMethod                   // values with a method IsZero that returns true
	omitsNilOrMethod              // nil, and values with a method IsZero that returns true
)

// Comparable reports whether the field is a scalar. Scalars have a canonical value, and lists can
// be filtered and sorted by them.
func (f *Field) Comparable() bool { return f.Type.isScalar() }

func (t *Type) isScalar() bool {
	switch t.op {
	case opString, opText, opInt, opUint, opFloat, opBool, opTime:
		return true
	}
	return false
}

// SameJSON reports whether t is other, or has the same JSON and canonical values as it: scalars of other Go
// types, such as int32 and int64, and arrays of them. A type with text methods has its own form of a value,
// and a float64 has values that a float32 t would round.
func (t *Type) SameJSON(other *Type) bool {
	switch {
	case t == other:
		return true
	case t.Kind != other.Kind || t.Format != other.Format || t.op == opText || other.op == opText:
		return false
	case t.Kind == Array && t.Elem != nil && other.Elem != nil:
		return t.ElemNullable == other.ElemNullable && t.Elem.SameJSON(other.Elem)
	}
	return t.isScalar() && (t.op != opFloat || t.Bits >= other.Bits)
}

// ComparableElem reports whether the field is an array of scalars. It has the canonical values of its
// elements, and lists can be filtered by an element that it contains. It has no order.
func (f *Field) ComparableElem() bool {
	return f.Type.Kind == Array && f.Type.Elem.isScalar()
}

// IsDecimal reports whether the canonical value of the field, or of its elements, is a
// [query.Decimal].
func (f *Field) IsDecimal() bool { return f.Format == "decimal" && f.scalarType().isText() }

// IsDuration reports whether the canonical value of the field, or of its elements, is a
// [query.Duration].
func (f *Field) IsDuration() bool { return f.Format == "duration" && f.scalarType().isText() }

// IsZero reports whether the field of v, a pointer to the struct, is zero: its method IsZero
// returns true or, if it has no such method, it is the zero value. IsZero returns false if v has
// another type.
func (f *Field) IsZero(v any) bool {
	s, ok := f.structOf(v)
	return ok && f.isZero(f.in(s))
}

// structOf returns the struct that v points to. ok is false if it is not the struct of the field.
func (f *Field) structOf(v any) (reflect.Value, bool) {
	if reflect.TypeOf(v) != f.owner {
		return reflect.Value{}, false
	}
	p := reflect.ValueOf(v)
	return p.Elem(), !p.IsNil()
}

// in returns the Go field in the struct s. The first index is handled separately because
// [reflect.Value.FieldByIndex] is slower for fields that are not in an embedded struct.
func (f *Field) in(s reflect.Value) reflect.Value {
	v := s.Field(f.at)
	if len(f.Index) > 1 {
		for _, i := range f.Index[1:] {
			v = v.Field(i)
		}
	}
	return v
}

// isZero reports whether omitzero omits the Go field.
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

// inPlace reports whether the field is a struct, and not a pointer to one.
func (f *Field) inPlace() bool {
	return f.Type.op == opObject && !f.pointer
}

// ValidZero reports whether a client can set the field to its zero value: it is optional without
// StoreDefault, or the zero value satisfies the constraints. A store must not store another zero value in
// place of its own default.
func (f *Field) ValidZero() bool { return !f.StoreDefault || f.Nullable || !f.zeroInvalid }

// setZeroInvalid sets zeroInvalid, when all tags are applied. The fields of objects may not be compiled
// yet, and a client can send an empty object.
func (f *Field) setZeroInvalid() {
	if f.Nullable || f.OmitZero || f.OmitEmpty || f.ReadOnly || f.Type.op == opObject {
		return
	}
	var c checker
	c.checkPresent(f, reflect.New(f.Type.GoType).Elem())
	f.zeroInvalid = len(c.found) > 0
}

// NeedsValue reports whether a new value is not valid without the member: it has the tag required or, without
// a default, its zero value violates the constraints. A struct needs a value if one of its members does for
// that second reason.
func (f *Field) NeedsValue() bool { return f.Required || f.isInvalidAbsent() }

// isInvalidAbsent reports whether the value that an absent member has violates the constraints.
func (f *Field) isInvalidAbsent() bool {
	return !f.ReadOnly && f.Default == nil && !f.optional() &&
		(f.zeroInvalid || f.inPlace() && f.Type.zeroInvalid)
}

// optional reports whether the member may be absent or null. The checker skips such a field if its
// value is zero.
func (f *Field) optional() bool {
	return !f.Required && (f.OmitZero || f.OmitEmpty || f.Nullable || f.StoreDefault)
}
