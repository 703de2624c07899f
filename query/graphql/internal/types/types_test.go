package types_test

import (
	"testing"

	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/types"
)

func schema(t *testing.T) *types.Schema {
	t.Helper()
	s, err := graphqltest.New()
	if err != nil {
		t.Fatal(err)
	}
	return &types.Schema{Schema: s, OneOf: graphqltest.OneOf()}
}

// resolve returns the type that is written so, as that of a variable.
func resolve(t *testing.T, s *types.Schema, text string) graphql.Type {
	t.Helper()
	doc, err := parser.Parse("query($a:" + text + "){b}")
	if err != nil {
		t.Fatal(err)
	}
	return s.Resolve(doc.Definitions[0].(*ast.OperationDefinition).VariableDefinitions[0].Type)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for _, text := range []string{"Int", "Int!", "[Int]", "[[Note!]!]!", "Human"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := resolve(t, s, text); got == nil || got.String() != text {
				t.Errorf("it is %v", got)
			}
		})
	}
	for _, text := range []string{"Nothing", "[Nothing!]", "Nothing!"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := resolve(t, s, text); got != nil {
				t.Errorf("it is %v", got)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		one, other string
		want       bool
	}{
		{"Int", "Int", true}, {"Int!", "Int", true}, {"Int", "Int!", false}, {"Int!", "Int!", true}, {"Int", "Float", false},
		{"[Int]", "[Int]", true}, {"[Int!]!", "[Int]", true}, {"[Int]", "[Int!]", false}, {"Int", "[Int]", false},
		{"[Int]", "Int", false}, {"[[Int!]]!", "[[Int]]", true}, {"[[Int]]", "[Int]", false},
	}
	s := schema(t)
	for _, tt := range tests {
		t.Run(tt.one+" in "+tt.other, func(t *testing.T) {
			t.Parallel()
			if got := types.Within(resolve(t, s, tt.one), resolve(t, s, tt.other)); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		one, other string
		want       bool
	}{
		{"Dog", "Dog", true}, {"Dog", "Cat", false}, {"Dog", "Pet", true}, {"Human", "Pet", false}, {"Pet", "Being", true},
		{"Thing", "Animal", true}, {"Stone", "Thing", true}, {"Stone", "Animal", false}, {"Cat", "Being", false},
	}
	s := schema(t)
	for _, tt := range tests {
		t.Run(tt.one+" and "+tt.other, func(t *testing.T) {
			t.Parallel()
			a, b := s.Type(tt.one), s.Type(tt.other)
			if s.Overlap(a, b) != tt.want || s.Overlap(b, a) != tt.want {
				t.Errorf("got %v and %v, want %v", s.Overlap(a, b), s.Overlap(b, a), tt.want)
			}
		})
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	s := schema(t)
	tests := []struct {
		parent, name string
		want         bool
	}{
		{"Query", "dog", true}, {"Query", "__schema", true}, {"Query", "__type", true}, {"Dog", "__type", false},
		{"Dog", "__typename", true}, {"Thing", "__typename", true}, {"Thing", "color", false}, {"Pet", "owner", true},
		{"Pet", "barks", false}, {"Dog", "__other", false},
	}
	for _, tt := range tests {
		t.Run(tt.parent+"."+tt.name, func(t *testing.T) {
			t.Parallel()
			if got := s.Field(s.Type(tt.parent), tt.name); (got != nil) != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for kind, want := range map[string]string{"query": "Query", "mutation": "Mutation", "subscription": "Subscription"} {
		if got := s.Root(kind); got == nil || got.Name() != want {
			t.Errorf("%s starts from %v", kind, got)
		}
	}
	var none types.Schema
	if got := none.Root("mutation"); got != nil {
		t.Errorf("a schema without mutations starts them from %v", got)
	}
}

// TestMetaFields has fields of introspection stand in for graphql-go's.
func TestMetaFields(t *testing.T) {
	t.Parallel()
	s := schema(t)
	s.TypeName, s.MetaSchema = &graphql.FieldDefinition{Name: "__typename"}, &graphql.FieldDefinition{Name: "__schema"}
	query, dog := s.Type("Query"), s.Type("Dog")
	tests := []struct {
		name, field string
		parent      graphql.Type
		want        *graphql.FieldDefinition
	}{
		{"name of a type", "__typename", dog, s.TypeName},
		{"schema", "__schema", query, s.MetaSchema},
		{"schema of no root", "__schema", dog, nil},
		{"graphql-go's own where there is none", "__type", query, graphql.TypeMetaFieldDef},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := s.Field(tt.parent, tt.field); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
