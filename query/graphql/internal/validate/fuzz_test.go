package validate_test

import (
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

// FuzzDocument sees to it that validation ends without a panic, that errors say which rule and where, and that it says
// the same of a document and of what that prints as.
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
			if e.Rule == "" || e.Message == "" || len(e.Places) == 0 || len(e.Places) > 20 ||
				e.Places[0].Line < 1 {
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
