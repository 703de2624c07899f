package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// graphAnswer is a GraphQL response.
type graphAnswer struct {
	Data   map[string]json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions struct{ Code string }
	}
}

// codes returns the codes of all errors.
func (a *graphAnswer) codes() string {
	var codes []string
	for _, e := range a.Errors {
		codes = append(codes, e.Extensions.Code)
	}
	return strings.Join(codes, " ")
}

// asks sends a GraphQL request.
func asks(t *testing.T, s *opened, path, query string, header ...string) (answer graphAnswer, body string) {
	t.Helper()
	content, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	w := ask(t, s, http.MethodPost, path, string(content), append(header, jsonType)...)
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s: %d: %v: %s", query, w.Code, err, w.Body)
	}
	return answer, w.Body.String()
}

// codeOf maps the status code of REST to the error code of GraphQL. A read of a missing item is
// null without an error.
var codeOf = map[int]string{
	http.StatusUnauthorized: "UNAUTHENTICATED",
	http.StatusForbidden:    "FORBIDDEN",
	http.StatusNotFound:     "NOT_FOUND",
}

// REST and GraphQL allow the same operations to the same users.
func TestProtocolsAllowTheSame(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, who, method, target, body string // REST
		path, query                     string // GraphQL
	}{
		{"orders without a token", "", "GET", "/orders", "", "/graphql", `{orders{nodes{id}}}`},
		{"an order without a token", "", "GET", "/orders/1", "", "/graphql", `{order(id:1){id}}`},
		{"their orders", "bob", "GET", "/orders/1", "", "/graphql", `{order(id:1){id}}`},
		{"orders of other users", "bob", "GET", "/orders/2", "", "/graphql", `{order(id:2){id}}`},
		{"orders of other users, in an old contract", "bob", "GET", "/v1/orders/2", "", "/v1/graphql",
			`{order(id:2){id}}`},
		{"all orders", "ann", "GET", "/orders/2", "", "/graphql", `{order(id:2){id}}`},
		{"places for all", "", "GET", "/places", "", "/graphql", `{places{nodes{id}}}`},
		{"users for all", "", "GET", "/users/1", "", "/graphql", `{user(id:1){id email}}`},
		{"create an order without a token", "", "POST", "/orders", `{"lines":[{"itemId":1,"qty":1}]}`, "/graphql",
			`mutation{createOrder(input:{lines:[{itemId:1,qty:1}]}){id}}`},
		{"create an order without a token, in an old contract", "", "POST", "/v1/orders", `{"itemId":1,"qty":1}`,
			"/v1/graphql", `mutation{createOrder(input:{itemId:1,qty:1}){id}}`},
		{"create an order", "bob", "POST", "/orders", `{"lines":[{"itemId":1,"qty":1}]}`, "/graphql",
			`mutation{createOrder(input:{lines:[{itemId:1,qty:1}]}){id}}`},
		{"create an order for another user", "bob", "POST", "/orders",
			`{"customerId":3,"lines":[{"itemId":1,"qty":1}]}`, "/graphql",
			`mutation{createOrder(input:{customerId:3,lines:[{itemId:1,qty:1}]}){id}}`},
		{"change the customer of their order", "cat", "PATCH", "/orders/2", `{"customerId":2}`, "/graphql",
			`mutation{patchOrder(id:2,input:{customerId:2}){id}}`},
		{"change their order", "cat", "PATCH", "/orders/2", `{"note":"x"}`, "/graphql",
			`mutation{patchOrder(id:2,input:{note:"y"}){id}}`},
		{"change an order of another user", "cat", "PATCH", "/orders/1", `{"note":"x"}`, "/graphql",
			`mutation{patchOrder(id:1,input:{note:"y"}){id}}`},
		{"replace an order of another user", "cat", "PUT", "/orders/1", `{"lines":[{"itemId":1,"qty":1}]}`,
			"/graphql", `mutation{replaceOrder(id:1,input:{lines:[{itemId:1,qty:1}]}){id}}`},
		{"delete an order of another user", "cat", "DELETE", "/orders/1", "", "/graphql",
			`mutation{deleteOrder(id:1){id}}`},
		{"create a place without a token", "", "POST", "/places", `{"name":"Utopia","country":"XX"}`, "/graphql",
			`mutation{createPlace(input:{name:"Utopia",country:"XX"}){id}}`},
		{"create a place", "cat", "POST", "/places", `{"name":"Utopia","country":"XX"}`, "/graphql",
			`mutation{createPlace(input:{name:"Utopia",country:"XX"}){id}}`},
		{"create a user as a customer", "cat", "POST", "/users", `{"email":"dan@example.com","active":true}`,
			"/graphql", `mutation{createUser(input:{email:"eve@example.com",active:true}){id}}`},
		{"delete a user with orders, as a customer", "bob", "DELETE", "/users/3", "", "/graphql",
			`mutation{deleteUser(id:3){id}}`},
		{"change their role to admin", "cat", "PATCH", "/users/3", `{"role":"admin"}`, "/graphql",
			`mutation{patchUser(id:3,input:{role:admin}){id}}`},
		{"create a user as an admin", "ann", "POST", "/users", `{"email":"dan@example.com","active":true}`,
			"/graphql", `mutation{createUser(input:{email:"eve@example.com",active:true}){id}}`},
		{"cancel without a token", "", "POST", "/orders/cancel-stale", `{"olderThan":"999h"}`, "/graphql",
			`mutation{ordersCancelStale(input:{olderThan:"999h"}){cancelled}}`},
		{"cancel as a customer", "bob", "POST", "/orders/cancel-stale", `{"olderThan":"999h"}`,
			"/graphql", `mutation{ordersCancelStale(input:{olderThan:"999h"}){cancelled}}`},
		{"cancel as an admin", "ann", "POST", "/orders/cancel-stale", `{"olderThan":"999h"}`, "/graphql",
			`mutation{ordersCancelStale(input:{olderThan:"999h"}){cancelled}}`},
		{"to log in", "", "POST", "/auth/login", `{"email":"bob@example.com","password":"bob"}`, "/graphql",
			`mutation{authLogin(input:{email:"bob@example.com",password:"bob"}){token}}`},
		{"to log in with a false password", "", "POST", "/auth/login",
			`{"email":"bob@example.com","password":"no"}`, "/graphql",
			`mutation{authLogin(input:{email:"bob@example.com",password:"no"}){token}}`},
	}
	s, tokens := openGuarded(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, _ := as(t, s, tokens, tt.who, tt.method, tt.target, tt.body)
			var header []string
			if tt.who != "" {
				header = []string{"Authorization: Bearer " + tokens[tt.who]}
			}
			answer, body := asks(t, s, tt.path, tt.query, header...)
			want := codeOf[status]
			if tt.method == "GET" && status == http.StatusNotFound {
				want = ""
			}
			if got := answer.codes(); got != want || status < 300 == strings.Contains(body, ":null}") {
				t.Errorf("%s %s is answered with %d; in GraphQL it is %q: %s", tt.method, tt.target, status,
					got, body)
			}
		})
	}
}

// A request with an invalid token is rejected before execution, as in REST.
func TestGraphQLRejectsInvalidTokens(t *testing.T) {
	t.Parallel()
	s, tokens := openGuarded(t)
	w := ask(t, s, "POST", "/v1/graphql", `{"query":"{__typename}"}`, jsonType,
		"Authorization: Bearer "+tokens["forger"])
	if w.Code != 401 || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	w = ask(t, s, "POST", "/graphql", `{"query":"{order(id:1){id}}"}`, jsonType)
	if got := w.Header().Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer realm="shop"`) {
		t.Errorf("without a token: WWW-Authenticate %q, %d %s", got, w.Code, w.Body)
	}
}

// A customer cannot reach orders of other customers through any relation.
func TestCustomersSeeTheirOwnInGraphQL(t *testing.T) {
	t.Parallel()
	s, tokens := openGuarded(t)
	tests := []struct{ who, query, want string }{
		{"bob", `{orders{nodes{id} totalCount}}`,
			`{"orders":{"nodes":[{"id":"1"},{"id":"3"}],"totalCount":2}}`},
		{"cat", `{orders(filter:{customerId:{eq:2}}){nodes{id} totalCount}}`,
			`{"orders":{"nodes":[],"totalCount":0}}`},
		{"cat", `{users{nodes{id orders{id}}}}`,
			`{"users":{"nodes":[{"id":"3","orders":[{"id":"2"}]}]}}`},
		{"cat", `{user(id:2){orders{customer{orders{id}}}}}`, `{"user":null}`},
		{"ann", `{user(id:2){orders{customer{orders{id}}}}}`,
			`{"user":{"orders":[{"customer":{"orders":[{"id":"1"},{"id":"3"}]}},{"customer":{"orders":[{"id":"1"},{"id":"3"}]}}]}}`},
	}
	for _, tt := range tests {
		_, body := asks(t, s, "/graphql", tt.query, "Authorization: Bearer "+tokens[tt.who])
		if diff := cmp.Diff(`{"data":`+tt.want+`}`, strings.TrimSpace(body)); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", tt.who, tt.query, diff)
		}
	}
}

// The cost limit prevents a hundred login attempts in one request, because each takes about 100ms
// of processor time.
func TestLoginsCost(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	const guess = `: authLogin(input: {email: "ann@example.com", password: "no"}) { token } `
	for n, want := range map[int]string{2: "UNAUTHENTICATED UNAUTHENTICATED", 3: "BAD_USER_INPUT"} {
		var document strings.Builder
		for i := range n {
			fmt.Fprintf(&document, "a%d%s", i, guess)
		}
		if answer, body := asks(t, s, "/graphql",
			"mutation { "+document.String()+"}"); answer.codes() != want {
			t.Errorf("%d guesses: %s", n, body)
		}
	}
}

// REST and GraphQL of each contract have the same members.
func TestGraphQLHasWhatTheContractHas(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, order, user string }{
		{"/v1.0", "id itemId qty status", "active email id"},
		{"/v1.1", "id itemId note qty status", "active email id role"},
		{"/v2", "createdAt customerId id lines note status", "active email id role"},
	}
	s := openShop(t)
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			w := ask(t, s, "GET", tt.path+"/graphql/schema.graphql", "")
			if w.Code != 200 {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
			for name, want := range map[string]string{"Order": tt.order + " customer etag", "User": tt.user + " etag orders ordersConnection"} {
				if diff := cmp.Diff(sorted(want), fieldsOf(w.Body.String(), name)); diff != "" {
					t.Errorf("fields of %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func sorted(words string) []string {
	list := strings.Fields(words)
	slices.Sort(list)
	return list
}

var fieldPattern = regexp.MustCompile(`(?m)^  (\w+)(?:\(|:)`)

// fieldsOf returns the names of the fields of a type in an SDL.
func fieldsOf(sdl, name string) []string {
	_, text, _ := strings.Cut(sdl, "\ntype "+name+" {\n")
	text, _, _ = strings.Cut(text, "\n}")
	var names []string
	for _, m := range fieldPattern.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// Each contract serves its page to browsers, and not to clients that accept JSON.
func TestGraphQLPage(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for _, path := range []string{"/graphql", "/v1.0/graphql"} {
		w := ask(t, s, "GET", path, "", "Accept: text/html,application/xhtml+xml,*/*;q=0.8")
		isHTML := strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") &&
			strings.Contains(w.Body.String(), "<html")
		if w.Code != 200 || !isHTML {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(
			policy, "default-src 'none'") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
	}
	if !strings.Contains(string(pageHTML), `<a href="/graphql">`) {
		t.Error("the page at / does not lead to it")
	}
}

// A timeout is reported before the server closes the connection.
func TestGraphQLTimeout(t *testing.T) {
	t.Parallel()
	if graphqlTime >= answerTime/2 {
		t.Errorf("an answer may take %v, and the server gives up after %v", graphqlTime, answerTime)
	}
}
