package model

// Lookups for validation and execution. They do not modify the schema.

import (
	"slices"
	"strings"
)

// Type returns the type of this name, or nil.
func (s *Schema) Type(name string) *Type {
	// Types are sorted by name when the schema is complete.
	i, ok := slices.BinarySearchFunc(s.Types, name,
		func(t *Type, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return nil
	}
	return s.Types[i]
}

// Directive returns the directive of this name, or nil.
func (s *Schema) Directive(name string) *Directive {
	for _, d := range s.Directives {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Root returns the root type of an operation, which is "query", "mutation" or "subscription". It
// returns nil if the schema does not support the operation.
func (s *Schema) Root(operation string) *Type {
	switch operation {
	case "query":
		return s.Query
	case "mutation":
		return s.Mutation
	case "subscription":
		return s.Subscription
	}
	return nil
}

// Field returns the field of parent with this name, or nil. It includes __typename, and __schema
// and __type of the query root.
func (s *Schema) Field(parent *Type, name string) *Field {
	if !strings.HasPrefix(name, "__") {
		return parent.Field(name)
	}
	switch {
	case name == "__typename":
		return s.TypeName
	case name == "__schema" && parent == s.Query:
		return s.MetaSchema
	case name == "__type" && parent == s.Query:
		return s.MetaType
	}
	return nil
}

// Overlap reports whether an object may have both types a and b, which are composite. It decides
// whether a fragment can apply to objects of its parent type (section 5.5.2.3).
func Overlap(a, b *Type) bool {
	switch {
	case a == b:
		return true
	case a.Kind == Object:
		return b.Includes(a)
	}
	// Two abstract types overlap if any object belongs to both (section 5.5.2.3.4).
	return slices.ContainsFunc(a.Possible, func(o *Type) bool { return o == b || b.Includes(o) })
}

// Includes reports whether object is one of the possible types of the interface or union t.
func (t *Type) Includes(object *Type) bool { return slices.Contains(t.Possible, object) }

// Nullable returns r without NonNull. It does not change r, which other fields share.
func (r *Ref) Nullable() *Ref {
	if !r.NonNull {
		return r
	}
	return &Ref{Type: r.Type, Elem: r.Elem}
}

// Within reports whether each value of r is a value of other, for input types (section 5.8.5,
// AreTypesCompatible).
func (r *Ref) Within(other *Ref) bool {
	switch {
	case other.NonNull && !r.NonNull:
		return false
	case r.Elem != nil && other.Elem != nil:
		return r.Elem.Within(other.Elem)
	}
	return r.Elem == nil && other.Elem == nil && r.Type == other.Type
}

// Required reports whether a value must be given, because null is not allowed and there is no
// default.
func (in *Input) Required() bool { return in.Type.NonNull && in.Default == nil }
