// Package graphqltest has schemas and documents for the tests of query/graphql and its internal
// packages, and for the differential tests in .ci/clients.
//
// [New] and [Kitchen] return schemas that are built by hand, so a test does not depend on
// reflection. [Catalog] returns a catalog with items, for tests that execute operations. [Hostile]
// has documents that attack a server, and [Scalars] has input values.
package graphqltest

import (
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// New returns a schema that uses every feature of the type system, including interfaces and unions.
// The reference implementation reads the same schema from schema.graphql. The differential tests in
// .ci/clients use both, so a change has to be made in both files. The fields have no Source and
// cannot be executed.
func New() *model.Schema {
	m := models{}
	// All types exist before their fields, because they refer to each other by name.
	for name, kind := range map[string]model.Kind{"Int": model.Scalar, "Float": model.Scalar,
		"String":  model.Scalar,
		"Boolean": model.Scalar, "ID": model.Scalar, "Any": model.Scalar, "Color": model.Enum,
		"Note": model.InputObject,
		"Pick": model.InputObject, "Filter": model.InputObject, "Being": model.Interface,
		"Pet":   model.Interface,
		"Human": model.Object, "Dog": model.Object, "Cat": model.Object, "Stone": model.Object,
		"Thing":  model.Union,
		"Animal": model.Union, "Query": model.Object, "Mutation": model.Object,
		"Subscription": model.Object} {
		m[name] = &model.Type{Kind: kind, Name: name}
	}
	for _, name := range []string{"RED", "GREEN", "BLUE"} {
		m["Color"].Values = append(m["Color"].Values, &model.Value{Name: name, Go: name})
	}
	m.inputObjects()
	m.beings()
	m.roots()
	s := &model.Schema{Query: m["Query"], Mutation: m["Mutation"], Subscription: m["Subscription"]}
	// The order of a map is random. introspect.Extend sorts the types below.
	for _, t := range m {
		s.Types = append(s.Types, t)
	}
	s.Directives = []*model.Directive{
		{Name: "tag", Args: m.args("name", "String!", nil, "weight", "Int", 1), Repeatable: true,
			Locations: []string{"QUERY", "FIELD", "VARIABLE_DEFINITION", "FRAGMENT_DEFINITION"}},
		{Name: "once", Args: m.args("note", "Note", nil),
			Locations: []string{"QUERY", "MUTATION", "FIELD", "INLINE_FRAGMENT", "FRAGMENT_SPREAD"}}}
	introspect.Extend(s)
	return s
}

// args returns arguments or input fields. It takes triples of name, type and default; nil means no
// default. A default of null cannot be expressed; see with.
func (m models) args(triples ...any) []*model.Input {
	var args []*model.Input
	for i := 0; i < len(triples); i += 3 {
		in := &model.Input{Name: triples[i].(string), Type: m.ref(triples[i+1].(string)),
			Default: triples[i+2]}
		in.HasDefault = in.Default != nil
		args = append(args, in)
	}
	return args
}

// fields returns fields. It takes triples of name, type and arguments. Arguments may be nil. A type
// is a reference in SDL.
func (m models) fields(triples ...any) []*model.Field {
	var fields []*model.Field
	for i := 0; i < len(triples); i += 3 {
		args, _ := triples[i+2].([]*model.Input)
		fields = append(fields, m.field(triples[i].(string), triples[i+1].(string), "", args...))
	}
	return fields
}

// inputObjects fills the input objects. Some refer to themselves or each other, with and without
// defaults. The references are nullable or lists: an input object that requires itself would have
// no finite value.
func (m models) inputObjects() {
	m["Note"].Inputs = m.args("text", "String!", nil, "stars", "Int!", 3, "color", "Color", nil, "more",
		"[Note!]", nil)
	m["Pick"].Inputs = m.args("id", "ID", nil, "name", "String", nil, "note", "Note", nil)
	// Exactly one field of Pick must be given (section 3.10.1).
	m["Pick"].OneOf = true
	m["Filter"].Inputs = m.args("ids", "[ID!]", nil, "sizes", "[[Int]]", nil, "near", "Float", nil, "open",
		"Boolean!", true,
		"any", "Any", nil, "pick", "Pick", nil, "nested", "Filter", nil)
}

// beings fills objects, interfaces and unions. Fields with the same name agree between some types
// and conflict between others, for the tests of field merging.
func (m models) beings() {
	// name and friends have the same arguments in all types, as interfaces require (section 3.7).
	name := m.args("surname", "Boolean", false)
	friends := m.args("first", "Int!", 10, "filter", "Filter", nil)
	human, dog, cat, stone := m["Human"], m["Dog"], m["Cat"], m["Stone"]
	m["Being"].Fields = m.fields("id", "ID!", nil, "name", "String", name, "friends", "[Being!]", friends)
	// Being and Pet overlap in Dog only. A fragment on one can be spread in the other for this
	// reason.
	m["Being"].Possible = []*model.Type{human, dog}
	m["Pet"].Fields = m.fields("name", "String", name, "owner", "Human", nil)
	m["Pet"].Possible = []*model.Type{dog, cat}
	// The fields height and tags have different types in Human and Dog, which conflict if they are
	// merged (section 5.3.2).
	human.Fields = m.fields("id", "ID!", nil, "name", "String", name, "friends", "[Being!]", friends,
		"height", "Float", m.args("unit", "Color", "RED"), "pets", "[Pet]!", nil, "tags", "[String!]!", nil,
		"self", "Human!", nil)
	dog.Fields = m.fields("id", "ID!", nil, "name", "String", name, "friends", "[Being!]", friends, "owner",
		"Human", nil,
		"barks", "Boolean!", nil, "height", "Int", nil, "tags", "[String]", nil, "self", "Dog", nil)
	cat.Fields = m.fields("name", "String", name, "owner", "Human", nil, "meows", "Int", nil, "color",
		"Color", nil,
		"self", "Cat!", nil)
	stone.Fields = m.fields("color", "Color!", nil, "weight", "Float", nil, "any", "Any", nil)
	m["Thing"].Possible = []*model.Type{human, dog, stone}
	m["Animal"].Possible = []*model.Type{cat, dog}
}

// roots fills the root types. Every other type can be reached from them, and there are arguments of
// every kind. count has an argument of each built-in scalar, and required is the only one without
// which it is invalid.
func (m models) roots() {
	m["Query"].Fields = m.fields(
		"being", "Being", m.args("id", "ID!", nil),
		"human", "Human", m.args("id", "ID", nil, "note", "Note", nil),
		"dog", "Dog!", nil,
		"thing", "Thing", m.args("pick", "Pick", nil, "color", "Color!", nil),
		"animals", "[Animal!]!", m.args("filter", "Filter", nil, "colors", "[Color!]", nil, "grid",
			"[[Int!]!]", nil),
		"stones", "[Stone]", m.args("any", "Any", nil),
		"count", "Int", m.args("int", "Int", nil, "float", "Float", nil, "text", "String", nil, "flag",
			"Boolean", nil,
			"id", "ID", nil, "required", "Int!", nil, "ints", "[Int]", nil))
	m["Mutation"].Fields = m.fields("note", "Human", m.args("input", "Note!", nil), "paint", "Stone",
		m.args("color", "Color", "BLUE"))
	m["Subscription"].Fields = m.fields("painted", "Stone", m.args("color", "Color", nil), "born", "Being",
		nil)
}
