package graphql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// client and booking are related both ways.
type (
	client struct {
		ID     string `json:"id"`
		Role   string `json:"role" enum:"admin,user"`
		Hidden bool   `json:"hidden"`
	}
	booking struct {
		ID       string  `json:"id"`
		ClientID *string `json:"clientId"`
		Total    int     `json:"total"`
	}
)

// relations is a server of related items.
type relations struct {
	*httptest.Server
	sdl string
}

// relationServer serves two clients, of which one is hidden, and their bookings.
func relationServer(t *testing.T) relations {
	t.Helper()
	clients, bookings := memory.New[client](nil), memory.New[booking](nil)
	for _, c := range []client{{ID: "c1", Role: "admin"}, {ID: "c2", Role: "user"}, {ID: "c3", Role: "admin", Hidden: true}} {
		if _, err := clients.Insert(t.Context(), c.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range []string{"c1", "c2", "c3", "c1"} {
		b := booking{ID: fmt.Sprintf("b%d", i+1), ClientID: &id, Total: i}
		if _, err := bookings.Insert(t.Context(), b.ID, b); err != nil {
			t.Fatal(err)
		}
	}
	ops := []query.Op{query.Eq, query.Gte}
	catalog := resource.NewCatalog(nil,
		resource.New("clients", clients, &resource.Options[client]{
			Query: query.Support{Filter: map[string][]query.Op{"role": ops}, Relations: []string{"bookings"},
				Sort: []string{"role"}, Group: []string{"role"}},
			Relations: []resource.Relation[client]{{Name: "bookings", Target: "bookings", By: "clientId"}},
			Scope: func(context.Context) (query.Filter, error) {
				return query.Where("hidden", query.Eq, false), nil
			},
		}),
		resource.New("bookings", bookings, &resource.Options[booking]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"total": ops, "clientId": ops},
				Relations: []string{"client"}, Sort: []string{"total", "client.role"},
				Group:     []string{"total", "client.role", "client.id"},
				Aggregate: map[string][]query.Func{"total": {query.Sum}}},
			Relations: []resource.Relation[booking]{{Name: "client", Target: "clients", Field: "clientId"}}}))
	h := graphql.New(catalog, nil)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return relations{server, h.SDL()}
}

// TestRelationFilters: a filter has a member for each relation that the resource declares.
func TestRelationFilters(t *testing.T) {
	t.Parallel()
	server := relationServer(t)
	for _, test := range []struct{ list, filter, want string }{
		{"bookings", `{client: {role: {eq: admin}}}`, "b1 b4"},
		{"bookings", `{client: {role: {eq: admin}}, total: {gte: 1}}`, "b4"},
		{"bookings", `{client: {}}`, "b1 b2 b4"},
		{"bookings", `{not: {client: {}}}`, "b3"},
		{"bookings", `{client: null}`, "b1 b2 b3 b4"},
		{"clients", `{bookings: {some: {total: {gte: 1}}}}`, "c1 c2"},
		{"clients", `{bookings: {every: {total: {gte: 1}}}}`, "c2"},
		{"clients", `{bookings: {none: {total: {gte: 2}}}}`, "c2"},
		{"clients", `{bookings: {some: {total: {eq: 0}}, every: {client: {role: {eq: admin}}}}}`, "c1"},
		{"clients", `{bookings: {some: {client: {bookings: {some: {client: {}}}}}}}`,
			"at most 3 relations can follow each other"},
		{"clients", `{or: [` + strings.Repeat(`{bookings: {some: {}}},`, 21) + `]}`,
			"there can be at most 20 comparisons"},
		{"bookings", `{client: {hidden: {eq: true}}}`, `Field "hidden" is not defined by type "ClientFilter".`},
	} {
		got, text := server.ids(t, test.list, "filter: "+test.filter)
		if got != test.want && (got != "" || !strings.Contains(text, jsonText(test.want))) {
			t.Errorf("%s %s: %s %s\nwant %s", test.list, test.filter, got, text, test.want)
		}
	}
}

// TestRelationSort: a list is sorted by a field of the related item. A booking of a hidden client is null.
func TestRelationSort(t *testing.T) {
	t.Parallel()
	server := relationServer(t)
	for _, test := range []struct{ arguments, want string }{
		{"orderBy: [{field: client_role}]", "b3 b1 b4 b2"},
		{"orderBy: [{field: client_role, direction: DESC}, {field: id, direction: DESC}]", "b2 b4 b1 b3"},
		{"orderBy: [{field: client_role}, {field: total, direction: DESC}], first: 3", "b3 b4 b1"},
		{"orderBy: [{field: client_role}], last: 2", "b4 b2"},
		{"orderBy: [{field: client_role}, {field: client_role}]", "the field is in orderBy twice"},
		{"orderBy: [{field: client_hidden}]", `Value "client_hidden" does not exist in "BookingSortField" enum.`},
	} {
		got, text := server.ids(t, "bookings", test.arguments)
		if got != test.want && (got != "" || !strings.Contains(text, jsonText(test.want))) {
			t.Errorf("%s: %s %s\nwant %s", test.arguments, got, text, test.want)
		}
	}
	// The cursor of each edge continues the list.
	for after, want := range map[int]string{0: "b1 b4 b2", 1: "b4 b2", 2: "b2"} {
		const sorted = "orderBy: [{field: client_role}]"
		_, text := server.ids(t, "bookings", sorted)
		var answer struct {
			Data struct {
				Bookings struct{ Edges []struct{ Cursor string } }
			}
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Data.Bookings.Edges) != 4 {
			t.Fatalf("%v: %s", err, text)
		}
		cursor := answer.Data.Bookings.Edges[after].Cursor
		if got, text := server.ids(t, "bookings", fmt.Sprintf("%s, after: %q", sorted, cursor)); got != want {
			t.Errorf("after edge %d: %s %s\nwant %s", after, got, text, want)
		}
	}
}

// ids requests a list, and returns the ids of its items and the response.
func (server relations) ids(t *testing.T, list, arguments string) (ids, text string) {
	t.Helper()
	text = server.post(t, fmt.Sprintf(`{ %s(%s) { nodes { id } edges { cursor } } }`, list, arguments))
	var answer struct {
		Data map[string]struct{ Nodes []struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var all []string
	for _, node := range answer.Data[list].Nodes {
		all = append(all, node.ID)
	}
	return strings.Join(all, " "), text
}

// post sends a document and returns the response.
func (server relations) post(t *testing.T, document string) string {
	t.Helper()
	body := fmt.Sprintf(`{"query":%q}`, document)
	req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// jsonText returns text as it is within a JSON string.
func jsonText(text string) string {
	b, _ := json.Marshal(text)
	return strings.Trim(string(b), `"`)
}
