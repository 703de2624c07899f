package rest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// The older contracts of the shop. In 1.1.0 an order had a single line, inline, and in 1.0.0 it had
// no note. A user of 1.0.0 had no role.

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

// goldenContracts opens the shop in the contracts 1.0.0, 1.1.0 and 2.0.0, on 20 November 2026.
// 0.9.0 is retired. changes may be nil.
func goldenContracts(t *testing.T, changes *feed.Feed) http.Handler {
	t.Helper()
	parts := goldenParts(t)
	orders, users := parts[0].(*resource.Resource), parts[1].(*resource.Resource)
	v11, v10 := purchaseViews(orders)
	users10 := resource.View(users, customerToV10, customerFromV10, nil)
	_, runner := resource.NewCatalog(nil, parts...).Guarantee("orders", true)
	// the caller is "ann" with a token and "" without
	opts := &resource.CatalogOptions{Principal: caller, Feed: changes,
		Idempotency: idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: runner}), nil)}
	serve := func(orders, users *resource.Resource) http.Handler {
		return byToken(rest.New(resource.NewCatalog(opts, append([]resource.Part{orders, users}, parts[2:]...)...), goldenMedia()))
	}
	day := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	june, nextJune := day(2026, time.June, 1), day(2027, time.June, 30)
	return version.New([]version.Contract{
		{Name: "0.9.0", Sunset: day(2026, time.January, 31)},
		{Name: "1.0.0", Handler: serve(v10, users10), Deprecated: june, Sunset: nextJune, OpenAPI: "/openapi/1.0.0.json"},
		{Name: "1.1.0", Handler: serve(v11, users), Deprecated: june, Sunset: nextJune, OpenAPI: "/openapi/1.1.0.json"},
		{Name: "2.0.0", Handler: serve(orders, users), OpenAPI: "/openapi/2.0.0.json"},
	}, []version.Strategy{
		version.Path{}, version.Host{Domains: []string{"example.com"}}, version.Query{}, version.Header{Name: "API-Version"},
		version.MediaType{Vendor: "shop"}, version.Body{},
	}, &version.Options{Default: "2.0.0", Now: func() time.Time { return day(2026, time.November, 20) }})
}
