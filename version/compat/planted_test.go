package compat_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/version"
	"github.com/stoa-go/stoa/version/compat"
)

// planted is a change of a contract with a known effect.
type planted struct {
	name   string
	kind   string // that must be reported; "" means that there must be no change at all
	change func(p *plan)
}

// The following functions serve a type that differs from Order in one point.

func serveNarrowEnum(p *plan) {
	type Order struct {
		ID     int64    `json:"id" readOnly:"true"`
		Status string   `json:"status" enum:"placed,paid" default:"placed"`
		Qty    int      `json:"qty" required:"true" minimum:"1" maximum:"100"`
		Note   *string  `json:"note" maxLength:"500"`
		Tags   []string `json:"tags" maxItems:"5"`
	}
	p.serve(orders[Order](p.t, nil))
}

func serveWideEnum(p *plan) {
	type Order struct {
		ID     int64    `json:"id" readOnly:"true"`
		Status string   `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
		Qty    int      `json:"qty" required:"true" minimum:"1" maximum:"100"`
		Note   *string  `json:"note" maxLength:"500"`
		Tags   []string `json:"tags" maxItems:"5"`
	}
	p.serve(orders[Order](p.t, nil))
}

func serveRequired(p *plan) {
	type Order struct {
		ID       int64    `json:"id" readOnly:"true"`
		Status   string   `json:"status" enum:"placed,paid,shipped" default:"placed"`
		Qty      int      `json:"qty" required:"true" minimum:"1" maximum:"100"`
		Note     *string  `json:"note" maxLength:"500"`
		Tags     []string `json:"tags" maxItems:"5"`
		Customer string   `json:"customer" required:"true"`
	}
	p.serve(orders[Order](p.t, nil, `{"qty":1,"customer":"a"}`, `{"qty":2,"customer":"b"}`))
}

func serveOptional(p *plan) {
	type Order struct {
		ID       int64    `json:"id" readOnly:"true"`
		Status   string   `json:"status" enum:"placed,paid,shipped" default:"placed"`
		Qty      int      `json:"qty" required:"true" minimum:"1" maximum:"100"`
		Note     *string  `json:"note" maxLength:"500"`
		Tags     []string `json:"tags" maxItems:"5"`
		Customer *string  `json:"customer"`
	}
	p.serve(orders[Order](p.t, nil))
}

func serveLowered(p *plan) {
	type Order struct {
		ID     int64    `json:"id" readOnly:"true"`
		Status string   `json:"status" enum:"placed,paid,shipped" default:"placed"`
		Qty    int      `json:"qty" required:"true" minimum:"1" maximum:"50"`
		Note   *string  `json:"note" maxLength:"500"`
		Tags   []string `json:"tags" maxItems:"5"`
	}
	p.serve(orders[Order](p.t, nil))
}

func serveRemoved(p *plan) {
	type Order struct {
		ID     int64   `json:"id" readOnly:"true"`
		Status string  `json:"status" enum:"placed,paid,shipped" default:"placed"`
		Qty    int     `json:"qty" required:"true" minimum:"1" maximum:"100"`
		Note   *string `json:"note" maxLength:"500"`
	}
	p.serve(orders[Order](p.t, nil, plain...))
}

func serveRetyped(p *plan) {
	type Order struct {
		ID     int64    `json:"id" readOnly:"true"`
		Status string   `json:"status" enum:"placed,paid,shipped" default:"placed"`
		Qty    string   `json:"qty" required:"true"`
		Note   *string  `json:"note" maxLength:"500"`
		Tags   []string `json:"tags" maxItems:"5"`
	}
	p.serve(orders[Order](p.t, nil, `{"qty":"1"}`, `{"qty":"2"}`))
}

func serveNotNull(p *plan) {
	type Order struct {
		ID     int64    `json:"id" readOnly:"true"`
		Status string   `json:"status" enum:"placed,paid,shipped" default:"placed"`
		Qty    int      `json:"qty" required:"true" minimum:"1" maximum:"100"`
		Note   string   `json:"note" maxLength:"500"`
		Tags   []string `json:"tags" maxItems:"5"`
	}
	p.serve(orders[Order](p.t, nil))
}

func serveDefault(p *plan) {
	type Order struct {
		ID     int64    `json:"id" readOnly:"true"`
		Status string   `json:"status" enum:"placed,paid,shipped" default:"paid"`
		Qty    int      `json:"qty" required:"true" minimum:"1" maximum:"100"`
		Note   *string  `json:"note" maxLength:"500"`
		Tags   []string `json:"tags" maxItems:"5"`
	}
	p.serve(orders[Order](p.t, nil))
}

func serveReadOnly(p *plan) {
	type Order struct {
		ID     int64    `json:"id" readOnly:"true"`
		Status string   `json:"status" enum:"placed,paid,shipped" default:"placed"`
		Qty    int      `json:"qty" required:"true" minimum:"1" maximum:"100"`
		Note   *string  `json:"note" maxLength:"500" readOnly:"true"`
		Tags   []string `json:"tags" maxItems:"5"`
	}
	p.serve(orders[Order](p.t, nil, plain...))
}

func serveDescribed(p *plan) {
	type Order struct {
		ID     int64    `json:"id" readOnly:"true" doc:"The number of the order."`
		Status string   `json:"status" enum:"placed,paid,shipped" default:"placed" doc:"The status."`
		Qty    int      `json:"qty" required:"true" minimum:"1" maximum:"100" doc:"How many."`
		Note   *string  `json:"note" maxLength:"500" doc:"A note."`
		Tags   []string `json:"tags" maxItems:"5" doc:"Tags."`
	}
	p.serve(orders[Order](p.t, nil))
}

// queries returns what clients can filter and sort by.
func queries(sort []string, filter map[string][]query.Op) query.Support {
	return query.Support{Sort: sort, Filter: filter}
}

var (
	bothFilters = map[string][]query.Op{"status": {query.Eq, query.In}, "qty": {query.Eq, query.Gte}}
	plain       = []string{`{"qty":1}`, `{"qty":2}`}
)

// breaking are the changes that need a new major version.
var breaking = []planted{
	{"narrowed enum", "request-enum-narrowed", serveNarrowEnum},
	{"enum of responses widened", "response-enum-widened", serveWideEnum},
	{"new required member", "request-member-required", serveRequired},
	{"lowered limit", "request-limit-narrowed", serveLowered},
	{"removed member", "response-member-removed", serveRemoved},
	{"changed type", "request-type-narrowed", serveRetyped},
	{"null no longer accepted", "request-type-narrowed", serveNotNull},
	{"changed default of a member", "default-changed", serveDefault},
	{"member became read-only", "request-member-removed", serveReadOnly},
	{"filter removed", "parameter-removed", func(p *plan) {
		p.serve(orders(p.t, &resource.Options[Order]{Query: queries([]string{"status", "qty"},
			map[string][]query.Op{"status": {query.Eq, query.In}})}))
	}},
	{"sort field removed", "request-enum-narrowed", func(p *plan) {
		p.serve(orders(p.t, &resource.Options[Order]{Query: queries([]string{"status"}, bothFilters)}))
	}},
	{"operation removed", "operation-removed", func(p *plan) { delete(p.at("paths /orders/{id}"), "delete") }},
	{"path removed", "operation-removed", func(p *plan) { delete(p.at("paths"), "/orders/{id}") }},
	{"new required parameter", "parameter-required", func(p *plan) {
		p.addParameter("paths /orders get", map[string]any{"name": "shop", "in": "query", "required": true,
			"schema": map[string]any{"type": "string"}})
	}},
	{"parameter became required", "parameter-required", func(p *plan) {
		p.parameter("paths /orders get", "limit")["required"] = true
	}},
	{"lowered page size", "request-limit-narrowed", func(p *plan) {
		p.parameter("paths /orders get", "limit")["schema"].(map[string]any)["maximum"] = 100
	}},
	{"changed default page size", "default-changed", func(p *plan) {
		p.parameter("paths /orders get", "limit")["schema"].(map[string]any)["default"] = 20
	}},
	{"changed encoding of a list", "parameter-encoding-changed", func(p *plan) {
		p.parameter("paths /orders get", "status.in")["explode"] = true
	}},
	{"media type of requests removed", "request-media-type-removed", func(p *plan) {
		delete(p.at("paths /orders/{id} patch requestBody content"), "application/json-patch+json")
	}},
	{"media type of responses removed", "response-media-type-removed", func(p *plan) {
		delete(p.at("paths /orders get responses 200 content"), "application/x-ndjson")
	}},
	{"pattern added", "request-syntax-narrowed", func(p *plan) {
		p.at("components schemas OrderCreate properties note")["pattern"] = "^[a-z]*$"
	}},
	{"authentication required", "security-added", func(p *plan) {
		p.at("components")["securitySchemes"] = map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}}
		p.document["security"] = []any{map[string]any{"token": []any{}}}
	}},
	{"problem type of a status removed", "problem-removed", func(p *plan) {
		examples := p.at("paths /orders post responses 422 content application/problem+json examples")
		delete(examples, slices.Sorted(keys(examples))[0])
	}},
	{"problem type renamed", "problem-changed", func(p *plan) {
		p.respond(func(_ *http.Request, w *httptest.ResponseRecorder) {
			replaceBody(w, "/problems/not-found", "/problems/missing")
		})
	}},
	{"lost header field", "header-removed", func(p *plan) {
		p.respond(func(_ *http.Request, w *httptest.ResponseRecorder) { w.Header().Del("ETag") })
	}},
	{"changed status", "status-changed", func(p *plan) {
		p.respond(func(_ *http.Request, w *httptest.ResponseRecorder) {
			if w.Code == http.StatusUnprocessableEntity {
				w.Code = http.StatusBadRequest
			}
		})
	}},
	{"changed default order", "order-changed", func(p *plan) { p.respond(reverseItems) }},
	{"GraphQL: field removed", "field-removed", func(p *plan) {
		p.graphql("  note: String\n\n  \"\"\"The member `tags` of an item of `orders`.\"\"\"\n  tags: [String!]!", "  tags: [String!]!")
	}},
	{"GraphQL: argument became required", "argument-required", func(p *plan) { p.graphql("first: Int\n", "first: Int!\n") }},
	{"GraphQL: field may be null", "field-type-changed", func(p *plan) { p.graphql("  etag: String!", "  etag: String") }},
}

// additions are the changes of a minor version, and those that clients do not observe.
var additions = []planted{
	{"descriptions only", "", serveDescribed},
	{"new optional member", "response-member-added", serveOptional},
	{"new collection", "operation-added", func(p *plan) {
		type User struct {
			ID    int64  `json:"id" readOnly:"true"`
			Email string `json:"email" required:"true"`
		}
		users := resource.New("users", memory.New[User](nil), &resource.Options[User]{Public: true})
		p.serve(ordersBeside[Order](p.t, nil, []resource.Part{users}))
	}},
	{"new filter", "parameter-added", func(p *plan) {
		filter := map[string][]query.Op{"note": {query.Eq}}
		for name, ops := range bothFilters {
			filter[name] = ops
		}
		p.serve(orders(p.t, &resource.Options[Order]{Query: queries([]string{"status", "qty"}, filter)}))
	}},
	{"new sort field", "request-enum-widened", func(p *plan) {
		p.serve(orders(p.t, &resource.Options[Order]{Query: queries([]string{"status", "qty", "note"}, bothFilters)}))
	}},
	{"schema renamed", "", func(p *plan) { p.rename("OrderCreate", "NewOrder") }},
	{"path parameter renamed", "", func(p *plan) {
		p.rename("{id}", "{orderId}")
		p.rename(`"name":"id","in":"path"`, `"name":"orderId","in":"path"`)
	}},
	{"operationId renamed", "", func(p *plan) { p.at("paths /orders get")["operationId"] = "allOrders" }},
	{"example changed", "", func(p *plan) { p.at("components")["examples"] = map[string]any{} }},
	{"title and servers", "", func(p *plan) {
		p.at("info")["title"] = "Other"
		p.document["servers"] = []any{map[string]any{"url": "https://example.com"}}
	}},
	{"order of required members", "", func(p *plan) {
		slices.Reverse(p.at("components schemas OrderBatchReplace")["required"].([]any))
	}},
	{"order of parameters", "", func(p *plan) { slices.Reverse(p.at("paths /orders get")["parameters"].([]any)) }},
	{"raised page size", "request-limit-widened", func(p *plan) {
		p.parameter("paths /orders get", "limit")["schema"].(map[string]any)["maximum"] = 500
	}},
	{"new optional parameter", "parameter-added", func(p *plan) {
		p.addParameter("paths /orders get", map[string]any{"name": "shop", "in": "query",
			"schema": map[string]any{"type": "string"}})
	}},
	{"new operation", "operation-added", func(p *plan) {
		p.at("paths /orders")["put"] = map[string]any{"responses": map[string]any{"204": map[string]any{"description": "x"}}}
	}},
	{"operation deprecated", "operation-deprecated", func(p *plan) { p.at("paths /orders get")["deprecated"] = true }},
	{"media type of requests added", "request-media-type-added", func(p *plan) {
		p.at("paths /orders post requestBody content")["application/cbor"] = map[string]any{}
	}},
	{"media type of responses added", "response-media-type-added", func(p *plan) {
		p.at("paths /orders get responses 200 content")["application/cbor"] = map[string]any{"schema": map[string]any{"type": "string"}}
	}},
	{"null accepted in requests", "request-type-widened", func(p *plan) {
		p.at("components schemas OrderCreate properties qty")["type"] = []any{"integer", "null"}
	}},
	{"required member became optional", "request-member-optional", func(p *plan) {
		delete(p.at("components schemas OrderCreate"), "required")
	}},
	{"enum of a parameter widened", "request-enum-widened", func(p *plan) {
		schema := p.parameter("paths /orders get", "status")["schema"].(map[string]any)
		schema["enum"] = append(schema["enum"].([]any), "any")
	}},
	{"stricter limit of a response", "response-limit-narrowed", func(p *plan) {
		p.at("components schemas Order properties note")["maxLength"] = 400
	}},
	{"new error status", "response-status-added", func(p *plan) {
		responses := p.at("paths /orders get responses")
		responses["418"] = responses["400"]
	}},
	{"new problem type", "problem-added", func(p *plan) {
		p.at("paths /orders post responses 422 content application/problem+json examples")["sold-out"] = map[string]any{
			"value": map[string]any{"type": "https://example.com/sold-out", "title": "Sold Out", "status": 422}}
	}},
	{"new header field", "header-added", func(p *plan) {
		p.respond(func(_ *http.Request, w *httptest.ResponseRecorder) { w.Header().Set("X-New", "1") })
	}},
	{"Vary has another field", "header-value-added", func(p *plan) {
		p.respond(func(_ *http.Request, w *httptest.ResponseRecorder) { w.Header().Add("Vary", "Origin") })
	}},
	{"GraphQL: new type and field", "type-added", func(p *plan) {
		p.graphql("type Order {", "type Customer { id: ID! }\n\ntype Order {\n  customer: Customer\n")
	}},
	{"GraphQL: optional argument added", "argument-added", func(p *plan) { p.graphql("first: Int\n", "first: Int\n    shop: ID\n") }},
	{"GraphQL: field is never null", "field-type-narrowed", func(p *plan) { p.graphql("totalCount: Int", "totalCount: Int!") }},
	{"GraphQL: field deprecated", "field-deprecated", func(p *plan) {
		p.graphql("  etag: String!", "  etag: String! @deprecated(reason: \"Use If-Match.\")")
	}},
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// rename replaces text in the document.
func (p *plan) rename(old, new string) {
	p.t.Helper()
	data, err := json.Marshal(p.document)
	if err != nil {
		p.t.Fatal(err)
	}
	p.document = nil
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(data), old, new)), &p.document); err != nil {
		p.t.Fatal(err)
	}
}

// reverseItems reverses the items of lists.
func reverseItems(_ *http.Request, w *httptest.ResponseRecorder) {
	var page map[string]any
	if json.Unmarshal(w.Body.Bytes(), &page) != nil {
		return
	}
	if items, ok := page["items"].([]any); ok {
		slices.Reverse(items)
		data, _ := json.Marshal(page)
		w.Body.Reset()
		w.Body.Write(data)
	}
}

// TestPlantedChanges makes each change in a contract, and checks that breaking changes and additions are
// distinguished, in both directions of time: as a patch, a minor and a major version.
func TestPlantedChanges(t *testing.T) {
	t.Parallel()
	if len(breaking) != 30 || len(additions) != 30 {
		t.Errorf("%d breaking changes and %d others, want 30 and 30", len(breaking), len(additions))
	}
	base := newPlan(t)
	before := base.snapshot()
	openAPI, sdl := string(base.openAPI()), base.sdl
	run := func(c planted, breaks bool) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlan(t)
			c.change(p)
			after := p.snapshot()
			dump(t, c.name, "json", openAPI, string(p.openAPI()))
			dump(t, c.name, "graphql", sdl, p.sdl)
			changes := compat.Compare(before, after)
			if got := slices.ContainsFunc(changes, func(c version.Change) bool { return c.Breaking }); got != breaks {
				t.Errorf("breaking: %t, want %t\n%v", got, breaks, changes)
			}
			found := slices.ContainsFunc(changes, func(f version.Change) bool { return f.Kind == c.kind })
			if c.kind == "" && len(changes) > 0 || c.kind != "" && !found {
				t.Errorf("changes, want %q:\n%v", c.kind, changes)
			}
			for _, next := range []struct {
				name  string
				fails bool
			}{{"1.0.1", c.kind != ""}, {"1.1.0", breaks}, {"2.0.0", false}} {
				successor := *after
				successor.Contract = next.name
				set := []*compat.Snapshot{before, &successor}
				violations := compat.Check(set, set, nil)
				if (len(violations) > 0) != next.fails {
					t.Errorf("as %s: %v, want violations: %t", next.name, violations, next.fails)
				}
			}
		})
	}
	for _, c := range breaking {
		run(c, true)
	}
	for _, c := range additions {
		run(c, false)
	}
}
