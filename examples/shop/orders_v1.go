package main

// Orders as contracts 1.0 and 1.1 show them. Each form is converted from the next newer one, so
// that a change of the current form concerns only one conversion.

import (
	"errors"

	"github.com/stoa-go/stoa/resource"
)

// Order11 is an order in contract 1.1.0, which has a single line and neither customer nor creation
// time. A contract has types of its own, so a change of Order cannot change an older contract
// unnoticed.
type Order11 struct {
	ID     int64   `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Status string  `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	ItemID int64   `json:"itemId" required:"true" minimum:"1" doc:"The item of the first line."`
	Qty    int     `json:"qty" required:"true" minimum:"1" maximum:"1000" doc:"Its quantity."`
	Note   *string `json:"note" maxLength:"500" doc:"The customer's note to the shop."`
}

// Order10 is an order in contract 1.0.0, which has no note either.
type Order10 struct {
	ID     int64  `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Status string `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	ItemID int64  `json:"itemId" required:"true" minimum:"1" doc:"The item of the first line."`
	Qty    int    `json:"qty" required:"true" minimum:"1" maximum:"1000" doc:"Its quantity."`
}

// ordersV11 returns the view of orders in contract 1.1.0. Every order has at least one line, so
// every order can be converted.
func ordersV11(orders *resource.Resource) *resource.Resource {
	return resource.View(orders, toOrder11, fromOrder11, nil)
}

// ordersV10 returns the view in contract 1.0.0. It converts from 1.1.0, so each contract depends
// only on the next newer one.
func ordersV10(orders *resource.Resource) *resource.Resource {
	return resource.View(orders, toOrder10, fromOrder10, nil)
}

// toOrder11 returns the order in contract 1.1.0. Its error is a fault of the data, and the response
// is 500.
func toOrder11(o Order) (Order11, error) {
	if len(o.Lines) == 0 {
		return Order11{}, errors.New("the order has no lines")
	}
	first := o.Lines[0]
	return Order11{ID: o.ID, Status: o.Status, ItemID: first.ItemID, Qty: first.Qty, Note: o.Note}, nil
}

// fromOrder11 replaces the first line of base and keeps the others, which contract 1.1.0 does not
// contain. That is why a PUT in an old contract does not delete data that its client cannot see.
func fromOrder11(v Order11, base Order) (Order, error) {
	if len(base.Lines) == 0 { // a new order
		base.Lines = make([]Line, 1)
	}
	base.Status, base.Lines[0], base.Note = v.Status, Line{ItemID: v.ItemID, Qty: v.Qty}, v.Note
	return base, nil
}

// toOrder10 drops the note.
func toOrder10(o Order11) (Order10, error) {
	return Order10{ID: o.ID, Status: o.Status, ItemID: o.ItemID, Qty: o.Qty}, nil
}

// fromOrder10 keeps the note of base, which contract 1.0.0 does not contain.
func fromOrder10(v Order10, base Order11) (Order11, error) {
	base.Status, base.ItemID, base.Qty = v.Status, v.ItemID, v.Qty
	return base, nil
}
