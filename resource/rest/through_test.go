package rest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

type article struct {
	SKU   string `json:"sku"`
	Title string `json:"title"`
}

type category struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// productCategory links an article and a category.
type productCategory struct {
	ID       string `json:"id" readOnly:"true" id:"productSku,categoryId"`
	Product  string `json:"productSku"`
	Category int    `json:"categoryId"`
	Position int    `json:"position,omitzero"`
}

// assortment is a catalog with products in categories, and the calls of its stores.
type assortment struct {
	products   resource.Options[article]
	categories resource.Options[category]
	links      resource.Options[productCategory]
	catalog    resource.CatalogOptions

	stored    *memory.Store[productCategory]
	noReplace bool // the links are not a Replacer
	calls     calls
}

// handler serves pens in categories 1 and 2, ink in category 2, and paper in none.
func (a *assortment) handler(t *testing.T) *rest.Handler {
	t.Helper()
	db := memory.NewDB()
	products := memory.New(&memory.Options[article]{ID: "sku", DB: db})
	categories := memory.New(&memory.Options[category]{DB: db})
	a.stored = memory.New(&memory.Options[productCategory]{DB: db, Recreate: true, Index: []string{"categoryId"}})
	for _, sku := range []string{"ink", "paper", "pen"} {
		if _, err := products.Insert(t.Context(), sku, article{sku, strings.ToUpper(sku)}); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range []string{"1", "2", "3"} {
		if _, err := categories.Insert(t.Context(), id, category{i + 1, "C" + id}); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range []productCategory{{Product: "pen", Category: 2}, {Product: "pen", Category: 1}, {Product: "ink", Category: 2}} {
		if _, err := a.stored.Create(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	a.products.ID = "sku"
	a.products.Relations = []resource.Relation[article]{
		{Name: "categories", Target: "categories", Through: "product-categories", By: "productSku", To: "categoryId"},
	}
	a.categories.Relations = []resource.Relation[category]{
		{Name: "products", Target: "products", Through: "product-categories", By: "categoryId", To: "productSku"}}
	a.links.AllowRecreate = true
	a.links.Query = query.Support{Filter: map[string][]query.Op{"productSku": {query.Eq}, "categoryId": {query.Eq}}}
	links := resource.OpsOf(a.stored)
	if a.noReplace {
		links.Replace = nil
	}
	return rest.New(resource.NewCatalog(&a.catalog,
		counting(resource.OpsOf(products), &a.calls).Resource("products", &a.products),
		counting(resource.OpsOf(categories), &a.calls).Resource("categories", &a.categories),
		counting(links, &a.calls).Resource("product-categories", &a.links)), nil)
}

func TestThroughExpand(t *testing.T) {
	t.Parallel()
	var a assortment
	h := a.handler(t)
	a.calls.reset()
	wantBody(t, send(t, h, "GET /products?expand=categories"), 200, `{"items":[`+
		`{"sku":"ink","title":"INK","categories":[{"id":2,"title":"C2"}]},`+
		`{"sku":"paper","title":"PAPER","categories":[]},`+
		`{"sku":"pen","title":"PEN","categories":[{"id":1,"title":"C1"},{"id":2,"title":"C2"}]}]}`)
	want := map[string]int{"List": 1, "ListByKeys": 1, "GetMany": 1}
	if diff := cmp.Diff(want, a.calls.reset()); diff != "" {
		t.Errorf("calls of the stores (-want +got):\n%s", diff)
	}
	wantBody(t, send(t, h, "GET /categories/2?expand=products&fields=id"), 200,
		`{"id":2,"products":[{"sku":"ink","title":"INK"},{"sku":"pen","title":"PEN"}]}`)
}

func TestThroughPolicy(t *testing.T) {
	t.Parallel()
	a := assortment{
		categories: resource.Options[category]{Authorize: func(_ context.Context, op resource.Op, before, after *category) error {
			if before != nil && before.ID == 1 {
				return resource.ErrForbidden
			}
			return nil
		}},
		links: resource.Options[productCategory]{Scope: func(context.Context) (query.Filter, error) {
			return query.Where("productSku", query.Ne, "ink"), nil
		}},
	}
	h := a.handler(t)
	wantBody(t, send(t, h, "GET /products?expand=categories&fields=sku"), 200, `{"items":[`+
		`{"sku":"ink","categories":[]},{"sku":"paper","categories":[]},{"sku":"pen","categories":[{"id":2,"title":"C2"}]}]}`)
	wantProblem(t, send(t, h, "PUT /products/paper/categories/1"), problem.NotFound)
	wantProblem(t, send(t, h, "PUT /products/ink/categories/3"), problem.Forbidden)
	want(t, send(t, h, "PUT /products/paper/categories/2"), 201)
}

func TestThroughLinks(t *testing.T) {
	t.Parallel()
	var kinds []string
	a := assortment{catalog: resource.CatalogOptions{Feed: feed.New(feed.NewMemory(nil), nil)}}
	a.links.After = func(_ context.Context, op resource.Op, before, after *productCategory) {
		kinds = append(kinds, string(op))
	}
	h := a.handler(t)
	want(t, send(t, h, "OPTIONS /products/paper/categories/3"), 204, "Allow: PUT, DELETE, OPTIONS")
	want(t, send(t, h, "PUT /products/paper/categories/3"), 201, "Location: /product-categories/paper,3", "Content-Length: 0")
	want(t, send(t, h, "PUT /products/paper/categories/3"), 204, "Location:")
	want(t, send(t, h, "PUT /product-categories/paper,3", jsonBody, "", `{"position":4}`), 200)
	want(t, send(t, h, "PUT /products/paper/categories/3"), 204)
	wantBody(t, send(t, h, "GET /product-categories/paper,3"), 200,
		`{"id":"paper,3","productSku":"paper","categoryId":3,"position":4}`)
	want(t, send(t, h, "DELETE /categories/3/products/paper"), 204)
	want(t, send(t, h, "DELETE /products/paper/categories/3"), 204)
	want(t, send(t, h, "PUT /products/paper/categories/3"), 201)
	if diff := cmp.Diff([]string{"create", "replace", "delete", "create"}, kinds); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		line string
		kind problem.Kind
	}{
		{"PUT /products/none/categories/3", problem.NotFound},
		{"DELETE /products/none/categories/3", problem.NotFound},
		{"PUT /products/paper/categories/9", problem.NotFound},
		{"PUT /products/paper/categories/03", problem.NotFound},
		{"DELETE /products/paper/categories/x", problem.NotFound},
		{"PUT /products/paper/none/3", problem.NotFound},
		{"PUT /products/paper/categories", problem.NotFound},
		{"PUT /products/paper/categories/3/4", problem.NotFound},
		{"GET /products/paper/categories/3", problem.MethodNotAllowed},
		{"PATCH /products/paper/categories/3", problem.MethodNotAllowed},
	} {
		wantProblem(t, send(t, h, tt.line), tt.kind)
	}
	wantProblem(t, send(t, h, "PUT /products/paper/categories/2", jsonBody, "", `{}`), problem.BadRequest)
	for _, tt := range []struct {
		body   string
		status int
	}{{"{}", 400}, {"", 204}} {
		r := httptest.NewRequestWithContext(t.Context(), "DELETE", "/products/paper/categories/2",
			io.NopCloser(strings.NewReader(tt.body)))
		r.ContentLength = -1 // as for a chunked body
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != tt.status {
			t.Errorf("chunked body %q: status %d, want %d", tt.body, w.Code, tt.status)
		}
	}
	want(t, send(t, h, "PUT /products/paper/categories/2/"), 308, "Location: /products/paper/categories/2")
	wantProblem(t, send(t, h, "PUT /products/paper/none/2/"), problem.NotFound)
	wantProblem(t, send(t, h, "PUT /products/paper/categories/2", "If-Match: *"), problem.PreconditionFailed)
	want(t, send(t, h, "PUT /products/paper/categories/2", "If-None-Match: *"), 201)
	wantProblem(t, send(t, h, "PUT /products/paper/categories/2", "If-None-Match: *"), problem.PreconditionFailed)
}

func TestThroughKeys(t *testing.T) {
	t.Parallel()
	a := assortment{catalog: resource.CatalogOptions{
		Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
		Principal:   func(context.Context) string { return "ada" },
	}}
	h := a.handler(t)
	key := `Idempotency-Key: "one"`
	want(t, send(t, h, "PUT /products/paper/categories/3", key), 201)
	want(t, send(t, h, "PUT /products/paper/categories/3", key), 201, "Idempotency-Replayed: true")
	want(t, send(t, h, "DELETE /products/paper/categories/3", key), 204)
	want(t, send(t, h, "DELETE /products/paper/categories/3", key), 204, "Idempotency-Replayed: true")
}

// TestThroughKeepsLinks: a link that exists keeps its members, whatever the request has in its header.
func TestThroughKeepsLinks(t *testing.T) {
	t.Parallel()
	for _, noReplace := range []bool{false, true} {
		a := assortment{noReplace: noReplace, catalog: resource.CatalogOptions{
			Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
			Principal:   func(context.Context) string { return "ada" },
		}}
		a.links.RequireIfMatch = true
		h := a.handler(t)
		want(t, send(t, h, "PUT /product-categories/paper,3", jsonBody, "", `{"position":4}`), 201)
		read := send(t, h, "GET /product-categories/paper,3")
		for _, field := range []string{"Accept: */*", `Idempotency-Key: "one"`, "If-Match: *",
			"If-Match: " + read.header.Get("ETag")} {
			want(t, send(t, h, "PUT /products/paper/categories/3", field), 204)
			wantBody(t, send(t, h, "GET /product-categories/paper,3"), 200, read.body)
		}
		wantProblem(t, send(t, h, "PUT /products/paper/categories/3", `If-Match: "other"`), problem.PreconditionFailed)
	}
}

// TestThroughRace: the link is made by another request between the read and the write.
func TestThroughRace(t *testing.T) {
	t.Parallel()
	var a assortment
	raced := false
	a.links.HooksOutsideTx = true
	a.links.Before = func(ctx context.Context, _ resource.Op, before, _ *productCategory) error {
		if raced || before != nil {
			return nil
		}
		raced = true
		_, err := a.stored.Create(ctx, productCategory{Product: "paper", Category: 3, Position: 7})
		return err
	}
	h := a.handler(t)
	want(t, send(t, h, "PUT /products/paper/categories/3"), 204, "Location:")
	wantBody(t, send(t, h, "GET /product-categories/paper,3"), 200,
		`{"id":"paper,3","productSku":"paper","categoryId":3,"position":7}`)
}

// TestThroughRelationPath: the path of a relation has no list; the error names what exists.
func TestThroughRelationPath(t *testing.T) {
	t.Parallel()
	var a assortment
	h := a.handler(t)
	const hint = "There is no list at this path. The related items are in the item with ?expand=categories, " +
		"and their links are changed by PUT and DELETE of this path followed by the id of one."
	const plain = "There is no resource at this path."
	for _, tt := range []struct{ line, want string }{
		{"GET /products/pen/categories", hint},
		{"POST /products/none/categories", hint},
		{"GET /products/pen/categories/", hint},
		{"GET /products/pen/%63ategories", hint},
		{"GET /products/pen/none", plain},
		{"GET /products//", plain},
		{"GET /products//categories", plain},
		{"GET /products/pen/categories/1/2", plain},
	} {
		got := send(t, h, tt.line)
		wantProblem(t, got, problem.NotFound)
		var d struct{ Detail string }
		if err := json.Unmarshal([]byte(got.body), &d); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, d.Detail); diff != "" {
			t.Errorf("%s: detail (-want +got):\n%s", tt.line, diff)
		}
	}
}

// TestThroughRequired: a link is not offered if its item needs a member that the path does not have.
func TestThroughRequired(t *testing.T) {
	t.Parallel()
	type ranked struct {
		ID       string `json:"id" readOnly:"true" id:"productSku,categoryId"`
		Product  string `json:"productSku"`
		Category int    `json:"categoryId"`
		Rank     int    `json:"rank" required:"true"`
	}
	eq := query.Support{Filter: map[string][]query.Op{"productSku": {query.Eq}}}
	h := catalogOf(
		resource.New("products", memory.New(&memory.Options[article]{ID: "sku"}), &resource.Options[article]{ID: "sku",
			Relations: []resource.Relation[article]{{Name: "categories", Target: "categories", Through: "ranks",
				By: "productSku", To: "categoryId"}}}),
		resource.New("categories", memory.New[category](nil), nil),
		resource.New("ranks", memory.New[ranked](nil), &resource.Options[ranked]{Query: eq}))
	wantProblem(t, send(t, h, "OPTIONS /products/paper/categories/3"), problem.NotFound)
}

// TestKeyRegistration: a composite id is compared for equality only, and no relation reads it as one value.
func TestKeyRegistration(t *testing.T) {
	t.Parallel()
	eq := query.Support{Filter: map[string][]query.Op{"id": {query.Eq}}}
	links := func(o *resource.Options[productCategory]) *resource.Resource {
		return resource.New("links", memory.New[productCategory](nil), o)
	}
	type basket struct {
		ID    string            `json:"id"`
		Lines []productCategory `json:"lines"`
	}
	type seat struct {
		Row    int `json:"row"`
		Number int `json:"number" unique:"row"`
	}
	type hall struct {
		ID    string `json:"id"`
		First seat   `json:"first"`
	}
	same := func(p productCategory) (productCategory, error) { return p, nil }
	up := func(v, _ productCategory) (productCategory, error) { return v, nil }
	for _, tt := range []struct {
		name, want string
		register   func()
	}{
		{"By", `By names "id" of links, which is a composite id; name one of its fields`, func() {
			resource.NewCatalog(nil, links(&resource.Options[productCategory]{Query: eq}),
				resource.New("products", memory.New(&memory.Options[article]{ID: "sku"}), &resource.Options[article]{ID: "sku",
					Relations: []resource.Relation[article]{{Name: "links", Target: "links", Many: true, By: "id"}}}))
		}},
		{"Where", `Where compares the composite id "id" with lt; use query.Eq, Ne, In or NotIn`, func() {
			resource.View(links(nil), same, up, &resource.ViewOptions{Where: query.Where("id", query.Lt, "x,1")})
		}},
		{"Scope", `Options.Scope compares the composite id "id" with startsWith`, func() {
			links(&resource.Options[productCategory]{Scope: func(context.Context) (query.Filter, error) {
				return query.Where("id", query.StartsWith, "a"), nil
			}})
		}},
		{"id inside", `the field "id" of rest_test.productCategory has the tag id, which applies to fields of the item itself`,
			func() { resource.New("baskets", memory.New[basket](nil), nil) }},
		{"unique inside", `the field "number" of rest_test.seat has the tag unique with a list, which applies to fields of`,
			func() { resource.New("halls", memory.New[hall](nil), nil) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, tt.want) {
					t.Errorf("panic %q, want one with %q", got, tt.want)
				}
			}()
			tt.register()
		})
	}
	sampled := links(&resource.Options[productCategory]{Samples: []productCategory{{Product: "a", Category: 1}}})
	if got := sampled.Describe().Samples[0].(*productCategory).ID; got != "a,1" {
		t.Errorf("the sample has the id %q", got)
	}
}

func TestThroughRegistration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		rel    resource.Relation[article]
		change func(*resource.Options[productCategory])
		want   string
	}{
		{"To alone", resource.Relation[article]{By: "productSku", To: "categoryId"}, nil, "has To, which needs Through"},
		{"no To", resource.Relation[article]{Through: "product-categories", By: "productSku"}, nil, "needs By and To"},
		{"no resource", resource.Relation[article]{Through: "none", By: "productSku", To: "categoryId"}, nil,
			`the catalog has no resource "none"`},
		{"no field", resource.Relation[article]{Through: "product-categories", By: "productSku", To: "none"}, nil,
			`To names "none" of product-categories, which is not the JSON name of a field`},
		{"no filter", resource.Relation[article]{Through: "product-categories", By: "productSku", To: "categoryId"},
			func(o *resource.Options[productCategory]) { o.Query = query.Support{} },
			`product-categories does not declare "productSku" for query.Eq`},
		{"deletions", resource.Relation[article]{Through: "product-categories", By: "productSku", To: "categoryId"},
			func(o *resource.Options[productCategory]) { o.AllowRecreate = false }, "set Options.AllowRecreate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, tt.want) {
					t.Errorf("panic %q, want one with %q", got, tt.want)
				}
			}()
			tt.rel.Name, tt.rel.Target = "categories", "categories"
			links := &resource.Options[productCategory]{AllowRecreate: true,
				Query: query.Support{Filter: map[string][]query.Op{"productSku": {query.Eq}}}}
			if tt.change != nil {
				tt.change(links)
			}
			resource.NewCatalog(nil,
				resource.New("products", memory.New(&memory.Options[article]{ID: "sku"}),
					&resource.Options[article]{ID: "sku", Relations: []resource.Relation[article]{tt.rel}}),
				resource.New("categories", memory.New[category](nil), nil),
				resource.New("product-categories", memory.New[productCategory](nil), links))
		})
	}
}
