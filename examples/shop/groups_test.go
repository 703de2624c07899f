package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGroups asks for groups and filters by related items, in REST and GraphQL, which agree.
func TestGroups(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for _, tt := range []struct{ target, want string }{
		{"/v2/places?group=country&count&sum=population&sort=-sum.population&limit=2",
			`{"groups":[{"country":"CN","count":150,"sum":{"population":321061357}},` +
				`{"country":"IN","count":112,"sum":{"population":142629227}}],"next":"`},
		{"/v2/places?group=country&country=GR&count&distinct=admin&max=population",
			`{"groups":[{"country":"GR","count":1,"distinct":{"admin":1},"max":{"population":664046}}]}`},
		{"/v2/orders?group=status&count",
			`{"groups":[{"status":"paid","count":1},{"status":"placed","count":1},{"status":"shipped","count":1}]}`},
		{"/v2/orders?group=customer.active&count", `{"groups":[{"customer.active":`},
		{"/v1/orders?group=status&count&customer.role=customer", `{"groups":[`},
		{"/v2/users?orders.some.status=shipped&fields=id", `{"items":[{"id":2}]}`},
		{"/v2/orders?customer.role=admin&fields=id", `{"items":[]}`},
	} {
		w := ask(t, s, "GET", tt.target, "")
		if w.Code != 200 || !strings.HasPrefix(w.Body.String(), tt.want) {
			t.Errorf("%s: %d %s, want %s", tt.target, w.Code, w.Body, tt.want)
		}
	}
	const operation = `{"query": "{ordersAggregate(groupBy: status) {nodes {status count}} ` +
		`users(filter: {orders: {some: {status: {eq: shipped}}}}) {nodes {id}}}"}`
	w := ask(t, s, "POST", "/graphql", operation, "Content-Type: application/json")
	want := `{"data":{"ordersAggregate":{"nodes":[{"status":"paid","count":1},{"status":"placed","count":1},` +
		`{"status":"shipped","count":1}]},"users":{"nodes":[{"id":"2"}]}}}`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Errorf("GraphQL (-want +got):\n%s", diff)
	}
}
