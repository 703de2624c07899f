// Command assortment serves products in categories with the admin page, for the check of links: the
// shop has no relation with Relation.Through. No caller may add a product to the category 3, and
// the makers of a product cannot be changed.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/admin"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

type product struct {
	SKU   string `json:"sku"`
	Title string `json:"title" required:"true" minLength:"1"`
}

type category struct {
	ID    int    `json:"id" readOnly:"true"`
	Title string `json:"title" required:"true" minLength:"1"`
}

type maker struct {
	ID   int    `json:"id" readOnly:"true"`
	Name string `json:"name" required:"true"`
}

// membership is the link between a product and a category.
type membership struct {
	ID       string `json:"id" readOnly:"true" id:"sku,category"`
	SKU      string `json:"sku"`
	Category int    `json:"category"`
}

// origin is the link between a product and a maker.
type origin struct {
	ID    string `json:"id" readOnly:"true" id:"sku,maker"`
	SKU   string `json:"sku"`
	Maker int    `json:"maker"`
}

// counted is the output of stock/count, a command without an input in an area that is no resource.
type counted struct {
	Products int `json:"products"`
}

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "listen `address`")
	flag.Parse()
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := newCatalog(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(catalog, nil))
	mux.Handle("/admin/", admin.New(catalog, &admin.Options{Title: "Assortment"}))
	fmt.Printf("assortment: listening on http://%s\n", l.Addr())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.Serve(l))
}

// newCatalog returns products, categories and makers. The pen is in the categories 1 and 2, and the
// atlas in 4 to 29 without 20.
func newCatalog(ctx context.Context) (*resource.Catalog, error) {
	db := memory.NewDB()
	products := memory.New(&memory.Options[product]{ID: "sku", DB: db})
	categories := memory.New(&memory.Options[category]{DB: db})
	makers := memory.New(&memory.Options[maker]{DB: db})
	members := memory.New(&memory.Options[membership]{DB: db, Recreate: true, Index: []string{"category"}})
	origins := memory.New(&memory.Options[origin]{DB: db, Recreate: true, Index: []string{"maker"}})
	for _, p := range []product{{"atlas", "Atlas"}, {"pen", "Fountain pen"}} {
		if _, err := products.Insert(ctx, p.SKU, p); err != nil {
			return nil, err
		}
	}
	for i := 1; i <= 30; i++ {
		if _, err := categories.Create(ctx, category{Title: "Shelf " + strconv.Itoa(i)}); err != nil {
			return nil, err
		}
		m := membership{SKU: "pen", Category: i}
		if i > 2 {
			m.SKU = "atlas"
		}
		if i == 3 || i == 20 || i == 30 {
			continue
		}
		if _, err := members.Create(ctx, m); err != nil {
			return nil, err
		}
	}
	if _, err := makers.Create(ctx, maker{Name: "Ada"}); err != nil {
		return nil, err
	}
	if _, err := origins.Create(ctx, origin{SKU: "pen", Maker: 1}); err != nil {
		return nil, err
	}
	fixed := resource.OpsOf(origins)
	fixed.Create, fixed.Insert, fixed.InsertMany, fixed.Replace, fixed.Delete = nil, nil, nil, nil, nil
	by := func(names ...string) query.Support {
		s := query.Support{Filter: map[string][]query.Op{}}
		for _, name := range names {
			s.Filter[name] = []query.Op{query.Eq, query.Contains}
		}
		return s
	}
	return resource.NewCatalog(&resource.CatalogOptions{
		Feed:        feed.New(feed.NewMemory(nil), nil),
		Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
		Principal:   func(context.Context) string { return "ada" },
	},
		resource.New("products", products, &resource.Options[product]{ID: "sku", Public: true, Relations: []resource.Relation[product]{
			{Name: "categories", Target: "categories", Through: "memberships", By: "sku", To: "category"},
			{Name: "makers", Target: "makers", Through: "origins", By: "sku", To: "maker"}}}),
		resource.New("categories", categories, &resource.Options[category]{Public: true, Query: by("title"), Relations: []resource.Relation[category]{
			{Name: "products", Target: "products", Through: "memberships", By: "category", To: "sku"}}}),
		resource.New("makers", makers, &resource.Options[maker]{Public: true}),
		resource.New("memberships", members, &resource.Options[membership]{AllowRecreate: true,
			Query: query.Support{Filter: map[string][]query.Op{"sku": {query.Eq}, "category": {query.Eq}}}, Authorize: authorize,
			Scope: func(context.Context) (query.Filter, error) { return query.Filter{}, nil }, ScopeComplete: true,
			AuthorizeGone: func(context.Context, string) error { return nil }}),
		fixed.Resource("origins", &resource.Options[origin]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"sku": {query.Eq}, "maker": {query.Eq}}}}),
		command.New("stock/count", func(context.Context, struct{}) (counted, error) { return counted{2}, nil },
			&command.Options[struct{}]{Public: true, Doc: "Counts the products."}),
	), nil
}

// authorize refuses to add a product to the category 3.
func authorize(_ context.Context, _ resource.Op, before, after *membership) error {
	if before == nil && after.Category == 3 {
		return resource.ErrForbidden
	}
	return nil
}
