// Package model represents the GraphQL schema of a catalog: types, fields, and the source of each
// field's value.
//
// [Reflect] derives a Schema from a catalog at start-up. The SDL, introspection, validation and
// execution use the same Schema, so they cannot disagree. Its order is deterministic for a catalog.
// A Schema is not modified after it is built, so it is safe for concurrent use.
package model

import (
	"context"
	"reflect"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// Schema is the GraphQL schema of a catalog.
type Schema struct {
	// Doc is the description of the schema, in CommonMark. It may be empty.
	Doc string
	// Query, Mutation and Subscription are the root types. Mutation and Subscription are nil if the
	// catalog has no writes or feeds.
	Query, Mutation, Subscription *Type
	// Types contains the types that the roots refer to, the scalars in use, and the introspection
	// types, sorted by name.
	Types []*Type
	// Directives contains the directives of the specification, sorted by name.
	Directives []*Directive
	// TypeName, MetaSchema and MetaType are the meta fields __typename, __schema and __type
	// (section 4.1). TypeName has no Meta function; the executor knows the name of the type.
	TypeName, MetaSchema, MetaType *Field
}

// Kind is the kind of a Type. [Reflect] defines the interface Node with Options.GlobalIDs, and no
// unions. Validation supports them, because tests compare it with the reference implementation.
type Kind uint8

// The kinds of types.
const (
	Scalar      Kind = iota // a leaf with a coercion of its own
	Object                  // the only output kind with subfields
	Enum                    // a leaf with a fixed set of names
	InputObject             // occurs in arguments only
	Interface
	Union
)

// String returns the __TypeKind of introspection, such as "INPUT_OBJECT".
func (k Kind) String() string {
	return [...]string{"SCALAR", "OBJECT", "ENUM", "INPUT_OBJECT", "INTERFACE", "UNION"}[k]
}

// Type is a named type. Which fields are set depends on Kind.
type Type struct {
	Kind      Kind
	Name, Doc string
	Fields    []*Field // of an Object or Interface
	Inputs    []*Input // of an InputObject
	Values    []*Value // of an Enum
	Possible  []*Type  // of an Interface or Union: the object types that implement it or are its members
	// Interfaces are those that an Object implements.
	Interfaces []*Type
	// SpecifiedBy is the URL of a scalar's specification, or empty.
	SpecifiedBy string
	// OneOf reports that exactly one of Inputs must be given (section 3.10.1).
	OneOf bool
	// Go is the Go type that an Object represents or that an InputObject is decoded to. It is nil
	// for types without one, such as connections.
	Go *schema.Type
	// Resource is the resource of an item type, its connection, edge and change types. It is nil
	// for other types.
	Resource *resource.Resource
}

// Field returns the field of this name, or nil.
func (t *Type) Field(name string) *Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Input returns the input field of this name, or nil.
func (t *Type) Input(name string) *Input {
	for _, in := range t.Inputs {
		if in.Name == name {
			return in
		}
	}
	return nil
}

// IsComposite reports whether fields can be selected from t.
func (t *Type) IsComposite() bool { return t.Kind == Object || t.Kind == Interface || t.Kind == Union }

// IsLeaf reports whether t is a scalar or an enum.
func (t *Type) IsLeaf() bool { return t.Kind == Scalar || t.Kind == Enum }

// Ref is a type reference: a named type or a list, nullable or not.
type Ref struct {
	Type    *Type // nil for a list
	Elem    *Ref  // nil for a named type
	NonNull bool
}

// Named returns the named type of r, without lists.
func (r *Ref) Named() *Type {
	for r.Elem != nil {
		r = r.Elem
	}
	return r.Type
}

// String returns the type as documents write it, such as [Order!]!.
func (r *Ref) String() string {
	var b strings.Builder
	r.write(&b)
	return b.String()
}

// write appends the type to b.
func (r *Ref) write(b *strings.Builder) {
	if r.Elem != nil {
		b.WriteByte('[')
		r.Elem.write(b)
		b.WriteByte(']')
	} else {
		b.WriteString(r.Type.Name)
	}
	if r.NonNull {
		b.WriteByte('!')
	}
}

// Input is an argument or an input field.
type Input struct {
	Name, Doc, Deprecated string
	Type                  *Ref
	// Default is the default value in the form that package coerce returns, and a time.Time for
	// DateTime. HasDefault distinguishes a default of null from no default.
	Default    any
	HasDefault bool
	// Member is the member of the Go type that the value sets, filters by or sorts by, or nil.
	Member *schema.Field
	// Relation is the name of a relation: the value filters its items. Many reports that the value has
	// some, none and every.
	Relation string
	Many     bool
	// Global reports that the value is a global id; see Options.GlobalIDs.
	Global bool
}

// Value is an enum value.
type Value struct {
	Name, Doc, Deprecated string
	// Go is the coerced value: the value of a member, or the JSON name for a sort field. For
	// SortDirection it is the name.
	Go any
}

// Directive is a directive definition (section 3.13).
type Directive struct {
	Name, Doc string
	Args      []*Input
	// Locations has names of __DirectiveLocation, such as FIELD or VARIABLE_DEFINITION.
	Locations  []string
	Repeatable bool // it can occur several times at one location
}

// Source is the origin of a field's value. It decides how package exec resolves the field.
type Source uint8

// The sources. A comment names the members of Field that are set.
const (
	Member      Source = iota // a member of the Go value: Member
	Related                   // related items: Resource is the target, Relation the name
	RelatedPage               // a page of related items: Resource is the target, Relation the name
	Computed                  // a custom field of items, resolved in batches: Custom
	ETag                      // the ETag of the item
	GlobalID                  // the global id of the item: Resource

	Nodes       // of a connection: the items
	Edges       // of a connection: the edges
	PageInfo    // of a connection: the page info
	TotalCount  // of a connection: the total count, fetched only if selected
	EventCursor // of a connection: the cursor for a subscription, fetched only if selected
	Node        // of an edge: the item
	Cursor      // of an edge: the cursor
	HasNext     // of PageInfo
	HasPrevious
	StartCursor
	EndCursor

	Get       // of a root: the item with an id; Resource
	List      // of a root: a page of items; Resource
	ByID      // of the query root: the item with a global id
	ByIDs     // of the query root: the items with global ids
	Aggregate // of a root: a page of groups; Resource, Groups
	Lookup    // of a root: Lookup; Resource is the target
	Create    // Resource
	Replace   // Resource
	Patch     // Resource
	Delete    // Resource
	Restore   // Resource
	Link      // Resource, Relation: links an item and one of the relation's target
	Unlink    // Resource, Relation
	Invoke    // Command
	Custom    // a custom field of a root: Custom
	Watch     // of a subscription: changes of items; Resource

	ChangeKind // of a change: its kind
	ChangeID   // the id of the item, which is the global one if Resource is set
	ChangeItem // of a change: the item after the change; Resource
	ChangeCursor

	Meta // an introspection field: Meta
)

// Field is a field definition. Which members are set depends on Source.
type Field struct {
	Name, Doc, Deprecated string
	Type                  *Ref
	Args                  []*Input
	Source                Source

	Member   *schema.Field
	Resource *resource.Resource
	Relation string
	Limit    int // of Related: the maximum number of items; of RelatedPage: the default
	// ZeroNull reports that the zero value of a Member is written as null. It is set for enums, decimals,
	// structs and types with text methods that JSON may omit: the zero value may not be a valid
	// value of the type.
	ZeroNull bool
	// Groups is the result of Aggregate, and Aggregate the value of a field of its groups.
	Groups    *Groups
	Aggregate *query.Aggregate
	Lookup    *resource.Lookup
	Command   *command.Command
	Custom    *CustomField
	// Meta resolves an introspection field. The result is nil, a string, a bool, a []any of values,
	// or a parent value for the fields of an introspection type.
	Meta func(parent any, args map[string]any) any
}

// Arg returns the argument of this name, or nil.
func (f *Field) Arg(name string) *Input {
	for _, a := range f.Args {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// CustomField is a field that the application resolves with a function.
type CustomField struct {
	// On is "Query", "Mutation", or the name of the resource that has the field in its items.
	On                    string
	Name, Doc, Deprecated string
	// In is the struct of the arguments. It is nil or empty if there are none.
	In *schema.Type
	// Out is the result type. Nullable reports whether the result may be null, because it is a
	// pointer. A nil Out is allowed for fields of a root; the field's value is then true.
	Out      *schema.Type
	Nullable bool
	// Parent is the Go type of the items of a computed field.
	Parent reflect.Type
	// Cost is the contribution of a value to the cost of an operation.
	Cost int
	// Transactions runs a field of Mutation in a transaction. Nil means no transaction.
	Transactions tx.Runner
	// Root resolves a field of Query or Mutation. in is a pointer to the type In, and the result a
	// pointer to the type Out, or nil.
	Root func(ctx context.Context, in any) (any, error)
	// Each resolves a computed field for all items of a list. items are pointers to Parent, and the
	// result has one value for each.
	Each func(ctx context.Context, items []any, in any) ([]any, error)
}
