package validate_test

import (
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

// FuzzDocument checks that validation does not panic, that each error has a rule and a location,
// and that a document and its printed form have the same errors.
func FuzzDocument(f *testing.F) {
	for _, text := range graphqltest.Hostile() {
		if len(text) < 2000 {
			f.Add(text)
		}
	}
	s := graphqltest.New()
	f.Fuzz(func(t *testing.T, text string) {
		if lexer.Guard(text, lexer.Limits{}) != nil {
			return
		}
		doc, err := parser.Parse(text)
		if err != nil {
			return
		}
		errs := validate.Document(s, doc, validate.Limits{})
		for _, e := range errs {
			if e.Rule == "" || e.Message == "" || len(e.Locations) == 0 || len(e.Locations) > 20 ||
				e.Locations[0].Line < 1 {
				t.Fatalf("%+v", e)
			}
		}
		again, err := parser.Parse(parser.Print(doc))
		if err != nil {
			t.Fatal(err)
		}
		if other := validate.Document(s, again, validate.Limits{}); len(other) != len(errs) {
			t.Fatalf("%v\nprinted: %v", errs, other)
		}
	})
}
