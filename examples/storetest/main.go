// Command storetest serves books from a store of its own, JSON files in a folder. store_test.go tests
// the store with the conformance kit.
//
//	go run -C examples ./storetest
//	go test -C examples ./storetest
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
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/serve"
)

// Book is the resource of the example.
type Book struct {
	ID    string `json:"id"`
	Title string `json:"title" required:"true" maxLength:"200"`
	Year  int64  `json:"year" minimum:"-3000" maximum:"3000"`
}

// The compiler checks what the store implements.
var (
	_ resource.Collection[Book] = (*Shelf)(nil)
	_ resource.Inserter[Book]   = (*Shelf)(nil)
	_ resource.Replacer[Book]   = (*Shelf)(nil)
	_ resource.Deleter          = (*Shelf)(nil)
)

// newBooks returns the resource of a store, with the queries that the kit tests, too.
func newBooks(s *Shelf) *resource.Resource {
	return resource.New("books", s, &resource.Options[Book]{
		Query: query.Support{
			Filter: map[string][]query.Op{"title": {query.Eq}, "year": {query.Gte, query.Lte}},
			Sort:   []string{"title", "year"},
		},
		Public: true, // no authorization
	})
}

func newHandler(s *Shelf) http.Handler {
	return serve.New(resource.NewCatalog(nil, newBooks(s)), &serve.Options{Title: "Books"})
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	dir := flag.String("dir", "", "`folder` of the books; default a new temporary one")
	flag.Parse()
	if *dir == "" {
		var err error
		if *dir, err = os.MkdirTemp("", "storetest"); err != nil {
			log.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("storetest: %s, listening on http://%s", *dir, listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := middleware.Server(newHandler(&Shelf{dir: *dir}), nil)
	if err := middleware.Serve(ctx, server, listener, nil); err != nil {
		log.Fatal(err)
	}
}
