// Package coerce makes Go values of what clients give: literals in documents and variables in JSON.
//
// It is for query/graphql alone. It is strict (GraphQL, section 3.5 and following): "12" is not an Int. What is absent,
// what is null and what has a value are three different things.
//
// The values are: int for Int, int64 for Int64, float64, string for String and ID, bool, time.Time for DateTime, a compact
// jsontext.Value for JSON, the value that an enum has for a name, []any for lists, map[string]any for input objects, and what
// any other scalar of the schema makes of it. Null is nil; what is absent is no key of its map.
package coerce

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Error is why a value does not fit. Its text is fit for clients.
type Error struct {
	Variable string // or Argument
	Argument string
	Path     string // to the part of it that is meant, such as lines[0].qty; empty for all of it
	Message  string // the reason, in a sentence
}

// Error puts it together: variable $input at lines[0].qty: ...
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

// path is where in a value one is. Its zero value is the value as a whole.
type path struct {
	before *path
	name   string // of a field, or "" for the item of a list
	item   int
}

// String writes a path as clients write it in their own languages: .lines[0].qty. It is only made for errors.
func (p *path) String() string {
	if p == nil {
		return ""
	}
	if p.name != "" {
		return p.before.String() + "." + p.name
	}
	return p.before.String() + "[" + strconv.Itoa(p.item) + "]"
}

// Arguments returns the values of arguments (section 6.4.1): those given, and the defaults of those that are not. The
// variables are as [Variables] returns them. The document is taken to be valid, so that an error, which is an [*Error],
// tells of variables.
func Arguments(defs []*model.Input, given []*parser.Argument,
	variables map[string]any) (map[string]any, error) {
	values := make(map[string]any, len(defs))
	for _, def := range defs {
		node := valueOf(given, def.Name)
		if node == nil || missing(node, variables) {
			if def.Default != nil {
				values[def.Name] = def.Default
			} else if def.Type.NonNull {
				return nil, &Error{Argument: def.Name, Message: lacking(def.Type, node)}
			}
			continue
		}
		value, ok := Value(def.Type, node, variables)
		if !ok {
			return nil, &Error{Argument: def.Name, Message: unfit(def.Type, node)}
		}
		values[def.Name] = value
	}
	return values, nil
}

// lacking says what kind of absence it is, for someone who may not have written the document.
func lacking(t *model.Ref, node parser.Value) string {
	if node == nil {
		return fmt.Sprintf("A value of type %q is required, but none was provided.", t)
	}
	return fmt.Sprintf("A value of type %q is required, but the variable %q has none.", t,
		"$"+variableName(node))
}

// unfit says why a literal in a valid document has no value: a null in a variable, on its own or somewhere inside.
func unfit(t *model.Ref, node parser.Value) string {
	if name := variableName(node); name != "" {
		return fmt.Sprintf("A value of type %q must not be null, as the variable %q is.", t, "$"+name)
	}
	return fmt.Sprintf("Expected value of type %q, found %s.", t, Show(node))
}

// variableName returns the name of a variable, and "" for any other literal.
func variableName(v parser.Value) string {
	if v, ok := v.(*parser.Variable); ok {
		return v.Name.Value
	}
	return ""
}

func valueOf(given []*parser.Argument, name string) parser.Value {
	for _, arg := range given {
		if arg.Name.Value == name {
			return arg.Value
		}
	}
	return nil
}

// missing reports whether a literal is a variable without a value.
func missing(v parser.Value, variables map[string]any) bool {
	name := variableName(v)
	if name == "" {
		return false
	}
	_, ok := variables[name]
	return !ok
}

// Value coerces a literal to an input type, with variables in it replaced. It reports false if the literal does not fit,
// which in a valid document is the doing of a variable without a value, or with null.
func Value(t *model.Ref, v parser.Value, variables map[string]any) (any, bool) {
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
	case t.Type.Name == "JSON":
		raw, err := JSON(v, variables)
		return raw, err == nil
	}
	value, err := Literal(t.Type, v)
	return value, err == nil
}

// listValue takes what is no list for a list of one (section 3.11).
func listValue(t *model.Ref, v parser.Value, variables map[string]any) (any, bool) {
	list, ok := v.(*parser.ListValue)
	if !ok {
		item, ok := Value(t.Elem, v, variables)
		return []any{item}, ok
	}
	values := make([]any, 0, len(list.Values))
	for _, item := range list.Values {
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

// objectValue leaves fields out whose variable has no value, and then lets defaults step in (section 3.10).
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
		if missing(f.Value, variables) {
			continue
		}
		value, ok := Value(def.Type, f.Value, variables)
		if !ok {
			return nil, false
		}
		values[f.Name.Value] = value
	}
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
	return values, !t.OneOf || len(values) == 1 && !hasNull(values)
}

// hasNull reports whether a null was given for anything, which is not the same as nothing.
func hasNull(values map[string]any) bool {
	for _, v := range values {
		if v == nil {
			return true
		}
	}
	return false
}
