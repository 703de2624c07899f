package sqltabletest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

type product struct {
	SKU   string `json:"sku"`
	Title string `json:"title"`
}

type category struct {
	ID    int64  `json:"id" readOnly:"true"`
	Title string `json:"title"`
}

type productCategory struct {
	ID       string `json:"id" readOnly:"true" id:"productSku,categoryId"`
	Product  string `json:"productSku"`
	Category int64  `json:"categoryId"`
}

// TestThrough follows and changes links in tables, and counts the statements.
func TestThrough(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		products := sqltable.New[product](db, "products", &sqltable.Options{ID: "sku"})
		categories := sqltable.New[category](db, "categories", nil)
		links := sqltable.New[productCategory](db, "product_categories", &sqltable.Options{Forget: true,
			Index:      []string{"categoryId"},
			References: map[string]string{"productSku": "products", "categoryId": "categories"}})
		ctx := t.Context()
		err := errors.Join(products.CreateTable(ctx), categories.CreateTable(ctx), links.CreateTable(ctx))
		for i := range 20 {
			sku := fmt.Sprintf("p%02d", i)
			_, inserted := products.Ops().Insert(ctx, sku, product{sku, "Product"})
			_, created := categories.Ops().Create(ctx, category{Title: fmt.Sprint("C", i+1)})
			err = errors.Join(err, inserted, created)
			for n := range i % 4 {
				id := fmt.Sprintf("%s,%d", sku, n+1)
				_, linked := links.Ops().Insert(ctx, id, productCategory{Product: sku, Category: int64(n + 1)})
				err = errors.Join(err, linked)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		catalog := resource.NewCatalog(nil,
			products.Ops().Resource("products", &resource.Options[product]{ID: "sku", Public: true,
				Relations: []resource.Relation[product]{{Name: "categories", Target: "categories",
					Through: "product-categories", By: "productSku", To: "categoryId"}}}),
			categories.Ops().Resource("categories", &resource.Options[category]{Public: true}),
			links.Ops().Resource("product-categories", &resource.Options[productCategory]{
				Public: true, Query: links.Support()}))
		mux := http.NewServeMux()
		mux.Handle("/", rest.New(catalog, nil))
		mux.Handle("/graphql", graphql.New(catalog, nil))
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		send := func(method, path, doc, want string) string {
			t.Helper()
			req, err := http.NewRequestWithContext(ctx, method, server.URL+path, strings.NewReader(doc))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			var got string
			ran, _ := records.During(func() {
				status, body := exchange(t, req)
				got = fmt.Sprint(status, " ", body)
			})
			if !strings.Contains(got, want) {
				t.Errorf("%s %s: got %s, want %s", method, path, got, want)
			}
			return enginetest.Verbs(ran)
		}
		three := `"categories":[{"id":1,"title":"C1"},{"id":2,"title":"C2"},{"id":3,"title":"C3"}]`
		const reads = "SELECT SELECT" // the products, and the categories with the links
		statements := []struct{ got, want string }{
			{send("GET", "/products?expand=categories", "", `"sku":"p03","title":"Product",`+three), reads},
			{send("POST", "/graphql", `{"query":"{products {nodes {sku categories {title}}}}"}`,
				`{"sku":"p02","categories":[{"title":"C1"},{"title":"C2"}]}`), reads},
			{send("GET", "/products/p04?expand=categories", "", `"categories":[]`), "SELECT SELECT"},
		}
		for _, s := range statements {
			if diff := cmp.Diff(s.want, strings.TrimSpace(s.got)); diff != "" {
				t.Errorf("statements (-want +got):\n%s", diff)
			}
		}
		send("PUT", "/products/p04/categories/3", "", "201 ")
		send("PUT", "/products/p04/categories/3", "", "204 ")
		send("PUT", "/products/p04/categories/99", "", "404 ")
		send("DELETE", "/products/p03", "", "409 ")
		send("DELETE", "/products/p04/categories/3", "", "204 ")
		send("DELETE", "/products/p04/categories/3", "", "204 ")
		send("PUT", "/products/p04/categories/3", "", "201 ")
		send("POST", "/product-categories", `{"productSku":"p04","categoryId":99}`, `"code":"unknown"`)
	})
}
