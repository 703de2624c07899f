// Package introspect adds to a schema what lets clients ask about it (section 4): types that describe types, and the
// fields __schema, __type and __typename.
//
// It is for query/graphql and the packages beside it. The types are those of the reference implementation, npm graphql
// 16.15, whose tools ask for more than the specification has: deprecated arguments and input fields, isOneOf, and the
// deprecation of directives.
package introspect

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Extend adds the types of introspection, the scalars that they need, the directives of the specification, and the meta
// fields: Schema.TypeName, MetaSchema and MetaType. Then Types and Directives are sorted by name, which is the order in
// which introspection shows them. It is called once, before anybody reads the schema.
//
// The new fields have the Source model.Meta. What they take for their parent is, for __Schema, the *model.Schema; for
// __Type, a *model.Ref; for __Field, a *model.Field; for __InputValue, a *model.Input; for __EnumValue, a *model.Value; for
// __Directive, a *model.Directive. Enum values are strings. A null is an untyped nil, so that whoever executes can compare
// with it. __schema and __type do not look at their parent, and TypeName has no function Meta: whoever executes a
// selection knows the name of the type that it selects from.
func Extend(s *model.Schema) {
	b := newBuilder(s)
	b.enums()
	b.schemaType()
	b.typeType()
	b.parts()
	b.directiveType()
	b.metaFields()
	b.directives()
	slices.SortFunc(s.Types, func(a, b *model.Type) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Directives, func(a, b *model.Directive) int { return strings.Compare(a.Name, b.Name) })
}

// builder has the types of introspection, which refer to each other.
type builder struct {
	model *model.Schema

	text, boolean                                               *model.Type
	schema, typ, field, input, value, directive, kind, location *model.Type
}

func newBuilder(s *model.Schema) *builder {
	b := &builder{model: s}
	b.text, b.boolean = b.scalar("String"), b.scalar("Boolean")
	b.describe()
	b.schema = b.add(model.Object, "__Schema",
		"What can be asked of this server: types, directives, and where operations start.")
	b.typ = b.add(model.Object, "__Type",
		"A type, or a list or non-null of one. Which of its fields have a value depends on its `kind`.")
	b.field = b.add(model.Object, "__Field", "A field of an object, with its arguments and its type.")
	b.input = b.add(model.Object, "__InputValue", "An argument, or a field of an input object.")
	b.value = b.add(model.Object, "__EnumValue",
		"One of the values of an enum. It is written as a string in answers.")
	b.directive = b.add(model.Object, "__Directive",
		"An annotation in a document that changes what the server does with it.")
	b.kind = b.add(model.Enum, "__TypeKind", "Which sort of type a `__Type` is.")
	b.location = b.add(model.Enum, "__DirectiveLocation", "Where a directive may stand.")
	return b
}

// scalar returns a scalar of the specification, which the schema may already use.
func (b *builder) scalar(name string) *model.Type {
	for _, t := range b.model.Types {
		if t.Name == name {
			return t
		}
	}
	return b.add(model.Scalar, name, "")
}

// describe says of the scalars of the specification what they are, for who reads the schema in a page.
func (b *builder) describe() {
	docs := map[string]string{
		"Int":     "A whole number of up to 32 bits.",
		"Float":   "A number, whole or not, of double precision.",
		"String":  "Text: a sequence of Unicode characters.",
		"Boolean": "True or false.",
		"ID": "Text that stands for an object and says nothing of it. A whole number may be given " +
			"as well.",
	}
	for _, t := range b.model.Types {
		if t.Kind == model.Scalar && t.Doc == "" {
			t.Doc = docs[t.Name]
		}
	}
}

func (b *builder) add(kind model.Kind, name, doc string) *model.Type {
	t := &model.Type{Kind: kind, Name: name, Doc: doc}
	b.model.Types = append(b.model.Types, t)
	return t
}

// The references to types that occur.
func nullable(t *model.Type) *model.Ref { return &model.Ref{Type: t} }
func required(t *model.Type) *model.Ref { return &model.Ref{Type: t, NonNull: true} }
func list(t *model.Type) *model.Ref     { return &model.Ref{Elem: required(t)} }
func requiredList(t *model.Type) *model.Ref {
	return &model.Ref{Elem: required(t), NonNull: true}
}

// enums are the kinds of types and the places of directives.
func (b *builder) enums() {
	b.kind.Values = values(
		"SCALAR", "A leaf without parts.",
		"OBJECT", "It has `fields` and `interfaces`.",
		"INTERFACE", "It has `fields`, `interfaces` and `possibleTypes`.",
		"UNION", "It has `possibleTypes`.",
		"ENUM", "It has `enumValues`.",
		"INPUT_OBJECT", "It has `inputFields`.",
		"LIST", "It has `ofType`: the type of the items.",
		"NON_NULL", "It has `ofType`: the type that is never null.")
	b.location.Values = values("QUERY", "", "MUTATION", "", "SUBSCRIPTION", "", "FIELD", "",
		"FRAGMENT_DEFINITION", "",
		"FRAGMENT_SPREAD", "", "INLINE_FRAGMENT", "", "VARIABLE_DEFINITION", "", "SCHEMA", "", "SCALAR", "",
		"OBJECT", "",
		"FIELD_DEFINITION", "", "ARGUMENT_DEFINITION", "", "INTERFACE", "", "UNION", "", "ENUM", "",
		"ENUM_VALUE", "",
		"INPUT_OBJECT", "", "INPUT_FIELD_DEFINITION", "", "DIRECTIVE_DEFINITION", "")
}

// values makes values of an enum of pairs: name and description.
func values(pairs ...string) []*model.Value {
	var list []*model.Value
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, &model.Value{Name: pairs[i], Doc: pairs[i+1], Go: pairs[i]})
	}
	return list
}

// metaFields are those that are nowhere listed and that every schema has (section 4.1 and following).
func (b *builder) metaFields() {
	s := b.model
	s.TypeName = &model.Field{Name: "__typename", Doc: "The name of the type of this object.",
		Type:   required(b.text),
		Source: model.Meta}
	s.MetaSchema = &model.Field{Name: "__schema", Doc: "What this server can be asked.",
		Type:   required(b.schema),
		Source: model.Meta, Meta: func(any, map[string]any) any { return s }}
	s.MetaType = &model.Field{Name: "__type", Doc: "The type of a name, or null.", Type: nullable(b.typ),
		Source: model.Meta, Args: []*model.Input{{Name: "name", Type: required(b.text)}},
		Meta: func(_ any, args map[string]any) any {
			for _, t := range s.Types {
				if t.Name == args["name"] {
					return nullable(t)
				}
			}
			return nil
		}}
}
