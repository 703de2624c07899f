package sqltabletest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// existingCatalog serves products and categories of the six tables, related by product_categories.
func existingCatalog(t *testing.T, db *sqltx.DB) *resource.Catalog {
	t.Helper()
	opts := existingCategories().opts
	products := sqltable.New[existingProduct](db, "products", &sqltable.Options{ID: "sku", Rev: opts.Rev, Forget: true})
	categories := sqltable.New[existingCategory](db, "categories", &opts)
	links := sqltable.New[existingLink](db, "product_categories", &opts)
	return resource.NewCatalog(nil,
		products.Ops().Resource("products", &resource.Options[existingProduct]{
			ID: "sku", Query: products.Support(), Public: true,
			Relations: []resource.Relation[existingProduct]{{Name: "categories", Target: "categories",
				Through: "product-categories", By: "productSku", To: "categoryId"}}}),
		categories.Ops().Resource("categories", &resource.Options[existingCategory]{
			Query: categories.Support(), Public: true,
			Relations: []resource.Relation[existingCategory]{{Name: "products", Target: "products",
				Through: "product-categories", By: "categoryId", To: "productSku"}}}),
		links.Ops().Resource("product-categories", &resource.Options[existingLink]{
			Query: links.Support(), Public: true,
			Relations: []resource.Relation[existingLink]{
				{Name: "product", Target: "products", Field: "productSku"},
				{Name: "category", Target: "categories", Field: "categoryId"}}}))
}

// TestSixThrough links products and categories of the six tables, and reads them from both sides.
func TestSixThrough(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, existingProducts().tables[e.Dialect]...)
		enginetest.MustExec(t, db,
			"INSERT INTO products (sku, title, price) VALUES ('cup', 'Cup', 1), ('pen', 'Pen', 2), ('a,b', 'Odd', 3)",
			"INSERT INTO categories (slug, title) VALUES ('home', 'H'), ('office', 'O'), ('gifts', 'G')",
			"INSERT INTO product_categories VALUES ('cup', 3), ('cup', 1)")
		catalog := existingCatalog(t, db)
		mux := http.NewServeMux()
		mux.Handle("/", rest.New(catalog, nil))
		mux.Handle("/graphql", graphql.New(catalog, nil))
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		for _, tt := range []struct{ line, want string }{
			{"GET /products/cup?expand=categories&fields=sku",
				`200 {"sku":"cup","categories":[{"id":1,"slug":"home","title":"H","parentId":null},` +
					`{"id":3,"slug":"gifts","title":"G","parentId":null}]}`},
			{"PUT /products/pen/categories/2", "201"},
			{"PUT /products/pen/categories/2", "204"},
			{"PUT /categories/1/products/a,b", "201"},
			{"PUT /products/pen/categories/99", "404"},
			{"PUT /products/none/categories/1", "404"},
			{"GET /product-categories/a~1b,1", `200 {"id":"a~1b,1","productSku":"a,b","categoryId":1}`},
			{"DELETE /products/cup", "409"}, // the links refer to it
			{"{products(orderBy: [{field: sku}]) {nodes {sku categories {slug}}}}",
				`200 {"data":{"products":{"nodes":[{"sku":"a,b","categories":[{"slug":"home"}]},` +
					`{"sku":"cup","categories":[{"slug":"home"},{"slug":"gifts"}]},{"sku":"pen","categories":[{"slug":"office"}]}]}}}`},
			{`mutation {linkExistingProductCategories(id: "pen", to: "1") {sku categories {slug}}}`,
				`200 {"data":{"linkExistingProductCategories":{"sku":"pen","categories":[{"slug":"home"},{"slug":"office"}]}}}`},
			{`mutation {unlinkExistingProductCategories(id: "cup", to: "1") {categories {slug}}}`,
				`200 {"data":{"unlinkExistingProductCategories":{"categories":[{"slug":"gifts"}]}}}`},
			{`mutation {linkExistingCategoryProducts(id: "3", to: "a,b") {slug products {sku}}}`,
				`200 {"data":{"linkExistingCategoryProducts":{"slug":"gifts","products":[{"sku":"a,b"},{"sku":"cup"}]}}}`},
			// The products of a category, as a filter of the links.
			{"{productCategories(filter: {categoryId: {eq: 1}}) {nodes {id product {title} category {slug}}}}",
				`200 {"data":{"productCategories":{"nodes":[{"id":"a~1b,1","product":{"title":"Odd"},"category":{"slug":"home"}},` +
					`{"id":"pen,1","product":{"title":"Pen"},"category":{"slug":"home"}}]}}}`},
			{"GET /product-categories?categoryId=1&expand=category&fields=productSku&limit=1",
				`200 {"items":[{"productSku":"a,b","category":{"id":1,"slug":"home","title":"H","parentId":null}}],"next":`},
			{"DELETE /products/pen/categories/2", "204"},
			{"DELETE /products/pen/categories/2", "204"},
			{"GET /product-categories?productSku=pen", `200 {"items":[{"id":"pen,1","productSku":"pen","categoryId":1}]`},
			{"GET /categories/2?expand=products&fields=slug", `200 {"slug":"office","products":[]}`},
		} {
			method, path, body := "POST", "/graphql", fmt.Sprintf(`{"query":%q}`, tt.line)
			if m, p, ok := strings.Cut(tt.line, " /"); ok {
				method, path, body = m, "/"+p, ""
			}
			status, _, text := request(t, server.Client(), method, server.URL+path, body)
			if got := fmt.Sprint(status, " ", text); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: got %s, want %s", tt.line, got, tt.want)
			}
		}
	})
}
