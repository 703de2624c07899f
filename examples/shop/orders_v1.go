package main

// Orders as contracts 1.0 and 1.1 show them. Each form is converted from the next newer one, so
// that a change of the current form concerns only one conversion.

import (
	"errors"

	"github.com/stoa-go/stoa/resource"
)

// A contract has types of its own, so a change of Order cannot change an older contract unnoticed.

// Order11 is an order of a customer. This contract shows its first line, and neither the customer nor
// the time of the order.
type Order11 struct {
	// ID is the number of the order. The shop assigns it.
	ID int64 `json:"id" readOnly:"true"`
	// Status is the state of the order.
	Status OrderStatus `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	// ItemID is the number of the item of the first line.
	ItemID int64 `json:"itemId" required:"true" minimum:"1"`
	// Qty is the quantity of the first line in pieces.
	Qty int `json:"qty" required:"true" minimum:"1" maximum:"1000"`
	// Note is a message of the customer to the shop.
	Note *string `json:"note" maxLength:"500"`
}

// Order10 is an order of a customer. This contract shows its first line, and neither the note, the
// customer nor the time of the order.
type Order10 struct {
	// ID is the number of the order. The shop assigns it.
	ID int64 `json:"id" readOnly:"true"`
	// Status is the state of the order.
	Status OrderStatus `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	// ItemID is the number of the item of the first line.
	ItemID int64 `json:"itemId" required:"true" minimum:"1"`
	// Qty is the quantity of the first line in pieces.
	Qty int `json:"qty" required:"true" minimum:"1" maximum:"1000"`
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
