package openapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
)

// TestRestoreIsDescribed: the path exists only with Options.Restore.
func TestRestoreIsDescribed(t *testing.T) {
	t.Parallel()
	type patient struct {
		ID    string `json:"id"`
		Ward  string `json:"ward"`
		Email string `json:"email" unique:"ward"`
	}
	tests := []struct {
		restore bool
		want    []string // statuses of POST
	}{
		{false, nil},
		{true, []string{"200", "204", "400", "404", "406", "409", "422"}},
	}
	for _, tt := range tests {
		store := memory.New[patient](&memory.Options[patient]{SoftDelete: true})
		patients := resource.New("patients", store, &resource.Options[patient]{Public: true, Restore: tt.restore})
		doc := openapi.New(resource.NewCatalog(nil, patients), &openapi.Options{Title: "Clinic"})
		var d struct {
			Paths map[string]struct {
				Post struct {
					OperationID string                     `json:"operationId"`
					RequestBody json.RawMessage            `json:"requestBody"`
					Responses   map[string]json.RawMessage `json:"responses"`
				} `json:"post"`
			} `json:"paths"`
			Components struct {
				Schemas map[string]struct {
					Properties map[string]struct {
						Description string `json:"description"`
					} `json:"properties"`
				} `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(doc.Render(&openapi.Variant{Full: true}), &d); err != nil {
			t.Fatal(err)
		}
		post := d.Paths["/patients/{id}/restore"].Post
		got := slices.DeleteFunc(slices.Sorted(maps.Keys(post.Responses)), func(status string) bool {
			return status == "default" || status >= "5" || status == "401" || status == "403" || status == "414"
		})
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("restore %t: statuses (-want +got):\n%s", tt.restore, diff)
		}
		if tt.restore && (post.OperationID != "restorePatient" || post.RequestBody != nil) {
			t.Errorf("the operation is %q with the body %s", post.OperationID, post.RequestBody)
		}
		const together = "It is unique together with ward."
		if got := d.Components.Schemas["Patient"].Properties["email"].Description; got != together {
			t.Errorf("email is described as %q, want %q", got, together)
		}
	}
}
