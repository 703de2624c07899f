package openapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
)

// TestLinks describes the links of two resources, whose ids are those of a third one.
func TestLinks(t *testing.T) {
	t.Parallel()
	type product struct {
		ID string `json:"id"`
	}
	type tag struct {
		ID int `json:"id"`
	}
	type productTag struct {
		ID      string `json:"id" readOnly:"true" id:"product,tag"`
		Product string `json:"product"`
		Tag     int    `json:"tag"`
		Note    string `json:"note"`
	}
	c := resource.NewCatalog(nil,
		resource.New("products", memory.New[product](nil), &resource.Options[product]{Public: true,
			Relations: []resource.Relation[product]{{Name: "tags", Target: "tags", Through: "product-tags",
				By: "product", To: "tag"}}}),
		resource.New("tags", memory.New[tag](nil), &resource.Options[tag]{Public: true}),
		resource.New("product-tags", memory.New[productTag](nil), &resource.Options[productTag]{Public: true,
			AllowRecreate: true, Query: query.Support{Filter: map[string][]query.Op{"product": {query.Eq}}}}))
	w := httptest.NewRecorder()
	openapi.New(c, nil).ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	var doc struct {
		Paths      map[string]map[string]jsontext.Value `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Required []string `json:"required"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	path := doc.Paths["/products/{id}/tags/{target}"]
	for method, want := range map[string]string{"put": `"linkProductTags"`, "delete": `"unlinkProductTags"`} {
		if text := string(path[method]); text == "" || !strings.Contains(text, want) {
			t.Errorf("%s is %s, want one with %s", method, text, want)
		}
	}
	for name, want := range map[string]string{"ProducttagCreate": "product tag", "ProducttagReplace": ""} {
		s, ok := doc.Components.Schemas[name]
		if got := strings.Join(s.Required, " "); !ok || got != want {
			t.Errorf("%s requires %q, want %q; declared: %t", name, got, want, ok)
		}
	}
}
