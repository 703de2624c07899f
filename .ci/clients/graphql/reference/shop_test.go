//go:build reference

package reference_test

import (
	"context"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

// The types of the example shop, which is a program and cannot be imported.

type Order struct {
	ID         int64     `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Status     string    `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	Lines      []Line    `json:"lines" required:"true" minItems:"1" maxItems:"50"`
	Note       *string   `json:"note" maxLength:"500"`
	CustomerID *int64    `json:"customerId,omitzero" doc:"The user it is for."`
	CreatedAt  time.Time `json:"createdAt" readOnly:"true"`
}

type Line struct {
	ItemID int64 `json:"itemId" required:"true" minimum:"1"`
	Qty    int   `json:"qty" required:"true" minimum:"1" maximum:"1000"`
}

type OrderV11 struct {
	ID     int64   `json:"id" readOnly:"true"`
	Status string  `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	ItemID int64   `json:"itemId" required:"true" minimum:"1" doc:"Of the first line."`
	Qty    int     `json:"qty" required:"true" minimum:"1" maximum:"1000" deprecated:"use lines of 2.0.0"`
	Note   *string `json:"note" maxLength:"500"`
}

type OrderV10 struct {
	ID     int64  `json:"id" readOnly:"true"`
	Status string `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	ItemID int64  `json:"itemId" required:"true" minimum:"1"`
	Qty    int    `json:"qty" required:"true" minimum:"1" maximum:"1000"`
}

type User struct {
	ID     int64  `json:"id" readOnly:"true"`
	Email  string `json:"email" required:"true" format:"email" unique:"true"`
	Active bool   `json:"active" required:"true"`
	Role   string `json:"role" enum:"customer,clerk,admin" default:"customer"`
}

type Place struct {
	ID         string   `json:"id" maxLength:"64" doc:"Chosen by the client, or assigned if absent or empty."`
	Name       string   `json:"name" required:"true" minLength:"1" maxLength:"200"`
	Country    string   `json:"country" required:"true" pattern:"^[A-Za-z]{2}$" doc:"ISO 3166-1 alpha-2."`
	Population *int64   `json:"population,omitzero" minimum:"0"`
	Lat        *float64 `json:"lat,omitzero" minimum:"-90" maximum:"90"`
}

type Credentials struct {
	Email    string `json:"email" required:"true" maxLength:"320"`
	Password string `json:"password" required:"true" maxLength:"200"`
}

type Login struct {
	Token     string    `json:"token" doc:"Is sent in the header field Authorization: Bearer TOKEN."`
	ExpiresAt time.Time `json:"expiresAt"`
}

// schemas are those of the shop in its contracts, with subscriptions, of the harbour, and of the
// kitchen sink.
func schemas(t *testing.T) map[string]*model.Schema {
	t.Helper()
	asked := query.Support{Sort: []string{"status"}, Filter: map[string][]query.Op{"status": {query.Eq, query.In}}}
	withCustomer := asked
	withCustomer.Filter = map[string][]query.Op{"status": {query.Eq, query.In}, "customerId": {query.Eq, query.IsNull}}
	orders := resource.New("orders", memory.New[Order](nil), &resource.Options[Order]{Query: withCustomer,
		Relations: []resource.Relation[Order]{{Name: "customer", Target: "users", Field: "customerId"}}})
	users := resource.New("users", memory.New[User](nil), &resource.Options[User]{
		Relations: []resource.Relation[User]{{Name: "orders", Target: "orders", By: "customerId"}}})
	places := resource.New("places", memory.New[Place](nil), nil)
	login := command.New("auth/login", func(context.Context, Credentials) (Login, error) { return Login{}, nil }, nil)
	orders11 := resource.View(orders, down[Order, OrderV11], up[OrderV11, Order], nil)
	orders10 := resource.View(orders11, down[OrderV11, OrderV10], up[OrderV10, OrderV11], nil)

	all := map[string]*model.Schema{"kitchen sink": graphqltest.Kitchen()}
	add := func(name string, c *resource.Catalog, opts *model.Options) {
		s, err := model.Reflect(c, opts)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = s
	}
	withFeed := &resource.CatalogOptions{Feed: feed.New(feed.NewMemory(nil), nil)}
	t.Cleanup(func() { withFeed.Feed.Close() })
	for version, r := range map[string]*resource.Resource{"2.0.0": orders, "1.1.0": orders11, "1.0.0": orders10} {
		add("shop "+version, resource.NewCatalog(withFeed, r, users, places, login), nil)
	}
	harbour, opts := graphqltest.Catalog(memory.New[graphqltest.Port](nil), memory.New[graphqltest.Ship](nil), memory.New[graphqltest.Sailor](nil))
	add("harbour", harbour, opts)
	return all
}

func down[T, V any](T) (v V, err error)   { return v, nil }
func up[V, T any](_ V, base T) (T, error) { return base, nil }
