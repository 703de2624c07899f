// Package graphqltest has one schema for the tests of its neighbours, in which everything that the type system knows occurs:
// for graphql-go in [New], and for the reference implementation in the file schema.graphql.
package graphqltest

import (
	"strconv"
	"strings"

	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"
)

// Repeatable names the directives of the schema that may be repeated; graphql-go has no place for that, nor for the next.
func Repeatable() []string { return []string{"tag"} }

// OneOf names the input objects of which one field is to be given.
func OneOf() []string { return []string{"Pick"} }

// types are the types of the schema by name, made one after the other.
type types map[string]graphql.Type

// of finds a type as the schema language writes it.
func (t types) of(text string) graphql.Type {
	if inner, ok := strings.CutSuffix(text, "!"); ok {
		return graphql.NewNonNull(t.of(inner))
	}
	if strings.HasPrefix(text, "[") {
		return graphql.NewList(t.of(text[1 : len(text)-1]))
	}
	return t[text]
}

// args makes arguments of triples: name, type, default.
func (t types) args(triples ...any) graphql.FieldConfigArgument {
	args := graphql.FieldConfigArgument{}
	for i := 0; i < len(triples); i += 3 {
		args[triples[i].(string)] = &graphql.ArgumentConfig{Type: t.of(triples[i+1].(string)), DefaultValue: triples[i+2]}
	}
	return args
}

// fields makes fields of triples: name, type, arguments.
func (t types) fields(triples ...any) graphql.Fields {
	fields := graphql.Fields{}
	for i := 0; i < len(triples); i += 3 {
		args, _ := triples[i+2].(graphql.FieldConfigArgument)
		fields[triples[i].(string)] = &graphql.Field{Type: t.of(triples[i+1].(string)), Args: args}
	}
	return fields
}

// inputs makes the fields of an input object of triples: name, type, default.
func (t types) inputs(triples ...any) graphql.InputObjectConfigFieldMap {
	fields := graphql.InputObjectConfigFieldMap{}
	for i := 0; i < len(triples); i += 3 {
		fields[triples[i].(string)] = &graphql.InputObjectFieldConfig{Type: t.of(triples[i+1].(string)),
			DefaultValue: triples[i+2]}
	}
	return fields
}

// New makes the schema anew.
func New() (graphql.Schema, error) {
	t := types{"Int": graphql.Int, "Float": graphql.Float, "String": graphql.String, "Boolean": graphql.Boolean,
		"ID": graphql.ID}
	t.leaves()
	t.inputObjects()
	t.beings()
	return graphql.NewSchema(graphql.SchemaConfig{
		Query: graphql.NewObject(graphql.ObjectConfig{Name: "Query", Fields: t.query()}),
		Mutation: graphql.NewObject(graphql.ObjectConfig{Name: "Mutation", Fields: t.fields(
			"note", "Human", t.args("input", "Note!", nil),
			"paint", "Stone", t.args("color", "Color", "BLUE"))}),
		Subscription: graphql.NewObject(graphql.ObjectConfig{Name: "Subscription", Fields: t.fields(
			"painted", "Stone", t.args("color", "Color", nil), "born", "Being", nil)}),
		Types: []graphql.Type{t["Human"], t["Dog"], t["Cat"], t["Stone"]},
		Directives: append([]*graphql.Directive{
			graphql.NewDirective(graphql.DirectiveConfig{Name: "tag", Args: t.args("name", "String!", nil, "weight", "Int", 1),
				Locations: []string{"QUERY", "FIELD", "VARIABLE_DEFINITION", "FRAGMENT_DEFINITION"}}),
			graphql.NewDirective(graphql.DirectiveConfig{Name: "once", Args: t.args("note", "Note", nil),
				Locations: []string{"QUERY", "MUTATION", "FIELD", "INLINE_FRAGMENT", "FRAGMENT_SPREAD"}}),
		}, graphql.SpecifiedDirectives...),
	})
}

// leaves makes a scalar that takes anything, and an enum.
func (t types) leaves() {
	t["Any"] = graphql.NewScalar(graphql.ScalarConfig{Name: "Any",
		Serialize:    func(v any) any { return v },
		ParseValue:   func(v any) any { return v },
		ParseLiteral: untyped,
	})
	t["Color"] = graphql.NewEnum(graphql.EnumConfig{Name: "Color",
		Values: graphql.EnumValueConfigMap{"RED": {}, "GREEN": {}, "BLUE": {}}})
}

// inputObjects makes objects that contain themselves and each other, with and without defaults.
func (t types) inputObjects() {
	object := func(name string, fields func() graphql.InputObjectConfigFieldMap) {
		t[name] = graphql.NewInputObject(graphql.InputObjectConfig{Name: name,
			Fields: graphql.InputObjectConfigFieldMapThunk(fields)})
	}
	object("Note", func() graphql.InputObjectConfigFieldMap {
		return t.inputs("text", "String!", nil, "stars", "Int!", 3, "color", "Color", nil, "more", "[Note!]", nil)
	})
	object("Pick", func() graphql.InputObjectConfigFieldMap {
		return t.inputs("id", "ID", nil, "name", "String", nil, "note", "Note", nil)
	})
	object("Filter", func() graphql.InputObjectConfigFieldMap {
		return t.inputs("ids", "[ID!]", nil, "sizes", "[[Int]]", nil, "near", "Float", nil, "open", "Boolean!", true,
			"any", "Any", nil, "pick", "Pick", nil, "nested", "Filter", nil)
	})
}

// beings makes objects, interfaces and unions whose fields agree in some places and in others do not.
func (t types) beings() {
	name := t.args("surname", "Boolean", false)
	friends := t.args("first", "Int!", 10, "filter", "Filter", nil)
	resolve := func(graphql.ResolveTypeParams) *graphql.Object { return nil }
	being := graphql.NewInterface(graphql.InterfaceConfig{Name: "Being", ResolveType: resolve,
		Fields: graphql.FieldsThunk(func() graphql.Fields {
			return t.fields("id", "ID!", nil, "name", "String", name, "friends", "[Being!]", friends)
		})})
	pet := graphql.NewInterface(graphql.InterfaceConfig{Name: "Pet", ResolveType: resolve,
		Fields: graphql.FieldsThunk(func() graphql.Fields {
			return t.fields("name", "String", name, "owner", "Human", nil)
		})})
	t["Being"], t["Pet"] = being, pet
	object := func(name string, interfaces []*graphql.Interface, triples ...any) *graphql.Object {
		o := graphql.NewObject(graphql.ObjectConfig{Name: name, Interfaces: interfaces,
			Fields: graphql.FieldsThunk(func() graphql.Fields { return t.fields(triples...) })})
		t[name] = o
		return o
	}
	human := object("Human", []*graphql.Interface{being}, "id", "ID!", nil, "name", "String", name, "friends", "[Being!]",
		friends, "height", "Float", t.args("unit", "Color", "RED"), "pets", "[Pet]!", nil, "tags", "[String!]!", nil,
		"self", "Human!", nil)
	dog := object("Dog", []*graphql.Interface{being, pet}, "id", "ID!", nil, "name", "String", name, "friends", "[Being!]",
		friends, "owner", "Human", nil, "barks", "Boolean!", nil, "height", "Int", nil, "tags", "[String]", nil,
		"self", "Dog", nil)
	cat := object("Cat", []*graphql.Interface{pet}, "name", "String", name, "owner", "Human", nil, "meows", "Int", nil,
		"color", "Color", nil, "self", "Cat!", nil)
	stone := object("Stone", nil, "color", "Color!", nil, "weight", "Float", nil, "any", "Any", nil)
	t["Thing"] = graphql.NewUnion(graphql.UnionConfig{Name: "Thing", ResolveType: resolve,
		Types: []*graphql.Object{human, dog, stone}})
	t["Animal"] = graphql.NewUnion(graphql.UnionConfig{Name: "Animal", ResolveType: resolve,
		Types: []*graphql.Object{cat, dog}})
}

// query has a way to every type, and arguments of every kind.
func (t types) query() graphql.Fields {
	return t.fields(
		"being", "Being", t.args("id", "ID!", nil),
		"human", "Human", t.args("id", "ID", nil, "note", "Note", nil),
		"dog", "Dog!", nil,
		"thing", "Thing", t.args("pick", "Pick", nil, "color", "Color!", nil),
		"animals", "[Animal!]!", t.args("filter", "Filter", nil, "colors", "[Color!]", nil, "grid", "[[Int!]!]", nil),
		"stones", "[Stone]", t.args("any", "Any", nil),
		"count", "Int", t.args("int", "Int", nil, "float", "Float", nil, "text", "String", nil, "flag", "Boolean", nil,
			"id", "ID", nil, "required", "Int!", nil, "ints", "[Int]", nil))
}

// untyped is what the scalar Any takes a literal for.
func untyped(v ast.Value) any {
	switch v := v.(type) {
	case *ast.IntValue:
		n, _ := strconv.ParseFloat(v.Value, 64)
		return n
	case *ast.FloatValue:
		n, _ := strconv.ParseFloat(v.Value, 64)
		return n
	case *ast.ListValue:
		list := make([]any, len(v.Values))
		for i, item := range v.Values {
			list[i] = untyped(item)
		}
		return list
	case *ast.ObjectValue:
		object := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			object[f.Name.Value] = untyped(f.Value)
		}
		return object
	}
	return v.GetValue()
}
