// Package coerce converts input values, which are literals in documents and variables in JSON, to
// Go values.
//
// Coercion is strict, as section 3.5 of the specification requires: "12" is not an Int. Absent,
// null and present values are distinguished.
//
// The Go values are int for Int, int64 or, above its range, uint64 for Int64, float64 for Float,
// string for String and ID, bool for Boolean, time.Time for DateTime, and a compact jsontext.Value
// for JSON. An enum value is the Go value of its definition. A list is []any and an input object is
// map[string]any. Any other scalar accepts each JSON value. Null is nil, and an absent value has no
// key in its map.
//
// Package exec calls [Definitions] and [Arguments] when it compiles a plan, and [Variables] and
// [Arguments] for each request. Package validate calls [Literal], so that both accept the same
// literals.
//
// Results share the default values of the schema, and arguments share the values of variables.
// Callers must not modify them.
package coerce

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Error reports a value that cannot be coerced. Its text may be sent to clients. Either Variable or
// Argument is set.
type Error struct {
	Variable string // name of the variable, without the dollar sign
	Argument string // name of the argument, if its value is missing or null
	Path     string // path within the value, such as lines[0].qty; empty for the value itself
	Message  string // the reason, as a sentence
}

// Error returns the variable or argument, the path and the message, such as "variable $input at
// lines[0].qty: ...".
func (e *Error) Error() string {
	where := "variable $" + e.Variable
	if e.Argument != "" {
		where = "argument " + e.Argument
	}
	if e.Path != "" {
		where += " at " + strings.TrimPrefix(e.Path, ".")
	}
	return where + ": " + e.Message
}

// path is a position within a value. A nil path is the value itself. It is a linked list, so that
// reading a value builds no text unless there is an error.
type path struct {
	parent *path
	name   string // of a field; empty for an item of a list
	item   int    // index in the list
}

// String returns the path with a leading dot or bracket, such as .lines[0].qty. It is only called
// for errors. Its recursion is as deep as the value, which maxNesting limits.
func (p *path) String() string {
	if p == nil {
		return ""
	}
	if p.name != "" {
		return p.parent.String() + "." + p.name
	}
	return p.parent.String() + "[" + strconv.Itoa(p.item) + "]"
}

// Arguments implements CoerceArgumentValues (section 6.4.1). It returns the given arguments, and
// the default values of absent ones. variables is a result of [Variables]. The document has to be
// valid, so that an error, which is an [*Error], concerns the values of variables. The first error
// ends the coercion, because one argument that is not valid makes its field fail. The result is values,
// which must be empty, or nil after an error.
func Arguments(defs []*model.Input, given []*parser.Argument, variables, values map[string]any) (
	map[string]any, error) {
	for _, def := range defs {
		node := valueOf(given, def.Name)
		// A variable without a value counts as an argument that is not given (section 6.4.1).
		if node == nil || missing(node, variables) {
			// A nil Default is no default or a default of null. Both leave the argument absent.
			if def.Default != nil {
				values[def.Name] = def.Default
			} else if def.Type.NonNull {
				return nil, &Error{Argument: def.Name, Message: missingMessage(def.Type, node)}
			}
			continue
		}
		value, ok := Value(def.Type, node, variables)
		if !ok {
			return nil, &Error{Argument: def.Name, Message: invalidMessage(def.Type, node)}
		}
		values[def.Name] = value
	}
	return values, nil
}

// missingMessage returns the message for a required argument without a value.
func missingMessage(t *model.Ref, node parser.Value) string {
	if node == nil {
		return fmt.Sprintf("A value of type %q is required, but none was provided.", t)
	}
	return fmt.Sprintf("A value of type %q is required, but the variable %q has none.", t,
		"$"+variableName(node))
}

// invalidMessage returns the message for a literal in a valid document that cannot be coerced,
// because a variable is null. validate has accepted the literal, so only the value of a variable in
// it can be the cause.
func invalidMessage(t *model.Ref, node parser.Value) string {
	if name := variableName(node); name != "" {
		return fmt.Sprintf("A value of type %q must not be null, as the variable %q is.", t, "$"+name)
	}
	return fmt.Sprintf("Expected value of type %q, found %s.", t, Show(node))
}

// variableName returns the name if v is a variable, and "" otherwise.
func variableName(v parser.Value) string {
	if v, ok := v.(*parser.Variable); ok {
		return v.Name.Value
	}
	return ""
}

// valueOf returns the value of the argument with this name, or nil. Names are unique in a valid
// document.
func valueOf(given []*parser.Argument, name string) parser.Value {
	for _, arg := range given {
		if arg.Name.Value == name {
			return arg.Value
		}
	}
	return nil
}

// missing reports whether v is a variable without a value. A variable that is null has a value. The
// difference decides between a default and null.
func missing(v parser.Value, variables map[string]any) bool {
	name := variableName(v)
	if name == "" {
		return false
	}
	_, ok := variables[name]
	return !ok
}

// Value coerces a literal, which may contain variables, to an input type. ok is false if the
// literal does not conform to the type. In a valid document this happens only for variables that
// are absent or null. The recursion is as deep as the document nests, which lexer.Guard limits.
func Value(t *model.Ref, v parser.Value, variables map[string]any) (any, bool) {
	// Values of variables are coerced already, and validate has compared their types (section 5.8.5).
	// Only null is checked, which a nullable variable with a default may be.
	if name := variableName(v); name != "" {
		value, ok := variables[name]
		return value, ok && (value != nil || !t.NonNull)
	}
	if _, null := v.(*parser.NullValue); null {
		return nil, !t.NonNull
	}
	switch {
	case t.Elem != nil:
		return listValue(t, v, variables)
	case t.Type.Kind == model.InputObject:
		return objectValue(t.Type, v, variables)
	// Unlike Literal, JSON replaces variables inside the value.
	case t.Type.Name == "JSON":
		raw, err := JSON(v, variables)
		return raw, err == nil
	}
	// Enums and the other scalars contain no variables.
	value, err := Literal(t.Type, v)
	return value, err == nil
}

// listValue coerces a list. A value that is not a list becomes a list of one item (section 3.11).
// Lists of lists become lists of one item on each level.
func listValue(t *model.Ref, v parser.Value, variables map[string]any) (any, bool) {
	list, ok := v.(*parser.ListValue)
	if !ok {
		item, ok := Value(t.Elem, v, variables)
		return []any{item}, ok
	}
	values := make([]any, 0, len(list.Values))
	for _, item := range list.Values {
		// An item of a list cannot be absent, so a variable without a value becomes null.
		if missing(item, variables) && !t.Elem.NonNull {
			values = append(values, nil)
			continue
		}
		value, ok := Value(t.Elem, item, variables)
		if !ok {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

// objectValue coerces an input object (section 3.10). A field is absent if its value is a variable
// without a value. Absent fields have their default values. A field that the type does not have
// makes the object invalid.
func objectValue(t *model.Type, v parser.Value, variables map[string]any) (any, bool) {
	object, ok := v.(*parser.ObjectValue)
	if !ok {
		return nil, false
	}
	values := make(map[string]any, len(object.Fields))
	for _, f := range object.Fields {
		def := t.Input(f.Name.Value)
		if def == nil {
			return nil, false
		}
		// The field is absent, so that its default applies.
		if missing(f.Value, variables) {
			continue
		}
		value, ok := Value(def.Type, f.Value, variables)
		if !ok {
			return nil, false
		}
		values[f.Name.Value] = value
	}
	// Defaults have the coerced form already; see model.Input.
	for _, def := range t.Inputs {
		if _, ok := values[def.Name]; ok {
			continue
		}
		if def.Required() {
			return nil, false
		}
		if def.Default != nil {
			values[def.Name] = def.Default
		}
	}
	// Exactly one field of a OneOf object is present, and it is not null (section 3.10.1).
	return values, !t.OneOf || len(values) == 1 && !hasNull(values)
}

// hasNull reports whether any value is null. A OneOf object has one value when this is called, but
// a variable in it may be null.
func hasNull(values map[string]any) bool {
	for _, v := range values {
		if v == nil {
			return true
		}
	}
	return false
}
