//go:build reference

package reference_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/clients/graphql/reference"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

// unlimited leaves the limits to tests that have no reference.
var unlimited = validate.Limits{Depth: 1000, RootFields: 1000, Fields: 1 << 20, Errors: 1000}

// complaints are the rules that are broken, with the messages.
type complaints map[string]bool

func theirs(list []reference.Problem) complaints {
	c := complaints{}
	for _, p := range list {
		// The tree does not have whether a string was a block string.
		c[p.Rule+": "+strings.ReplaceAll(p.Message, `"""`, `"`)] = true
	}
	return c
}

func said(list []validate.Error) complaints {
	c := complaints{}
	for _, e := range list {
		if strings.HasSuffix(e.Message, "directives in the top level selection.") {
			continue // a rule of the specification since 2025, and of the reference since version 17
		}
		c[e.Rule+": "+e.Message] = true
	}
	return c
}

func (c complaints) about(rule string) bool {
	for key := range c {
		if strings.HasPrefix(key, rule+": ") {
			return true
		}
	}
	return false
}

// only keeps what is about one rule.
func (c complaints) only(rule string) complaints {
	c = maps.Clone(c)
	maps.DeleteFunc(c, func(key string, _ bool) bool { return !strings.HasPrefix(key, rule+": ") })
	return c
}

// without drops what is about a rule.
func (c complaints) without(rule string) complaints {
	c = maps.Clone(c)
	maps.DeleteFunc(c, func(key string, _ bool) bool { return strings.HasPrefix(key, rule+": ") })
	return c
}

// flat drops explanations that go further down.
func (c complaints) flat() complaints {
	c = maps.Clone(c)
	maps.DeleteFunc(c, func(key string, _ bool) bool { return strings.Contains(key, " because subfields ") })
	return c
}

// agreed drops from both what is known to differ, though never whether a document is valid.
func agreed(got, want complaints) (complaints, complaints) {
	if got.about("NoFragmentCycles") {
		if !want.about("NoFragmentCycles") && want.about("UniqueFragmentNames") {
			// The reference looks for circles in the first fragment of a name only, though spreads
			// mean the last.
			return nil, nil
		}
		// Nothing else is looked at then.
		return got.only("NoFragmentCycles"), want.only("NoFragmentCycles")
	}
	for key := range want {
		if strings.HasPrefix(key, "SingleFieldSubscriptions: Argument") {
			// The reference stumbles over variables in @skip and @include there.
			got, want = got.without("SingleFieldSubscriptions"), want.without("SingleFieldSubscriptions")
		}
		if strings.HasPrefix(key, "KnownDirectives: Unknown") {
			// The reference takes the arguments of a directive that it does not know for those of the field.
			for _, rule := range []string{"ValuesOfCorrectType", "VariablesInAllowedPosition"} {
				got, want = got.without(rule), want.without(rule)
			}
		}
	}
	if got.about("UniqueArgumentNames") {
		// The specification does not define which condition counts in @include(if: true, if:
		// false), and so which fields are selected.
		got, want = got.without("SingleFieldSubscriptions"), want.without("SingleFieldSubscriptions")
	}
	if got.about("UniqueFragmentNames") {
		// A fragment that another of its name hides is not spread. The reference still searches it
		// for cycles.
		want = want.without("NoFragmentCycles")
	}
	if got.about("NoUnusedFragments") || got.about("UniqueFragmentNames") {
		// Fields are merged here as far as operations reach.
		got, want = got.without("OverlappingFieldsCanBeMerged"), want.without("OverlappingFieldsCanBeMerged")
	}
	if got.about("OverlappingFieldsCanBeMerged") && want.about("OverlappingFieldsCanBeMerged") {
		// A pair of fields is named once here, though it may be reached below several others.
		got, want = got.flat(), want.flat()
	}
	return got, want
}

func TestValidateLikeTheReference(t *testing.T) {
	g := &reference.Typed{Rand: random(t, 2), Schema: graphqltest.New()}
	rules, valid := judge(t, func(i int) string {
		g.Mistakes = []float64{0, 0.005, 0.02, 0.06}[i%4]
		return g.Document()
	})
	if valid < *documents/5 || len(rules) < 23 {
		t.Error("too few documents are valid or too few are not")
	}
}

// TestOverlapLikeTheReference has documents in which few keys are used for many fields, and little
// else is wrong.
func TestOverlapLikeTheReference(t *testing.T) {
	g := &reference.Typed{Rand: random(t, 3), Schema: graphqltest.New()}
	rules, valid := judge(t, func(i int) string {
		g.Clashes = []float64{0.05, 0.2, 0.5}[i%3]
		return g.Document()
	})
	if valid < *documents/5 || rules["OverlappingFieldsCanBeMerged"] < *documents/5 {
		t.Error("too few documents are valid or too few are not")
	}
}

// judge compares what becomes of documents. It returns how often each rule was broken, and how many
// documents broke none.
func judge(t *testing.T, document func(i int) string) (rules map[string]int, valid int) {
	t.Helper()
	var requests []reference.Request
	for i := range *documents {
		requests = append(requests, reference.Request{Kind: "validate", Text: document(i)})
	}
	answers, err := reference.Ask(t.Context(), schemaFile, requests)
	if err != nil {
		t.Fatal(err)
	}
	s, wrong := graphqltest.New(), 0
	rules = map[string]int{}
	for i, answer := range answers {
		text := requests[i].Text
		doc, err := parser.Parse(text)
		if err != nil || answer.Error != nil {
			t.Fatalf("%s\n%v %v", text, err, answer.Error)
		}
		got, want := said(validate.Document(s, doc, unlimited)), theirs(answer.Errors)
		for _, p := range answer.Errors {
			rules[p.Rule]++
		}
		if len(want) == 0 {
			valid++
		}
		gotAgreed, wantAgreed := agreed(got, want)
		if diff := cmp.Diff(wantAgreed, gotAgreed); diff != "" || (len(gotAgreed) == 0) != (len(wantAgreed) == 0) {
			if wrong++; wrong <= 5 {
				t.Errorf("%s (-reference +ours):\n%s", text, diff)
			}
		}
	}
	t.Logf("valid %d of %d", valid, len(answers))
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		t.Logf("%6d %s", rules[rule], rule)
	}
	if wrong > 0 {
		t.Errorf("%d documents judged otherwise", wrong)
	}
	return rules, valid
}
