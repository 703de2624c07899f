// Command relay serves orders and users, whose stored ids are equal, for the clients of this
// folder. It prints its URL. With
// -global it has global ids.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// Order refers to the user with the same stored id.
type Order struct {
	ID       string `json:"id"`
	Cents    int    `json:"cents"`
	Customer string `json:"customerId"`
}

// User has a member that orders do not have.
type User struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func main() {
	global := flag.Bool("global", false, "use Options.GlobalIDs")
	flag.Parse()
	orders, users := memory.New[Order](nil), memory.New[User](nil)
	for i := range 5 {
		id := strconv.Itoa(i + 1)
		_, err := orders.Insert(context.Background(), id, Order{id, 100 * (i + 1), id})
		if err == nil {
			_, err = users.Insert(context.Background(), id, User{id, "user " + id})
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	catalog := resource.NewCatalog(nil, resource.New("users", users, &resource.Options[User]{Public: true}),
		resource.New("orders", orders, &resource.Options[Order]{
			Public:    true,
			Relations: []resource.Relation[Order]{{Name: "customer", Target: "users", Field: "customerId"}},
		}))
	api := graphql.New(catalog, &graphql.Options{GlobalIDs: *global})
	mux := http.NewServeMux()
	mux.Handle("/graphql", api)
	mux.Handle("/graphql/", api)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/graphql\n", listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}
