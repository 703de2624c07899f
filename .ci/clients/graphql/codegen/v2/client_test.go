//go:build generated

package v2_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/clients/graphql/codegen"
	client "github.com/stoa-go/stoa/query/graphql/internal/clients/graphql/codegen/v2"
)

// TestOrder creates an order, reads, patches and deletes it, with nothing but what has been
// generated from the SDL.
func TestOrder(t *testing.T) {
	t.Parallel()
	c := codegen.Client(t, "/v2/graphql")
	begun := time.Now().Add(-time.Minute)
	created, err := client.CreateOrder(t.Context(), c, client.CreateOrderInput{
		Lines: []client.LineInput{{ItemId: 1 << 40, Qty: 2}, {ItemId: 8, Qty: 1}}, Note: new("Ring twice."), CustomerId: new(int64(2)),
	})
	if err != nil {
		t.Fatal(err)
	}
	id, fields := created.CreateOrder.Id, created.CreateOrder.Fields
	if fields.Status != client.OrderStatusPlaced || fields.CreatedAt.Before(begun) || fields.Lines[0].ItemId != 1<<40 {
		t.Errorf("created: %+v", fields)
	}
	read, err := client.ReadOrder(t.Context(), c, id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fields, read.Order.Fields); diff != "" {
		t.Errorf("what was created and what is read (-want +got):\n%s", diff)
	}
	want := &client.ReadOrderOrderCustomerUser{Id: "2", Email: "bob@example.com", Role: client.UserRoleCustomer}
	if diff := cmp.Diff(want, read.Order.Customer); diff != "" {
		t.Errorf("the customer (-want +got):\n%s", diff)
	}

	paid, tag := client.OrderStatusPaid, fields.Etag
	patched, err := client.PatchOrder(t.Context(), c, id, client.PatchOrderInput{Status: &paid}, &tag)
	if err != nil {
		t.Fatal(err)
	}
	if patched.PatchOrder.Etag == tag {
		t.Error("the tag of a patched order is what it was")
	}
	fields.Status, fields.Etag = paid, patched.PatchOrder.Etag
	if diff := cmp.Diff(fields, patched.PatchOrder.Fields); diff != "" {
		t.Errorf("the patched order (-want +got):\n%s", diff)
	}

	_, err = client.PatchOrder(t.Context(), c, id, client.PatchOrderInput{Note: new("Too late.")}, &tag)
	if code := codegen.Code(err); code != "PRECONDITION_FAILED" {
		t.Errorf("patch with a stale tag: %q: %v", code, err)
	}
	_, err = client.DeleteOrder(t.Context(), c, id, &tag)
	if code := codegen.Code(err); code != "PRECONDITION_FAILED" {
		t.Errorf("delete with a stale tag: %q: %v", code, err)
	}
	deleted, err := client.DeleteOrder(t.Context(), c, id, nil)
	if err != nil || deleted.DeleteOrder.Id != id {
		t.Errorf("delete: %v: %+v", err, deleted.DeleteOrder)
	}
	again, err := client.ReadOrder(t.Context(), c, id)
	if err != nil || again.Order != nil {
		t.Errorf("read what was deleted: %v: %+v", err, again.Order)
	}
}

// TestInvalid checks the errors that a client receives for invalid requests.
func TestInvalid(t *testing.T) {
	t.Parallel()
	c := codegen.Client(t, "/v2/graphql")
	_, err := client.CreateOrder(t.Context(), c, client.CreateOrderInput{Lines: []client.LineInput{{ItemId: 1, Qty: 1001}}})
	if code := codegen.Code(err); code != "BAD_USER_INPUT" {
		t.Errorf("%q: %v", code, err)
	}
}

// TestPages walks through places to the last page.
func TestPages(t *testing.T) {
	t.Parallel()
	c := codegen.Client(t, "/v2/graphql")
	var names []string
	var population int64 = 1 << 60
	var after *string
	for pages := 1; ; pages++ {
		page, err := client.ListPlaces(t.Context(), c, "DE", 2, after)
		if err != nil {
			t.Fatal(err)
		}
		places := page.Places
		for _, place := range places.Nodes {
			names = append(names, place.Name)
			if place.Lat == nil || *place.Population > population {
				t.Errorf("%+v follows one with %d people", place, population)
			}
			population = *place.Population
		}
		if !places.PageInfo.HasNextPage {
			if total := *places.TotalCount; total != len(names) || pages != (total+1)/2 || total < 3 {
				t.Errorf("%d pages have %d of %d places", pages, len(names), total)
			}
			break
		}
		after = places.PageInfo.EndCursor
	}
	if names[0] != "Berlin" {
		t.Errorf("places of Germany: %s", strings.Join(names, ", "))
	}
}

// TestCommand logs in.
func TestCommand(t *testing.T) {
	t.Parallel()
	c := codegen.Client(t, "/graphql") // where nothing names the contract
	in, err := client.Login(t.Context(), c, client.AuthLoginInput{Email: "ann@example.com", Password: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if login := in.AuthLogin; login.Token == "" || login.ExpiresAt.Before(time.Now()) {
		t.Errorf("logged in: %+v", login)
	}
	_, err = client.Login(t.Context(), c, client.AuthLoginInput{Email: "ann@example.com", Password: "bob"})
	if code := codegen.Code(err); code != "UNAUTHENTICATED" {
		t.Errorf("a false password: %q: %v", code, err)
	}
}
