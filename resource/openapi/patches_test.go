package openapi_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// TestPatchMediaTypes: PATCH lists the types that the handler accepts, and which may be repeated.
func TestPatchMediaTypes(t *testing.T) {
	t.Parallel()
	apply := func(doc, _ []byte) ([]byte, error) { return doc, nil }
	formats := []patch.Format{
		{MediaType: "application/vnd.example.union+json", Description: "Lists to add to.", Idempotent: true, Apply: apply},
		{MediaType: "text/x-edit", Apply: apply},
	}
	const merge, operations = `{"$ref":"#/components/schemas/OrderPatch"}`, `{"$ref":"#/components/schemas/JSONPatch"}`
	tests := []struct {
		name, want string // media types with their schemas, and a mark of those that are idempotent
		opts       *rest.Options
		batch      string // patchType in a batch
	}{
		{"default", `{"application/merge-patch+json":[` + merge + `],"application/json-patch+json":[` + operations +
			`],"application/json":[` + merge + `]}`, nil, "null"},
		{"type required", `{"application/merge-patch+json":[` + merge + `],"application/json-patch+json":[` + operations + `]}`,
			&rest.Options{RequirePatchType: true}, "null"},
		{"formats", `{"application/merge-patch+json":[` + merge + `],"application/json-patch+json":[` + operations +
			`],"application/json":[` + merge + `],"application/vnd.example.union+json":[{"description":"Lists to add to."},true],` +
			`"text/x-edit":[{"type":"string"}]}`, &rest.Options{PatchFormats: formats},
			`["application/merge-patch+json","application/json-patch+json","application/vnd.example.union+json"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := described(t, openapi.New(newShop(t).now, &openapi.Options{REST: tt.opts}))
			got := object{}
			content := d.at(d.root, "paths", "/orders/{id}", "patch", "requestBody", "content").(object)
			for mediaType, c := range content {
				got[mediaType] = []any{c.(object)["schema"]}
				if mark, ok := c.(object)["x-idempotent"]; ok {
					got[mediaType] = append(got[mediaType].([]any), mark)
				}
			}
			sameJSON(t, "content", tt.want, got)
			var types any
			batch := d.at(d.root, "components", "schemas", "OrderBatch", "properties", "operations", "items")
			for _, alternative := range batch.(object)["oneOf"].([]any) {
				if properties := d.at(alternative, "properties").(object); properties["patch"] != nil {
					types = d.at(properties, "patchType", "enum")
				}
			}
			sameJSON(t, "patchType", tt.batch, types)
		})
	}
}

// sameJSON compares a value with a JSON text.
func sameJSON(t *testing.T, what, text string, got any) {
	t.Helper()
	var want any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, any(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
