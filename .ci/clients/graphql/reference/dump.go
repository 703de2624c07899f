// Package reference holds the packages under query/graphql/internal against the reference
// implementation of GraphQL, npm graphql 16, over generated documents. .ci/clients/run reference
// runs them.
package reference

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Dump writes a tree on one line, with the place of every node, as reference.mjs does.
func Dump(doc *parser.Document) string { return "(Document@0:0 " + join(doc.Definitions) + ")" }

func name(n *parser.Name) string {
	if n == nil {
		return "-"
	}
	return n.Value + at(n.Loc)
}

func at(loc *parser.Location) string { return fmt.Sprintf("@%d:%d", loc.Line, loc.Column) }

// join dumps a list of anything that is a node.
func join[T any](items []T) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = node(item)
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// node dumps a node: the name of its type is the kind that the reference calls it.
func node(n any) string {
	v := reflect.ValueOf(n).Elem()
	loc, _ := v.FieldByName("Loc").Interface().(*parser.Location)
	return "(" + v.Type().Name() + at(loc) + " " + inside(n) + ")"
}

// optional dumps a node that may be absent.
func optional(n any) string {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return "-"
	}
	return node(n)
}

func inside(n any) string {
	switch n := n.(type) {
	case *parser.OperationDefinition:
		return strings.Join([]string{n.Operation, name(n.Name), join(n.VariableDefinitions), join(n.Directives),
			node(n.SelectionSet)}, " ")
	case *parser.FragmentDefinition:
		return strings.Join([]string{name(n.Name), node(n.TypeCondition), join(n.Directives), node(n.SelectionSet)}, " ")
	case *parser.VariableDefinition:
		return strings.Join([]string{node(n.Variable), node(n.Type), optional(n.DefaultValue), join(n.Directives)}, " ")
	case *parser.SelectionSet:
		return join(n.Selections)
	case *parser.Field:
		return strings.Join([]string{name(n.Alias), name(n.Name), join(n.Arguments), join(n.Directives),
			optional(n.SelectionSet)}, " ")
	case *parser.FragmentSpread:
		return name(n.Name) + " " + join(n.Directives)
	case *parser.InlineFragment:
		return strings.Join([]string{optional(n.TypeCondition), join(n.Directives), node(n.SelectionSet)}, " ")
	case *parser.Argument:
		return name(n.Name) + " " + node(n.Value)
	case *parser.Directive:
		return name(n.Name) + " " + join(n.Arguments)
	}
	return leaf(n)
}

func leaf(n any) string {
	switch n := n.(type) {
	case *parser.NamedType:
		return name(n.Name)
	case *parser.ListType:
		return node(n.Type)
	case *parser.NonNullType:
		return node(n.Type)
	case *parser.Variable:
		return name(n.Name)
	case *parser.StringValue:
		return quoted(n.Value)
	case *parser.BooleanValue:
		return fmt.Sprint(n.Value)
	case *parser.NullValue:
		return "null"
	case *parser.ListValue:
		return join(n.Values)
	case *parser.ObjectValue:
		return join(n.Fields)
	case *parser.ObjectField:
		return name(n.Name) + " " + node(n.Value)
	case *parser.EnumValue:
		return n.Value
	case *parser.IntValue:
		return n.Value
	case *parser.FloatValue:
		return n.Value
	}
	return fmt.Sprintf("%T", n)
}

// quoted is JSON.stringify of a string.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err.Error()
	}
	return strings.NewReplacer("\\u2028", "\u2028", "\\u2029", "\u2029").Replace(strings.TrimSpace(b.String()))
}
