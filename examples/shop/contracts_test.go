package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shape returns the names of the members of the first item of a list, in order.
func shape(t *testing.T, list string) []string {
	t.Helper()
	var got struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(list), &got); err != nil || len(got.Items) == 0 {
		t.Fatalf("%v: %s", err, list)
	}
	var members map[string]any
	if err := json.Unmarshal(got.Items[0], &members); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range []string{"id", "status", "itemId", "qty", "lines", "note", "customerId", "createdAt", "email",
		"active", "role", "name", "country", "kind", "admin", "population", "lat", "lon"} {
		if _, ok := members[name]; ok {
			names = append(names, name)
			delete(members, name)
		}
	}
	if len(members) > 0 {
		t.Errorf("unknown members: %v", members)
	}
	return names
}

func TestShapes(t *testing.T) {
	t.Parallel()
	place := []string{"id", "name", "country", "kind", "admin", "population", "lat", "lon"}
	tests := []struct {
		target string
		want   []string
	}{
		{"/v1.0/orders", []string{"id", "status", "itemId", "qty"}},
		{"/v1.1/orders", []string{"id", "status", "itemId", "qty", "note"}},
		{"/v2.0/orders", []string{"id", "status", "lines", "note", "customerId", "createdAt"}},
		{"/v1.0/users", []string{"id", "email", "active"}},
		{"/v1.1/users", []string{"id", "email", "active", "role"}},
		{"/v2.0/users", []string{"id", "email", "active", "role"}},
		{"/v1.0/places", place},
		{"/v1.1/places", place},
		{"/v2.0/places", place},
	}
	s := openShop(t)
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			w := ask(t, s, "GET", tt.target+"?limit=1", "")
			if diff := cmp.Diff(tt.want, shape(t, w.Body.String())); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}

// Every contract contains every order and user, and has the same totals.
func TestContractsHoldTheSame(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for _, path := range []string{"/orders", "/users", "/places"} {
		var totals []int
		for _, contract := range []string{"/v1.0", "/v1.1", "/v2"} {
			var list struct{ Total int }
			body := ask(t, s, "GET", contract+path+"?limit=1", "", "Prefer: count=exact").Body.Bytes()
			if err := json.Unmarshal(body, &list); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			totals = append(totals, list.Total)
		}
		if want := map[string]int{"/orders": 3, "/users": 3, "/places": 1000}[path]; totals[0] != want ||
			totals[1] != want || totals[2] != want {
			t.Errorf("%s: totals %v, want %d in each", path, totals, want)
		}
	}
}

// An item that is created under an old contract has the required members of the newer ones.
func TestOldContractsCreate(t *testing.T) {
	t.Parallel()
	const asJSON = "Content-Type: application/json"
	tests := []struct{ name, path, body, read, want string }{
		{"order", "/v1.0/orders", `{"itemId":5,"qty":6}`, "/v2/orders/4?fields=status,lines,note",
			`{"status":"placed","lines":[{"itemId":5,"qty":6}],"note":null}`},
		{"order with a note", "/v1.1/orders", `{"itemId":5,"qty":6,"note":"x"}`,
			"/v2/orders/4?fields=lines,note", `{"lines":[{"itemId":5,"qty":6}],"note":"x"}`},
		{"user", "/v1.0/users", `{"email":"dan@example.com","active":true}`, "/v2/users/4",
			`{"id":4,"email":"dan@example.com","active":true,"role":"customer"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			if w := ask(t, s, "POST", tt.path, tt.body, asJSON); w.Code != 201 {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
			if diff := cmp.Diff(tt.want, ask(t, s, "GET", tt.read, "").Body.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A change under contract 1.0.0 keeps the role of a user.
func TestOldContractKeepsRoles(t *testing.T) {
	t.Parallel()
	for method, header := range map[string]string{
		"PUT": "Content-Type: application/json", "PATCH": "Content-Type: application/merge-patch+json",
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			if w := ask(t, s, method, "/v1.0/users/1", `{"email":"anna@example.com","active":false}`,
				header); w.Code != 200 {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
			want := `{"id":1,"email":"anna@example.com","active":false,"role":"admin"}`
			if diff := cmp.Diff(want, ask(t, s, "GET", "/v2/users/1", "").Body.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The links of relations stay in the same contract.
func TestRelationsStayInTheContract(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	tests := []struct{ target, want string }{
		{"/v1.0/users/3?expand=orders", `{"id":3,"email":"cat@example.com","active":true,` +
			`"orders":[{"id":2,"status":"paid","itemId":3,"qty":10}]}`},
		{"/v1.0/orders/2?expand=customer", `{"id":2,"status":"paid","itemId":3,"qty":10,` +
			`"customer":{"id":3,"email":"cat@example.com","active":true}}`},
		{"/v1.0/orders?customer.email=cat%40example.com",
			`{"items":[{"id":2,"status":"paid","itemId":3,"qty":10}]}`},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, ask(t, s, "GET", tt.target, "").Body.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.target, diff)
		}
	}
}
