package resource_test

import (
	"time"

	"github.com/stoa-go/stoa/resource"
)

// The contracts of the library: now a book has a name and an author; before, it had no author; at first it
// was a label. In the contract 1.1.0 of a shop an order had a single line, inline, and in 1.0.0 it had no note.

type bookV1 struct {
	ID    int64  `json:"id" readOnly:"true"`
	Name  string `json:"name" required:"true"`
	Stars int64  `json:"stars"`
	Key   string `json:"key,omitempty" writeOnly:"true"`
}

type bookV0 struct {
	Number int64  `json:"number" readOnly:"true"`
	Label  string `json:"label" required:"true"`
}

func toV1(b book) (bookV1, error) { return bookV1{ID: b.ID, Name: b.Title, Stars: b.Stars}, nil }

func fromV1(v bookV1, base book) (book, error) {
	base.Title, base.Stars = v.Name, v.Stars
	if v.Key != "" {
		base.Password = v.Key
	}
	return base, nil
}

func toV0(v bookV1) (bookV0, error) { return bookV0{Number: v.ID, Label: v.Name}, nil }

func fromV0(v bookV0, base bookV1) (bookV1, error) {
	base.Name = v.Label
	return base, nil
}

func shelved() book {
	note := "signed"
	return book{Title: "Emma", Author: 7, Owner: "ann", Stars: 4, Note: &note, Sequels: []int64{2}, Password: "hush",
		Shelf: "B3"}
}

type purchase struct {
	ID        int64          `json:"id" readOnly:"true"`
	Status    string         `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	Lines     []purchaseLine `json:"lines" required:"true" minItems:"1" maxItems:"50"`
	Note      *string        `json:"note" maxLength:"500"`
	Customer  int64          `json:"customerId,omitzero" minimum:"1"`
	CreatedAt time.Time      `json:"createdAt" readOnly:"true"`
}

type purchaseLine struct {
	Item int64 `json:"itemId" required:"true" minimum:"1"`
	Qty  int   `json:"qty" required:"true" minimum:"1" maximum:"1000"`
}

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

// purchaseSamples returns typical orders.
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

// purchaseViews are orders in the contracts 1.1.0 and 1.0.0.
func purchaseViews(orders *resource.Resource, opts ...func(v11, v10 *resource.ViewOptions)) (v11, v10 *resource.Resource) {
	var o11, o10 resource.ViewOptions
	for _, opt := range opts {
		opt(&o11, &o10)
	}
	v11 = resource.View(orders, purchaseToV11, purchaseFromV11, &o11)
	return v11, resource.View(v11, purchaseToV10, purchaseFromV10, &o10)
}
