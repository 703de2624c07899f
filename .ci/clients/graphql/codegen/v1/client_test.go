//go:build generated

package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/clients/graphql/codegen"
	client "github.com/stoa-go/stoa/query/graphql/internal/clients/graphql/codegen/v1"
)

// TestOrder creates an order, reads, patches and deletes it in the shape that orders had in 1.0.0.
func TestOrder(t *testing.T) {
	t.Parallel()
	c := codegen.Client(t, "/v1.0/graphql")
	created, err := client.CreateOrder(t.Context(), c, client.CreateOrderInput{ItemId: 7, Qty: 2})
	if err != nil {
		t.Fatal(err)
	}
	id, fields := created.CreateOrder.Id, created.CreateOrder.Fields
	want := client.Fields{Id: id, Status: client.OrderStatusPlaced, ItemId: 7, Qty: 2, Etag: fields.Etag}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	tag := fields.Etag
	patched, err := client.PatchOrder(t.Context(), c, id, client.PatchOrderInput{Qty: new(3)}, &tag)
	if err != nil {
		t.Fatal(err)
	}
	want.Qty, want.Etag = 3, patched.PatchOrder.Etag
	if diff := cmp.Diff(want, patched.PatchOrder.Fields); diff != "" {
		t.Errorf("patched (-want +got):\n%s", diff)
	}
	read, err := client.ReadOrder(t.Context(), c, id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read.Order.Fields); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	_, err = client.DeleteOrder(t.Context(), c, id, &tag)
	if code := codegen.Code(err); code != "PRECONDITION_FAILED" {
		t.Errorf("delete with a stale tag: %q: %v", code, err)
	}
	if _, err := client.DeleteOrder(t.Context(), c, id, &want.Etag); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// TestPages walks through all orders, one a page.
func TestPages(t *testing.T) {
	t.Parallel()
	c := codegen.Client(t, "/v1.0/graphql")
	var ids []string
	var after *string
	for {
		page, err := client.ListOrders(t.Context(), c, 1, after)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range page.Orders.Nodes {
			ids = append(ids, order.Id)
		}
		if !page.Orders.PageInfo.HasNextPage {
			break
		}
		after = page.Orders.PageInfo.EndCursor
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, ids[:min(3, len(ids))]); diff != "" { // others may be there by now
		t.Errorf("the ids of orders (-want +got):\n%s", diff)
	}
}

// TestCommand cancels nothing.
func TestCommand(t *testing.T) {
	t.Parallel()
	done, err := client.CancelStale(t.Context(), codegen.Client(t, "/v1.0/graphql"), "9999h")
	if err != nil || done.OrdersCancelStale.Cancelled != 0 {
		t.Errorf("%v: %+v", err, done.OrdersCancelStale)
	}
	_, err = client.CancelStale(t.Context(), codegen.Client(t, "/v1.0/graphql"), "a while")
	if code := codegen.Code(err); code != "BAD_USER_INPUT" {
		t.Errorf("%q: %v", code, err)
	}
}
