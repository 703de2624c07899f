//go:build generated

package oapi_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/stoa-go/stoa/query/graphql/internal/clients/openapi/client/simple/oapi"
	"github.com/stoa-go/stoa/query/graphql/internal/clients/shop"
)

// TestOrder creates orders, lists, patches and deletes them. Required members are not pointers.
func TestOrder(t *testing.T) {
	t.Parallel()
	s, err := shop.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.NewClientWithResponses(s.URL + "/v2")
	if err != nil {
		t.Fatal(err)
	}
	create := func() (client.Order, *string) {
		res, err := c.CreateOrderWithResponse(t.Context(), nil,
			client.OrderCreate{Lines: []client.LineCreate{{ItemId: 7, Qty: 2}}})
		if err != nil {
			t.Fatal(err)
		}
		if res.JSON201 == nil {
			t.Fatalf("create: %s: %s", res.Status(), res.Body)
		}
		return *res.JSON201, res.Headers201.ETag
	}
	first, tag := create()
	second, _ := create()

	placed := client.ListOrdersParamsStatus("placed")
	page, err := c.ListOrdersWithResponse(t.Context(), &client.ListOrdersParams{Status: &placed,
		Where: &client.OrdersWhere{IdGte: &first.Id}, Sort: &[]client.ListOrdersParamsSort{"-id", "status"}})
	if err != nil {
		t.Fatal(err)
	}
	if page.JSON200 == nil {
		t.Fatalf("list: %s: %s", page.Status(), page.Body)
	}
	if diff := cmp.Diff([]client.Order{second, first}, page.JSON200.Items); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}

	paid := client.OrderPatchStatus("paid")
	patched, err := c.PatchOrderWithApplicationMergePatchPlusJSONBodyWithResponse(t.Context(), first.Id,
		&client.PatchOrderParams{IfMatch: tag}, client.OrderPatch{Status: &paid})
	if err != nil {
		t.Fatal(err)
	}
	want := first
	want.Status = "paid"
	if diff := cmp.Diff(&want, patched.JSON200); diff != "" {
		t.Errorf("patch: %s (-want +got):\n%s", patched.Status(), diff)
	}

	stale, err := c.DeleteOrderWithResponse(t.Context(), first.Id, &client.DeleteOrderParams{IfMatch: tag})
	if err != nil {
		t.Fatal(err)
	}
	if p := stale.ApplicationproblemJSONDefault; p == nil || p.Status != http.StatusPreconditionFailed {
		t.Errorf("delete with a stale tag: %s: %s", stale.Status(), stale.Body)
	}
	deleted, err := c.DeleteOrderWithResponse(t.Context(), first.Id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if deleted.StatusCode() != http.StatusNoContent {
		t.Errorf("delete: %s: %s", deleted.Status(), deleted.Body)
	}
}
