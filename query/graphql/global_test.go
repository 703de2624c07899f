package graphql_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
)

// globalID is the global id that clients get for an item. It is part of stored data of clients, so it
// must not change.
func globalID(of, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(of + ":" + id))
}

func globalIDs(s *setup) { s.opts.GlobalIDs = true }

// hideBob hides the user bob.
func hideBob(s *setup) {
	s.users.Authorize = func(_ context.Context, _ resource.Op, before, _ *user) error {
		if before != nil && before.ID == "bob" {
			return resource.ErrNotFound
		}
		return nil
	}
}

// TestGlobalIDs checks fields and arguments with Options.GlobalIDs.
func TestGlobalIDs(t *testing.T) {
	t.Parallel()
	one, ada, bob := globalID("orders", "1"), globalID("users", "ada"), globalID("users", "bob")
	missing := globalID("orders", "77")
	var aliases string // with the limit of 70 fields, 60 for each of two types are too many
	for i := range 60 {
		aliases += fmt.Sprintf("a%d: id ", i)
	}
	const bad = `"extensions":{"code":"BAD_USER_INPUT"`
	tests := []struct{ name, document, want string }{
		{"item", `{ order(id: "` + one + `") { id rawId } }`,
			`{"data":{"order":{"id":"` + one + `","rawId":"1"}}}`},
		{"list", `{ orders(first: 1) { edges { node { id } } nodes { id rawId cents } } }`,
			`{"data":{"orders":{"edges":[{"node":{"id":"` + one + `"}}],"nodes":[{"id":"` + one +
				`","rawId":"1","cents":100}]}}}`},
		{"filter and sort", `{ orders(orderBy: [{field: rawId, direction: DESC}]) { nodes { rawId } } }`,
			`{"data":{"orders":{"nodes":[{"rawId":"3"},{"rawId":"2"},{"rawId":"1"}]}}}`},
		{"node", `{ node(id: "` + ada + `") { __typename id ... on User { name } ... on Order { cents } } }`,
			`{"data":{"node":{"__typename":"User","id":"` + ada + `","name":"Ada"}}}`},
		{"relation", `query ($id: ID! = "` + one + `") { node(id: $id) { ...A } }
			fragment A on Node { id ...B } fragment B on Order { customer { ... on Node { id } name } }`,
			`{"data":{"node":{"id":"` + one + `","customer":{"id":"` + ada + `","name":"Ada"}}}}`},
		{"nodes", fmt.Sprintf(`{ nodes(ids: [%q, %q, %q, %q, %q]) { __typename id ... on User { name } } }`,
			one, bob, missing, ada, one),
			fmt.Sprintf(`{"data":{"nodes":[{"__typename":"Order","id":%q},null,null,`+
				`{"__typename":"User","id":%q,"name":"Ada"},{"__typename":"Order","id":%q}]}}`, one, ada, one)},
		{"no nodes", `{ nodes(ids: []) { id } }`, `{"data":{"nodes":[]}}`},
		{"hidden", `{ node(id: "` + bob + `") { id } user(id: "` + bob + `") { id } }`,
			`{"data":{"node":null,"user":null}}`},
		{"write", `mutation { patchOrder(id: "` + one + `", input: {cents: 7}) { id cents } }`,
			`{"data":{"patchOrder":{"id":"` + one + `","cents":7}}}`},
		{"delete", `mutation { deleteOrder(id: "` + globalID("orders", "3") + `") { rawId } }`,
			`{"data":{"deleteOrder":{"rawId":"3"}}}`},
		{"create", `mutation { createOrder(input: {customerId: "ada"}) { customerId customer { id } } }`,
			`{"data":{"createOrder":{"customerId":"ada","customer":{"id":"` + ada + `"}}}}`},
		{"create with an id", `mutation { createUser(input: {rawId: "eve", name: "Eve"}) { id rawId } }`,
			`{"data":{"createUser":{"id":"` + globalID("users", "eve") + `","rawId":"eve"}}}`},
		{"replace", `mutation { replaceUser(id: "` + ada + `", input: {name: "Eve"}) { id name } }`,
			`{"data":{"replaceUser":{"id":"` + ada + `","name":"Eve"}}}`},
		{"filter by reference", `{ orders(filter: {customerId: {eq: "bob"}}) { nodes { rawId } } }`,
			`{"data":{"orders":{"nodes":[{"rawId":"2"}]}}}`},
		{"filter by id", `{ orders(filter: {rawId: {in: ["3", "2"]}}) { nodes { rawId } } }`,
			`{"data":{"orders":{"nodes":[{"rawId":"2"},{"rawId":"3"}]}}}`},
		{"id in another form", `{ node(id: "` + globalID("orders", "01") + `") { id } }`, `{"data":{"node":null}}`},
		{"no id", `{ node(id: "` + globalID("orders", "") + `") { id } }`, `{"data":{"node":null}}`},
		{"stored id", `{ order(id: 1) { id } }`, `id: must be the global id of an item of orders`},
		{"other type", `mutation { deleteOrder(id: "` + ada + `") { id } }`,
			`"message":"An argument is not valid. id: must be the global id of an item of orders"`},
		{"line break", `{ node(id: "` + one + `\n") { id } }`, `id: must be the global id of an item"`},
		{"unknown resource", `{ node(id: "` + globalID("secrets", "1") + `") { id } }`, bad},
		{"position", `{ nodes(ids: ["` + one + `", "1"]) { id } }`, `ids[1]: must be the global id of an item`},
		{"too many", `{ nodes(ids: [` + strings.Repeat(`"`+one+`",`, 201) + `]) { id } }`,
			`ids: there can be at most 200 ids`},
		{"cost", `{ nodes(ids: [` + strings.Repeat(`"`+one+`",`, 200) + `]) { ... on Order { customer { id } } } }`,
			`The operation can return 400 objects; at most 300 are allowed.`},
		{"too many fields", `{ node(id: "` + one + `") { ...A } } fragment A on Node { ` + aliases + `}`,
			`selects too many fields of the interface Node`},
		{"introspection", `{ __type(name: "Node") { kind fields { name } possibleTypes { name } interfaces { name } }
			user: __type(name: "User") { interfaces { name } possibleTypes { name } } }`,
			`{"data":{"__type":{"kind":"INTERFACE","fields":[{"name":"id"}],"possibleTypes":[{"name":"Order"},` +
				`{"name":"User"}],"interfaces":[]},"user":{"interfaces":[{"name":"Node"}],"possibleTypes":null}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newTestHandler(t, globalIDs, hideBob, func(s *setup) {
				s.opts.Limits.Cost, s.opts.Limits.Fields = 300, 70
				s.orders.Query.Filter["customerId"] = []query.Op{query.Eq}
				s.orders.Query.Filter["id"] = []query.Op{query.In}
			})
			res := send(t, h, "POST /graphql", jsonBody, "", fmt.Sprintf(`{"query":%q}`, tt.document))
			if strings.HasPrefix(tt.want, `{"data"`) {
				if diff := cmp.Diff(tt.want, res.body); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			} else if !strings.Contains(res.body, tt.want) {
				t.Errorf("response has no %s:\n%s", tt.want, res.body)
			}
		})
	}
}

// TestGlobalIDsUnderPolicy: node and nodes read an item under the policy of its resource, in the view
// of the contract. An error does not depend on whether the item exists.
func TestGlobalIDsUnderPolicy(t *testing.T) {
	t.Parallel()
	type cheap struct {
		ID    int64 `json:"id"`
		Price int64 `json:"price"`
	}
	only := func(f query.Filter, err error) func(*setup) {
		return func(s *setup) {
			s.orders.Scope = func(context.Context) (query.Filter, error) { return f, err }
		}
	}
	down := func(o order) (cheap, error) { return cheap{o.ID, o.Cents}, nil }
	up := func(c cheap, o order) (order, error) { o.Cents = c.Price; return o, nil }
	tests := []struct {
		name      string
		opt       func(*setup)
		one, rest string // of the order 1, and of the orders 2 and 77
	}{
		{"scope", only(query.Where("customerId", query.Eq, "ada"), nil), `{"price":100}`, "null"},
		{"anonymous", only(query.Filter{}, resource.ErrUnauthenticated), "UNAUTHENTICATED", "UNAUTHENTICATED"},
		{"a store that fails", only(query.Filter{}, errors.New("secret")), "INTERNAL", "INTERNAL"},
		{"view", func(*setup) {}, `{"price":100}`, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, s := catalog(t, globalIDs, tt.opt)
			orders, users := c.Resources()[0], c.Resources()[1]
			view := resource.View(orders, down, up, &resource.ViewOptions{
				Fields: map[string]string{"price": "cents"}, Where: query.Where("cents", query.Lt, int64(200))})
			h := graphql.New(resource.NewCatalog(nil, view, users), &s.opts)
			for id, want := range map[string]string{"1": tt.one, "2": tt.rest, "77": tt.rest} {
				for _, document := range []string{`{ node(id: %q) { ... on Order { price } } }`,
					`{ nodes(ids: [%q]) { ... on Order { price } } }`} {
					res := send(t, h, "POST /graphql", jsonBody, "",
						body(t, fmt.Sprintf(document, globalID("orders", id))))
					if !strings.Contains(res.body, want) || strings.Contains(res.body, "secret") {
						t.Errorf("order %s: response has no %s:\n%s", id, want, res.body)
					}
				}
			}
		})
	}
}

// TestNodesFailSeparately: an id that is not valid, and a store that fails, are errors of their items. The
// others are in the response.
func TestNodesFailSeparately(t *testing.T) {
	t.Parallel()
	one, ada := globalID("orders", "1"), globalID("users", "ada")
	h := newTestHandler(t, globalIDs, func(s *setup) {
		s.users.Scope = func(context.Context) (query.Filter, error) { return query.Filter{}, errors.New("secret") }
	})
	fails := func(i int, code string) string { return fmt.Sprintf("[nodes %d] %s", i, code) }
	invalid, internal := "BAD_USER_INPUT", "INTERNAL_SERVER_ERROR"
	tests := []struct {
		name, ids string
		errors    []string
		data      string
	}{
		{"an invalid id", `"` + one + `","1","` + one + `"`, []string{fails(1, invalid)},
			`{"nodes":[{"id":"` + one + `"},null,{"id":"` + one + `"}]}`},
		{"only invalid ids", `"","1"`, []string{fails(0, invalid), fails(1, invalid)}, `{"nodes":[null,null]}`},
		{"a store that fails", `"` + ada + `","` + one + `","` + ada + `"`,
			[]string{fails(0, internal), fails(2, internal)}, `{"nodes":[null,{"id":"` + one + `"},null]}`},
		{"both", `"` + ada + `","x","` + one + `"`, []string{fails(0, internal), fails(1, invalid)},
			`{"nodes":[null,null,{"id":"` + one + `"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := h.Execute(t.Context(), graphql.Request{Query: "{nodes(ids:[" + tt.ids + "]){id}}"})
			var got []string
			for _, e := range res.Errors {
				got = append(got, fmt.Sprint(e.Path, " ", e.Code()))
				if strings.Contains(e.Message, "secret") {
					t.Errorf("the message is %q", e.Message)
				}
			}
			if diff := cmp.Diff(tt.errors, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.data, string(res.Data)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGlobalIDsOfChanges: the id of a change is the global one of its item, in a field with another
// name. With the name id, a client's cache would merge the change with its item.
func TestGlobalIDsOfChanges(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, watched(t, nil), globalIDs)
	s := serve(t, h, h)
	one := globalID("orders", "1")
	res := send(t, h, "POST /graphql", jsonBody, "", body(t, `{ orders(first: 1) { eventCursor } }`))
	_, cursor, _ := strings.Cut(res.body, `"eventCursor":"`)
	cursor, _, _ = strings.Cut(cursor, `"`)
	do(t, h, `mutation { patchOrder(id: "`+one+`", input: {cents: 9}) { id } }`)
	c := s.socket(t)
	c.talk(initMessage, ackMessage, startMessage("s", `subscription { orderChanged(id: "`+one+`", after: "`+cursor+
		`") { nodeId order { id } } }`),
		next("s", `{"data":{"orderChanged":{"nodeId":"`+one+`","order":{"id":"`+one+`"}}}}`))
}

// TestGlobalIDsSDL compares the parts of the schema that the option changes.
func TestGlobalIDsSDL(t *testing.T) {
	t.Parallel()
	c, s := catalog(t)
	plain := graphql.New(c, &s.opts).SDL()
	s.opts.GlobalIDs = true
	global := graphql.New(c, &s.opts).SDL()
	for _, part := range []string{"interface Node {", "type Order implements Node {", "  rawId: ID!",
		"nodes(\n", "): [Node]!", "  node(\n", "): Node\n"} {
		if !strings.Contains(global, part) || strings.Contains(plain, part) {
			t.Errorf("%q: want it with the option only:\n%s", part, global)
		}
	}
}
