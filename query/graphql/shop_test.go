package graphql_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
)

// The shop of the tests, with three orders of two users.

type order struct {
	ID       int64  `json:"id" readOnly:"true"`
	Customer string `json:"customerId" required:"true" minLength:"1" doc:"who pays"`
	Status   string `json:"status" enum:"open,paid,sent" default:"open"`
	Cents    int64  `json:"cents" minimum:"0" maximum:"100000"`
	Note     string `json:"note,omitempty" maxLength:"5000"`
}

type user struct {
	ID   string `json:"id"`
	Name string `json:"name" required:"true"`
}

type greeting struct {
	Text string `json:"text"`
}

// setup is what a test may change about the shop before it opens.
type setup struct {
	opts     graphql.Options
	orderOps resource.Ops[order]
	orders   resource.Options[order]
	users    resource.Options[user]
	catalog  resource.CatalogOptions
	db       *memory.DB
}

// catalog returns the shop, and what a test has made of the options of its handler.
func catalog(t testing.TB, opts ...func(*setup)) (*resource.Catalog, *setup) {
	t.Helper()
	db := memory.NewDB()
	orders, users := memory.New(&memory.Options[order]{DB: db}), memory.New(&memory.Options[user]{DB: db})
	for _, u := range []user{{"ada", "Ada"}, {"bob", "Bob"}} {
		if _, err := users.Insert(t.Context(), u.ID, u); err != nil {
			t.Fatal(err)
		}
	}
	for i, customer := range []string{"ada", "bob", "ada"} {
		o := order{Customer: customer, Status: "open", Cents: int64(100 * (i + 1))}
		if _, err := orders.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	s := &setup{orderOps: resource.OpsOf(orders), db: db}
	s.orderOps.Insert = nil
	s.catalog.Logger = logger
	s.orders.Query = query.Support{Filter: map[string][]query.Op{"status": {query.Eq}},
		Sort: []string{"cents"}}
	s.orders.Relations = []resource.Relation[order]{
		{Name: "customer", Target: "users", Keys: func(o *order) []string { return []string{o.Customer} }},
	}
	for _, opt := range opts {
		opt(s)
	}
	s.orders.Public = s.orders.Authorize == nil && s.orders.Scope == nil
	s.users.Public = s.users.Authorize == nil && s.users.Scope == nil
	greet := func(_ context.Context, in greeting) (greeting, error) {
		return greeting{"Hello, " + in.Text},
			nil
	}
	return resource.NewCatalog(&s.catalog, s.orderOps.Resource("orders", &s.orders),
		resource.New("users", users, &s.users), command.New("door/greet", greet, nil)), s
}

// handler opens the handler of the shop.
//
//	h := newTestHandler(t, func(s *setup) { s.opts.Batch = 2 })
func newTestHandler(t testing.TB, opts ...func(*setup)) *graphql.Handler {
	t.Helper()
	c, s := catalog(t, opts...)
	return graphql.New(c, &s.opts)
}

// Header lines that many tests send.
const (
	jsonBody     = "Content-Type: application/json"
	acceptNew    = "Accept: application/graphql-response+json"
	acceptOld    = "Accept: application/json"
	typeNew      = "Content-Type: application/graphql-response+json; charset=utf-8"
	typeOld      = "Content-Type: application/json; charset=utf-8"
	typenameBody = `{"query":"{__typename}"}`
	typenameIs   = `{"data":{"__typename":"Query"}}`
)

// answer is what came back.
type answer struct {
	line   string // of the request
	status int
	header http.Header
	body   string
}

// send makes a request as it reads on the wire: the request line, header lines, an empty line, the content.
//
//	send(t, h, "POST /graphql", jsonBody, "", `{"query":"{__typename}"}`)
func send(t testing.TB, h http.Handler, line string, rest ...string) *answer {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(t, line, rest...))
	return received(line, w.Result())
}

// request is the request of send, for tests that change something about it.
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

func received(line string, res *http.Response) *answer {
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		body = append(body, " <"+err.Error()+">"...)
	}
	if len(line) > 100 {
		line = line[:100] + "..."
	}
	return &answer{line: line, status: res.StatusCode, header: res.Header, body: string(body)}
}

// want checks status and header fields. "Etag:" means that the field is absent, "Etag: *" that it
// is present.
func want(t testing.TB, res *answer, status int, fields ...string) {
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

// wantBody checks the status and the content, octet by octet.
func wantBody(t testing.TB, res *answer, status int, body string, fields ...string) {
	t.Helper()
	want(t, res, status, fields...)
	if diff := cmp.Diff(body, res.body); diff != "" {
		t.Errorf("%s: body (-want +got):\n%s", res.line, diff)
	}
}

// graph is an answer as a client reads it.
type graph struct {
	Data   any `json:"data"`
	Errors []struct {
		Message    string `json:"message"`
		Extensions struct {
			Code string `json:"code"`
			Type string `json:"type"`
		} `json:"extensions"`
	} `json:"errors"`
}

func read(t testing.TB, res *answer) graph {
	t.Helper()
	var g graph
	if err := json.Unmarshal([]byte(res.body), &g); err != nil {
		t.Errorf("%s: %v: %s", res.line, err, res.body)
	}
	return g
}

// wantCode checks that the answer has no data, and one error of that code.
func wantCode(t testing.TB, res *answer, status int, code string, fields ...string) {
	t.Helper()
	want(t, res, status, append([]string{"Cache-Control: no-store", "X-Content-Type-Options: nosniff",
		"Etag:"}, fields...)...)
	if strings.HasPrefix(res.line, "HEAD ") {
		if res.body != "" {
			t.Errorf("%s: a body: %s", res.line, res.body)
		}
		return
	}
	g := read(t, res)
	switch {
	case strings.Contains(res.body, `"data"`):
		t.Errorf("%s: data: %s", res.line, res.body)
	case len(g.Errors) != 1 || g.Errors[0].Message == "" || g.Errors[0].Extensions.Code != code:
		t.Errorf("%s: want one error with code %s: %s", res.line, code, res.body)
	}
}

// answered is send for a request that is there.
func answered(h http.Handler, r *http.Request) *answer {
	line := r.Method + " " + r.URL.RequestURI()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return received(line, w.Result())
}

// wantPanic checks that a panic names what is wrong.
func wantPanic(t *testing.T, what string, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if said, _ := recover().(string); !strings.Contains(said, what) {
			t.Errorf("the panic is %q, without %q", said, what)
		}
	}()
	do()
}
