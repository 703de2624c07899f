package parser

// The nodes of a document. definition.go, selection.go and value.go create them. Packages validate,
// coerce and exec read them.

// Document is an executable document (section 2.2). Names and strings of its nodes share memory
// with the text. Optional parts of a node are nil if they are absent.
type Document struct {
	Definitions []Definition
}

// Location is the position of the first character of a node. Line and Column count from 1; Column
// is in UTF-16 code units.
type Location struct{ Line, Column int }

// Name is a name and its location.
type Name struct {
	Value string
	Loc   *Location
}

// Definition is an [*OperationDefinition] or a [*FragmentDefinition].
type Definition interface{ definition() }

func (*OperationDefinition) definition() {}
func (*FragmentDefinition) definition()  {}

// The types of operations.
const (
	OperationQuery        = "query"
	OperationMutation     = "mutation"
	OperationSubscription = "subscription"
)

// OperationDefinition is a query, a mutation or a subscription (section 2.3).
type OperationDefinition struct {
	Loc                 *Location
	Operation           string
	Name                *Name
	VariableDefinitions []*VariableDefinition
	Directives          []*Directive
	SelectionSet        *SelectionSet
}

// FragmentDefinition is a fragment with a name (section 2.8).
type FragmentDefinition struct {
	Loc           *Location
	Name          *Name
	TypeCondition *NamedType
	Directives    []*Directive
	SelectionSet  *SelectionSet
}

// VariableDefinition declares a variable of an operation (section 2.10). DefaultValue is nil if
// there is none.
type VariableDefinition struct {
	Loc          *Location
	Variable     *Variable
	Type         Type
	DefaultValue Value
	Directives   []*Directive
}

// Type is a type reference (section 2.11): a [*NamedType], a [*ListType] or a [*NonNullType].
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
		Loc  *Location
		Type Type
	}
	// NonNullType is Type without null.
	NonNullType struct {
		Loc  *Location
		Type Type
	}
)

// Location implements [Type].
func (t *NamedType) Location() *Location { return t.Loc }

// Location implements [Type].
func (t *ListType) Location() *Location { return t.Loc }

// Location implements [Type].
func (t *NonNullType) Location() *Location { return t.Loc }

// SelectionSet is the set of selections of an operation, field or fragment (section 2.4). It has at
// least one selection.
type SelectionSet struct {
	Loc        *Location
	Selections []Selection
}

// Selection is a [*Field], a [*FragmentSpread] or an [*InlineFragment].
type Selection interface{ selection() }

func (*Field) selection()          {}
func (*FragmentSpread) selection() {}
func (*InlineFragment) selection() {}

type (
	// Field is a selected field (section 2.5). Alias is nil if there is none.
	Field struct {
		Loc          *Location
		Alias        *Name
		Name         *Name
		Arguments    []*Argument
		Directives   []*Directive
		SelectionSet *SelectionSet
	}
	// FragmentSpread includes a fragment by name (section 2.8).
	FragmentSpread struct {
		Loc        *Location
		Name       *Name
		Directives []*Directive
	}
	// InlineFragment is a fragment without a name (section 2.8.2). TypeCondition is nil if there is
	// none.
	InlineFragment struct {
		Loc           *Location
		TypeCondition *NamedType
		Directives    []*Directive
		SelectionSet  *SelectionSet
	}
)

// Argument is an argument of a field or a directive (section 2.6).
type Argument struct {
	Loc   *Location
	Name  *Name
	Value Value
}

// Directive is a directive on a node (section 2.12).
type Directive struct {
	Loc       *Location
	Name      *Name
	Arguments []*Argument
}

// Value is a literal or a variable (section 2.9): a [*Variable], [*IntValue], [*FloatValue],
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
