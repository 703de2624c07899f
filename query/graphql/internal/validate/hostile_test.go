package validate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

// verdict runs all checks that precede execution. It returns the first error message, or "" for a
// valid document.
func verdict(s *model.Schema, text string) string {
	if err := lexer.Guard(text, lexer.Limits{}); err != nil {
		return err.Error()
	}
	doc, err := parser.Parse(text)
	if err != nil {
		return err.Error()
	}
	if errs := validate.Document(s, doc, validate.Limits{}); len(errs) > 0 {
		return errs[0].Rule + ": " + errs[0].Message
	}
	return ""
}

// TestHostile runs documents that exhaust the memory or the time of a validator without limits.
// BenchmarkHostile measures the time for each.
func TestHostile(t *testing.T) {
	t.Parallel()
	want := map[string]string{ // prefix of the verdict; "" if only the size is hostile, and within the limits
		"1 MB of brackets":         "The document nests deeper than 60 levels.",
		"1 MB of selections":       "The document nests deeper than 60 levels.",
		"1000 nested fields":       "The document nests deeper than 60 levels.",
		"10000 tokens of comments": "",
		"2 MB of brackets":         "The document has more than 1048576 bytes.",
		"20 aliased fragments":     "Limits: The operation nests fields 22 levels deep;",
		"20 doubling fragments":    "Limits: The operation selects 1048576 fields at its root;",
		"9990 known fields":        "",
		"9990 unknown fields":      "Limits: The operation selects 9990 fields at its root;",
		"alias web":                "Limits: The operation nests fields 302 levels deep;",
		"brackets at the limit": "LoneAnonymousOperation: This anonymous operation must be the only " +
			"defined operation.",
		"conflicting aliases": `OverlappingFieldsCanBeMerged: Fields "a" conflict because "id" and ` +
			`"name" are different`,
		"conflicts further down": `OverlappingFieldsCanBeMerged: Fields "self" conflict because ` +
			`subfields "self" conflict`,
		"cycle of many fragments": `NoFragmentCycles: Cannot spread fragment "F0" within itself via ` +
			`"F1", "F2",`,
		"cycle of two fragments": `NoFragmentCycles: Cannot spread fragment "A" within itself via "B".`,
		"deep introspection":     "Limits: The operation nests fields of introspection 52 levels deep;",
		"directive flood":        "The document uses more than 50 directives.",
		"directives at the limit": `UniqueDirectivesPerLocation: The directive "@skip" can only be used ` +
			`once`,
		"doubling inside":       "Limits: The operation nests fields 22 levels deep;",
		"many fragments of one": "Limits: The operation selects 2700001 fields;",
		"many operations":       "Limits: The operations reach more than 20000 fragments in all.",
		"many variables":        "",
		"one long block string": "",
		"one long string":       "",
		"partitions":            "",
		"same composite field":  "",
		"wide objects":          `UniqueInputFieldNames: There can be only one input field named "a".`,
	}
	s := graphqltest.New()
	for name, text := range graphqltest.Hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := verdict(s, text)
			begins, ok := want[name]
			if !ok || !strings.HasPrefix(got, begins) || begins == "" && got != "" {
				t.Errorf("got %.300s, want %s", got, begins)
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	s, all := graphqltest.New(), graphqltest.Hostile()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text := all[name]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				verdict(s, text)
			}
		})
	}
}

// TestConflictUnderLongKey: a conflict is explained even if a response key alone is longer than the
// limit of a message.
func TestConflictUnderLongKey(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("k", 1200)
	sub := func(field string) string { return "a:self{b:self{" + key + ":" + field + "}}" }
	got := verdict(graphqltest.New(), "{dog{"+sub("id")+" "+sub("name")+"}}")
	if !strings.Contains(got, `"id" and "name" are different fields`) {
		t.Errorf("the message does not contain the reason: %.200s", got)
	}
}
