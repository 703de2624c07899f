package graphql_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

type product struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type category struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// productCategory links a product and a category. Its id is composed of theirs.
type productCategory struct {
	ID       string `json:"id" readOnly:"true" id:"productId,categoryId"`
	Product  string `json:"productId"`
	Category int    `json:"categoryId"`
	Position int    `json:"position"`
}

// productCatalog has a product a and the categories 1 and 2, which are not linked.
func productCatalog(t *testing.T) *resource.Catalog {
	t.Helper()
	products, categories := memory.New[product](nil), memory.New[category](nil)
	links := memory.New(&memory.Options[productCategory]{Recreate: true})
	_, err := products.Insert(t.Context(), "a", product{"a", "A"})
	for i, id := range []string{"1", "2"} {
		if err == nil {
			_, err = categories.Insert(t.Context(), id, category{i + 1, "C" + id})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return resource.NewCatalog(nil,
		resource.New("products", products, &resource.Options[product]{Public: true,
			Relations: []resource.Relation[product]{{Name: "categories", Target: "categories",
				Through: "product-categories", By: "productId", To: "categoryId"}}}),
		resource.New("categories", categories, &resource.Options[category]{Public: true}),
		resource.New("product-categories", links, &resource.Options[productCategory]{Public: true,
			AllowRecreate: true, Query: query.Support{Sort: []string{"id"}, Filter: map[string][]query.Op{
				"productId": {query.Eq}, "id": {query.Eq, query.In}}}}))
}

// execute sends a document, and returns the data and the messages of errors, as JSON.
func execute(t *testing.T, h http.Handler, document string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}

func TestCompositeIDs(t *testing.T) {
	t.Parallel()
	h := graphql.New(productCatalog(t), nil)
	const fields = "{id productId categoryId position}"
	for _, tt := range []struct{ document, want string }{
		{`mutation {createProductCategory(input: {productId: "a", categoryId: 2}) ` + fields + `}`,
			`{"data":{"createProductCategory":{"id":"a,2","productId":"a","categoryId":2,"position":0}}}`},
		{`mutation {patchProductCategory(id: "a,2", input: {position: 3}) ` + fields + `}`,
			`{"data":{"patchProductCategory":{"id":"a,2","productId":"a","categoryId":2,"position":3}}}`},
		{`mutation {replaceProductCategory(id: "a,2", input: {position: 4}) ` + fields + `}`,
			`{"data":{"replaceProductCategory":{"id":"a,2","productId":"a","categoryId":2,"position":4}}}`},
		{`{productCategory(id: "a,2") ` + fields + `}`,
			`{"data":{"productCategory":{"id":"a,2","productId":"a","categoryId":2,"position":4}}}`},
		{`{productCategory(id: "a,02") ` + fields + `}`, `{"data":{"productCategory":null}}`},
		{`{productCategories(filter: {id: {in: ["a,2", "a,1"]}}, orderBy: [{field: id}]) {nodes {position}}}`,
			`{"data":{"productCategories":{"nodes":[{"position":4}]}}}`},
		{`mutation {deleteProductCategory(id: "a,2") {id}}`, `{"data":{"deleteProductCategory":{"id":"a,2"}}}`},
	} {
		if diff := cmp.Diff(tt.want, execute(t, h, tt.document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.document, diff)
		}
	}
	// The key cannot change, so it is no field of the inputs.
	got := execute(t, h, `mutation {patchProductCategory(id: "a,2", input: {productId: "b"}) {id}}`)
	if !strings.Contains(got, `"errors"`) || !strings.Contains(got, "productId") {
		t.Errorf("a patch of the key: %s", got)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	h := graphql.New(productCatalog(t), nil)
	const linked = `{"data":{"linkProductCategories":{"categories":[{"title":"C2"}]}}}`
	for _, tt := range []struct{ document, want string }{
		{`mutation {linkProductCategories(id: "a", to: "2") {categories {title}}}`, linked},
		{`mutation {linkProductCategories(id: "a", to: "2") {categories {title}}}`, linked},
		{`{products {nodes {id categories {id}}}}`,
			`{"data":{"products":{"nodes":[{"id":"a","categories":[{"id":"2"}]}]}}}`},
		{`mutation {unlinkProductCategories(id: "a", to: "2") {categories {title}}}`,
			`{"data":{"unlinkProductCategories":{"categories":[]}}}`},
		{`mutation {unlinkProductCategories(id: "a", to: "2") {categories {title}}}`,
			`{"data":{"unlinkProductCategories":{"categories":[]}}}`},
		{`mutation {linkProductCategories(id: "a", to: "2") {categories {title}}}`, linked},
	} {
		if diff := cmp.Diff(tt.want, execute(t, h, tt.document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.document, diff)
		}
	}
	for _, document := range []string{
		`mutation {linkProductCategories(id: "b", to: "2") {id}}`,
		`mutation {linkProductCategories(id: "a", to: "9") {id}}`,
	} {
		if got := execute(t, h, document); !strings.Contains(got, `"code":"NOT_FOUND"`) {
			t.Errorf("%s: %s", document, got)
		}
	}
}

func TestGlobalCompositeIDs(t *testing.T) {
	t.Parallel()
	h := graphql.New(productCatalog(t), &graphql.Options{GlobalIDs: true})
	const product, category, link = "cHJvZHVjdHM6YQ", "Y2F0ZWdvcmllczoy", "cHJvZHVjdC1jYXRlZ29yaWVzOmEsMg"
	for _, tt := range []struct{ document, want string }{
		{`mutation {linkProductCategories(id: "` + product + `", to: "` + category + `") {categories {id}}}`,
			`{"data":{"linkProductCategories":{"categories":[{"id":"` + category + `"}]}}}`},
		{`{node(id: "` + link + `") {id ... on ProductCategory {rawId}}}`,
			`{"data":{"node":{"id":"` + link + `","rawId":"a,2"}}}`},
	} {
		if diff := cmp.Diff(tt.want, execute(t, h, tt.document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.document, diff)
		}
	}
	got := execute(t, h, `mutation {linkProductCategories(id: "`+product+`", to: "`+product+`") {id}}`)
	if !strings.Contains(got, "must be the global id of an item of categories") {
		t.Errorf("a product as category: %s", got)
	}
}
