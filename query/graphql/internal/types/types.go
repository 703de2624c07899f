// Package types has what graphql-go's type system lacks, for the packages beside it.
package types

import (
	"cmp"
	"slices"
	"strings"

	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"
)

// Schema is a schema of graphql-go with what that has no place for.
type Schema struct {
	graphql.Schema
	// Repeatable names the directives that may stand several times at one place.
	Repeatable []string
	// OneOf names the input objects of which exactly one field is to be given.
	OneOf []string
	// TypeName, MetaSchema and MetaType are the fields __typename, __schema and __type. Where one is nil, graphql-go's own
	// takes its place, whose types know nothing of specifiedByURL, isOneOf, and arguments that are deprecated.
	TypeName, MetaSchema, MetaType *graphql.FieldDefinition
}

// meta returns a field that every schema has beside its own (section 4.1), or nil.
func (s *Schema) meta(parent graphql.Type, name string) *graphql.FieldDefinition {
	switch {
	case name == "__typename":
		return cmp.Or(s.TypeName, graphql.TypeNameMetaFieldDef)
	case name == "__schema" && parent == graphql.Type(s.QueryType()):
		return cmp.Or(s.MetaSchema, graphql.SchemaMetaFieldDef)
	case name == "__type" && parent == graphql.Type(s.QueryType()):
		return cmp.Or(s.MetaType, graphql.TypeMetaFieldDef)
	}
	return nil
}

// Root returns the type that an operation of a kind starts from, or nil.
func (s *Schema) Root(operation string) graphql.Type {
	var root *graphql.Object
	switch operation {
	case ast.OperationTypeQuery:
		root = s.QueryType()
	case ast.OperationTypeMutation:
		root = s.MutationType()
	case ast.OperationTypeSubscription:
		root = s.SubscriptionType()
	}
	if root == nil {
		return nil // and not an interface that holds a nil pointer
	}
	return root
}

// Field returns the definition of a field of a type, or nil.
func (s *Schema) Field(parent graphql.Type, name string) *graphql.FieldDefinition {
	if strings.HasPrefix(name, "__") {
		return s.meta(parent, name)
	}
	switch parent := parent.(type) {
	case *graphql.Object:
		return parent.Fields()[name]
	case *graphql.Interface:
		return parent.Fields()[name]
	}
	return nil
}

// Resolve returns the type that a document names, or nil if there is none of the name.
func (s *Schema) Resolve(t ast.Type) graphql.Type {
	switch t := t.(type) {
	case *ast.Named:
		return s.Type(t.Name.Value)
	case *ast.List:
		if inner := s.Resolve(t.Type); inner != nil {
			return graphql.NewList(inner)
		}
	case *ast.NonNull:
		if inner := s.Resolve(t.Type); inner != nil {
			return graphql.NewNonNull(inner)
		}
	}
	return nil
}

// Overlap reports whether an object may be of both types, which are composite.
func (s *Schema) Overlap(a, b graphql.Type) bool {
	if a == b {
		return true
	}
	objectA, isA := a.(*graphql.Object)
	objectB, isB := b.(*graphql.Object)
	switch {
	case isA && isB:
		return false
	case isA:
		return IsPossible(b, objectA)
	case isB:
		return IsPossible(a, objectB)
	}
	return slices.ContainsFunc(s.PossibleTypes(a), func(o *graphql.Object) bool { return IsPossible(b, o) })
}

// IsPossible reports whether an object may be of an abstract type. graphql-go's own IsPossibleType remembers what it
// found in the schema, without a lock.
func IsPossible(abstract graphql.Type, object *graphql.Object) bool {
	switch abstract := abstract.(type) {
	case *graphql.Interface:
		return slices.Contains(object.Interfaces(), abstract)
	case *graphql.Union:
		return slices.Contains(abstract.Types(), object)
	}
	return false
}

// Composite returns a type if fields can be selected from it, else nil.
func Composite(t graphql.Type) graphql.Type {
	if named := Named(t); graphql.IsCompositeType(named) {
		return named
	}
	return nil
}

// Named is graphql.GetNamed, but for nil.
func Named(t graphql.Type) graphql.Type {
	for {
		switch wrapper := t.(type) {
		case *graphql.List:
			t = wrapper.OfType
		case *graphql.NonNull:
			t = wrapper.OfType
		default:
			return t
		}
	}
}

// Nullable returns what a type is but for null.
func Nullable(t graphql.Type) graphql.Type {
	if t, ok := t.(*graphql.NonNull); ok {
		return t.OfType
	}
	return t
}

// IsNonNull reports whether a type, which may be nil, has no null.
func IsNonNull(t graphql.Type) bool {
	_, ok := t.(*graphql.NonNull)
	return ok
}

// Within reports whether every value of one input type is one of another (section 5.8.5, AreTypesCompatible).
func Within(t, other graphql.Type) bool {
	if nonNull, ok := other.(*graphql.NonNull); ok {
		inner, ok := t.(*graphql.NonNull)
		return ok && Within(inner.OfType, nonNull.OfType)
	}
	t = Nullable(t)
	list, isList := t.(*graphql.List)
	otherList, otherIsList := other.(*graphql.List)
	if isList || otherIsList {
		return isList && otherIsList && Within(list.OfType, otherList.OfType)
	}
	return t == other
}

// Required reports whether something of a type, with a default or without, has to be given.
func Required(t graphql.Type, defaultValue any) bool { return IsNonNull(t) && defaultValue == nil }

// IsOneOf reports whether exactly one field of an input object is to be given.
func (s *Schema) IsOneOf(t *graphql.InputObject) bool { return slices.Contains(s.OneOf, t.Name()) }
