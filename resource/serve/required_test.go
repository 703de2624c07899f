package serve_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/serve"
)

// TestRequiredMembers: REST, OpenAPI and GraphQL agree about the members that a new item needs.
func TestRequiredMembers(t *testing.T) {
	t.Parallel()
	type depot struct {
		Country string `json:"country" pattern:"^[A-Z]{2}$"`
	}
	type person struct {
		ID    int64    `json:"id" readOnly:"true"`
		Name  string   `json:"name" required:"true"`
		Email string   `json:"email" format:"email"`
		Tags  []string `json:"tags" minItems:"1"`
		Depot depot    `json:"depot"`
		Work  depot    `json:"work,omitzero"`
		Plan  string   `json:"plan" default:"free" enum:"free,paid"`
		Site  *string  `json:"site" format:"uri"`
		Note  string   `json:"note" maxLength:"9"`
	}
	want := []string{"depot", "email", "name", "tags"}
	h := serve.New(resource.NewCatalog(nil, resource.New("people", memory.New[person](nil),
		&resource.Options[person]{Public: true})), nil)
	var refused struct {
		Errors []struct{ Pointer, Code string }
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Required []string }
		}
	}
	var schema struct {
		Data struct {
			Type struct {
				Fields []struct {
					Name string
					Type struct{ Kind string }
				} `json:"inputFields"`
			} `json:"__type"`
		}
	}
	for _, r := range []struct {
		method, target, body string
		into                 any
	}{
		{"POST", "/people", "{}", &refused},
		{"GET", "/openapi.json", "", &doc},
		{"POST", "/graphql", `{"query":"{ __type(name: \"CreatePersonInput\") ` +
			`{ inputFields { name type { kind } } } }"}`, &schema},
	} {
		resp := send(t, h, r.method, r.target, r.body, "Content-Type: application/json")
		if err := json.Unmarshal([]byte(bodyOf(t, resp)), r.into); err != nil {
			t.Fatal(err)
		}
	}
	var violated, graphQL []string
	for _, v := range refused.Errors {
		violated = append(violated, strings.TrimPrefix(v.Pointer, "/")+" "+v.Code)
	}
	for _, f := range schema.Data.Type.Fields {
		if f.Type.Kind == "NON_NULL" {
			graphQL = append(graphQL, f.Name)
		}
	}
	openAPI := doc.Components.Schemas["PersonCreate"].Required
	slices.Sort(openAPI)
	slices.Sort(graphQL)
	slices.Sort(violated)
	if diff := cmp.Diff(want, openAPI); diff != "" {
		t.Errorf("OpenAPI (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, graphQL); diff != "" {
		t.Errorf("GraphQL (-want +got):\n%s", diff)
	}
	violations := []string{"depot required", "email required", "name required", "tags required"}
	if diff := cmp.Diff(violations, violated); diff != "" {
		t.Errorf("REST (-want +got):\n%s", diff)
	}
}
