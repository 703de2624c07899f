package model

// Scalars and enums: which leaf type the value of a member has.

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/resource/schema"
)

// position is the position of a value: the member, the field that contains it, and the prefix for the
// names of types defined for it. f is nil for values without struct tags, such as elements of
// nested arrays.
type position struct {
	f    *schema.Field
	name string // name of the field
	base string // name of the type that contains the field
	id   bool   // the value is the id of an item
}

// hint returns the name of a type that is defined for this position.
func (s position) hint() string { return s.base + pascal(s.name) }

// ref returns the type of a value, including lists. object returns the types of structs.
func (b *builder) ref(t *schema.Type, s position, nullable bool,
	object func(t *schema.Type, hint string) *Type) *Ref {
	switch t.Kind {
	case schema.Array:
		elem := s
		// struct tags apply to the elements of an array, and not to elements of nested arrays
		if s.f != nil && s.f.Type != t {
			elem.f = nil
		}
		return &Ref{Elem: b.ref(t.Elem, elem, t.ElemNullable || t.Elem.Kind == schema.Any, object),
			NonNull: !nullable}
	// Structs are the callback's part: outputs, inputs and patches have different types for them.
	case schema.Object:
		return &Ref{Type: object(t, s.hint()), NonNull: !nullable}
	}
	return &Ref{Type: b.leaf(t, s), NonNull: !nullable}
}

// leaf returns the scalar or enum of a value that is neither an array nor a struct. The cases are
// ordered: an id is an ID even if it is quoted, an enum or an integer.
func (b *builder) leaf(t *schema.Type, s position) *Type {
	f := s.f
	switch {
	// A map has no fixed members, so it cannot be an object type.
	case t.Kind == schema.Any || t.Kind == schema.Map:
		return b.scalar("JSON")
	// Ids are of the scalar ID whatever their Go type, because clients treat them as opaque.
	case s.id:
		return b.scalar("ID")
	// The option string of encoding/json keeps the digits that a JSON number would lose.
	case f != nil && f.Quoted:
		return b.scalar("String")
	case t.Kind == schema.String && t.Format == "date-time":
		return b.scalar("DateTime")
	case t.Kind == schema.String && f != nil && isEnum(f):
		return b.enum(t, s)
	case t.Kind == schema.String && f != nil && f.IsDecimal():
		return b.scalar("Decimal")
	case t.Kind == schema.String:
		return b.scalar("String")
	case t.Kind == schema.Boolean:
		return b.scalar("Boolean")
	case t.Kind == schema.Number:
		return b.scalar("Float")
	case fitsInt(t, f):
		return b.scalar("Int")
	}
	return b.scalar("Int64")
}

// fitsInt reports whether all values of an integer have 32 bits (section 3.5.1), because of its Go
// type or its minimum and maximum. The comparisons use float64, in which every limit of 32 bits is
// exact.
func fitsInt(t *schema.Type, f *schema.Field) bool {
	// int and int64 have 64 bits, so they need a minimum and a maximum to be an Int.
	if t.Bits < 32 || t.Bits == 32 && !t.Unsigned {
		return true
	}
	if f == nil {
		return false
	}
	low, high := t.Unsigned, false
	if n, err := strconv.ParseFloat(f.Minimum, 64); err == nil {
		low = low || n >= math.MinInt32
	}
	if n, err := strconv.ParseFloat(f.Maximum, 64); err == nil {
		high = n < math.MaxInt32+1
	}
	return low && high
}

// isEnum reports whether the values of a member can be enum values: they are names, and not true,
// false or null (section 2.10.6).
func isEnum(f *schema.Field) bool {
	return f.Enum != nil && !slices.ContainsFunc(f.Enum, func(v any) bool {
		name, ok := v.(string)
		return !ok || !isName(name) || isLiteral(name)
	})
}

// isLiteral reports whether name is a literal of another type and cannot be an enum value.
func isLiteral(name string) bool { return name == "true" || name == "false" || name == "null" }

// enum returns the enum of a member. Members with the same name and values share it, as members of
// the input and output types of a resource do. The values keep the order of the struct tag.
func (b *builder) enum(goType *schema.Type, s position) *Type {
	name, o := b.enumName(goType, s)
	if b.isEnumOf(name, s.f) {
		return b.types[name]
	}
	o.what = "the enum of the member " + strconv.Quote(s.f.Name) + " of " + s.base
	t := b.define(Enum, name, o)
	values := name
	if name == s.hint() {
		values = s.name
	}
	t.Doc = cmp.Or(typeDoc(goType), "The values of `"+values+"`.")
	for _, v := range s.f.Enum {
		c := s.f.EnumComment(v)
		t.Values = append(t.Values, &Value{Name: v.(string), Doc: c.Doc, Deprecated: c.Deprecated, Go: v})
	}
	if b.types[name] == t {
		b.enums[name] = s.f
	}
	return t
}

// enumName returns the name for the enum of a member, and its owner. An enum has the name of its Go
// type, such as Episode for type Episode string, so that members of this type share it. If members
// of the type have different values, the first one gets this name.
func (b *builder) enumName(goType *schema.Type, s position) (string, owner) {
	isNamed := goType.GoType.PkgPath() != "" // not a built-in type such as string
	if isNamed && b.givenName(goType) != "" {
		return b.givenName(goType), ofGo(goType, "")
	}
	name := pascal(goType.Name)
	free := b.owners[name].what == "" && !b.isItemName(name)
	// The enums of built-in types are named after the member.
	if isNamed && (free || b.isEnumOf(name, s.f)) {
		return name, ofGo(goType, "")
	}
	return s.hint(), ofMember(s.f)
}

// isEnumOf reports whether an enum with this name has the values of f. The order of the values
// counts, because it is visible in the schema.
func (b *builder) isEnumOf(name string, f *schema.Field) bool {
	first := b.enums[name]
	return first != nil && slices.Equal(first.Enum, f.Enum)
}

// isItemName reports whether the items of a resource have this name. Their type may not be defined
// yet.
func (b *builder) isItemName(name string) bool {
	for _, taken := range b.names {
		if taken == name {
			return true
		}
	}
	return false
}

// scalar returns the scalar of this name and defines it on first use. A schema lists only the
// scalars that it uses.
func (b *builder) scalar(name string) *Type {
	return b.shared(Scalar, name, func(t *Type) {
		switch name {
		case "Int64":
			t.Doc = "A signed 64-bit integer, as a JSON number. Clients that parse numbers as floats " +
				"lose digits above 2^53."
		case "DateTime":
			t.Doc = "A date and time with an offset from UTC, as in RFC 3339: \"2026-11-21T06:00:00Z\"."
			t.SpecifiedBy = "https://www.rfc-editor.org/rfc/rfc3339"
		case "Decimal":
			t.Doc = "An exact decimal number, as a string: \"12.50\". As input, a number is accepted, too."
		case "JSON":
			t.Doc = "Any JSON value."
			t.SpecifiedBy = "https://www.rfc-editor.org/rfc/rfc8259"
		default:
			t.Doc = builtin(name)
		}
	})
}

// builtin returns the description of a scalar of the specification (section 3.5).
func builtin(name string) string {
	switch name {
	case "Int":
		return "A signed 32-bit integer."
	case "Float":
		return "A double-precision number (IEEE 754)."
	case "String":
		return "A sequence of Unicode characters."
	case "Boolean":
		return "`true` or `false`."
	}
	return "An opaque identifier, serialized as a string. As input, an integer is accepted, too."
}

// refTo returns a nullable reference to t.
func refTo(t *Type) *Ref { return &Ref{Type: t} }

// nonNull returns a non-null reference to t.
func nonNull(t *Type) *Ref { return &Ref{Type: t, NonNull: true} }

// listOf returns a list of non-null items, which itself is nullable unless required.
func listOf(t *Type, required bool) *Ref { return &Ref{Elem: nonNull(t), NonNull: required} }
