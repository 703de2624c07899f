package model_test

import (
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// refOf returns the type reference that text denotes.
func refOf(t *testing.T, s *model.Schema, text string) *model.Ref {
	t.Helper()
	doc, err := parser.Parse("query($a:" + text + "){b}")
	if err != nil {
		t.Fatal(err)
	}
	return coerce.TypeOf(s, doc.Definitions[0].(*parser.OperationDefinition).VariableDefinitions[0].Type)
}

func TestTypeOf(t *testing.T) {
	t.Parallel()
	s := graphqltest.New()
	for _, text := range []string{"Int", "Int!", "[Int]", "[[Note!]!]!", "Human"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := refOf(t, s, text); got == nil || got.String() != text {
				t.Errorf("it is %v", got)
			}
		})
	}
	for _, text := range []string{"Nothing", "[Nothing!]", "Nothing!"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := refOf(t, s, text); got != nil {
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
		{"Int", "Int", true}, {"Int!", "Int", true}, {"Int", "Int!", false}, {"Int!", "Int!", true},
		{"Int", "Float", false},
		{"[Int]", "[Int]", true}, {"[Int!]!", "[Int]", true}, {"[Int]", "[Int!]", false},
		{"Int", "[Int]", false},
		{"[Int]", "Int", false}, {"[[Int!]]!", "[[Int]]", true}, {"[[Int]]", "[Int]", false},
	}
	s := graphqltest.New()
	for _, tt := range tests {
		t.Run(tt.one+" in "+tt.other, func(t *testing.T) {
			t.Parallel()
			if got := refOf(t, s, tt.one).Within(refOf(t, s, tt.other)); got != tt.want {
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
		{"Dog", "Dog", true}, {"Dog", "Cat", false}, {"Dog", "Pet", true}, {"Human", "Pet", false},
		{"Pet", "Being", true},
		{"Thing", "Animal", true}, {"Stone", "Thing", true}, {"Stone", "Animal", false},
		{"Cat", "Being", false},
	}
	s := graphqltest.New()
	for _, tt := range tests {
		t.Run(tt.one+" and "+tt.other, func(t *testing.T) {
			t.Parallel()
			a, b := s.Type(tt.one), s.Type(tt.other)
			if model.Overlap(a, b) != tt.want || model.Overlap(b, a) != tt.want {
				t.Errorf("got %v and %v, want %v", model.Overlap(a, b), model.Overlap(b, a), tt.want)
			}
		})
	}
}

func TestFieldOf(t *testing.T) {
	t.Parallel()
	s := graphqltest.New()
	tests := []struct {
		parent, name string
		want         bool
	}{
		{"Query", "dog", true}, {"Query", "__schema", true}, {"Query", "__type", true},
		{"Dog", "__type", false},
		{"Dog", "__typename", true}, {"Thing", "__typename", true}, {"Thing", "color", false},
		{"Pet", "owner", true},
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
	s := graphqltest.New()
	for kind, want := range map[string]string{"query": "Query", "mutation": "Mutation",
		"subscription": "Subscription"} {
		if got := s.Root(kind); got == nil || got.Name != want {
			t.Errorf("%s starts from %v", kind, got)
		}
	}
	var none model.Schema
	if got := none.Root("mutation"); got != nil {
		t.Errorf("a schema without mutations starts them from %v", got)
	}
}

// TestMetaFields checks that meta fields are found after Extend, and not before.
func TestMetaFields(t *testing.T) {
	t.Parallel()
	s := graphqltest.New()
	none := &model.Schema{Query: s.Query}
	query, dog := s.Type("Query"), s.Type("Dog")
	tests := []struct {
		name, field string
		schema      *model.Schema
		parent      *model.Type
		want        *model.Field
	}{
		{"name of a type", "__typename", s, dog, s.TypeName},
		{"schema", "__schema", s, query, s.MetaSchema},
		{"schema of no root", "__schema", s, dog, nil},
		{"type", "__type", s, query, s.MetaType},
		{"without introspection", "__type", none, query, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.schema.Field(tt.parent, tt.field); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
