//go:build reference

package reference_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/clients/graphql/reference"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/sdl"
	"github.com/stoa-go/stoa/resource"
)

// TestSchemasLikeTheReference asks schemas about themselves with the query that the reference has
// for it, and holds the SDL against what the reference makes of the answer.
func TestSchemasLikeTheReference(t *testing.T) {
	asked, err := reference.Ask(t.Context(), schemaFile, []reference.Request{{Kind: "introspection"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range schemas(t) {
		t.Run(name, func(t *testing.T) {
			introspect.Extend(s)
			sameSchema(t, sdl.Print(s), answered(t, s, asked[0].Text))
		})
	}
}

// sameSchema holds an SDL and the answer to the introspection query against each other.
func sameSchema(t *testing.T, text string, data []byte) {
	t.Helper()
	answers, err := reference.Ask(t.Context(), schemaFile, []reference.Request{{Kind: "schema", Text: text, Value: data}})
	if err != nil {
		t.Fatal(err)
	}
	got := answers[0]
	if got.Error != nil {
		t.Fatalf("the reference refuses it: %v", got.Error)
	}
	for _, e := range got.Errors {
		t.Errorf("it is no valid schema: %s", e.Message)
	}
	if diff := cmp.Diff(got.Text, text); diff != "" {
		t.Errorf("the SDL is not what the reference prints of introspection (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got.Rebuilt, text); diff != "" {
		t.Errorf("the SDL is not what the reference prints of the SDL (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got.Sorted[0], got.Sorted[1]); diff != "" {
		t.Errorf("introspection and SDL are two schemas (-introspection +SDL):\n%s", diff)
	}
	if diff := cmp.Diff(introspected(t, got.Value), introspected(t, data)); diff != "" {
		t.Errorf("introspection differs from that of the reference over the same SDL (-want +got):\n%s", diff)
	}
}

// introspected decodes an answer to the introspection query, with what is comparable in two
// implementations: types and directives by name, and what the specification has without
// descriptions.
func introspected(t *testing.T, data []byte) any {
	t.Helper()
	var answer struct {
		Schema map[string]any `json:"__schema"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"types", "directives"} {
		list := answer.Schema[part].([]any)
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(nameIn(a), nameIn(b)) })
		for _, item := range list {
			if name := nameIn(item); strings.HasPrefix(name, "__") || slices.Contains(known, name) {
				undescribed(item)
			}
		}
	}
	return answer.Schema
}

// known are the names of what the specification has.
var known = []string{"String", "Boolean", "Int", "Float", "ID", "skip", "include", "deprecated", "specifiedBy", "oneOf"}

func nameIn(item any) string { return item.(map[string]any)["name"].(string) }

// undescribed takes all descriptions away.
func undescribed(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			undescribed(item)
		}
	case map[string]any:
		delete(value, "description")
		for _, item := range value {
			undescribed(item)
		}
	}
}

// TestTextsLikeTheReference has descriptions, reasons and defaults that are made of what block
// strings, strings and numbers stumble over.
func TestTextsLikeTheReference(t *testing.T) {
	r := random(t, 6)
	named := func(name string) *model.Ref { return &model.Ref{Type: &model.Type{Kind: model.Scalar, Name: name}} }
	query := &model.Type{Kind: model.Object, Name: "Query"}
	s := &model.Schema{Doc: hard(r), Query: query}
	scalars := []*model.Ref{named("String"), named("Float"), named("ID"), named("Int")}
	s.Types = []*model.Type{query}
	for _, ref := range scalars {
		s.Types = append(s.Types, ref.Type)
	}
	for i := range min(*documents, 2000) {
		args := []*model.Input{
			{Name: "text", Type: scalars[0], Default: hard(r), HasDefault: true},
			{Name: "float", Type: scalars[1], Default: math.Float64frombits(r.Uint64()), HasDefault: true, Doc: hard(r)},
			{Name: "id", Type: scalars[2], Default: strconv.Itoa(r.IntN(2000) - 1000), HasDefault: true, Deprecated: hard(r)},
			{Name: "int", Type: scalars[3], Default: r.IntN(100) - 50, HasDefault: r.IntN(2) == 0}}
		if f := args[1].Default.(float64); math.IsNaN(f) || math.IsInf(f, 0) || i%2 == 0 {
			args[1].Default = float64(r.IntN(1_000_000)) * math.Pow(10, float64(r.IntN(44)-22))
		}
		query.Fields = append(query.Fields, &model.Field{Name: "f" + strconv.Itoa(i), Doc: hard(r), Deprecated: hard(r),
			Type: scalars[0], Args: args[:r.IntN(5)]})
	}
	asked, err := reference.Ask(t.Context(), schemaFile, []reference.Request{{Kind: "introspection"}})
	if err != nil {
		t.Fatal(err)
	}
	introspect.Extend(s)
	sameSchema(t, sdl.Print(s), answered(t, s, asked[0].Text))
}

// answered returns the member data of the response to a document, with the default limits. The
// executor is compared with the simplest implementation.
func answered(t *testing.T, s *model.Schema, document string) []byte {
	t.Helper()
	engine := exec.New(&exec.Config{Schema: s, Catalog: resource.NewCatalog(nil)})
	plan, errs := engine.Plan(document, "")
	if len(errs) > 0 {
		t.Fatalf("the query of the reference is refused: %v", errs)
	}
	answer, outcome := engine.Run(t.Context(), plan, nil, nil)
	want, err := graphqltest.Ask(s, document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"data":`+string(want)+"}", string(answer)); outcome != exec.Done || diff != "" {
		t.Fatalf("outcome %d (-want +got):\n%s", outcome, diff)
	}
	return want
}

// hard writes a text, empty sometimes.
func hard(r *rand.Rand) string {
	pieces := []string{"a", "b c", " ", "\t", "\n", "\n\n", "\r", `"`, `""`, `"""`, `\`, "é", "𝄞", "\u0007", "\u0085", "\u2028",
		"\x1b", "word word word word word word word word word word word word word word"}
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}
