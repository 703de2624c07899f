//go:build reference

package reference_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/clients/graphql/reference"
	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

var inputTypes = []string{"Int", "Int!", "Float", "String", "Boolean!", "ID", "Color", "Any", "[Int]", "[Int!]!", "[[Int!]]",
	"[Color!]", "Note", "Note!", "[Note!]", "Pick", "Pick!", "Filter", "[Filter]!", "[ID!]"}

// operation parses an operation with one variable.
func operation(t *testing.T, typ, more string) *parser.OperationDefinition {
	t.Helper()
	return document(t, "query($v: "+typ+more+"){a}").Definitions[0].(*parser.OperationDefinition)
}

// number makes of all numbers what JSON makes of them, so that values of both sides can be compared.
func number(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var back any
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func TestLiteralsLikeTheReference(t *testing.T) {
	g := &reference.Typed{Rand: random(t, 4), Schema: graphqltest.New()}
	var requests []reference.Request
	for i := range *documents {
		g.Mistakes = []float64{0, 0.2}[i%2]
		typ := inputTypes[g.IntN(len(inputTypes))]
		requests = append(requests, reference.Request{Kind: "literal", Type: typ, Text: g.Literal(typ)})
	}
	answers, err := reference.Ask(t.Context(), schemaFile, requests)
	if err != nil {
		t.Fatal(err)
	}
	fit := 0
	for i, want := range answers {
		typ, text := requests[i].Type, requests[i].Text
		op := operation(t, typ, " = "+text)
		s := graphqltest.New()
		value, ok := coerce.Value(coerce.TypeOf(s, op.VariableDefinitions[0].Type), op.VariableDefinitions[0].DefaultValue, nil)
		if !want.Absent {
			fit++
		}
		if judged := said(validate.Document(s, document(t, "query($v: "+typ+" = "+text+"){a}"), unlimited)); judged.unread() {
			continue
		}
		if ok == want.Absent {
			t.Errorf("%s %s: fits is %v, but the reference returns %s", typ, text, ok, want.Value)
		} else if ok {
			equal(t, typ+" "+text, want.Value, value)
		}
	}
	mixed(t, fit)
}

func document(t *testing.T, text string) *parser.Document {
	t.Helper()
	doc, err := parser.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc
}

// unread reports whether a literal has fields that the reference does not look at: unknown ones,
// and some of those that are there twice. Validation refuses both.
func (c complaints) unread() bool {
	for key := range c {
		if strings.Contains(key, " is not defined by type ") || strings.HasPrefix(key, "UniqueInputFieldNames: ") {
			return true
		}
	}
	return false
}

func equal(t *testing.T, what string, want json.RawMessage, got any) {
	t.Helper()
	var wanted any
	if err := json.Unmarshal(want, &wanted); err != nil {
		t.Fatalf("%s: %q: %v", what, want, err)
	}
	if diff := cmp.Diff(wanted, number(t, got)); diff != "" {
		t.Errorf("%s (-reference +ours):\n%s", what, diff)
	}
}

func mixed(t *testing.T, fit int) {
	t.Helper()
	t.Logf("%d of %d fit", fit, *documents)
	if fit < *documents/4 || fit > *documents*9/10 {
		t.Error("too few values are valid or too few are not")
	}
}

func TestVariablesLikeTheReference(t *testing.T) {
	g := &reference.Typed{Rand: random(t, 5), Schema: graphqltest.New()}
	var requests []reference.Request
	for i := range *documents {
		g.Mistakes = []float64{0, 0.1}[i%2]
		typ := inputTypes[g.IntN(len(inputTypes))]
		requests = append(requests, reference.Request{Kind: "input", Type: typ, Value: json.RawMessage(g.JSON(typ))})
	}
	answers, err := reference.Ask(t.Context(), schemaFile, requests)
	if err != nil {
		t.Fatal(err)
	}
	fit := 0
	for i, want := range answers {
		what := requests[i].Type + " " + string(requests[i].Value)
		values, errs := coerce.Variables(coerce.Definitions(graphqltest.New(), operation(t, requests[i].Type, "")),
			map[string]jsontext.Value{"v": jsontext.Value(requests[i].Value)}, map[string]any{})
		if len(want.Errors) == 0 {
			fit++
		}
		switch {
		case strings.Contains(fmt.Sprint(errs), "ID cannot represent value: 1"):
			// The reference does not distinguish 1.0 and 1e2 from 1 and 100.
		case strings.Contains(fmt.Sprint(errs), "Exactly one key") && len(want.Errors) > 0:
			// If there are several keys, the reference also reports that the first is null.
		case (len(errs) == 0) != (len(want.Errors) == 0):
			t.Errorf("%s: %v, but the reference returns %v", what, errs, want.Errors)
		case len(errs) == 0:
			equal(t, what, want.Value, values["v"])
		default:
			if diff := cmp.Diff(paths(want.Errors), ourPaths(errs)); diff != "" {
				t.Errorf("%s: %v (-reference +ours):\n%s", what, errs, diff)
			}
		}
	}
	mixed(t, fit)
}

// paths are where the errors are, each once, as the reference writes it: a.0.b.
func paths(list []reference.Problem) []string {
	var all []string
	for _, p := range list {
		all = append(all, p.Path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func ourPaths(errs []*coerce.Error) []string {
	var all []string
	for _, e := range errs {
		path := strings.NewReplacer("[", ".", "]", "").Replace(e.Path)
		all = append(all, strings.TrimPrefix(path, "."))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
