package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/memory"
)

const (
	jsonType  = "Content-Type: application/json"
	mergeType = "Content-Type: application/merge-patch+json"
)

// as sends a request with the token of a user, or without a token if the name is empty.
func as(t *testing.T, s *opened, tokens map[string]string, who, method, target, body string) (int, string) {
	t.Helper()
	header := []string{jsonType}
	if method == http.MethodPatch {
		header[0] = mergeType
	}
	if who != "" {
		header = append(header, "Authorization: Bearer "+tokens[who])
	}
	w := ask(t, s, method, target, body, header...)
	if got := w.Header().Get("WWW-Authenticate"); (w.Code == 401) != strings.HasPrefix(got, "Bearer") {
		t.Errorf("%s %s is answered with %d and WWW-Authenticate %q", method, target, w.Code, got)
	}
	return w.Code, w.Body.String()
}

// openGuarded opens a shop with -auth, and logs in three users.
func openGuarded(t *testing.T) (s *opened, tokens map[string]string) {
	t.Helper()
	s = openShopOn(t, settings{db: "memory", cache: "private, no-cache", auth: true})
	tokens = map[string]string{"forger": "Zm9yZ2Vk"}
	for _, name := range []string{"ann", "bob", "cat"} {
		tokens[name] = signIn(t, s, name)
	}
	return s, tokens
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	const order, place = `{"lines":[{"itemId":1,"qty":1}]}`, `{"name":"Utopia","country":"XX"}`
	tests := []struct {
		name, who, method, target, body string
		status                          int
	}{
		{"orders without a token", "", "GET", "/orders", "", 401},
		{"an order without a token", "", "GET", "/orders/1", "", 401},
		{"their orders", "bob", "GET", "/orders/1", "", 200},
		{"orders of other users", "bob", "GET", "/orders/2", "", 404},
		{"orders of other users, in an old contract", "bob", "GET", "/v1/orders/2", "", 404},
		{"all orders", "ann", "GET", "/orders/2", "", 200},
		{"a false token", "forger", "GET", "/places", "", 401},
		{"places for all", "", "GET", "/places", "", 200},
		{"users without a token", "", "GET", "/users/1", "", 401},
		{"their user", "bob", "GET", "/users/2", "", 200},
		{"other users", "bob", "GET", "/users/3", "", 404},
		{"other users, in an old contract", "bob", "GET", "/v1.0/users/3", "", 404},
		{"all users", "ann", "GET", "/users/3", "", 200},
		{"create an order without a token", "", "POST", "/orders", order, 401},
		{"create an order without a token or a body", "", "POST", "/orders", `{`, 401},
		{"create an order without a token, in an old contract", "", "POST", "/v1/orders", `{"itemId":1,"qty":1}`, 401},
		{"create an order", "bob", "POST", "/orders", order, 201},
		{"create an order for another user", "bob", "POST", "/orders",
			`{"customerId":3,"lines":[{"itemId":1,"qty":1}]}`, 403},
		{"create an order for another user, as an admin", "ann", "POST", "/orders",
			`{"customerId":3,"lines":[{"itemId":1,"qty":1}]}`, 201},
		{"create an order that is paid", "bob", "POST", "/orders", `{"status":"paid",` + order[1:], 403},
		{"create an order that is cancelled", "bob", "POST", "/orders", `{"status":"cancelled",` + order[1:], 403},
		{"create an order that is paid, as an admin", "ann", "POST", "/orders", `{"status":"paid",` + order[1:], 201},
		{"state that their order is shipped", "cat", "PATCH", "/orders/2", `{"status":"shipped"}`, 403},
		{"state that, in an old contract", "cat", "PATCH", "/v1.0/orders/2", `{"status":"shipped"}`, 403},
		{"change the customer of their order", "cat", "PATCH", "/orders/2", `{"customerId":2}`, 403},
		{"change their order", "cat", "PATCH", "/orders/2", `{"note":"x"}`, 200},
		{"change an order of another user", "cat", "PATCH", "/orders/1", `{"note":"x"}`, 404},
		{"delete an order of another user", "cat", "DELETE", "/orders/1", "", 404},
		{"create a place without a token", "", "POST", "/places", place, 401},
		{"create a place", "cat", "POST", "/places", place, 201},
		{"change a place", "cat", "PATCH", "/places/264371", `{"admin":"x"}`, 200},
		{"delete a place", "cat", "DELETE", "/places/264371", "", 403},
		{"delete a place, as an admin", "ann", "DELETE", "/places/2643743", "", 204},
		{"create a user as a customer", "cat", "POST", "/users", `{"email":"dan@example.com","active":true}`, 403},
		{"delete a user with orders, as a customer", "bob", "DELETE", "/users/2", "", 403},
		{"delete another user, as a customer", "bob", "DELETE", "/users/3", "", 404},
		{"change their role to admin", "cat", "PATCH", "/users/3", `{"role":"admin"}`, 403},
		{"change their role to admin, in an old contract", "cat", "PATCH", "/v1.0/users/3", `{"active":false}`, 403},
		{"create a user as an admin", "ann", "POST", "/users", `{"email":"dan@example.com","active":true}`, 201},
		{"cancel without a token", "", "POST", "/orders/cancel-stale", `{"olderThan":"999h"}`, 401},
		{"cancel as a customer", "bob", "POST", "/orders/cancel-stale", `{"olderThan":"999h"}`, 403},
		{"cancel as an admin", "ann", "POST", "/orders/cancel-stale", `{"olderThan":"999h"}`, 202},
		{"import without a token", "", "POST", "/places/import", place, 401},
		{"store a file without a token", "", "PUT", "/files/a", place, 401},
		{"store a file", "cat", "PUT", "/files/a", place, 201},
		{"delete an unknown file", "", "GET", "/files/b", "", 404},
		{"a path that ends like that of login", "", "POST", "/places/auth/login", place, 404},
	}
	s, tokens := openGuarded(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if status, body := as(t, s, tokens, tt.who, tt.method, tt.target, tt.body); status != tt.status {
				t.Errorf("%s %s returned %d, want %d: %s", tt.method, tt.target, status, tt.status,
					body)
			}
		})
	}
}

// A customer cannot find orders of other customers: not in lists, totals, relations of users, or
// deleted items.
func TestCustomersSeeTheirOwn(t *testing.T) {
	t.Parallel()
	s, tokens := openGuarded(t)
	if status, body := as(t, s, tokens, "ann", "DELETE", "/orders/3", ""); status != 204 {
		t.Fatalf("%d: %s", status, body)
	}
	tests := []struct{ who, target, want string }{
		{"bob", "/orders?fields=id", `{"items":[{"id":1}]}`},
		{"cat", "/orders?fields=id", `{"items":[{"id":2}]}`},
		{"ann", "/orders?fields=id", `{"items":[{"id":1},{"id":2}]}`},
		{"cat", "/orders?customerId=2", `{"items":[]}`},
		{"cat", "/orders?customer.role=customer&fields=id", `{"items":[{"id":2}]}`},
		{"ann", "/orders?customer.email=bob%40example.com&fields=id", `{"items":[{"id":1}]}`},
		{"cat", "/users?orders.some.id.in=1,2&fields=id", `{"items":[{"id":3}]}`},
		{"ann", "/users?orders.some.id.in=1,2&fields=id", `{"items":[{"id":2},{"id":3}]}`},
		{"cat", "/users?expand=orders&fields=id", `{"items":[` +
			`{"id":3,"orders":[{"id":2,"status":"paid","lines":[{"itemId":3,"qty":10}],"note":"Please ring twice.",` +
			`"customerId":3,"createdAt":"2024-02-29T08:00:00Z"}]}]}`},
	}
	for _, tt := range tests {
		_, body := as(t, s, tokens, tt.who, "GET", tt.target, "")
		if diff := cmp.Diff(tt.want, body); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", tt.who, tt.target, diff)
		}
	}
	for who, want := range map[string]int{"ann": 410, "bob": 404, "cat": 404} {
		if status, _ := as(t, s, tokens, who, "GET", "/orders/3", ""); status != want {
			t.Errorf("%s: a deleted order returned %d, want %d", who, status, want)
		}
	}
	total := ask(t, s, "GET", "/orders?limit=1", "", "Prefer: count=exact",
		"Authorization: Bearer "+tokens["bob"])
	if !strings.Contains(total.Body.String(), `"total":1}`) {
		t.Errorf("bob has one order: %s", total.Body)
	}
}

// Customers can cancel their orders, and keep those that were paid as they are.
func TestCustomersCancelTheirOrders(t *testing.T) {
	t.Parallel()
	s, tokens := openGuarded(t)
	for _, tt := range []struct {
		method, body string
		status       int
	}{
		{"PATCH", `{"note":"x"}`, 200}, // it is paid, and stays so
		{"PATCH", `{"status":"cancelled"}`, 200},
		{"PATCH", `{"status":"paid"}`, 403},
		{"PUT", `{"status":"shipped","lines":[{"itemId":1,"qty":1}],"customerId":3}`, 403},
	} {
		if status, body := as(t, s, tokens, "cat", tt.method, "/orders/2", tt.body); status != tt.status {
			t.Errorf("%s %s returned %d, want %d: %s", tt.method, tt.body, status, tt.status, body)
		}
	}
}

// The policies apply to GraphQL as well.
func TestPolicyOfGraphQL(t *testing.T) {
	t.Parallel()
	const forbidden, orderInput = `"code":"FORBIDDEN"`, `lines: [{itemId: 1, qty: 1}]`
	tests := []struct{ name, who, document, want string }{
		{"users", "bob", `{ users { nodes { id } } }`, `{"data":{"users":{"nodes":[{"id":"2"}]}}}`},
		{"users without a token", "", `{ users { nodes { id } } }`, `"code":"UNAUTHENTICATED"`},
		{"another user", "bob", `{ user(id: 3) { id } }`, `{"data":{"user":null}}`},
		{"customer of an order", "bob", `{ order(id: 1) { customer { id } } }`,
			`{"data":{"order":{"customer":{"id":"2"}}}}`},
		{"create an order that is paid", "bob",
			`mutation { createOrder(input: {status: paid, ` + orderInput + `}) { id } }`, forbidden},
		{"state that an order is shipped", "cat",
			`mutation { patchOrder(id: 2, input: {status: shipped}) { id } }`, forbidden},
		{"delete a place", "cat", `mutation { deletePlace(id: "264371") { id } }`, forbidden},
	}
	s, tokens := openGuarded(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			header := []string{jsonType}
			if tt.who != "" {
				header = append(header, "Authorization: Bearer "+tokens[tt.who])
			}
			w := ask(t, s, "POST", "/graphql", fmt.Sprintf(`{"query":%q}`, tt.document), header...)
			if !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("%s, want %s", w.Body, tt.want)
			}
		})
	}
}

// Customers write only files of their own. A deleted name keeps its owner.
func TestFilesHaveOwners(t *testing.T) {
	t.Parallel()
	s, tokens := openGuarded(t)
	for _, tt := range []struct {
		who, method, target string
		status              int
	}{
		{"bob", "PUT", "/files/a", 201},
		{"cat", "PUT", "/files/a", 403},
		{"cat", "PUT", "/v1/files/a", 403},
		{"cat", "DELETE", "/files/a", 403},
		{"cat", "GET", "/files/a", 200},
		{"bob", "PUT", "/files/a", 204},
		{"bob", "DELETE", "/files/a", 204},
		{"cat", "PUT", "/files/a", 403},
		{"bob", "PUT", "/files/a", 201},
		{"ann", "PUT", "/files/a", 204},
		{"ann", "PUT", "/files/b", 201},
		{"bob", "PUT", "/files/b", 403},
		{"bob", "POST", "/files", 201},
	} {
		if status, body := as(t, s, tokens, tt.who, tt.method, tt.target, `"x"`); status != tt.status {
			t.Errorf("%s: %s %s returned %d, want %d: %s", tt.who, tt.method, tt.target, status, tt.status, body)
		}
	}
}

// A file that was stored without -auth has no owner, so customers cannot overwrite it.
func TestFilesWithoutOwner(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	open := openShopOn(t, settings{db: "memory", cache: "private, no-cache", files: folder})
	if w := ask(t, open, "PUT", "/files/a", "x", "Content-Type: text/plain"); w.Code != 201 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	open.collections.close()
	s := openShopOn(t, settings{db: "memory", cache: "private, no-cache", files: folder, auth: true})
	tokens := map[string]string{"bob": signIn(t, s, "bob"), "ann": signIn(t, s, "ann")}
	for who, want := range map[string]int{"bob": 403, "ann": 204} {
		if status, body := as(t, s, tokens, who, "PUT", "/files/a", `"y"`); status != want {
			t.Errorf("%s: %d, want %d: %s", who, status, want, body)
		}
	}
}

// The sessions of a user that is deactivated end: they are not valid again if the user is activated.
func TestDeactivationEndsSessions(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/users/2", "/v1.0/users/2"} {
		s, tokens := openGuarded(t)
		for _, step := range []struct {
			who, method, target, body string
			status                    int
		}{
			{"bob", "GET", "/orders/1", "", 200},
			{"ann", "PATCH", target, `{"active":false}`, 200},
			{"bob", "GET", "/orders/1", "", 401},
			{"ann", "PATCH", target, `{"active":true}`, 200},
			{"bob", "GET", "/orders/1", "", 401},
			{"cat", "GET", "/orders/2", "", 200},
		} {
			if status, body := as(t, s, tokens, step.who, step.method, step.target, step.body); status != step.status {
				t.Errorf("%s: %s %s returned %d, want %d: %s", step.who, step.method, step.target, status, step.status, body)
			}
		}
	}
}

// Without -auth all callers share one principal, so it has no quota of keys.
func TestGuestHasNoQuotaOfKeys(t *testing.T) {
	t.Parallel()
	for _, auth := range []bool{false, true} {
		c := &collections{auth: auth, db: &database{memory: memory.NewDB()}, now: wallClock}
		guard, err := c.newKeyGuard(t.Context(), settings{})
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for i := range 10_001 {
			op := idempotency.Operation{Principal: "x", Method: "POST", Target: "/orders", Key: fmt.Sprint(i)}
			_, _, err := guard.Do(t.Context(), op, idempotency.ExactlyOnce, c.db.memory,
				func(context.Context) (idempotency.Record, error) { return idempotency.Record{Status: 204}, nil })
			if err != nil {
				refused++
			}
		}
		want := 0
		if auth {
			want = 1
		}
		if refused != want {
			t.Errorf("-auth=%t: %d keys were refused, want %d", auth, refused, want)
		}
	}
}

// A new order of a customer belongs to that customer, also in a contract without customers.
func TestOrdersGetTheirCustomer(t *testing.T) {
	t.Parallel()
	s, tokens := openGuarded(t)
	as(t, s, tokens, "cat", "POST", "/orders", `{"lines":[{"itemId":1,"qty":1}]}`)
	as(t, s, tokens, "cat", "POST", "/v1.0/orders", `{"itemId":1,"qty":1}`)
	as(t, s, tokens, "ann", "POST", "/orders", `{"lines":[{"itemId":1,"qty":1}]}`)
	_, body := as(t, s, tokens, "ann", "GET", "/orders?id.gt=3&fields=id,customerId", "")
	if diff := cmp.Diff(`{"items":[{"id":4,"customerId":3},{"id":5,"customerId":3},{"id":6}]}`,
		body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Jobs are visible only to the caller that started them.
func TestJobsAreTheirOwn(t *testing.T) {
	t.Parallel()
	s, tokens := openGuarded(t)
	w := ask(t, s, "POST", "/orders/cancel-stale", `{"olderThan":"999h"}`, jsonType,
		"Authorization: Bearer "+tokens["ann"])
	location := w.Header().Get("Location")
	if location == "" {
		t.Fatalf("%d without Location: %s", w.Code, w.Body)
	}
	for who, want := range map[string]int{"ann": 200, "bob": 404, "": 404} {
		if status, body := as(t, s, tokens, who, "GET", location, ""); status != want {
			t.Errorf("%q: the job of ann returned %d: %s", who, status, body)
		}
	}
}

// The OpenAPI documents declare which operations require a token.
func TestDocumentsOfAGuardedShop(t *testing.T) {
	t.Parallel()
	s, _ := openGuarded(t)
	body := ask(t, s, "GET", documentPath(defaultContract), "").Body.String()
	if !strings.Contains(body, `"scheme": "bearer"`) || !strings.Contains(body, "/auth/login") {
		t.Errorf("the document has no security scheme for tokens: %.2000s", body)
	}
	open := ask(t, openShop(t), "GET", documentPath(defaultContract), "").Body.String()
	if strings.Contains(open, `"scheme": "bearer"`) {
		t.Error("the document of a shop without -auth has a security scheme")
	}
}
