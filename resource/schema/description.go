package schema

// Descriptions of Go types for clients. compile.go and structs.go read them from the methods of
// the types. Command describe generates the methods from doc comments.

import (
	"cmp"
	"reflect"
)

// Describer is implemented by a pointer to a type that has descriptions for clients. OpenAPI and
// GraphQL show them. Command resource/schema/describe generates the method from doc comments.
//
// The method is called with a pointer to a zero value, once for each type. It is a method, and not a
// call that registers a text, so that it applies in each program and at any time, also in variables
// that are initialized before any init function.
type Describer interface {
	SchemaDescription() Description
}

// Description has the descriptions of a Go type. Texts are in CommonMark.
type Description struct {
	// Type is the described type. A description of another type is ignored: a struct without the
	// method has that of an embedded struct.
	Type reflect.Type
	// Doc describes the type. Empty means that it has no description.
	Doc string
	// Deprecated is the reason for which the type is deprecated, and the replacement. Empty means
	// that it is not deprecated.
	Deprecated string
	// Fields describes the fields of a struct by Go name. The struct tags doc and deprecated have
	// precedence. The fields of an unnamed struct follow the name of the field that contains it,
	// after a dot, such as Lines.Quantity.
	Fields map[string]Comment
	// Values describes values of the tag enum, by the constants of the type.
	Values map[any]Comment
}

// Comment is the description of a field or of an enum value. The zero value is no description.
type Comment struct {
	// Doc is the text in CommonMark.
	Doc string
	// Deprecated is the reason of a deprecation, and the replacement. Empty means not deprecated.
	Deprecated string
}

// source has the texts of the fields of a struct: of the nearest type that has a name, at the Go
// names that lead from there to the struct, each with a dot.
type source struct {
	fields map[string]Comment
	path   string
}

// comment returns the text of a field.
func (s source) comment(goName string) Comment { return s.fields[s.path+goName] }

// within returns the source of the type of a field.
func (s source) within(goName string) source { return source{s.fields, s.path + goName + "."} }

// sourceOf returns the source of a struct that is embedded in a field with the source outer. Types
// without a name have no methods.
func sourceOf(t reflect.Type, outer source) source {
	if t.Name() == "" {
		return outer
	}
	return source{fields: descriptionOf(t).Fields}
}

// descriptionOf returns the description of a type, and the zero value if it has none.
func descriptionOf(t reflect.Type) Description {
	if t.Kind() == reflect.Interface || !reflect.PointerTo(t).Implements(reflect.TypeFor[Describer]()) {
		return Description{}
	}
	d := reflect.New(t).Interface().(Describer).SchemaDescription()
	if d.Type != t {
		return Description{}
	}
	return d
}

// setValues sets the texts of enum values. The kind of the type is known.
func (t *Type) setValues(values map[any]Comment) {
	if len(values) == 0 || !t.isText() && t.Kind != Integer && t.Kind != Number {
		return // the tag enum does not apply
	}
	t.values = map[any]Comment{}
	for constant, comment := range values {
		if v := reflect.ValueOf(constant); v.IsValid() && v.Type() == t.GoType {
			addressable := reflect.New(t.GoType).Elem()
			addressable.Set(v)
			t.values[t.canonical(addressable)] = comment
		}
	}
}

// setComment sets the texts that the tags of a field have not set.
func (f *Field) setComment(c Comment) {
	f.Doc = cmp.Or(f.Doc, c.Doc)
	f.Deprecated = cmp.Or(f.Deprecated, c.Deprecated)
}

// EnumComment returns the description of a value of Enum, which is that of a constant of the Go
// type. The result is the zero value if there is none.
func (f *Field) EnumComment(value any) Comment { return f.scalarType().values[value] }
