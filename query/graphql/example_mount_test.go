package graphql_test

import (
	"net/http"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// One catalog as REST and GraphQL, as in README.md of this folder.
func ExampleNew_mount() {
	type User struct {
		ID   int64  `json:"id" readOnly:"true"`
		Name string `json:"name"`
	}
	type Order struct {
		ID         int64 `json:"id" readOnly:"true"`
		CustomerID int64 `json:"customerId,omitzero"`
	}
	store := memory.New[Order](nil)
	users := resource.New("users", memory.New[User](nil), nil)
	mux := http.NewServeMux()

	orders := resource.New("orders", store, &resource.Options[Order]{
		Relations: []resource.Relation[Order]{{Name: "customer", Target: "users", Field: "customerId"}},
	})
	catalog := resource.NewCatalog(nil, orders, users)
	api := graphql.New(catalog, nil)
	mux.Handle("/", rest.New(catalog, nil))
	mux.Handle("/graphql", api)  // POST, GET, WebSocket; an editor in browsers
	mux.Handle("/graphql/", api) // /graphql/schema.graphql

	posted(mux, `mutation { createUser(input: {name: "Ann"}) { id } createOrder(input: {customerId: 1}) `+
		`{ id customer { name } } }`)
	// Output: {"data":{"createUser":{"id":"1"},"createOrder":{"id":"1","customer":{"name":"Ann"}}}}
}
