package main

// The peer graph-gophers. Resolvers are methods, found by reflection when the schema is parsed.

import (
	"fmt"
	"net/http"
	"time"

	"github.com/graph-gophers/graphql-go"
	"github.com/graph-gophers/graphql-go/relay"

	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// gophersHandler serves the shop with graph-gophers/graphql-go: a resolver type for each type with
// methods for the fields, and its own HTTP handler.
func gophersHandler(s *shop.Shop) http.Handler {
	return &relay.Handler{
		Schema: graphql.MustParseSchema(shop.Schema, &gophersRoot{s}, graphql.UseFieldResolvers()),
	}
}

// gophersRoot has the root fields of queries and mutations, which this library keeps in one type.
type gophersRoot struct{ shop *shop.Shop }

// Order returns nil for null. UseFieldResolvers lets struct fields resolve without a method.
func (r *gophersRoot) Order(args struct{ ID graphql.ID }) *gophersOrder {
	o, ok := r.shop.Order(string(args.ID))
	if !ok {
		return nil
	}
	return &gophersOrder{r.shop, o}
}

// Orders returns a page of orders with a resolver for each.
func (r *gophersRoot) Orders(args struct{ First *int32 }) *gophersOrders {
	// The schema has no default here, so the page size of Stoa is applied by hand.
	n := 50
	if args.First != nil {
		n = int(*args.First)
	}
	found := r.shop.Orders(n)
	out := &gophersOrders{Nodes: make([]*gophersOrder, len(found))}
	for i := range found {
		out.Nodes[i] = &gophersOrder{r.shop, found[i]}
	}
	return out
}

// PatchOrder changes the note, which is nullable. The input is a struct with the fields of the
// schema.
func (r *gophersRoot) PatchOrder(args struct {
	ID    graphql.ID
	Input struct{ Note *string }
}) *gophersOrder {
	o, ok := r.shop.SetNote(string(args.ID), args.Input.Note)
	if !ok {
		return nil
	}
	return &gophersOrder{r.shop, o}
}

type gophersOrders struct{ Nodes []*gophersOrder }

// gophersOrder resolves the fields of an order. It holds the shop for the relations.
type gophersOrder struct {
	shop  *shop.Shop
	order shop.Order // a copy, because the note may change
}

func (o *gophersOrder) ID() graphql.ID     { return graphql.ID(o.order.ID) }
func (o *gophersOrder) Status() string     { return o.order.Status }
func (o *gophersOrder) TotalCents() int32  { return o.order.TotalCents }
func (o *gophersOrder) Note() *string      { return o.order.Note }
func (o *gophersOrder) PlacedAt() dateTime { return dateTime{o.order.PlacedAt} }
func (o *gophersOrder) CustomerID() string { return o.order.CustomerID }

// Customer looks up one user for each order, as the other peers do.
func (o *gophersOrder) Customer() *gophersUser {
	u, ok := o.shop.User(o.order.CustomerID)
	if !ok {
		return nil
	}
	return &gophersUser{u}
}

// Shipments looks up the shipments of one order.
func (o *gophersOrder) Shipments() []*gophersShipment {
	of := o.shop.ShipmentsOf(o.order.ID)
	out := make([]*gophersShipment, len(of))
	for i := range of {
		out[i] = &gophersShipment{&of[i]}
	}
	return out
}

type gophersUser struct{ user *shop.User }

func (u *gophersUser) ID() graphql.ID { return graphql.ID(u.user.ID) }
func (u *gophersUser) Name() string   { return u.user.Name }
func (u *gophersUser) Email() string  { return u.user.Email }

type gophersShipment struct{ shipment *shop.Shipment }

func (s *gophersShipment) ID() graphql.ID  { return graphql.ID(s.shipment.ID) }
func (s *gophersShipment) OrderID() string { return s.shipment.OrderID }
func (s *gophersShipment) Carrier() string { return s.shipment.Carrier }
func (s *gophersShipment) Parcels() int32  { return s.shipment.Parcels }

// dateTime is the scalar DateTime.
type dateTime struct{ time.Time }

// ImplementsGraphQLType names the scalar of the schema that this Go type represents.
func (dateTime) ImplementsGraphQLType(name string) bool { return name == "DateTime" }

// UnmarshalGraphQL parses the text of an argument. No job has one; the library requires the method.
func (t *dateTime) UnmarshalGraphQL(v any) (err error) {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("%v is no date and time", v)
	}
	t.Time, err = time.Parse(time.RFC3339, text)
	return err
}
