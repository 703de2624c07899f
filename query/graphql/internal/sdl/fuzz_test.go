package sdl_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/sdl"
)

// FuzzText checks that each string is preserved as a description and as a default value.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "Short.", "two\n\nlines", " \n indented", `""" and \`,
		"\r\n\t\x07\x1b\u0085\u2028𝄞", `ends with "`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // descriptions are in program source, and default values have been decoded from JSON
		}
		scalar := &model.Type{Kind: model.Scalar, Name: "S", Doc: text}
		doc := strings.TrimSuffix(sdl.Print(&model.Schema{Types: []*model.Type{scalar}}), "scalar S")
		if text != "" {
			readBack(t, doc, text)
		}
		readBack(t, sdl.Literal(&model.Ref{Type: scalar}, text), text)
	})
}

func readBack(t *testing.T, literal, want string) {
	t.Helper()
	doc, err := parser.Parse("{a(b: " + literal + ")}")
	if err != nil {
		t.Fatalf("%s: %v", literal, err)
	}
	field := doc.Definitions[0].(*parser.OperationDefinition).SelectionSet.Selections[0].(*parser.Field)
	if got := field.Arguments[0].Value.(*parser.StringValue).Value; got != want {
		t.Errorf("%q is written as %s and read as %q", want, literal, got)
	}
}
