//go:build reference

package reference_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/clients/graphql/reference"
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

var (
	documents = flag.Int("documents", 4000, "how many documents each test generates")
	seed      = flag.Uint64("seed", 1, "what makes them the same again")
)

const schemaFile = "../../../../query/graphql/internal/graphqltest/schema.graphql"

func random(t *testing.T, stream uint64) *rand.Rand {
	t.Helper()
	t.Logf("%d documents, seed %d", *documents, *seed)
	return rand.New(rand.NewPCG(*seed, stream))
}

// ours returns the result of the parser in the form of the reference.
func ours(text string) reference.Answer {
	doc, err := parser.Parse(text)
	if err == nil {
		return reference.Answer{Tree: reference.Dump(doc)}
	}
	var e *lexer.Error
	if !errors.As(err, &e) {
		return reference.Answer{Error: &reference.Problem{Message: err.Error()}}
	}
	return reference.Answer{Error: &reference.Problem{Rule: e.Rule, Message: e.Message,
		Places: []string{fmt.Sprintf("%d:%d", e.Line, e.Column)}}}
}

// beyond reports whether two answers differ only in what is meant to differ: definitions of types
// are refused at the first look here, while the reference reads them to their end and leaves the
// refusal to a rule; a long token is not sent back in full; and an escape with an emoji in it is
// not cut in the middle of that.
func beyond(got, want reference.Answer) bool {
	switch {
	case got.Error == nil:
		return false
	case got.Error.Rule == "ExecutableDefinitions":
		return want.Error != nil || strings.Contains(want.Tree, "Definition") || strings.Contains(want.Tree, "Extension")
	}
	start, cut := strings.CutSuffix(got.Error.Message, "...\".")
	if half, ok := strings.CutSuffix(message(want), "\ufffd\"."); ok {
		start, cut = half, strings.HasPrefix(got.Error.Message, half)
	}
	return cut && strings.HasPrefix(message(want), start) && cmp.Equal(want.Error.Places, got.Error.Places)
}

func message(a reference.Answer) string {
	if a.Error == nil {
		return ""
	}
	return a.Error.Message
}

func TestParseLikeTheReference(t *testing.T) {
	g := &reference.Grammar{Rand: random(t, 1)}
	var requests []reference.Request
	for i := range *documents {
		text := g.Document()
		if i%2 == 1 {
			text = g.Damage(text)
		}
		requests = append(requests, reference.Request{Kind: "parse", Text: text})
	}
	answers, err := reference.Ask(t.Context(), schemaFile, requests)
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused := 0, 0
	for i, want := range answers {
		text := requests[i].Text
		got := ours(text)
		if err := lexer.Guard(text, lexer.Limits{Directives: 1000}); err != nil && want.Error == nil {
			t.Errorf("the guard refuses what the reference takes: %v\n%q", err, text)
		}
		if want.Error == nil {
			accepted++
		} else {
			refused++
		}
		if beyond(got, want) {
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-reference +ours):\n%s", text, diff)
		}
	}
	t.Logf("accepted %d, refused %d", accepted, refused)
	if accepted < *documents/3 || refused < *documents/4 {
		t.Error("too few documents are valid or too few are not")
	}
}
