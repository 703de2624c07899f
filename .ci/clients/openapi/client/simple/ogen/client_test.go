//go:build generated

package ogen_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/stoa-go/stoa/query/graphql/internal/clients/openapi/client/simple/ogen"
	"github.com/stoa-go/stoa/query/graphql/internal/clients/shop"
)

func open(t *testing.T) *client.Client {
	t.Helper()
	s, err := shop.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.NewClient(s.URL + "/v2")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantStatus checks that err is a problem with the status. All operations have one type of error.
func wantStatus(t *testing.T, what string, err error, status int) {
	t.Helper()
	var p *client.OtherProblemStatusCode
	if !errors.As(err, &p) || p.StatusCode != status || p.Response.Status != status {
		t.Errorf("%s: %v, want the problem %d", what, err, status)
	}
}

// TestOrder creates orders, lists, patches and deletes them. A method returns the item of its operation
// and an error.
func TestOrder(t *testing.T) {
	t.Parallel()
	c := open(t)
	order := &client.OrderCreate{Lines: []client.LineCreate{{ItemId: 7, Qty: 2}},
		Note: client.NewOptNilString("Ring twice.")}
	first, err := c.CreateOrder(t.Context(), order, client.CreateOrderParams{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.CreateOrder(t.Context(), order, client.CreateOrderParams{})
	if err != nil {
		t.Fatal(err)
	}
	id := first.Response.ID

	page, err := c.ListOrders(t.Context(), client.ListOrdersParams{
		Status: client.NewOptListOrdersStatus(client.ListOrdersStatusPlaced),
		Where:  client.NewOptOrdersWhere(client.OrdersWhere{IDDotGte: client.NewOptInt64(id)}),
		Sort:   []client.ListOrdersSortItem{"-id", "status"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]client.Order{second.Response, first.Response}, page.Items); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}

	patch := &client.OrderPatch{Status: client.NewOptOrderPatchStatus(client.OrderPatchStatusPaid)}
	patched, err := c.PatchOrder(t.Context(), patch, client.PatchOrderParams{ID: id, IfMatch: first.ETag})
	if err != nil {
		t.Fatal(err)
	}
	want := first.Response
	want.Status = client.OrderStatusPaid
	if diff := cmp.Diff(want, patched.Response); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}

	err = c.DeleteOrder(t.Context(), client.DeleteOrderParams{ID: id, IfMatch: first.ETag})
	wantStatus(t, "delete with a stale tag", err, 412)
	if err := c.DeleteOrder(t.Context(), client.DeleteOrderParams{ID: id}); err != nil {
		t.Fatal(err)
	}
	_, err = c.GetOrder(t.Context(), client.GetOrderParams{ID: id})
	wantStatus(t, "read a deleted order", err, 410)
	order.CustomerId = client.NewOptNilInt64(77)
	_, err = c.CreateOrder(t.Context(), order, client.CreateOrderParams{})
	wantStatus(t, "create with an unknown customer", err, 422)
}
