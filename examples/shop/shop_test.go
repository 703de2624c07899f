package main_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	asJSON       = "Content-Type: application/json"
	asMergePatch = "Content-Type: application/merge-patch+json"
	asJSONPatch  = "Content-Type: application/json-patch+json"
)

// exchange is a request and its expected response.
type exchange struct {
	name         string
	method, path string
	header       []string
	body         string

	status int
	want   []string // header lines
	holds  []string // parts of the body
}

// check sends the request and compares the response. {etag} in a header is the last ETag.
func (x exchange) check(t *testing.T, s *shop, etag *string) {
	t.Helper()
	var header []string
	for _, line := range x.header {
		header = append(header, strings.ReplaceAll(line, "{etag}", *etag))
	}
	resp, body := s.send(x.method, x.path, x.body, header...)
	if resp.StatusCode != x.status {
		t.Fatalf("%s: %s %s returned %d, want %d\n%s", x.name, x.method, x.path, resp.StatusCode,
			x.status, body)
	}
	for _, line := range x.want {
		name, value, _ := strings.Cut(line, ": ")
		if got := resp.Header.Get(name); got != value {
			t.Errorf("%s: %s is %q, want %q", x.name, name, got, value)
		}
	}
	for _, part := range x.holds {
		if !strings.Contains(body, part) {
			t.Errorf("%s: no %s in\n%s", x.name, part, body)
		}
	}
	if tag := resp.Header.Get("ETag"); tag != "" {
		*etag = tag
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	s := open(t)
	var etag string
	for _, x := range []exchange{
		{name: "create", method: "POST", path: "/orders", header: []string{asJSON},
			body:   `{"customerId":2,"lines":[{"itemId":7,"qty":2}]}`,
			status: 201, want: []string{"Location: /orders/4"}, holds: []string{`"id":4,"status":"placed"`, `"note":null`}},
		{name: "read", method: "GET", path: "/orders/4", status: 200, holds: []string{`"customerId":2`}},
		{name: "not modified", method: "GET", path: "/orders/4", header: []string{"If-None-Match: {etag}"}, status: 304},
		{name: "list", method: "GET", path: "/orders?status=placed&sort=-id&limit=1", status: 200,
			holds: []string{`{"items":[{"id":4,`, `"next":"`}},
		{name: "total", method: "GET", path: "/orders", header: []string{"Prefer: count=exact"}, status: 200,
			want: []string{"Preference-Applied: count=exact"}, holds: []string{`"total":4`}},
		{name: "merge patch", method: "PATCH", path: "/orders/4", header: []string{asMergePatch},
			body: `{"note":"Leave it at the door."}`, status: 200, holds: []string{`"note":"Leave it at the door."`}},
		{name: "JSON Patch", method: "PATCH", path: "/orders/4", header: []string{asJSONPatch},
			body:   `[{"op":"test","path":"/status","value":"placed"},{"op":"replace","path":"/lines/0/qty","value":3}]`,
			status: 200, holds: []string{`"qty":3`}},
		{name: "conditional put", method: "PUT", path: "/orders/4", header: []string{asJSON, "If-Match: {etag}"},
			body: `{"status":"paid","lines":[{"itemId":7,"qty":4}]}`, status: 200, holds: []string{`"status":"paid"`, `"note":null`}},
		{name: "stale put", method: "PUT", path: "/orders/4", header: []string{asJSON, "If-Match: {etag}"},
			body: `{"lines":[{"itemId":7,"qty":5}]}`, status: 412},
		{name: "head", method: "HEAD", path: "/orders/4", status: 200, want: []string{"Content-Type: application/json"}},
		{name: "expand", method: "GET", path: "/orders/1?expand=customer", status: 200,
			holds: []string{`"customer":{"id":2,"email":"bob@example.com"`}},
		{name: "by customer", method: "GET", path: "/orders?customer.email=bob%40example.com&fields=id", status: 200,
			holds: []string{`{"items":[{"id":1},{"id":3}]}`}},
		{name: "delete", method: "DELETE", path: "/orders/4", status: 204},
		{name: "delete again", method: "DELETE", path: "/orders/4", status: 410},
		{name: "clients cannot choose ids", method: "PUT", path: "/orders/99", header: []string{asJSON},
			body: `{"lines":[{"itemId":7,"qty":5}]}`, status: 404},
	} {
		x.check(t, s, &etag)
	}
}

func TestUsersAndPlaces(t *testing.T) {
	t.Parallel()
	s := open(t)
	var etag string
	for _, x := range []exchange{
		{name: "taken", method: "POST", path: "/users", header: []string{asJSON},
			body: `{"email":"ann@example.com","active":true}`, status: 409, holds: []string{`"pointer":"/email"`}},
		{name: "default", method: "POST", path: "/users", header: []string{asJSON},
			body: `{"email":"dan@example.com","active":false}`, status: 201, holds: []string{`"role":"customer"`}},
		{name: "by role", method: "GET", path: "/users?role=admin&fields=id,email", status: 200,
			holds: []string{`{"items":[{"id":1,"email":"ann@example.com"}]}`}},
		{name: "by orders", method: "GET", path: "/users?orders.some.status=paid&orders.none.status=placed&fields=id",
			status: 200, holds: []string{`{"items":[{"id":3}]}`}},
		{name: "back", method: "GET", path: "/users/3?expand=orders", status: 200, holds: []string{`"orders":[{"id":2,`}},
		{name: "pages", method: "GET", path: "/users?expand=orders(limit=1;sort=-id;fields=id;count=exact)", status: 200,
			holds: []string{`"orders":[{"id":2}],"ordersPage":{"total":1}`}},
		{name: "largest", method: "GET", path: "/places?sort=-population&limit=1", status: 200,
			holds: []string{`"name":"Shanghai"`, `"lat":31.22222`}},
		{name: "range", method: "GET", path: "/places?population.gte=10000000&country=CN&fields=name&sort=name", status: 200,
			holds: []string{`{"items":[{"name":"Beijing"},`}},
		{name: "chosen id", method: "PUT", path: "/places/atlantis", header: []string{asJSON},
			body: `{"name":"Atlantis","country":"GR","lat":0}`, status: 201,
			holds: []string{`{"id":"atlantis","name":"Atlantis","country":"GR","lat":0}`}},
		{name: "assigned id", method: "POST", path: "/places", header: []string{asJSON},
			body: `{"name":"Utopia","country":"XX"}`, status: 201, holds: []string{`"name":"Utopia","country":"XX"}`}},
		{name: "absent is null", method: "GET", path: "/places?population.isNull=true&sort=name&fields=name", status: 200,
			holds: []string{`{"items":[{"name":"Atlantis"},{"name":"Utopia"}]}`}},
		{name: "id too long", method: "PUT", path: "/places/" + strings.Repeat("x", 65), header: []string{asJSON},
			body: `{"name":"Atlantis","country":"GR"}`, status: 422, holds: []string{`"pointer":"/id"`}},
	} {
		x.check(t, s, &etag)
	}
}

func TestContractRefuses(t *testing.T) {
	t.Parallel()
	s := open(t)
	fifty := strings.Repeat(`,{"itemId":1,"qty":1}`, 50)
	tests := []struct{ name, path, body, pointer string }{
		{"no lines", "/orders", `{}`, "/lines"},
		{"empty lines", "/orders", `{"lines":[]}`, "/lines"},
		{"51 lines", "/orders", `{"lines":[{"itemId":1,"qty":1}` + fifty + `]}`, "/lines"},
		{"quantity 0", "/orders", `{"lines":[{"itemId":1,"qty":0}]}`, "/lines/0/qty"},
		{"quantity above the maximum", "/orders", `{"lines":[{"itemId":1,"qty":1001}]}`, "/lines/0/qty"},
		{"item 0", "/orders", `{"lines":[{"itemId":0,"qty":1}]}`, "/lines/0/itemId"},
		{"status", "/orders", `{"status":"lost","lines":[{"itemId":1,"qty":1}]}`, "/status"},
		{"note", "/orders", `{"note":"` + strings.Repeat("x", 501) + `","lines":[{"itemId":1,"qty":1}]}`,
			"/note"},
		{"customer", "/orders", `{"customerId":77,"lines":[{"itemId":1,"qty":1}]}`, "/customerId"},
		{"read-only", "/orders", `{"createdAt":"2026-01-01T00:00:00Z","lines":[{"itemId":1,"qty":1}]}`,
			"/createdAt"},
		{"assigned", "/orders", `{"id":7,"lines":[{"itemId":1,"qty":1}]}`, "/id"},
		{"email", "/users", `{"email":"nobody","active":true}`, "/email"},
		{"active", "/users", `{"email":"eve@example.com"}`, "/active"},
		{"role", "/users", `{"email":"eve@example.com","active":true,"role":"king"}`, "/role"},
		{"country", "/places", `{"name":"Utopia","country":"XXX"}`, "/country"},
		{"name", "/places", `{"name":"","country":"XX"}`, "/name"},
		{"population", "/places", `{"name":"x","country":"XX","population":-1}`, "/population"},
		{"lat", "/places", `{"name":"x","country":"XX","lat":90.1}`, "/lat"},
		{"lon", "/places", `{"name":"x","country":"XX","lon":-180.1}`, "/lon"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := s.send("POST", tt.path, tt.body, asJSON)
			if resp.StatusCode != 422 {
				t.Errorf("status %d, want 422", resp.StatusCode)
			}
			if diff := cmp.Diff([]string{tt.pointer}, pointers(t, body)); diff != "" {
				t.Errorf("pointers (-want +got):\n%s\n%s", diff, body)
			}
		})
	}
}

// pointers returns the JSON pointers in a problem.
func pointers(t *testing.T, body string) []string {
	t.Helper()
	var problem struct{ Errors []struct{ Pointer string } }
	if err := json.Unmarshal([]byte(body), &problem); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var found []string
	for _, e := range problem.Errors {
		found = append(found, e.Pointer)
	}
	return found
}

func TestEveryScalarFieldFiltersAndSorts(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, field := range []string{
		"/orders?id=1", "/orders?status=paid", "/orders?note.contains=twice", "/orders?note.isNull=false", "/orders?customerId=3",
		"/orders?createdAt.gt=2020-01-01T00:00:00Z", "/users?id.in=1,2", "/users?email.startsWith=ann", "/users?active=true",
		"/users?role.ne=admin", "/places?id=745044", "/places?name=Istanbul", "/places?country.notIn=CN,IN", "/places?kind=PPLC",
		"/places?admin=34", "/places?population.lt=500000", "/places?lat.lt=0", "/places?lon.gte=90",
	} {
		if resp, body := s.send("GET", field, ""); resp.StatusCode != 200 ||
			strings.Contains(body, `{"items":[]`) {
			t.Errorf("GET %s returned %d: %s", field, resp.StatusCode, body)
		}
	}
	for path, fields := range map[string]string{
		"/orders": "id,status,note,customerId,createdAt", "/users": "id,email,active,role",
		"/places": "id,name,country,kind,admin,population,lat,lon",
	} {
		for field := range strings.SplitSeq(fields, ",") {
			if resp, body := s.send("GET", path+"?limit=1&sort=-"+field, ""); resp.StatusCode != 200 {
				t.Errorf("GET %s by %s returned %d: %s", path, field, resp.StatusCode, body)
			}
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	s := open(t)
	tests := []struct {
		host            string
		orders, neutral int
	}{
		{"localhost", 200, 200},
		{"LocalHost.:8080", 200, 200},
		{"127.0.0.1", 200, 200},
		{"[::1]", 200, 200},
		{"[::1]:8080", 200, 200},
		{"api-v1.localhost", 200, 200},
		{"api-v2.localhost:8080", 200, 200},
		{"API-V1-0.localhost", 200, 200},
		{"api-v10.localhost", 404, 200},
		{"api-v01.localhost", 404, 421},
		{"api-v0.localhost", 410, 200},
		{"example.com", 421, 421},
		{"localhost.example.com", 421, 421},
		{"api-v1.localhost.example.com", 421, 421},
		{"127.0.0.2", 421, 421},
	}
	for _, tt := range tests {
		for path, want := range map[string]int{"/orders": tt.orders, "/health": tt.neutral, "/docs": tt.neutral} {
			resp, body := s.send("GET", path, "", "Host: "+tt.host)
			if resp.StatusCode != want {
				t.Errorf("%s on %s returned %d, want %d: %s", path, tt.host, resp.StatusCode, want,
					body)
			}
			if want == 421 && resp.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s on %s: the response is not a problem: %s", path, tt.host, body)
			}
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := open(t)
	var etag string
	for _, x := range []exchange{
		{name: "get", method: "GET", path: "/health", status: 200, want: []string{"Content-Length: 16", "Cache-Control: no-store"},
			holds: []string{`{"status":"ok"}`}},
		{name: "head", method: "HEAD", path: "/health", status: 200, want: []string{"Content-Length: 16"}},
		{name: "options", method: "OPTIONS", path: "/health", status: 204, want: []string{"Allow: GET, HEAD, OPTIONS"}},
		{name: "post", method: "POST", path: "/health", status: 405,
			want: []string{"Allow: GET, HEAD, OPTIONS", "Content-Type: application/problem+json"}},
		{name: "no method", method: "BREW", path: "/health", status: 501},
		{name: "elsewhere", method: "GET", path: "/healthy", status: 404,
			want: []string{"Content-Type: application/problem+json"}},
	} {
		x.check(t, s, &etag)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	s := open(t)
	var etag string
	for _, x := range []exchange{
		{name: "get", method: "GET", path: "/", status: 200, want: []string{"Content-Type: text/html; charset=utf-8"},
			holds: []string{`<html lang="en">`, `name="viewport"`, "CC BY 4.0"}},
		{name: "not modified", method: "GET", path: "/", header: []string{"If-None-Match: {etag}"}, status: 304},
		{name: "head", method: "HEAD", path: "/", status: 200},
		{name: "post", method: "POST", path: "/", status: 405},
	} {
		x.check(t, s, &etag)
	}
	resp, body := s.send("GET", "/", "")
	for name := range strings.SplitSeq("script,style", ",") {
		policy := resp.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, name+"-src 'sha256-") {
			t.Errorf("the policy does not name the %s by its hash: %s", name, policy)
		}
		if n := strings.Count(body, "<"+name); n != 1 {
			t.Errorf("the page has %d elements %s; the policy allows one", n, name)
		}
	}
	if found := regexp.MustCompile(`(src|@import|url\()[ ="']*(https?:)?//`).FindString(body); found != "" {
		t.Errorf("the page loads something from another host: %s", found)
	}
	for _, link := range regexp.MustCompile(`href="(/[^"]*)"`).FindAllStringSubmatch(body, -1) {
		path := strings.ReplaceAll(link[1], "&amp;", "&")
		if resp, _ := s.send("GET", path, "",
			"Accept: text/html,*/*;q=0.8"); resp.StatusCode != http.StatusOK {
			t.Errorf("the page links to %s, which returned %d", path, resp.StatusCode)
		}
	}
}
