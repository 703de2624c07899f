package parser

// Document is a parsed document. Its nodes share the memory of the text for names and strings; the text is otherwise not
// kept. Optional parts are nil if they are absent.
type Document struct {
	Definitions []Definition
}

// Location is where a node begins. Both numbers count from 1, the column in UTF-16 code units.
type Location struct{ Line, Column int }

// Name is a name with its location.
type Name struct {
	Value string
	Loc   *Location
}

// Definition is an [*OperationDefinition] or a [*FragmentDefinition].
type Definition interface{ definition() }

func (*OperationDefinition) definition() {}
func (*FragmentDefinition) definition()  {}

// The kinds of operations.
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

// VariableDefinition is a variable of an operation (section 2.10).
type VariableDefinition struct {
	Loc          *Location
	Variable     *Variable
	Type         Type
	DefaultValue Value
	Directives   []*Directive
}

// Type is the type of a variable (section 2.11): a [*NamedType], a [*ListType] or a [*NonNullType].
type Type interface {
	// Location is where the type begins.
	Location() *Location
}

type (
	// NamedType is a type with a name. It shares the location of its name.
	NamedType struct {
		Loc  *Location
		Name *Name
	}
	// ListType is a list of values of a type.
	ListType struct {
		Loc  *Location
		Type Type
	}
	// NonNullType is a type without null.
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

// SelectionSet is what is selected from an object (section 2.4).
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
	// Field is a field of an object (section 2.5).
	Field struct {
		Loc          *Location
		Alias        *Name
		Name         *Name
		Arguments    []*Argument
		Directives   []*Directive
		SelectionSet *SelectionSet
	}
	// FragmentSpread is the use of a fragment by its name (section 2.8).
	FragmentSpread struct {
		Loc        *Location
		Name       *Name
		Directives []*Directive
	}
	// InlineFragment is a fragment at the place of its use (section 2.8.2).
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

// Directive is the use of a directive (section 2.12).
type Directive struct {
	Loc       *Location
	Name      *Name
	Arguments []*Argument
}

// Value is a literal or a variable (section 2.9): a [*Variable], [*IntValue], [*FloatValue], [*StringValue],
// [*BooleanValue], [*NullValue], [*EnumValue], [*ListValue] or [*ObjectValue].
type Value interface {
	// Location is where the value begins; nil for a value that was not parsed.
	Location() *Location
}

type (
	// Variable is the use of a variable. Its Loc is that of the dollar sign.
	Variable struct {
		Loc  *Location
		Name *Name
	}
	// IntValue is an integer as it is written.
	IntValue struct {
		Loc   *Location
		Value string
	}
	// FloatValue is a number with a fraction or an exponent as it is written.
	FloatValue struct {
		Loc   *Location
		Value string
	}
	// StringValue is the text of a string or block string.
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
	// EnumValue is the name of a value of an enum.
	EnumValue struct {
		Loc   *Location
		Value string
	}
	// ListValue is a list.
	ListValue struct {
		Loc    *Location
		Values []Value
	}
	// ObjectValue is an input object. Its names are not checked to be unique.
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
