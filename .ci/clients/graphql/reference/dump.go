// Package reference holds the packages under query/graphql/internal against the reference implementation of GraphQL,
// npm graphql 16, over generated documents. The file run in this folder says how to start it.
package reference

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/graphql-go/graphql/language/ast"

	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Dump writes a tree on one line, with the place of every node, as reference.mjs does.
func Dump(doc *parser.Document) string { return dumper{doc}.node(doc.Document) }

type dumper struct{ doc *parser.Document }

func at(loc *ast.Location) string {
	line, column := parser.Place(loc)
	return fmt.Sprintf("@%d:%d", line, column)
}

func name(n *ast.Name) string {
	if n == nil {
		return "-"
	}
	return n.Value + at(n.Loc)
}

// join dumps a list of anything that is a node.
func join[T any](d dumper, items []T) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = d.node(any(item).(ast.Node))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func (d dumper) node(n ast.Node) string {
	kind := n.GetKind()
	switch kind {
	case "Named", "List", "NonNull": // what the reference calls otherwise
		kind += "Type"
	}
	return "(" + kind + at(n.GetLoc()) + " " + d.inside(n) + ")"
}

func (d dumper) inside(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Document:
		return join(d, n.Definitions)
	case *ast.OperationDefinition:
		return strings.Join([]string{n.Operation, name(n.Name), join(d, n.VariableDefinitions), join(d, n.Directives),
			d.node(n.SelectionSet)}, " ")
	case *ast.FragmentDefinition:
		return strings.Join([]string{name(n.Name), d.node(n.TypeCondition), join(d, n.Directives),
			d.node(n.SelectionSet)}, " ")
	case *ast.VariableDefinition:
		value := "-"
		if n.DefaultValue != nil {
			value = d.node(n.DefaultValue)
		}
		return strings.Join([]string{d.node(n.Variable), d.node(n.Type), value, join(d, d.doc.Variables[n])}, " ")
	case *ast.SelectionSet:
		return join(d, n.Selections)
	case *ast.Field:
		set := "-"
		if n.SelectionSet != nil {
			set = d.node(n.SelectionSet)
		}
		return strings.Join([]string{name(n.Alias), name(n.Name), join(d, n.Arguments), join(d, n.Directives), set}, " ")
	case *ast.FragmentSpread:
		return name(n.Name) + " " + join(d, n.Directives)
	case *ast.InlineFragment:
		on := "-"
		if n.TypeCondition != nil {
			on = d.node(n.TypeCondition)
		}
		return strings.Join([]string{on, join(d, n.Directives), d.node(n.SelectionSet)}, " ")
	case *ast.Argument:
		return name(n.Name) + " " + d.node(n.Value)
	case *ast.Directive:
		return name(n.Name) + " " + join(d, n.Arguments)
	}
	return d.leaf(n)
}

func (d dumper) leaf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Named:
		return name(n.Name)
	case *ast.List:
		return d.node(n.Type)
	case *ast.NonNull:
		return d.node(n.Type)
	case *ast.Variable:
		return name(n.Name)
	case *ast.StringValue:
		return quoted(n.Value)
	case *ast.BooleanValue:
		return fmt.Sprint(n.Value)
	case *parser.NullValue:
		return "null"
	case *ast.ListValue:
		return join(d, n.Values)
	case *ast.ObjectValue:
		return join(d, n.Fields)
	case *ast.ObjectField:
		return name(n.Name) + " " + d.node(n.Value)
	case *ast.EnumValue:
		return n.Value
	case *ast.IntValue:
		return n.Value
	case *ast.FloatValue:
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
