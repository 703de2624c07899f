package main

// The resource orders in its current form, with its rules. orders_v1.go has the older forms.

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// The doc comments of types, fields and constants are the descriptions in OpenAPI and GraphQL. The
// command copies them to descriptions_gen.go, and a test fails if they differ.
//
//go:generate go run github.com/stoa-go/stoa/resource/schema/describe

// Clients cannot write readOnly fields. The default of Status applies to a POST without it.

// Order is an order of a customer.
type Order struct {
	// ID is the number of the order. The shop assigns it.
	ID int64 `json:"id" readOnly:"true"`
	// Status is the state of the order.
	Status OrderStatus `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	// Lines are the ordered items.
	Lines []Line `json:"lines" required:"true" minItems:"1" maxItems:"50"`
	// Note is a message of the customer to the shop.
	Note *string `json:"note" maxLength:"500"`
	// CustomerID is the id of the user that the order is for.
	CustomerID *int64 `json:"customerId,omitzero"`
	// CreatedAt is the time at which the order was placed.
	CreatedAt time.Time `json:"createdAt" readOnly:"true"`
}

// Line is one line of an order.
type Line struct {
	// ItemID is the number of the item in the catalog of the shop.
	ItemID int64 `json:"itemId" required:"true" minimum:"1"`
	// Qty is the quantity in pieces.
	Qty int `json:"qty" required:"true" minimum:"1" maximum:"1000"`
}

// OrderStatus is the state of an order.
type OrderStatus string

// The states of an order. Every contract has the same.
const (
	placed    OrderStatus = "placed"    // the customer has ordered and not paid yet
	paid      OrderStatus = "paid"      // the payment was received
	shipped   OrderStatus = "shipped"   // the items were sent
	cancelled OrderStatus = "cancelled" // the order will not be carried out
)

// ordersResource declares the orders. Options.Before runs for every protocol, so the rule about
// customers is written once. The relation adds ?expand=customer to REST and a field to GraphQL. Lists
// can be filtered through it: ?customer.role=clerk.
func (c *collections) ordersResource() *resource.Resource {
	// Query declares every field. Declare only what the store answers with an index.
	return assigned(c.orders).Resource("orders", guardOwn(c, &resource.Options[Order]{
		Query:     ordersQuery(),
		Relations: []resource.Relation[Order]{{Name: "customer", Target: "users", Field: "customerId"}},
		Before:    c.beforeOrder,
		Samples:   sampleOrders(),
	}, "customerId", mayWriteOrder))
}

// ordersQuery declares the queries of orders. Orders can be sorted by the customer, ?sort=customer.email, and
// grouped: ?group=status,customer.active&count.
func ordersQuery() query.Support {
	s := allFields[Order]("customer")
	s.Sort = append(s.Sort, "customer.email")
	s.Group = []string{"status", "customerId", "customer.active"}
	s.Aggregate = map[string][]query.Func{
		"customerId": {query.Distinct},
		"createdAt":  {query.Min, query.Max},
	}
	return s
}

// sampleOrders returns the examples of the descriptions. At start, each view converts them to the
// older contract and back, which finds a view that loses data. There is a sample with and without
// each optional field, because only these kinds are checked.
func sampleOrders() []Order {
	bob, note := int64(2), "Please ring twice."
	noon := time.Date(2026, time.November, 2, 12, 0, 0, 0, time.UTC)
	return []Order{
		{
			ID:         1,
			Status:     paid,
			Lines:      []Line{{ItemID: 7, Qty: 2}, {ItemID: 11, Qty: 1}},
			Note:       &note,
			CustomerID: &bob,
			CreatedAt:  noon,
		},
		{ID: 2, Status: placed, Lines: []Line{{ItemID: 42, Qty: 1}}, CreatedAt: noon},
	}
}

// beforeOrder sets the creation time and rejects unknown customers. It checks only a customer that
// changes, because old orders may refer to a customer that was deleted. The error is 422 with the
// code unknownCustomer at /customerId. The foreign key of the SQL table rejects a customer that is
// deleted at the same time.
func (c *collections) beforeOrder(ctx context.Context, _ resource.Op, before, after *Order) error {
	if after == nil {
		return nil
	}
	if before == nil {
		after.CreatedAt = toMillisecond(c.now())
		if err := c.setCustomer(ctx, after); err != nil {
			return err
		}
	}
	if after.CustomerID == nil ||
		before != nil && before.CustomerID != nil && *before.CustomerID == *after.CustomerID {
		return nil
	}
	_, err := c.users.Get(ctx, strconv.FormatInt(*after.CustomerID, 10))
	if errors.Is(err, resource.ErrNotFound) || errors.Is(err, resource.ErrGone) {
		return resource.Invalid("customerId", "unknownCustomer")
	}
	return err
}

// toMillisecond returns t in UTC, truncated to milliseconds. Databases store different precisions;
// this one survives all of them, so a value that a client has read can be used in a filter.
func toMillisecond(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
