// Package model is a catalog as GraphQL sees it: types, fields, and for each field where its value comes from.
//
// It is for query/graphql and the packages beside it. [Reflect] makes a Schema from a catalog once, at start-up; whoever
// describes the schema (the SDL, introspection) and whoever validates or executes operations read the same Schema, so
// that they cannot disagree. Everything in it has an order, the same each time for the same catalog, and nothing of it is
// changed once it is made.
package model

import (
	"context"
	"reflect"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// Schema is all that clients can ask of a catalog.
type Schema struct {
	// Doc describes the whole, in CommonMark; it may be empty.
	Doc string
	// Query, Mutation and Subscription are the roots; the latter two are nil where nothing can be changed or watched.
	Query, Mutation, Subscription *Type
	// Types are all named types, by name: those that the roots lead to, the scalars of the specification that are used,
	// and those of introspection.
	Types []*Type
	// Directives are those that clients and the SDL may use, by name.
	Directives []*Directive
	// Meta are the fields that every schema has beside its own (section 4.1): __typename on every object, __schema and
	// __type on the root of queries. The first has no function Meta: the name of the type is known where it is selected.
	TypeName, MetaSchema, MetaType *Field
}

// Kind is which sort of type a Type is. [Reflect] makes no interfaces and no unions. Validation supports them, because the
// specification and the reference implementation define its rules for them.
type Kind uint8

// The kinds.
const (
	Scalar Kind = iota
	Object
	Enum
	InputObject
	Interface
	Union
)

// String returns the kind as introspection spells it.
func (k Kind) String() string {
	return [...]string{"SCALAR", "OBJECT", "ENUM", "INPUT_OBJECT", "INTERFACE", "UNION"}[k]
}

// Type is a named type.
type Type struct {
	Kind      Kind
	Name, Doc string
	Fields    []*Field // of an Object or Interface
	Inputs    []*Input // of an InputObject
	Values    []*Value // of an Enum
	Possible  []*Type  // of an Interface or Union: the objects that a value may be
	// SpecifiedBy is the URL of what specifies a scalar, or empty.
	SpecifiedBy string
	// OneOf says that exactly one of the Inputs is to be given.
	OneOf bool
	// Go is the Go type that an Object shows or an InputObject is read for; nil for those that have none, such as
	// connections.
	Go *schema.Type
	// Resource is what the items of an Object are from: it is set for the type of a resource's items, for its connection, its
	// edge and its changes. Nil for everything else.
	Resource *resource.Resource
}

// Field returns the field of a name, or nil.
func (t *Type) Field(name string) *Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Input returns the input field of a name, or nil.
func (t *Type) Input(name string) *Input {
	for _, in := range t.Inputs {
		if in.Name == name {
			return in
		}
	}
	return nil
}

// IsComposite reports whether fields are to be selected from it.
func (t *Type) IsComposite() bool { return t.Kind == Object || t.Kind == Interface || t.Kind == Union }

// IsLeaf reports whether it is a scalar or an enum.
func (t *Type) IsLeaf() bool { return t.Kind == Scalar || t.Kind == Enum }

// Ref is the type of something: a named type, a list of something, and whether it may be null.
type Ref struct {
	Type    *Type // nil for a list
	Elem    *Ref  // nil for a named type
	NonNull bool
}

// Named returns the named type at the bottom of lists.
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

// Input is an argument, or a field of an input object.
type Input struct {
	Name, Doc, Deprecated string
	Type                  *Ref
	// Default is what an absent one is taken for, as package coerce would give it, and a time.Time for DateTime;
	// HasDefault tells null from none.
	Default    any
	HasDefault bool
	// Member is the field of the Go type that it fills, filters or sorts by; nil where there is none.
	Member *schema.Field
}

// Value is a value of an enum.
type Value struct {
	Name, Doc, Deprecated string
	// Go is what coercion makes of the name: the canonical value of a member, or for a sort field its JSON name. Those of
	// SortDirection are their names.
	Go any
}

// Directive is one that documents may use.
type Directive struct {
	Name, Doc  string
	Args       []*Input
	Locations  []string
	Repeatable bool
}

// Source says where the value of a field comes from.
type Source uint8

// The sources. Where a Source needs more than the parent value, the members of Field that it needs are named.
const (
	Member   Source = iota // a field of the Go value: Member
	Related                // what a relation of the item leads to: Resource is the target, Relation its name
	Computed               // custom code, asked once for all items of a level: Custom
	Tag                    // the entity tag of the item

	Nodes      // of a connection: its items
	Edges      // of a connection: its edges
	PageInfo   // of a connection: where the page lies
	TotalCount // of a connection: how many there are, asked for only if selected
	Place      // of a connection: where its changes go on, asked for only if selected
	Node       // of an edge: its item
	Cursor     // of an edge
	HasNext    // of PageInfo
	HasPrevious
	StartCursor
	EndCursor

	Get     // of a root, with Resource: the item of an id
	List    // Resource
	Lookup  // Resource is the target: Lookup
	Create  // Resource
	Replace // Resource
	Patch   // Resource
	Delete  // Resource
	Invoke  // Command
	Custom  // custom code at a root: Custom
	Watch   // Resource: a change of one of its items

	ChangeKind // of a change: what happened
	ChangeID
	ChangeItem // of a change: the item as it is now; Resource
	ChangeCursor

	Meta // introspection: Meta
)

// Field is a field of an object.
type Field struct {
	Name, Doc, Deprecated string
	Type                  *Ref
	Args                  []*Input
	Source                Source

	Member   *schema.Field
	Resource *resource.Resource
	Relation string
	Limit    int // Related: how many items follow at most
	// ZeroNull, of a Member, says that the zero value is written as null. It is that of an enum, a struct or a type with
	// text methods which may be left out in JSON: nobody gave it, so it need be none that could have been given.
	ZeroNull bool
	Lookup   *resource.Lookup
	Command  *resource.Command
	Custom   *CustomField
	// Meta gives the value from what introspection has as its parent: nil, a string, a bool, a []any of values, or
	// something that other fields take for their parent.
	Meta func(parent any, args map[string]any) any
}

// Arg returns the argument of a name, or nil.
func (f *Field) Arg(name string) *Input {
	for _, a := range f.Args {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// CustomField is a field whose value is what a function says.
type CustomField struct {
	// On is "Query", "Mutation", or the name of the resource whose items have it.
	On                    string
	Name, Doc, Deprecated string
	// In is the struct of the arguments; nil or without fields for none.
	In *schema.Type
	// Out is what the function returns, and Nullable whether that may be null: a Go pointer. A nil Out is a function of a
	// root that returns nothing, which clients see as true.
	Out      *schema.Type
	Nullable bool
	// Parent is the Go type of the items that a computed field is of.
	Parent reflect.Type
	// Cost is what one value counts for in the cost of an operation.
	Cost int
	// Transactions are those in which all happens that a field of Mutation does; nil for none.
	Transactions tx.Runner
	// Root is the function of a field of Query or Mutation. in points to a value of the type In, and what is returned to
	// one of the type Out, nil for nothing.
	Root func(ctx context.Context, in any) (any, error)
	// Each is the function of a computed field. It is given all items of a level, as pointers to Parent, and returns as
	// many values.
	Each func(ctx context.Context, items []any, in any) ([]any, error)
}
