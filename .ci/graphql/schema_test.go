//go:build reference

package reference_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/reference"
	"github.com/stoa-go/stoa/query/graphql/internal/sample"
	"github.com/stoa-go/stoa/query/graphql/internal/sdl"
)

// TestSchemasLikeTheReference asks schemas about themselves with the query that the reference has for it, and holds the
// SDL against what the reference makes of the answer.
func TestSchemasLikeTheReference(t *testing.T) {
	asked, err := reference.Ask(t.Context(), schemaFile, []reference.Request{{Kind: "introspection"}})
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*model.Schema{"kitchen sink": sample.Kitchen()}
	for name, s := range schemas {
		t.Run(name, func(t *testing.T) {
			introspect.Extend(s)
			data, err := sample.Ask(s, asked[0].Text)
			if err != nil {
				t.Fatal(err)
			}
			sameSchema(t, sdl.Print(s), data)
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

// introspected decodes an answer to the introspection query, with what is comparable in two implementations: types and
// directives by name, and what the specification has without descriptions.
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
