package model

import (
	"math"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/resource/schema"
)

// spot is where a value is seen: a member, and what the names of types that are made for it begin with. The member is nil
// for what has no tags.
type spot struct {
	f    *schema.Field
	name string // of the field that shows it
	base string // of the object that the field is part of
	id   bool   // it is what the item is asked for by
}

// hint is what a type is called that is made for this spot.
func (s spot) hint() string { return s.base + pascal(s.name) }

// ref returns the type of a value, lists and all. object gives the types of structs.
func (b *builder) ref(t *schema.Type, s spot, nullable bool,
	object func(t *schema.Type, hint string) *Type) *Ref {
	switch t.Kind {
	case schema.Array:
		elem := s
		// tags concern the elements of an array, and not those of arrays in it
		if s.f != nil && s.f.Type != t {
			elem.f = nil
		}
		return &Ref{Elem: b.ref(t.Elem, elem, t.ElemNullable || t.Elem.Kind == schema.Any, object),
			NonNull: !nullable}
	case schema.Object:
		return &Ref{Type: object(t, s.hint()), NonNull: !nullable}
	}
	return &Ref{Type: b.leaf(t, s), NonNull: !nullable}
}

// leaf returns the scalar or the enum of a value that is neither list nor struct.
func (b *builder) leaf(t *schema.Type, s spot) *Type {
	f := s.f
	switch {
	case t.Kind == schema.Any || t.Kind == schema.Map:
		return b.scalar("JSON")
	case s.id:
		return b.scalar("ID")
	case f != nil && f.Quoted:
		return b.scalar("String")
	case t.Kind == schema.String && t.Format == "date-time":
		return b.scalar("DateTime")
	case t.Kind == schema.String && f != nil && isEnum(f):
		return b.enum(t, s)
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

// fitsInt reports whether every value of an integer has 32 bits (section 3.5.1): by its Go type, or by its bounds.
func fitsInt(t *schema.Type, f *schema.Field) bool {
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

// isEnum reports whether the values of a member can be those of an enum: names, and none that means something else
// (section 2.9.6).
func isEnum(f *schema.Field) bool {
	return f.Enum != nil && !slices.ContainsFunc(f.Enum, func(v any) bool {
		name, ok := v.(string)
		return !ok || !isName(name) || isLiteral(name)
	})
}

// isLiteral reports whether a name cannot be a value of an enum.
func isLiteral(name string) bool { return name == "true" || name == "false" || name == "null" }

// enum returns the enum of a member. Members of the same name and the same values, as the shapes of one resource have them,
// share it.
func (b *builder) enum(goType *schema.Type, s spot) *Type {
	name, o := b.enumName(goType, s)
	if b.isEnumOf(name, s.f) {
		return b.types[name]
	}
	o.what = "the enum of the member " + strconv.Quote(s.f.Name) + " of " + s.base
	t := b.define(Enum, name, o)
	t.Doc = "What `" + s.name + "` can be."
	if name != s.hint() {
		t.Doc = "What a value of `" + name + "` can be."
	}
	for _, v := range s.f.Enum {
		t.Values = append(t.Values, &Value{Name: v.(string), Go: v})
	}
	if b.types[name] == t {
		b.enums[name] = s.f
	}
	return t
}

// enumName returns what the enum of a member is called, and what becomes of the name if it is taken. A Go type with a name
// of its own, as in type Episode string, gives it to the enum, so that a value can go from one member to another. One that
// has other values in other members, such as the few that a command takes, gives it to the first of them.
func (b *builder) enumName(goType *schema.Type, s spot) (string, owner) {
	name := pascal(goType.Name)
	free := b.owners[name].what == "" && !b.isItemName(name)
	if goType.GoType.PkgPath() != "" && (free || b.isEnumOf(name, s.f)) {
		return name, ofGo(goType, "")
	}
	return s.hint(), ofMember(s.f)
}

// isEnumOf reports whether there is an enum of this name with the values of the member.
func (b *builder) isEnumOf(name string, f *schema.Field) bool {
	first := b.enums[name]
	return first != nil && slices.Equal(first.Enum, f.Enum)
}

// isItemName reports whether the items of some resource are called so, be their type made by now or not.
func (b *builder) isItemName(name string) bool {
	for _, taken := range b.names {
		if taken == name {
			return true
		}
	}
	return false
}

// scalar returns one of the scalars.
func (b *builder) scalar(name string) *Type {
	return b.shared(Scalar, name, func(t *Type) {
		switch name {
		case "Int64":
			t.Doc = "A whole number of up to 64 bits, as a JSON number. Clients whose numbers are floats " +
				"lose digits beyond 2^53."
		case "DateTime":
			t.Doc = "A date and time with its offset from UTC, as in RFC 3339: \"2026-11-21T06:00:00Z\"."
			t.SpecifiedBy = "https://www.rfc-editor.org/rfc/rfc3339"
		case "JSON":
			t.Doc = "Any JSON value, objects with members of any name included."
			t.SpecifiedBy = "https://www.rfc-editor.org/rfc/rfc8259"
		default:
			t.Doc = builtin(name)
		}
	})
}

// builtin describes the scalars of the specification (section 3.5).
func builtin(name string) string {
	switch name {
	case "Int":
		return "A whole number between -(2^31) and 2^31 - 1."
	case "Float":
		return "A number of double precision, as in IEEE 754."
	case "String":
		return "Text: a sequence of Unicode characters."
	case "Boolean":
		return "`true` or `false`."
	}
	return "What identifies something: a text that is not meant to be read. As input, a whole number " +
		"will do as well."
}

// refTo returns a type, as it may be null.
func refTo(t *Type) *Ref { return &Ref{Type: t} }

// must is named without null.
func must(t *Type) *Ref { return &Ref{Type: t, NonNull: true} }

// listOf returns the type of a list without nulls in it.
func listOf(t *Type, nonNull bool) *Ref { return &Ref{Elem: must(t), NonNull: nonNull} }
