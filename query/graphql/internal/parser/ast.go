package parser

// The nodes of a document. definition.go, selection.go and value.go create them. Packages validate,
// coerce and exec read them.

// Document is an executable document (section 2.3). Names and strings of its nodes share memory
// with the text. Optional parts of a node are nil if they are absent.
//
// A Document is not modified after Parse returns. Cached plans of package exec keep parts of it,
// which concurrent requests share.
type Document struct {
	// Definitions has at least one element, in the order of the text.
	Definitions []Definition
}

// Location is the position of the first character of a node. Line and Column count from 1; Column
// is in UTF-16 code units. Nodes have a pointer, because values that package sdl makes have no
// location.
type Location struct{ Line, Column int }

// Name is a name and its location.
type Name struct {
	Value string
	Loc   *Location
}

// Definition is an [*OperationDefinition] or a [*FragmentDefinition]. Its unexported method limits
// it to these types, so that a type switch can be complete.
type Definition interface{ definition() }

func (*OperationDefinition) definition() {}
func (*FragmentDefinition) definition()  {}

// The types of operations.
const (
	OperationQuery        = "query"        // also the shorthand form without a keyword
	OperationMutation     = "mutation"     // root fields are executed serially (section 6.2.2)
	OperationSubscription = "subscription" // has a single root field (section 5.2.4.1)
)

// OperationDefinition is a query, a mutation or a subscription (section 2.4).
type OperationDefinition struct {
	Loc                 *Location
	Operation           string                // one of the constants above
	Name                *Name                 // nil for an anonymous operation
	VariableDefinitions []*VariableDefinition // in the order of the text; names may repeat
	Directives          []*Directive
	SelectionSet        *SelectionSet // never nil
}

// FragmentDefinition is a fragment with a name (section 2.9).
type FragmentDefinition struct {
	Loc           *Location
	Name          *Name      // never "on"
	TypeCondition *NamedType // never nil
	Directives    []*Directive
	SelectionSet  *SelectionSet
}

// VariableDefinition declares a variable of an operation (section 2.11). DefaultValue is nil if
// there is none.
type VariableDefinition struct {
	Loc          *Location
	Variable     *Variable
	Type         Type  // as written; package coerce resolves it
	DefaultValue Value // contains no variables
	Directives   []*Directive
}

// Type is a type reference (section 2.12): a [*NamedType], a [*ListType] or a [*NonNullType].
type Type interface {
	// Location returns the location of the first token of the type.
	Location() *Location
}

type (
	// NamedType refers to a type by name. Its Loc is that of the name.
	NamedType struct {
		Loc  *Location
		Name *Name
	}
	// ListType is a list of Type.
	ListType struct {
		Loc  *Location // of the opening bracket
		Type Type      // of the items
	}
	// NonNullType is Type without null.
	NonNullType struct {
		Loc  *Location // of the type, which precedes the exclamation mark
		Type Type      // never a NonNullType
	}
)

// Location implements [Type].
func (t *NamedType) Location() *Location { return t.Loc }

// Location implements [Type].
func (t *ListType) Location() *Location { return t.Loc }

// Location implements [Type].
func (t *NonNullType) Location() *Location { return t.Loc }

// SelectionSet is the set of selections of an operation, field or fragment (section 2.5). It has at
// least one selection.
type SelectionSet struct {
	Loc        *Location // of the opening brace
	Selections []Selection
}

// Selection is a [*Field], a [*FragmentSpread] or an [*InlineFragment]. Like Definition, it is
// limited to these types.
type Selection interface{ selection() }

func (*Field) selection()          {}
func (*FragmentSpread) selection() {}
func (*InlineFragment) selection() {}

type (
	// Field is a selected field (section 2.6). Alias is nil if there is none.
	Field struct {
		Loc          *Location // of the alias, or of the name without one
		Alias        *Name     // the response key, if it is set
		Name         *Name
		Arguments    []*Argument
		Directives   []*Directive
		SelectionSet *SelectionSet // nil for a leaf
	}
	// FragmentSpread includes a fragment by name (section 2.9).
	FragmentSpread struct {
		Loc        *Location // of the dots
		Name       *Name
		Directives []*Directive
	}
	// InlineFragment is a fragment without a name (section 2.9.2). TypeCondition is nil if there is
	// none.
	InlineFragment struct {
		Loc           *Location // of the dots
		TypeCondition *NamedType
		Directives    []*Directive
		SelectionSet  *SelectionSet
	}
)

// Argument is an argument of a field or a directive (section 2.7).
type Argument struct {
	Loc   *Location // of the name
	Name  *Name
	Value Value
}

// Directive is a directive on a node (section 2.13).
type Directive struct {
	Loc       *Location // of the at sign
	Name      *Name
	Arguments []*Argument
}

// Value is a literal or a variable (section 2.10): a [*Variable], [*IntValue], [*FloatValue],
// [*StringValue], [*BooleanValue], [*NullValue], [*EnumValue], [*ListValue] or [*ObjectValue].
type Value interface {
	// Location returns the location of the value, or nil for a value that was not parsed.
	Location() *Location
}

type (
	// Variable refers to a variable. Its Loc is that of the dollar sign.
	Variable struct {
		Loc  *Location
		Name *Name
	}
	// IntValue is an integer. Value is the source text.
	IntValue struct {
		Loc   *Location
		Value string
	}
	// FloatValue is a number with a fraction or an exponent. Value is the source text.
	FloatValue struct {
		Loc   *Location
		Value string
	}
	// StringValue is a string or block string. Value has its escapes resolved.
	StringValue struct {
		Loc   *Location
		Value string
	}
	// BooleanValue is true or false.
	BooleanValue struct {
		Loc   *Location
		Value bool
	}
	// NullValue is null.
	NullValue struct{ Loc *Location }
	// EnumValue is an enum value. Value is its name.
	EnumValue struct {
		Loc   *Location
		Value string
	}
	// ListValue is a list of values. It may be empty.
	ListValue struct {
		Loc    *Location
		Values []Value
	}
	// ObjectValue is an input object. The parser does not check that field names are unique.
	ObjectValue struct {
		Loc    *Location
		Fields []*ObjectField
	}
	// ObjectField is a field of an input object.
	ObjectField struct {
		Loc   *Location
		Name  *Name
		Value Value
	}
)

// Location implements [Value].
func (v *Variable) Location() *Location { return v.Loc }

// Location implements [Value].
func (v *IntValue) Location() *Location { return v.Loc }

// Location implements [Value].
func (v *FloatValue) Location() *Location { return v.Loc }

// Location implements [Value].
func (v *StringValue) Location() *Location { return v.Loc }

// Location implements [Value].
func (v *BooleanValue) Location() *Location { return v.Loc }

// Location implements [Value].
func (v *NullValue) Location() *Location { return v.Loc }

// Location implements [Value].
func (v *EnumValue) Location() *Location { return v.Loc }

// Location implements [Value].
func (v *ListValue) Location() *Location { return v.Loc }

// Location implements [Value].
func (v *ObjectValue) Location() *Location { return v.Loc }
