package client_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/client"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

type book struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Stock int    `json:"stock"`
}

// serveBooks serves books from memory, with keys and a feed.
func serveBooks() *httptest.Server {
	books := resource.New("books", memory.New[book](nil), &resource.Options[book]{Public: true})
	return httptest.NewServer(rest.New(resource.NewCatalog(&resource.CatalogOptions{
		Principal:   func(context.Context) string { return "reader" },
		Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
		Feed:        feed.New(feed.NewMemory(nil), nil),
	}, books), nil))
}

func ExampleNewResource() {
	server := serveBooks()
	defer server.Close()
	ctx := context.Background()

	api, err := client.New(server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	books := client.NewResource[book](api, "books")
	made, err := books.Create(ctx, &book{Title: "Iliad", Stock: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := books.Update(ctx, made.ID, func(b *book) error { b.Stock--; return nil }); err != nil {
		fmt.Println(err)
		return
	}
	for b, err := range books.List(ctx, query.Query{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(b.Title, b.Stock)
	}
	// Output: Iliad 2
}

func ExampleResource_Follow() {
	server := serveBooks()
	defer server.Close()
	ctx := context.Background()

	api, _ := client.New(server.URL, nil)
	books := client.NewResource[book](api, "books")
	books.Create(ctx, &book{Title: "Iliad", Stock: 3})

	cursor := "" // of the last run, from the database of the consumer
	for change, err := range books.Follow(ctx, cursor, nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch change.Kind {
		case client.Reset:
			fmt.Println("discard all")
		case client.Listed, client.Created, client.Updated:
			fmt.Println("store", change.Value.Title, change.Value.Stock)
		case client.Deleted:
			fmt.Println("remove", change.Value.ID)
		}
		cursor = change.Cursor // stored in the transaction of the effect, if it is not empty
		if cursor != "" {
			break // the example ends at the first position
		}
	}
	// Output:
	// discard all
	// store Iliad 3
}
