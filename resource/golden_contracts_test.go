package resource_test

import (
	"time"

	"github.com/stoa-go/stoa/resource"
)

// The older contracts of the shop. In 1.1.0 an order had one line, which was the order, and in 1.0.0 it had no note; a user
// of 1.0.0 had no role.

type purchaseV11 struct {
	ID     int64   `json:"id" readOnly:"true"`
	Status string  `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	Item   int64   `json:"itemId" required:"true" minimum:"1"`
	Qty    int     `json:"qty" required:"true" minimum:"1" maximum:"1000"`
	Note   *string `json:"note" maxLength:"500"`
}

type purchaseV10 struct {
	ID     int64  `json:"id" readOnly:"true"`
	Status string `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	Item   int64  `json:"itemId" required:"true" minimum:"1"`
	Qty    int    `json:"qty" required:"true" minimum:"1" maximum:"1000"`
}

type customerV10 struct {
	ID     int64  `json:"id" readOnly:"true"`
	Email  string `json:"email" required:"true" format:"email" unique:"true"`
	Active bool   `json:"active" required:"true"`
}

// purchaseSamples are orders as they could be.
func purchaseSamples() []purchase {
	note := "Ring twice."
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	return []purchase{
		{ID: 1, Status: "paid", Lines: []purchaseLine{{Item: 7, Qty: 1}}, Customer: 1, CreatedAt: noon},
		{ID: 2, Status: "placed", Lines: []purchaseLine{{Item: 7, Qty: 2}, {Item: 9, Qty: 1}, {Item: 3, Qty: 5}}, Note: &note,
			CreatedAt: noon},
	}
}

func purchaseToV11(p purchase) (purchaseV11, error) {
	return purchaseV11{ID: p.ID, Status: p.Status, Item: p.Lines[0].Item, Qty: p.Lines[0].Qty, Note: p.Note}, nil
}

func purchaseFromV11(v purchaseV11, base purchase) (purchase, error) {
	base.Status, base.Note = v.Status, v.Note
	if len(base.Lines) == 0 { // a new order
		base.Lines = make([]purchaseLine, 1)
	}
	base.Lines[0] = purchaseLine{Item: v.Item, Qty: v.Qty}
	return base, nil
}

func purchaseToV10(v purchaseV11) (purchaseV10, error) {
	return purchaseV10{ID: v.ID, Status: v.Status, Item: v.Item, Qty: v.Qty}, nil
}

func purchaseFromV10(v purchaseV10, base purchaseV11) (purchaseV11, error) {
	base.Status, base.Item, base.Qty = v.Status, v.Item, v.Qty
	return base, nil
}

func customerToV10(c customer) (customerV10, error) {
	return customerV10{ID: c.ID, Email: c.Email, Active: c.Active}, nil
}

func customerFromV10(v customerV10, base customer) (customer, error) {
	base.Email, base.Active = v.Email, v.Active
	return base, nil
}

// purchaseViews are orders in the contracts 1.1.0 and 1.0.0.
func purchaseViews(orders *resource.Resource, opts ...func(v11, v10 *resource.ViewOptions)) (v11, v10 *resource.Resource) {
	var o11, o10 resource.ViewOptions
	for _, opt := range opts {
		opt(&o11, &o10)
	}
	v11 = resource.View(orders, purchaseToV11, purchaseFromV11, &o11)
	return v11, resource.View(v11, purchaseToV10, purchaseFromV10, &o10)
}
