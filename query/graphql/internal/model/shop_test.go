package model_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

// The types of the example shop in its three versions, without data.

type Order struct {
	ID         int64     `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Status     string    `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	Lines      []Line    `json:"lines" required:"true" minItems:"1" maxItems:"50"`
	Note       *string   `json:"note" maxLength:"500" doc:"What the customer wants us to know."`
	CustomerID *int64    `json:"customerId,omitzero" doc:"The user it is for."`
	CreatedAt  time.Time `json:"createdAt" readOnly:"true"`
}

type Line struct {
	ItemID int64 `json:"itemId" required:"true" minimum:"1"`
	Qty    int   `json:"qty" required:"true" minimum:"1" maximum:"1000"`
}

type Order11 struct {
	ID     int64   `json:"id" readOnly:"true"`
	Status string  `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	ItemID int64   `json:"itemId" required:"true" minimum:"1" doc:"Of the first line."`
	Qty    int     `json:"qty" required:"true" minimum:"1" maximum:"1000" deprecated:"use lines of 2.0.0"`
	Note   *string `json:"note" maxLength:"500"`
}

type Order10 struct {
	ID     int64  `json:"id" readOnly:"true"`
	Status string `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	ItemID int64  `json:"itemId" required:"true" minimum:"1" doc:"Of the first line."`
	Qty    int    `json:"qty" required:"true" minimum:"1" maximum:"1000"`
}

type User struct {
	ID     int64  `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Email  string `json:"email" required:"true" format:"email" unique:"true"`
	Active bool   `json:"active" required:"true"`
	Role   string `json:"role" enum:"customer,clerk,admin" default:"customer"`
}

type User10 struct {
	ID     int64  `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Email  string `json:"email" required:"true" format:"email" unique:"true"`
	Active bool   `json:"active" required:"true"`
}

type Place struct {
	ID         string   `json:"id" maxLength:"64" doc:"Chosen by the client, or assigned if absent or empty."`
	Name       string   `json:"name" required:"true" minLength:"1" maxLength:"200"`
	Country    string   `json:"country" required:"true" pattern:"^[A-Za-z]{2}$" doc:"ISO 3166-1 alpha-2."`
	Kind       *string  `json:"kind,omitzero" doc:"The GeoNames feature code."`
	Population *int64   `json:"population,omitzero" minimum:"0"`
	Lat        *float64 `json:"lat,omitzero" minimum:"-90" maximum:"90"`
}

type Credentials struct {
	Email    string `json:"email" required:"true" maxLength:"320"`
	Password string `json:"password" required:"true" maxLength:"200"`
}

type Login struct {
	Token     string    `json:"token" doc:"Goes into the header as Authorization: Bearer TOKEN."`
	ExpiresAt time.Time `json:"expiresAt"`
}

type Staleness struct {
	OlderThan string `json:"olderThan" default:"24h" doc:"How long nothing has happened."`
}

type Cancelled struct {
	Cancelled int      `json:"cancelled" minimum:"0"`
	IDs       []string `json:"ids,omitempty"`
}

type Job struct {
	ID      string         `json:"id" readOnly:"true"`
	Command string         `json:"command" readOnly:"true"`
	State   string         `json:"state" readOnly:"true" enum:"running,succeeded,failed"`
	Result  jsontext.Value `json:"result,omitempty" readOnly:"true"`
}

// assigned removes the capability to choose ids.
func assigned[T any]() resource.Ops[T] {
	ops := resource.OpsOf(memory.New[T](nil))
	ops.Insert, ops.InsertMany = nil, nil
	return ops
}

// readOnly keeps Get and List only.
func readOnly[T any]() resource.Ops[T] {
	ops := resource.OpsOf(memory.New[T](nil))
	return resource.Ops[T]{Get: ops.Get, List: ops.List}
}

// everything declares all filters and sort keys that a type supports.
func everything[T any]() query.Support {
	s := query.Support{Filter: map[string][]query.Op{}}
	for _, f := range schema.For[T]().Fields {
		if !f.Comparable() || f.WriteOnly {
			continue
		}
		ops := []query.Op{query.Eq, query.Ne, query.In, query.NotIn}
		if f.Type.Kind != schema.Boolean {
			ops = append(ops, query.Lt, query.Lte, query.Gt, query.Gte)
		}
		if f.Type.Kind == schema.String && f.Type.Format != "date-time" {
			ops = append(ops, query.Contains, query.StartsWith)
		}
		if f.Nullable {
			ops = append(ops, query.IsNull)
		}
		s.Filter[f.Name], s.Sort = slices.Clip(ops), append(s.Sort, f.Name)
	}
	return s
}

// shop returns the catalogs by version.
func shop(t testing.TB) map[string]*resource.Catalog {
	t.Helper()
	orders := assigned[Order]().Resource("orders", &resource.Options[Order]{
		Query: everything[Order](),
		Relations: []resource.Relation[Order]{{Name: "customer", Target: "users",
			Keys: func(*Order) []string { return nil }}},
	})
	users := assigned[User]().Resource("users", &resource.Options[User]{
		Query:     everything[User](),
		Relations: []resource.Relation[User]{{Name: "orders", Target: "orders", By: "customerId"}},
		Authorize: func(context.Context, resource.Op, *User, *User) error { return nil },
	})
	places := resource.New("places", memory.New[Place](nil),
		&resource.Options[Place]{Query: everything[Place]()})
	jobs := readOnly[Job]().Resource("jobs", nil)
	orders11 := resource.View(orders, down[Order, Order11], up[Order11, Order], nil)
	orders10 := resource.View(orders11, down[Order11, Order10], up[Order10, Order11], nil)
	users10 := resource.View(users, down[User, User10], up[User10, User], nil)
	alike := []resource.Part{places, jobs, command.NewImport("places/import", places), login(), cancel()}
	catalog := func(parts ...resource.Part) *resource.Catalog {
		return resource.NewCatalog(nil, append(parts, alike...)...)
	}
	return map[string]*resource.Catalog{
		"2.0.0": catalog(orders, users), "1.1.0": catalog(orders11, users),
		"1.0.0": catalog(orders10, users10),
	}
}

func down[T, V any](T) (v V, err error)   { return v, nil }
func up[V, T any](_ V, base T) (T, error) { return base, nil }

func login() resource.Part {
	return command.New("auth/login", func(context.Context, Credentials) (Login,
		error) {
		return Login{}, nil
	},
		&command.Options[Credentials]{Public: true,
			Doc: "Returns a bearer token for the email and password of a user."})
}

func cancel() resource.Part {
	return command.New("orders/cancel-stale",
		func(context.Context, Staleness) (Cancelled, error) { return Cancelled{}, nil }, nil)
}
