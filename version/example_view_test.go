package version_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// order is the shape of contract 2.0.0, order1 that of 1.1.0, in which an order had one item.
type order struct {
	ID    int64   `json:"id" readOnly:"true"`
	Items []int64 `json:"items" minItems:"1"`
}

type order1 struct {
	ID   int64 `json:"id" readOnly:"true"`
	Item int64 `json:"item"`
}

func toOrder1(o order) (order1, error) { return order1{ID: o.ID, Item: o.Items[0]}, nil }

func fromOrder1(v order1, base order) (order, error) {
	if len(base.Items) == 0 {
		base.Items = []int64{0}
	}
	base.Items[0] = v.Item
	return base, nil
}

// Two contracts over one store, as in README.md of this folder.
func ExampleNew_views() {
	june := time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
	nextJune := june.AddDate(100, 0, 0)
	store := memory.New[order](nil)
	if _, err := store.Create(context.Background(), order{Items: []int64{7, 11}}); err != nil {
		panic(err)
	}

	orders := resource.New("orders", store, nil)              // the shape of 2.0.0
	older := resource.View(orders, toOrder1, fromOrder1, nil) // the shape of 1.1.0
	api := version.New(
		[]version.Contract{
			{Name: "2.0.0", Handler: rest.New(resource.NewCatalog(nil, orders), nil)},
			{Name: "1.1.0", Handler: rest.New(resource.NewCatalog(nil, older), nil), Deprecated: june, Sunset: nextJune},
		},
		[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}, version.MediaType{Vendor: "shop"}},
		&version.Options{Default: "2.0.0"},
	)

	for _, target := range []string{"/orders/1", "/v1/orders/1"} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 {"id":1,"items":[7,11]}
	// 200 {"id":1,"item":7}
}
