// Package introspect adds introspection (section 4) to a schema: the types that describe types, and
// the fields __schema, __type and __typename.
//
// Package graphql calls [Extend] after it has built a schema. The types are those of the reference
// implementation, npm graphql 16.15. Its tools query more than the specification has: deprecated
// arguments and input fields, isOneOf, and deprecated directives.
//
// The values are not computed in advance. Package exec calls the Meta functions for each response,
// and stores the response with the plan if a query without variables selects only introspection.
package introspect

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Extend adds to s the introspection types, the scalars that they need, the directives of the
// specification, and the meta fields TypeName, MetaSchema and MetaType. It sorts Types and
// Directives by name, the order in which introspection returns them. It must be called once, before
// s is used.
//
// The new fields have the Source model.Meta. Their parent value is a *model.Schema for __Schema,
// *model.Ref for __Type, *model.Field for __Field, *model.Input for __InputValue, *model.Value for
// __EnumValue, and *model.Directive for __Directive. Enum values are strings. Null is an untyped
// nil, so that an executor can compare a value with nil.
//
// The Meta functions of __schema and __type ignore their parent. TypeName has no Meta function,
// because the executor has the type's name when it plans a selection.
func Extend(s *model.Schema) {
	// All types exist before their fields are defined, because the fields refer to types in cycles.
	b := newBuilder(s)
	b.enums()
	b.schemaType()
	b.typeType()
	b.parts()
	b.directiveType()
	b.metaFields()
	b.directives()
	// Package sdl prints in this order, too.
	slices.SortFunc(s.Types, func(a, b *model.Type) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Directives, func(a, b *model.Directive) int { return strings.Compare(a.Name, b.Name) })
}

// builder holds the introspection types, which refer to each other. It is used by one call of
// Extend.
type builder struct {
	model *model.Schema

	text, boolean                                               *model.Type // the scalars String and Boolean
	schema, typ, field, input, value, directive, kind, location *model.Type
}

// newBuilder adds empty introspection types to s. The methods of builder add their fields. A type
// is a pointer that other types refer to, so it must not be replaced later.
func newBuilder(s *model.Schema) *builder {
	b := &builder{model: s}
	// A catalog may use neither scalar, but the introspection types do.
	b.text, b.boolean = b.scalar("String"), b.scalar("Boolean")
	b.describe()
	b.schema = b.add(model.Object, "__Schema",
		"The schema: types, directives, and the root types of operations.")
	b.typ = b.add(model.Object, "__Type",
		"A type, or a list or non-null wrapper of one. Which fields have a value depends on `kind`.")
	b.field = b.add(model.Object, "__Field", "A field of an object type, with its arguments and its type.")
	b.input = b.add(model.Object, "__InputValue", "An argument, or a field of an input object.")
	b.value = b.add(model.Object, "__EnumValue",
		"A value of an enum. In responses it is a string.")
	b.directive = b.add(model.Object, "__Directive",
		"An annotation in a document that changes how the server executes it.")
	b.kind = b.add(model.Enum, "__TypeKind", "The kind of a `__Type`.")
	b.location = b.add(model.Enum, "__DirectiveLocation", "A location where a directive can be used.")
	return b
}

// scalar returns the scalar of this name, and adds it if the schema does not have it. Names of
// types are unique in a schema, so an existing one must be used.
func (b *builder) scalar(name string) *model.Type {
	for _, t := range b.model.Types {
		if t.Name == name {
			return t
		}
	}
	return b.add(model.Scalar, name, "")
}

// describe adds descriptions to the scalars of the specification that have none. Other scalars
// remain as they are.
func (b *builder) describe() {
	docs := map[string]string{
		"Int":     "A signed 32-bit integer.",
		"Float":   "A double-precision number (IEEE 754).",
		"String":  "A sequence of Unicode characters.",
		"Boolean": "True or false.",
		"ID": "An opaque identifier, serialized as a string. As input, an integer is accepted, " +
			"too.",
	}
	for _, t := range b.model.Types {
		if t.Kind == model.Scalar && t.Doc == "" {
			t.Doc = docs[t.Name]
		}
	}
}

// add adds a type to the schema. Extend sorts the types at the end.
func (b *builder) add(kind model.Kind, name, doc string) *model.Type {
	t := &model.Type{Kind: kind, Name: name, Doc: doc}
	b.model.Types = append(b.model.Types, t)
	return t
}

// nullable returns a reference to t.
func nullable(t *model.Type) *model.Ref { return &model.Ref{Type: t} }

// required returns a non-null reference to t.
func required(t *model.Type) *model.Ref { return &model.Ref{Type: t, NonNull: true} }

// list returns a reference to a list of non-null items. The list itself may be null: which lists a
// __Type has depends on its kind.
func list(t *model.Type) *model.Ref { return &model.Ref{Elem: required(t)} }

// requiredList returns a non-null reference to a list of non-null items.
func requiredList(t *model.Type) *model.Ref {
	return &model.Ref{Elem: required(t), NonNull: true}
}

// enums fills in __TypeKind and __DirectiveLocation. __TypeKind has kinds that this schema does not
// use, because clients expect all of them (section 4.2.2).
func (b *builder) enums() {
	b.kind.Values = values(
		"SCALAR", "A scalar.",
		"OBJECT", "It has `fields` and `interfaces`.",
		"INTERFACE", "It has `fields`, `interfaces` and `possibleTypes`.",
		"UNION", "It has `possibleTypes`.",
		"ENUM", "It has `enumValues`.",
		"INPUT_OBJECT", "It has `inputFields`.",
		"LIST", "It has `ofType`, the type of the items.",
		"NON_NULL", "It has `ofType`, the type without null.")
	b.location.Values = values(
		"QUERY", "A query.",
		"MUTATION", "A mutation.",
		"SUBSCRIPTION", "A subscription.",
		"FIELD", "A field of a selection.",
		"FRAGMENT_DEFINITION", "A fragment definition.",
		"FRAGMENT_SPREAD", "A fragment spread.",
		"INLINE_FRAGMENT", "An inline fragment.",
		"VARIABLE_DEFINITION", "A variable definition.",
		"SCHEMA", "A schema definition.",
		"SCALAR", "A scalar definition.",
		"OBJECT", "An object type definition.",
		"FIELD_DEFINITION", "A field definition.",
		"ARGUMENT_DEFINITION", "An argument definition.",
		"INTERFACE", "An interface definition.",
		"UNION", "A union definition.",
		"ENUM", "An enum definition.",
		"ENUM_VALUE", "An enum value definition.",
		"INPUT_OBJECT", "An input object type definition.",
		"INPUT_FIELD_DEFINITION", "An input field definition.",
		"DIRECTIVE_DEFINITION", "A directive definition.")
}

// values returns enum values for pairs of name and description. The Go value is the name, because
// Meta functions return names.
func values(pairs ...string) []*model.Value {
	var list []*model.Value
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, &model.Value{Name: pairs[i], Doc: pairs[i+1], Go: pairs[i]})
	}
	return list
}

// metaFields sets the fields of section 4.1 and 4.2 that are not in the list of any type's fields.
// The schema keeps them apart, so that they do not occur in introspection or in the SDL.
func (b *builder) metaFields() {
	s := b.model
	// The value of __typename is part of a plan, so the field needs no Meta function.
	s.TypeName = &model.Field{Name: "__typename", Doc: "The name of the type of this object.",
		Type:   required(b.text),
		Source: model.Meta}
	s.MetaSchema = &model.Field{Name: "__schema", Doc: "The schema of this server.",
		Type:   required(b.schema),
		Source: model.Meta, Meta: func(any, map[string]any) any { return s }}
	s.MetaType = &model.Field{Name: "__type", Type: nullable(b.typ),
		Doc:    "The type with this name; null if there is none.",
		Source: model.Meta, Args: []*model.Input{{Name: "name", Doc: "The name of the type.",
			Type: required(b.text)}},
		// Types are searched one by one: a map would have to be kept in step with the schema.
		Meta: func(_ any, args map[string]any) any {
			for _, t := range s.Types {
				if t.Name == args["name"] {
					return nullable(t)
				}
			}
			return nil
		}}
}
