package rest_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// Section A: routing and targets. Tests that need a connection are in rules_a_wire_test.go, and
// those about URLs in responses in rules_a_url_test.go.

func TestRule001ProblemsForEveryError(t *testing.T) {
	t.Parallel()
	h := api(t)
	gone := create(t, h, "/orders", `{"customerId":"u"}`)
	want(t, send(t, h, "DELETE "+gone), http.StatusNoContent)
	tests := []struct {
		line string
		kind problem.Kind
	}{
		{"GET /", problem.NotFound},
		{"GET /nothing", problem.NotFound},
		{"GET /nothing/1/2", problem.NotFound},
		{"GET //orders", problem.NotFound},
		{"GET /orders//1", problem.NotFound},
		{"GET /orders/1/lines", problem.NotFound},
		{"GET /orders/7", problem.NotFound},
		{"GET " + gone, problem.Gone},
		{"PATCH /orders", problem.MethodNotAllowed},
		{"POST /orders/1", problem.MethodNotAllowed},
		{"PUT /places/ath", problem.MethodNotAllowed},
		{"GET /users/%00", problem.BadRequest},
		{"GET /orders?limit=x", problem.InvalidParameter},
		{"POST /orders", problem.MalformedJSON},
		{"BREW /orders", problem.NotImplemented},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			wantProblem(t, send(t, h, tt.line), tt.kind)
		})
	}
}

func TestRule002UnknownMethods(t *testing.T) {
	t.Parallel()
	h := api(t)
	for _, method := range []string{"BREW", "get", "Post", "PROPFIND", "X"} {
		for _, target := range []string{"/orders", "/orders/1", "/nothing"} {
			wantProblem(t, send(t, h, method+" "+target), problem.NotImplemented, "Allow:")
		}
	}
}

func TestRule003AllowWith405(t *testing.T) {
	t.Parallel()
	h := api(t, withLookup)
	tests := []struct{ line, allow string }{
		{"PUT /orders", "GET, HEAD, QUERY, POST, OPTIONS"},
		{"PATCH /orders", "GET, HEAD, QUERY, POST, OPTIONS"},
		{"DELETE /orders", "GET, HEAD, QUERY, POST, OPTIONS"},
		{"POST /orders/1", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
		{"POST /orders/never", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
		{"POST /places", "GET, HEAD, QUERY, OPTIONS"},
		{"PUT /places/ath", "GET, HEAD, OPTIONS"},
		{"PATCH /places/ath", "GET, HEAD, OPTIONS"},
		{"DELETE /places/ath", "GET, HEAD, OPTIONS"},
		{"POST /biggest", "GET, HEAD, QUERY, OPTIONS"},
		{"DELETE /biggest", "GET, HEAD, QUERY, OPTIONS"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			wantProblem(t, send(t, h, tt.line, jsonBody, "", "{}"), problem.MethodNotAllowed, "Allow: "+tt.allow)
		})
	}
}

// withLookup adds the lookup /biggest: the order of a customer with the most cents.
func withLookup(s *setup) {
	type in struct {
		Customer string `json:"customerId" required:"true"`
	}
	s.parts = append(s.parts, newLookup("biggest", "orders", func(in in) (string, error) {
		if in.Customer == "nobody" {
			return "", resource.ErrNotFound
		}
		return "1", nil
	}))
}

// The methods of absent capabilities are absent from Allow.
func TestRule003AllowFollowsCapabilities(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		with       func(*resource.Ops[order])
		list, item string
	}{
		{"no Creator", func(o *resource.Ops[order]) { o.Create = nil },
			"GET, HEAD, QUERY, OPTIONS", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
		{"no Replacer", func(o *resource.Ops[order]) { o.Replace = nil },
			"GET, HEAD, QUERY, POST, OPTIONS", "GET, HEAD, DELETE, OPTIONS"},
		{"no Deleter", func(o *resource.Ops[order]) { o.Delete = nil },
			"GET, HEAD, QUERY, POST, OPTIONS", "GET, HEAD, PUT, PATCH, OPTIONS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := api(t, func(s *setup) { tt.with(&s.orderOps) })
			want(t, send(t, h, "OPTIONS /orders"), http.StatusNoContent, "Allow: "+tt.list, "Accept-Patch:")
			want(t, send(t, h, "OPTIONS /orders/1"), http.StatusNoContent, "Allow: "+tt.item, "Accept-Post:")
			for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
				if !slices.Contains(strings.Split(tt.list, ", "), method) {
					wantProblem(t, send(t, h, method+" /orders"), problem.MethodNotAllowed, "Allow: "+tt.list)
				}
				if !slices.Contains(strings.Split(tt.item, ", "), method) {
					wantProblem(t, send(t, h, method+" /orders/1"), problem.MethodNotAllowed, "Allow: "+tt.item)
				}
			}
		})
	}
}

func TestRule004Options(t *testing.T) {
	t.Parallel()
	h := api(t, withLookup)
	tests := []struct{ target, allow, acceptPatch, acceptPost, acceptQuery string }{
		{"/orders", "GET, HEAD, QUERY, POST, OPTIONS", "", postTypes, queryTypes},
		{"/orders/1", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS", patchTypes, "", ""},
		{"/places", "GET, HEAD, QUERY, OPTIONS", "", "", queryTypes},
		{"/places/ath", "GET, HEAD, OPTIONS", "", "", ""},
		{"/biggest", "GET, HEAD, QUERY, OPTIONS", "", "", queryTypes},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, "OPTIONS "+tt.target, "Accept: text/html", "If-Match: \"x\"")
			want(t, res, http.StatusNoContent, "Allow: "+tt.allow, "Accept-Patch: "+tt.acceptPatch,
				"Accept-Post: "+tt.acceptPost, "Cache-Control: no-store", "Content-Type:", "Accept-Query: "+tt.acceptQuery)
			if res.body != "" {
				t.Errorf("body %q", res.body)
			}
		})
	}
	wantProblem(t, send(t, h, "OPTIONS /nothing"), problem.NotFound)
	wantProblem(t, send(t, h, "OPTIONS /biggest/1"), problem.NotFound)
}

func TestRule005NoTrace(t *testing.T) {
	t.Parallel()
	h := api(t)
	for _, line := range []string{"TRACE /orders", "TRACE /orders/1", "CONNECT /orders/1"} {
		res := send(t, h, line, "X-Secret: echo-me", "", "echo-me")
		wantProblem(t, res, problem.MethodNotAllowed, "Allow: *")
		if strings.Contains(res.body, "echo-me") {
			t.Errorf("%s echoes: %s", line, res.body)
		}
	}
}

func TestRule006NoMethodOverride(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	override := []string{"X-HTTP-Method-Override: DELETE", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE"}
	want(t, send(t, h, "GET "+path, override...), http.StatusOK)
	wantProblem(t, send(t, h, "POST "+path, override...), problem.MethodNotAllowed)
	wantProblem(t, send(t, h, "POST /orders?_method=DELETE", jsonBody, "", `{"customerId":"u"}`),
		problem.InvalidParameter)
	want(t, send(t, h, "GET "+path), http.StatusOK)
}

func TestRule007TrailingSlash(t *testing.T) {
	t.Parallel()
	h := api(t)
	tests := []struct{ line, location string }{
		{"GET /orders/", "/orders"},
		{"HEAD /orders/", "/orders"},
		{"POST /orders/", "/orders"},
		{"GET /orders/1/", "/orders/1"},
		{"DELETE /orders/1/", "/orders/1"},
		{"GET /orders/?limit=3&sort=-cents", "/orders?limit=3&sort=-cents"},
		{"PUT /users/a%2Fb/", "/users/a%2Fb"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, tt.line, jsonBody, "", `{"customerId":"u"}`)
			want(t, res, http.StatusPermanentRedirect, "Location: "+tt.location, "Cache-Control: no-store")
		})
	}
	// An empty segment is neither an empty id nor skipped.
	for _, target := range []string{"/orders//", "//orders/", "/orders//1", "/orders/1//", "/nothing/"} {
		wantProblem(t, send(t, h, "GET "+target), problem.NotFound, "Location:")
	}
}

func TestRule008EncodedSlashStaysInItsSegment(t *testing.T) {
	t.Parallel()
	h := api(t)
	want(t, send(t, h, "PUT /users/a%2Fb", jsonBody, "", `{"name":"one segment"}`), http.StatusCreated)
	wantBody(t, send(t, h, "GET /users/a%2Fb"), http.StatusOK, `{"id":"a/b","name":"one segment"}`)
	wantBody(t, send(t, h, "GET /users/a%2fb"), http.StatusOK, `{"id":"a/b","name":"one segment"}`)
	wantProblem(t, send(t, h, "GET /users/a/b"), problem.NotFound)
	wantProblem(t, send(t, h, "GET /users%2Fa"), problem.NotFound)
	// Paths are decoded once: %252F is the id "%2F".
	want(t, send(t, h, "PUT /users/%252F", jsonBody, "", `{"name":"percent"}`), http.StatusCreated)
	wantBody(t, send(t, h, "GET /users/%252F"), http.StatusOK, `{"id":"%2F","name":"percent"}`)
	wantProblem(t, send(t, h, "GET /users/%2F"), problem.NotFound)
}

func TestRule009IDsThatNobodyCanMean(t *testing.T) {
	t.Parallel()
	h := api(t)
	for _, id := range []string{"%ff", "%00", "a%00b", "%0A", "%7F", "%C2%85", "%C3", "%ED%A0%80"} {
		for _, method := range []string{"GET", "HEAD", "DELETE", "OPTIONS"} {
			wantProblem(t, send(t, h, method+" /users/"+id), problem.BadRequest)
		}
		wantProblem(t, send(t, h, "PUT /users/"+id, jsonBody, "", `{"name":"x"}`), problem.BadRequest)
	}
	for _, id := range []string{"..", "."} {
		d := wantProblem(t, send(t, h, "POST /users", jsonBody, "", `{"id":"`+id+`","name":"x"}`), problem.Invalid)
		wantErrors(t, d, "/id format")
	}
	for _, target := range []string{"/users/%2e%2e", "/users/%2E", "/users/.."} {
		wantProblem(t, send(t, h, "GET "+target), problem.NotFound)
		d := wantProblem(t, send(t, h, "PUT "+target, jsonBody, "", `{"name":"x"}`), problem.Invalid)
		wantErrors(t, d, "/id format")
	}
	d := wantProblem(t, send(t, h, "POST /users", jsonBody, "", `{"id":"a\u0000b","name":"x"}`), problem.Invalid)
	wantErrors(t, d, "/id format")
	// A file path is an id like any other and has no effect on the file system.
	want(t, send(t, h, "PUT /users/%2e%2e%2Fetc", jsonBody, "", `{"name":"x"}`), http.StatusCreated,
		"Location: /users/..%2Fetc")
}

// Integers have one spelling, so that an item has one URL. Other spellings do not reach the store.
func TestRule009CanonicalIntegers(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) {
		get := s.orderOps.Get
		s.orderOps.Get = func(ctx context.Context, id string) (resource.Item[order], error) {
			if id != "1" {
				t.Errorf("the store is asked for %q", id)
			}
			return get(ctx, "1") // as a store that parses numbers does
		}
	})
	create(t, h, "/orders", `{"customerId":"u"}`)
	want(t, send(t, h, "GET /orders/1"), http.StatusOK)
	for _, id := range []string{"01", "+1", "1.0", "1e0", "%201", "1%20", "-0", "-01", "0x1", "1_0", "1%2F",
		"9223372036854775808", "-9223372036854775809", "١"} {
		for _, method := range []string{"GET", "DELETE"} {
			wantProblem(t, send(t, h, method+" /orders/"+id), problem.NotFound)
		}
	}
}

func TestRule012NormalisedTargets(t *testing.T) {
	t.Parallel()
	h := api(t)
	want(t, send(t, h, "PUT /users/~tilde", jsonBody, "", `{"name":"x"}`), http.StatusCreated)
	for _, target := range []string{"/users/%7Etilde", "/users/%7etilde", "/users/~%74ilde", "/%75sers/~tilde"} {
		want(t, send(t, h, "GET "+target), http.StatusOK)
	}
}

func TestRule013PathsAreCaseSensitive(t *testing.T) {
	t.Parallel()
	h := api(t)
	wantProblem(t, send(t, h, "GET /Orders"), problem.NotFound)
	wantProblem(t, send(t, h, "GET /places/ATH"), problem.NotFound)
	want(t, send(t, h, "GET /places/ath"), http.StatusOK)
}

func TestRule021StrictQueries(t *testing.T) {
	t.Parallel()
	h := api(t, withLookup)
	create(t, h, "/orders", `{"customerId":"u"}`)
	tests := []struct {
		target string
		kind   problem.Kind
		place  string
	}{
		{"/orders?limit=1;sort=cents", problem.BadRequest, ""},
		{"/orders?limit=%zz", problem.BadRequest, ""},
		{"/orders/1?fields=id;x", problem.BadRequest, ""},
		{"/biggest?customerId=u;x", problem.BadRequest, ""},
		{"/orders?limit=1&limit=2", problem.InvalidParameter, "?limit duplicateParameter"},
		{"/orders?status=open&status=paid", problem.InvalidParameter, "?status duplicateParameter"},
		{"/orders?after=a&after=b", problem.InvalidParameter, "?after duplicateParameter"},
		{"/orders?after=a&after=b&after=a", problem.InvalidParameter, "?after duplicateParameter"},
		{"/orders?after=a&before=b", problem.InvalidParameter, "?before duplicateParameter"},
		{"/orders?nonsense=1", problem.InvalidParameter, "?nonsense unknownParameter"},
		{"/orders/1?fields=id&fields=cents", problem.InvalidParameter, "?fields duplicateParameter"},
		{"/orders/1?fields=", problem.InvalidParameter, "?fields duplicateParameter"},
		{"/orders/1?fields=id,secret", problem.InvalidParameter, "?fields unknownField"},
		{"/orders/1?limit=1", problem.InvalidParameter, "?limit unknownParameter"},
		{"/orders?expand=nobody", problem.InvalidParameter, "?expand unknownRelation"},
		{"/biggest?customerId=u&customerId=v", problem.InvalidParameter, "?customerId duplicateParameter"},
		{"/biggest?customerId=u&x=1", problem.InvalidParameter, "?x unknownParameter"},
		{"/biggest", problem.InvalidParameter, "?customerId required"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			d := wantProblem(t, send(t, h, "GET "+tt.target), tt.kind)
			if tt.place != "" {
				wantErrors(t, d, tt.place)
			}
		})
	}
	// A repeated equal parameter is not ambiguous.
	want(t, send(t, h, "GET /orders?limit=1&limit=1"), http.StatusOK)
	want(t, send(t, h, "GET /orders/1?fields=id&fields=id"), http.StatusOK)
	// Writes validate their query parameters, too.
	d := wantProblem(t, send(t, h, "DELETE /orders/1?nonsense=1"), problem.InvalidParameter)
	wantErrors(t, d, "?nonsense unknownParameter")
	wantProblem(t, send(t, h, "DELETE /orders/1?a;b"), problem.BadRequest)
	want(t, send(t, h, "GET /orders/1"), http.StatusOK)
}

func TestRule022LongTargets(t *testing.T) {
	t.Parallel()
	h := api(t)
	want(t, send(t, h, "GET /orders?customerId="+strings.Repeat("a", 7900)), http.StatusOK)
	wantProblem(t, send(t, h, "GET /users/"+strings.Repeat("a", 7900)), problem.NotFound)
	for _, target := range []string{"/users/" + strings.Repeat("a", 9000), "/users/" + strings.Repeat("%61", 3000),
		"/orders?customerId=" + strings.Repeat("a", 9000)} {
		wantProblem(t, send(t, h, "GET "+target), problem.URITooLong)
	}
	small := api(t, func(s *setup) { s.catalog.Limits.URL = 20 })
	want(t, send(t, small, "GET /orders?limit=3"), http.StatusOK)
	wantProblem(t, send(t, small, "GET /orders?limit=200&sort=cents"), problem.URITooLong)
}

// An item may have the name of a collection or a lookup as its id.
func TestRule023DisjointTrees(t *testing.T) {
	t.Parallel()
	h := api(t, withLookup)
	for _, id := range []string{"orders", "users", "biggest"} {
		want(t, send(t, h, "PUT /users/"+id, jsonBody, "", `{"name":"`+id+`"}`), http.StatusCreated)
		wantBody(t, send(t, h, "GET /users/"+id), http.StatusOK, `{"id":"`+id+`","name":"`+id+`"}`)
	}
	want(t, send(t, h, "GET /orders"), http.StatusOK)
	wantProblem(t, send(t, h, "GET /biggest"), problem.InvalidParameter)
	wantProblem(t, send(t, h, "GET /biggest/1"), problem.NotFound)

	defer func() {
		if v, _ := recover().(string); !strings.Contains(v, `"orders"`) {
			t.Errorf("two parts at /orders: recovered %q", v)
		}
	}()
	api(t, func(s *setup) {
		s.parts = append(s.parts, newLookup("orders", "users", func(struct{}) (string, error) { return "", nil }))
	})
}
