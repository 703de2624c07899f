// Command gqlfields adds fields to the GraphQL schema that no resource has: a computed field, a query
// and a mutation. fields.go has their functions.
//
//	go run -C examples ./gqlfields
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/serve"
)

// Product is the resource of the example.
type Product struct {
	ID    string `json:"id" readOnly:"true"`
	Title string `json:"title" required:"true" minLength:"1" maxLength:"200"`
	Cents int64  `json:"cents" minimum:"0" maximum:"100000000"`
	Stock int64  `json:"stock" minimum:"0" maximum:"1000000"`
}

// newHandler serves products over REST and GraphQL. The custom fields exist in GraphQL alone.
func newHandler() http.Handler {
	store := memory.New[Product](nil)
	products := resource.New("products", store, &resource.Options[Product]{Public: true})
	s := shop{store: store, products: products}
	return serve.New(resource.NewCatalog(nil, products), &serve.Options{
		Title: "Products",
		GraphQL: &graphql.Options{Fields: []graphql.Field{
			graphql.Computed("products", "price", price, &graphql.FieldOptions{
				Doc: "The price in a currency."}),
			graphql.Query("inventory", s.inventory, &graphql.FieldOptions{
				Doc: "The number of all pieces, and their value.", Cost: 100}),
			graphql.Mutation("restock", s.restock, &graphql.FieldOptions{
				Doc: "Adds pieces to the stock of a product, and returns the new stock."}),
		}},
	})
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	flag.Parse()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("gqlfields: listening on http://%s", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := middleware.Serve(ctx, middleware.Server(newHandler(), nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
