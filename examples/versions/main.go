// Command versions serves two versions of one API side by side: in 1.0.0 a price is a number of
// cents, in 2.0.0 a decimal with a currency.
//
//	go run -C examples ./versions
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/serve"
	"github.com/stoa-go/stoa/version"
)

// Product is the current shape, that of the store and of 2.0.0.
type Product struct {
	ID       int64  `json:"id" readOnly:"true"`
	Title    string `json:"title" required:"true" minLength:"1" maxLength:"200"`
	Price    string `json:"price" required:"true" format:"decimal" precision:"12,2" minimum:"0"`
	Currency string `json:"currency" enum:"EUR,USD" default:"EUR"`
}

// ProductV1 is the shape of 1.0.0, in which every price is in euros.
type ProductV1 struct {
	ID    int64  `json:"id" readOnly:"true"`
	Title string `json:"title" required:"true" minLength:"1" maxLength:"200"`
	Cents int64  `json:"cents" required:"true" minimum:"0" maximum:"999999999999"`
}

// toV1 converts a product for clients of 1.0.0.
func toV1(p Product) (ProductV1, error) {
	price, ok := new(big.Rat).SetString(p.Price)
	if !ok {
		return ProductV1{}, fmt.Errorf("product %d has the price %q", p.ID, p.Price)
	}
	cents := price.Mul(price, big.NewRat(100, 1))
	return ProductV1{ID: p.ID, Title: p.Title, Cents: cents.Num().Int64()}, nil
}

// fromV1 applies what a client of 1.0.0 wrote to the current product. Currency, which that client does
// not know, keeps its value.
func fromV1(v ProductV1, p Product) (Product, error) {
	p.Title, p.Price = v.Title, big.NewRat(v.Cents, 100).FloatString(2)
	return p, nil
}

// newHandler serves both versions over REST and GraphQL, with a document for each.
func newHandler() http.Handler {
	products := resource.New("products", memory.New[Product](nil), &resource.Options[Product]{
		Query:   query.Support{Sort: []string{"title"}},
		Samples: []Product{{ID: 1, Title: "Lamp", Price: "12.50", Currency: "EUR"}},
		Public:  true,
	})
	// Products in dollars do not exist in 1.0.0: its clients would read them as euros.
	productsV1 := resource.View(products, toV1, fromV1, &resource.ViewOptions{
		Where: query.Where("currency", query.Eq, "EUR"),
	})
	opts := &serve.Options{Title: "Products"}
	contract := func(name string, r *resource.Resource) version.Contract {
		return version.Contract{
			Name: name, Handler: serve.NewContract(resource.NewCatalog(nil, r), opts),
			OpenAPI: "/openapi/" + name + ".json",
		}
	}
	v1, v2 := contract("1.0.0", productsV1), contract("2.0.0", products)
	v1.Deprecated = time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
	v1.Sunset = time.Date(2099, time.June, 1, 0, 0, 0, 0, time.UTC) // 410 from then on
	api := version.New([]version.Contract{v2, v1},
		[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}},
		&version.Options{Default: "2.0.0"})
	return serve.NewVersions(api, opts)
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	flag.Parse()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("versions: listening on http://%s", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := middleware.Serve(ctx, middleware.Server(newHandler(), nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
