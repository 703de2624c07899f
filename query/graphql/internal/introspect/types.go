package introspect

// Fields of the introspection types. Each is a model.Field with a Meta function, which package exec
// calls with the parent value. Extend in introspect.go calls the methods of builder.

import (
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/sdl"
)

// meta returns a field of a parent with the Go type P. A parent of another type is a mistake in
// this package and panics.
func meta[P any](name, doc string, t *model.Ref, get func(parent P) any) *model.Field {
	return &model.Field{Name: name, Doc: doc, Type: t, Source: model.Meta,
		Meta: func(parent any, _ map[string]any) any { return get(parent.(P)) }}
}

// listing returns a list field with the argument includeDeprecated. Items with a deprecation reason
// are left out unless it is true. The field is null if get returns false, because the kind of the
// parent has no such list. Elements without a deprecation in the model have a reason function that
// returns the empty string.
func listing[P, E any](name, doc string, t, flag *model.Ref, get func(parent P) ([]E, bool),
	reason func(E) string) *model.Field {
	return &model.Field{Name: name, Doc: doc, Type: t, Source: model.Meta,
		Args: []*model.Input{{Name: "includeDeprecated", Type: flag, Default: false, HasDefault: true,
			Doc: "Whether deprecated elements are included."}},
		Meta: func(parent any, args map[string]any) any {
			items, ok := get(parent.(P))
			if !ok {
				return nil
			}
			all, _ := args["includeDeprecated"].(bool) // null is false
			list := make([]any, 0, len(items))
			for _, item := range items {
				if all || reason(item) == "" {
					list = append(list, item)
				}
			}
			return list
		}}
}

// text returns s, or nil if s is empty. The description of an element without one is null in
// introspection.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// named returns a reference to t, or nil if t is nil. It returns any, because a nil *model.Ref in
// an interface would not be equal to nil.
func named(t *model.Type) any {
	if t == nil {
		return nil
	}
	return nullable(t)
}

// references returns references to types, as a list of parents of __Type.
func references(types []*model.Type) []any {
	list := make([]any, len(types))
	for i, t := range types {
		list[i] = nullable(t)
	}
	return list
}

// schemaType defines __Schema (section 4.2.1). Roots are references to named types, because the
// parent of __Type is a Ref.
func (b *builder) schemaType() {
	b.schema.Fields = []*model.Field{
		meta("description", "The description of the schema.", nullable(b.text),
			func(s *model.Schema) any { return text(s.Doc) }),
		meta("types", "All types, by name.", requiredList(b.typ),
			func(s *model.Schema) any { return references(s.Types) }),
		meta("queryType", "The root type of queries.", required(b.typ),
			func(s *model.Schema) any { return named(s.Query) }),
		meta("mutationType", "The root type of mutations; null if there are none.", nullable(b.typ),
			func(s *model.Schema) any { return named(s.Mutation) }),
		meta("subscriptionType", "The root type of subscriptions; null if there are none.", nullable(b.typ),
			func(s *model.Schema) any { return named(s.Subscription) }),
		// The argument includeDeprecated has no effect, because no directive is deprecated.
		listing("directives", "All directives, by name.", requiredList(b.directive), required(b.boolean),
			func(s *model.Schema) ([]*model.Directive, bool) { return s.Directives, true },
			func(*model.Directive) string { return "" }),
	}
}

// typeType defines __Type (section 4.2.2). The parent is a Ref, because list and non-null types are
// types here. Fields that do not apply to the kind of a type are null.
func (b *builder) typeType() {
	flag := nullable(b.boolean)
	b.typ.Fields = []*model.Field{
		meta("kind", "The kind of the type.", required(b.kind),
			func(r *model.Ref) any { return kindOf(r) }),
		ofNamed("name", "The name; null for lists and non-null types.", nullable(b.text),
			func(t *model.Type) any { return t.Name }),
		ofNamed("description", "The description, in CommonMark.", nullable(b.text),
			func(t *model.Type) any { return text(t.Doc) }),
		ofNamed("specifiedByURL", "The URL of the specification of a scalar.", nullable(b.text),
			func(t *model.Type) any { return text(t.SpecifiedBy) }),
		listing("fields", "The fields of an object or interface.", list(b.field), flag,
			func(r *model.Ref) ([]*model.Field, bool) {
				if t, ok := typeOfKind(r, model.Interface); ok {
					return t.Fields, true
				}
				t, ok := typeOfKind(r, model.Object)
				return t.Fields, ok
			},
			func(f *model.Field) string { return f.Deprecated }),
		// An object without interfaces has an empty list, and other kinds have null.
		ofNamed("interfaces", "The interfaces of an object or interface.", list(b.typ),
			func(t *model.Type) any {
				if t.Kind != model.Object && t.Kind != model.Interface {
					return nil
				}
				return references(t.Interfaces)
			}),
		ofNamed("possibleTypes", "The object types of an interface or union.", list(b.typ),
			func(t *model.Type) any {
				if t.Kind != model.Interface && t.Kind != model.Union {
					return nil
				}
				return references(t.Possible)
			}),
		listing("enumValues", "The values of an enum.", list(b.value), flag,
			func(r *model.Ref) ([]*model.Value, bool) {
				t, ok := typeOfKind(r, model.Enum)
				return t.Values, ok
			},
			func(v *model.Value) string { return v.Deprecated }),
		listing("inputFields", "The fields of an input object.", list(b.input), flag,
			func(r *model.Ref) ([]*model.Input, bool) {
				t, ok := typeOfKind(r, model.InputObject)
				return t.Inputs, ok
			},
			func(in *model.Input) string { return in.Deprecated }),
		meta("ofType", "The type that a list or non-null type wraps.", nullable(b.typ), inner),
		// isOneOf is false for an input object that is not OneOf, and null for other kinds.
		ofNamed("isOneOf", "Whether an input object needs exactly one field.", flag,
			func(t *model.Type) any {
				if t.Kind != model.InputObject {
					return nil
				}
				return t.OneOf
			}),
	}
}

// ofNamed returns a field of __Type that is null for list and non-null types. Those have no name or
// members of their own, only ofType.
func ofNamed(name, doc string, t *model.Ref, get func(t *model.Type) any) *model.Field {
	return meta(name, doc, t, func(r *model.Ref) any {
		if r.NonNull || r.Elem != nil {
			return nil
		}
		return get(r.Type)
	})
}

// typeOfKind returns the named type of r if it has this kind. Otherwise it returns an empty type
// and false. The empty type lets callers read a field of it without a check.
func typeOfKind(r *model.Ref, kind model.Kind) (*model.Type, bool) {
	if r.NonNull || r.Elem != nil || r.Type.Kind != kind {
		return &model.Type{}, false
	}
	return r.Type, true
}

// kindOf returns the __TypeKind of r.
// The order matters: a reference can be both a list and non-null, and non-null is the outer one.
func kindOf(r *model.Ref) string {
	switch {
	case r.NonNull:
		return "NON_NULL"
	case r.Elem != nil:
		return "LIST"
	}
	return r.Type.Kind.String()
}

// inner returns the wrapped type of a list or non-null type, and nil for a named type. A new Ref is
// needed for a non-null type, because the schema must not be modified. The element of a list is
// returned as it is.
func inner(r *model.Ref) any {
	switch {
	case r.NonNull:
		return &model.Ref{Type: r.Type, Elem: r.Elem}
	case r.Elem != nil:
		return r.Elem
	}
	return nil
}

// parts defines __Field, __InputValue and __EnumValue (sections 4.2.3 to 4.2.5). A default value is
// text, because introspection has no type for arbitrary values.
func (b *builder) parts() {
	b.field.Fields = append(described(b, func(f *model.Field) (string, string) { return f.Name, f.Doc }),
		arguments(b, func(f *model.Field) []*model.Input { return f.Args }),
		meta("type", "The type of the value.", required(b.typ), func(f *model.Field) any { return f.Type }))
	b.field.Fields = append(b.field.Fields, deprecation(b,
		func(f *model.Field) string { return f.Deprecated })...)

	b.input.Fields = append(described(b, func(in *model.Input) (string, string) { return in.Name, in.Doc }),
		meta("type", "The type of the value.", required(b.typ),
			func(in *model.Input) any { return in.Type }),
		meta("defaultValue", "The default value, as a GraphQL literal.", nullable(b.text),
			func(in *model.Input) any {
				// The SDL has the same literal, so both agree. Without a default, the field is
				// null.
				if literal, ok := sdl.Default(in); ok {
					return literal
				}
				return nil
			}))
	b.input.Fields = append(b.input.Fields, deprecation(b,
		func(in *model.Input) string { return in.Deprecated })...)

	b.value.Fields = append(described(b, func(v *model.Value) (string, string) { return v.Name, v.Doc }),
		deprecation(b, func(v *model.Value) string { return v.Deprecated })...)
}

// described returns the fields name and description. All elements of the schema have them, and each
// kind keeps them in fields of its own.
func described[P any](b *builder, get func(parent P) (name, doc string)) []*model.Field {
	return []*model.Field{
		meta("name", "The name.", required(b.text),
			func(p P) any { name, _ := get(p); return name }),
		meta("description", "The description, in CommonMark.", nullable(b.text),
			func(p P) any { _, doc := get(p); return text(doc) }),
	}
}

// deprecation returns the fields isDeprecated and deprecationReason. An empty reason means not
// deprecated. Package model has no separate flag.
func deprecation[P any](b *builder, reason func(parent P) string) []*model.Field {
	return []*model.Field{
		meta("isDeprecated", "Whether it is deprecated.", required(b.boolean),
			func(p P) any { return reason(p) != "" }),
		meta("deprecationReason", "The reason for the deprecation, and what to use instead.",
			nullable(b.text),
			func(p P) any { return text(reason(p)) }),
	}
}

// arguments returns the field args of a field or directive. Its flag includeDeprecated is nullable:
// null means false.
func arguments[P any](b *builder, get func(parent P) []*model.Input) *model.Field {
	return listing("args", "The arguments.", requiredList(b.input), nullable(b.boolean),
		func(p P) ([]*model.Input, bool) { return get(p), true },
		func(in *model.Input) string { return in.Deprecated })
}
