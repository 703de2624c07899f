package rest_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// The catalog of the rule tests, a small shop. It chooses the ids of orders, clients may choose
// those of users, and places are read-only.

type order struct {
	ID       int64    `json:"id" readOnly:"true"`
	Customer string   `json:"customerId" required:"true" minLength:"1"`
	Status   string   `json:"status" enum:"open,paid,sent" default:"open"`
	Cents    int64    `json:"cents" minimum:"0"`
	Note     *string  `json:"note"`
	Tags     []string `json:"tags,omitempty" maxItems:"5"`
}

type user struct {
	ID    string `json:"id"`
	Name  string `json:"name" required:"true" maxLength:"200"`
	Email string `json:"email,omitempty" format:"email" unique:"true"`
	PIN   string `json:"pin,omitempty" writeOnly:"true"`
}

type place struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Country string `json:"country" pattern:"^[A-Z]{2}$"`
}

// modified is the time of the last write in the shop. It is not a whole second.
var modified = time.Date(2024, 3, 1, 12, 0, 0, 123e6, time.UTC)

// setup is the configuration that a test may change. The Ops are those of stores in memory; a nil
// function is an absent capability.
type setup struct {
	catalog resource.CatalogOptions
	rest    rest.Options // with a map of Resources
	parts   []resource.Part
	imports bool // adds imports of orders and users

	orderOps resource.Ops[order]
	userOps  resource.Ops[user]
	placeOps resource.Ops[place]
	orders   resource.Options[order]
	users    resource.Options[user]
	places   resource.Options[place]
}

// api returns the handler of a shop: /orders without ids from clients, /users with, and /places
// read-only.
//
//	h := api(t, func(s *setup) { s.orders.RequireIfMatch = true })
func api(t testing.TB, opts ...func(*setup)) http.Handler {
	t.Helper()
	now := func() time.Time { return modified }
	seed := memory.New(&memory.Options[place]{Now: now})
	for _, p := range []place{{"ath", "Athens", "GR"}, {"bla", "Blantyre", "MW"}, {"cus", "Cusco", "PE"}} {
		if _, err := seed.Insert(t.Context(), p.ID, p); err != nil {
			t.Fatal(err)
		}
	}
	s := &setup{
		orderOps: resource.OpsOf(memory.New(&memory.Options[order]{Now: now})),
		userOps:  resource.OpsOf(memory.New(&memory.Options[user]{Now: now})),
		placeOps: resource.OpsOf(seed),
	}
	s.rest.Resources = map[string]rest.ResourceOptions{}
	s.catalog.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	s.orderOps.Insert = nil
	s.placeOps.Create, s.placeOps.Insert, s.placeOps.Replace, s.placeOps.Delete = nil, nil, nil, nil
	s.orders.Query = query.Support{
		Filter: map[string][]query.Op{
			"customerId": {query.Eq}, "status": {query.Eq, query.In}, "cents": {query.Gte, query.Lt}},
		Sort: []string{"cents", "status"},
	}
	s.orders.Relations = []resource.Relation[order]{
		{Name: "customer", Target: "users", Keys: func(o *order) []string { return []string{o.Customer} }},
	}
	s.users.Relations = []resource.Relation[user]{{Name: "orders", Target: "orders", By: "customerId"}}
	for _, opt := range opts {
		opt(s)
	}
	orders, users := s.orderOps.Resource("orders", &s.orders), s.userOps.Resource("users", &s.users)
	parts := append([]resource.Part{orders, users, s.placeOps.Resource("places", &s.places)}, s.parts...)
	if s.imports {
		parts = append(parts, command.NewImport("orders/import", orders), command.NewImport("users/import", users))
	}
	c := resource.NewCatalog(&s.catalog, parts...)
	return &shop{rest.New(c, &s.rest), c}
}

// shop is the result of api, for tests that use the catalog.
type shop struct {
	*rest.Handler
	catalog *resource.Catalog
}

// Header lines of many tests.
const (
	jsonBody  = "Content-Type: application/json"
	mergeBody = "Content-Type: " + patch.MergeType
	patchBody = "Content-Type: " + patch.JSONType
	batchBody = "Content-Type: " + batchType
)

// Media types of POST if there are transactions.
const (
	batchType = "application/vnd.stoa.batch+json"
	postTypes = "application/json, " + batchType
)

// response is a response with its request.
type response struct {
	line   string // of the request
	status int
	header http.Header
	body   string
}

// send sends a request in the form of HTTP/1.1: the request line, header lines, an empty line and
// the body.
//
//	send(t, h, "PATCH /orders/1", mergeBody, "", `{"status":"paid"}`)
func send(t testing.TB, h http.Handler, line string, rest ...string) *response {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(t, line, rest...))
	return received(line, w.Result())
}

// request returns the request of send, for tests that modify it.
func request(t testing.TB, line string, rest ...string) *http.Request {
	t.Helper()
	method, target, ok := strings.Cut(line, " ")
	if !ok {
		t.Fatalf("%q is no request line", line)
	}
	var content io.Reader
	fields := rest
	for i, s := range rest {
		if s == "" {
			fields, content = rest[:i], strings.NewReader(strings.Join(rest[i+1:], ""))
			break
		}
	}
	r := httptest.NewRequest(method, target, content)
	for _, field := range fields {
		name, value := splitField(t, field)
		r.Header.Add(name, value)
	}
	return r
}

func splitField(t testing.TB, field string) (name, value string) {
	t.Helper()
	name, value, ok := strings.Cut(field, ":")
	if !ok {
		t.Fatalf("%q is no header line", field)
	}
	return name, strings.TrimSpace(value)
}

func received(line string, res *http.Response) *response {
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		body = append(body, " <"+err.Error()+">"...)
	}
	if len(line) > 100 {
		line = line[:100] + "..."
	}
	return &response{line: line, status: res.StatusCode, header: res.Header, body: string(body)}
}

// want checks the status and header fields. "Etag:" means that the field must be absent, "Etag: *"
// that it must be present.
func want(t testing.TB, res *response, status int, fields ...string) {
	t.Helper()
	if res.status != status {
		t.Errorf("%s: status %d, want %d: %s", res.line, res.status, status, res.body)
	}
	for _, field := range fields {
		name, value := splitField(t, field)
		got, there := res.header[http.CanonicalHeaderKey(name)]
		switch {
		case value == "*" && !there:
			t.Errorf("%s: no %s", res.line, name)
		case value == "*":
		default:
			if diff := cmp.Diff(value, strings.Join(got, ", ")); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", res.line, name, diff)
			}
		}
	}
}

// wantBody checks the status and the exact body.
func wantBody(t testing.TB, res *response, status int, body string) {
	t.Helper()
	want(t, res, status)
	if diff := cmp.Diff(body, res.body); diff != "" {
		t.Errorf("%s: body (-want +got):\n%s", res.line, diff)
	}
}

// details is a problem.
type details struct {
	Type      string      `json:"type"`
	Title     string      `json:"title"`
	Status    int         `json:"status"`
	Detail    string      `json:"detail"`
	Instance  string      `json:"instance"`
	Errors    []violation `json:"errors"`
	Available []string    `json:"available"`
	Existing  string      `json:"existing"`
	Limit     int64       `json:"limit"`
}

type violation struct {
	Pointer   *string `json:"pointer"`
	Parameter string  `json:"parameter"`
	Header    string  `json:"header"`
	Code      string  `json:"code"`
	Detail    string  `json:"detail"`
	Operation *int    `json:"operation"`
}

// wantProblem checks that the response is a problem of this kind, with the header fields.
func wantProblem(t testing.TB, res *response, kind problem.Kind, fields ...string) details {
	t.Helper()
	want(t, res, kind.Status(), append([]string{"Content-Type: " + problem.MediaType, "Cache-Control: no-store",
		"X-Content-Type-Options: nosniff", "Content-Length: *"}, fields...)...)
	var d details
	if strings.HasPrefix(res.line, "HEAD ") {
		if res.body != "" {
			t.Errorf("%s: a body: %s", res.line, res.body)
		}
		return d
	}
	if n := res.header.Get("Content-Length"); n != strconv.Itoa(len(res.body)) {
		t.Errorf("%s: Content-Length %s, want %d", res.line, n, len(res.body))
	}
	if err := json.Unmarshal([]byte(res.body), &d); err != nil {
		t.Errorf("%s: %v: %s", res.line, err, res.body)
	}
	if d.Type != kind.URI() || d.Title != kind.Title() || d.Status != kind.Status() {
		t.Errorf("%s: got %s (%q, %d), want %s", res.line, d.Type, d.Title, d.Status, kind.URI())
	}
	return d
}

// wantErrors checks the errors of a problem, each as "/pointer code", "?parameter code" or "Header:
// code".
func wantErrors(t testing.TB, d details, places ...string) {
	t.Helper()
	var got []string
	for _, v := range d.Errors {
		where := v.Header + ":"
		switch {
		case v.Pointer != nil:
			where = *v.Pointer
		case v.Parameter != "":
			where = "?" + v.Parameter
		}
		got = append(got, where+" "+v.Code)
	}
	if diff := cmp.Diff(places, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// create posts a document and returns the path of the new item.
func create(t testing.TB, h http.Handler, collection, doc string) string {
	t.Helper()
	res := send(t, h, "POST "+collection, jsonBody, "", doc)
	want(t, res, http.StatusCreated, "Location: *")
	return res.header.Get("Location")
}

// newLookup is [resource.NewLookup] for a function without a context.
func newLookup[In any](name, target string, find func(In) (string, error)) *resource.Lookup {
	return resource.NewLookup(name, target, func(_ context.Context, in In) (string, error) { return find(in) })
}
