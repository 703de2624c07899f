//go:build generated

package v110_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/stoa-go/stoa/query/graphql/internal/clients/openapi/client/v110"
	"github.com/stoa-go/stoa/query/graphql/internal/clients/shop"
)

// TestOrder creates an order, reads, patches and deletes it, with nothing but what has been
// generated from the document.
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
	c, err := client.NewClientWithResponses(s.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}

	order := client.OrderCreate{ItemId: 7, Qty: 2, Note: new("Ring twice.")}

	created, err := c.CreateOrderWithResponse(t.Context(), nil, order)
	if err != nil {
		t.Fatal(err)
	}
	if created.JSON201 == nil || created.JSON201.Id == nil {
		t.Fatalf("create: %s: %s", created.Status(), created.Body)
	}
	id := *created.JSON201.Id

	read, err := c.GetOrderWithResponse(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if read.JSON200 == nil {
		t.Fatalf("read: %s: %s", read.Status(), read.Body)
	}
	if diff := cmp.Diff(created.JSON201, read.JSON200); diff != "" {
		t.Errorf("what was created and what is read (-want +got):\n%s", diff)
	}
	if got := read.Headers200.APIVersion; got == nil || *got != "1.1.0" {
		t.Errorf("API-Version is %v, want 1.1.0", got)
	}

	tag := read.Headers200.ETag
	paid := client.OrderPatchStatus("paid")
	patched, err := c.PatchOrderWithApplicationMergePatchPlusJSONBodyWithResponse(t.Context(), id,
		&client.PatchOrderParams{IfMatch: tag}, client.OrderPatch{Status: &paid})
	if err != nil {
		t.Fatal(err)
	}
	if patched.JSON200 == nil {
		t.Fatalf("patch: %s: %s", patched.Status(), patched.Body)
	}
	want := *read.JSON200
	want.Status = new(client.OrderStatus("paid"))
	if diff := cmp.Diff(&want, patched.JSON200); diff != "" {
		t.Errorf("the patched order (-want +got):\n%s", diff)
	}

	stale, err := c.DeleteOrderWithResponse(t.Context(), id, &client.DeleteOrderParams{IfMatch: tag})
	if err != nil {
		t.Fatal(err)
	}
	if p := stale.ApplicationproblemJSON412; p == nil || p.Status != http.StatusPreconditionFailed {
		t.Errorf("delete with a stale tag: %s: %s", stale.Status(), stale.Body)
	}
	deleted, err := c.DeleteOrderWithResponse(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if deleted.StatusCode() != http.StatusNoContent {
		t.Errorf("delete: %s: %s", deleted.Status(), deleted.Body)
	}
	again, err := c.GetOrderWithResponse(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.ApplicationproblemJSON410 == nil {
		t.Errorf("read what was deleted: %s: %s", again.Status(), again.Body)
	}
}
