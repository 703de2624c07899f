package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// buyer, bargain and saleLine are related both ways.
type (
	buyer struct {
		ID     string `json:"id"`
		Role   string `json:"role"`
		Age    int    `json:"age"`
		Hidden bool   `json:"hidden"`
		Code   string `json:"code" writeOnly:"true"`
	}
	bargain struct {
		ID      int64   `json:"id"`
		BuyerID *string `json:"buyerId"`
		Status  string  `json:"status"`
	}
	saleLine struct {
		ID     int64 `json:"id"`
		SaleID int64 `json:"saleId"`
		ItemID int64 `json:"itemId"`
		Qty    int   `json:"qty"`
	}
	// oldBuyer is a buyer in an older contract.
	oldBuyer struct {
		ID   string `json:"id"`
		Kind string `json:"kind"`
	}
)

// buyers are items of the tests; those of p3 are hidden by policy.
var (
	buyers    = []buyer{{ID: "p1", Role: "admin", Age: 30}, {ID: "p2", Role: "user", Age: 20}, {ID: "p3", Role: "admin", Hidden: true}}
	saleLines = []saleLine{{1, 1, 7, 1}, {2, 1, 8, 5}, {3, 2, 7, 5}, {4, 3, 9, 1}, {5, 4, 7, 2}}
)

// bargains has an order of each buyer, and one without.
func bargains() []bargain {
	p := func(id string) *string { return &id }
	return []bargain{{1, p("p1"), "paid"}, {2, p("p2"), "paid"}, {3, p("p3"), "new"}, {4, nil, "new"}}
}

// saleOptions adjust saleServer.
type saleOptions struct {
	separate  bool     // the stores do not join each other
	authorize bool     // policy by Authorize in place of Scope
	old       bool     // buyers are a view
	groups    []string // of sales, in place of all
	feed      *feed.Feed
}

// saleServer serves the items.
func saleServer(t *testing.T, o saleOptions) *httptest.Server {
	t.Helper()
	ops := resource.OpsOf(memory.New[buyer](nil))
	saleOps, lineOps := resource.OpsOf(memory.New[bargain](nil)), resource.OpsOf(memory.New[saleLine](nil))
	for _, b := range buyers {
		mustInsert(t, ops, b.ID, b)
	}
	for _, s := range bargains() {
		mustInsert(t, saleOps, fmt.Sprint(s.ID), s)
	}
	for _, l := range saleLines {
		mustInsert(t, lineOps, fmt.Sprint(l.ID), l)
	}
	if o.separate {
		ops, saleOps = ops.WithFastReads(resource.FastReads{}), saleOps.WithFastReads(resource.FastReads{})
		lineOps = lineOps.WithFastReads(resource.FastReads{})
	}
	eq := []query.Op{query.Eq, query.In, query.Gte}
	opts := &resource.Options[buyer]{
		Query: query.Support{Filter: map[string][]query.Op{"id": eq, "role": eq, "age": eq},
			Relations: []string{"sales"}},
		Relations: []resource.Relation[buyer]{{Name: "sales", Target: "sales", By: "buyerId"}},
	}
	if o.authorize {
		opts.Authorize = func(_ context.Context, _ resource.Op, before, _ *buyer) error {
			if before != nil && before.Hidden {
				return resource.ErrForbidden
			}
			return nil
		}
	} else {
		opts.Scope = func(context.Context) (query.Filter, error) {
			return query.Where("hidden", query.Eq, false), nil
		}
	}
	opts.Query.Sort = []string{"role", "age"}
	sales := query.Support{Filter: map[string][]query.Op{"id": eq, "status": eq, "buyerId": eq},
		Relations: []string{"buyer", "lines"}, Group: []string{"status"}}
	if !o.separate && !o.authorize {
		opts.Query.Group = opts.Query.Sort
		sales.Sort = []string{"buyer.role", "buyer.age"}
		sales.Group = append(sales.Group, "buyer.role", "buyer.age", "buyer.id")
	}
	if sales.Aggregate = map[string][]query.Func{"id": {query.Max}}; o.groups != nil {
		sales.Group, sales.Aggregate = o.groups, nil
	}
	buyersResource := ops.Resource("buyers", opts)
	if o.old {
		buyersResource = resource.View(buyersResource,
			func(b buyer) (oldBuyer, error) { return oldBuyer{b.ID, b.Role}, nil },
			func(o oldBuyer, b buyer) (buyer, error) { b.ID, b.Role = o.ID, o.Kind; return b, nil },
			&resource.ViewOptions{Fields: map[string]string{"kind": "role"}})
	}
	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: o.feed}, buyersResource,
		saleOps.Resource("sales", &resource.Options[bargain]{Public: true,
			Query: sales,
			Relations: []resource.Relation[bargain]{
				{Name: "buyer", Target: "buyers", Field: "buyerId"}, {Name: "lines", Target: "lines", By: "saleId"}},
		}),
		lineOps.Resource("lines", &resource.Options[saleLine]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"saleId": eq, "itemId": eq, "qty": eq}}}))
	server := httptest.NewServer(rest.New(catalog, nil))
	t.Cleanup(server.Close)
	return server
}

// mustInsert stores an item.
func mustInsert[T any](t *testing.T, ops resource.Ops[T], id string, v T) {
	t.Helper()
	if _, err := ops.Insert(t.Context(), id, v); err != nil {
		t.Fatal(err)
	}
}

// idsOf returns the ids of a list, or the details of the errors.
func idsOf(t *testing.T, server *httptest.Server, method, path, content string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items  []struct{ ID any }
		Errors []struct{ Parameter, Pointer, Detail string }
	}
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatalf("%s: %v: %s", path, err, body)
	}
	var out []string
	for _, item := range list.Items {
		out = append(out, fmt.Sprint(item.ID))
	}
	for _, e := range list.Errors {
		out = append(out, fmt.Sprintf("%d %s%s: %s", res.StatusCode, e.Parameter, e.Pointer, e.Detail))
	}
	return strings.Join(out, " ")
}

// TestRule021RelationFilters: filters through relations select what the caller may see, with the same
// parameters for stores that join each other and for those that do not.
func TestRule021RelationFilters(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, want string }{
		{"/sales?buyer.role=admin", "1"},
		{"/sales?buyer.age.gte=20", "1 2"},
		{"/sales?buyer.role.in=admin,user&status=paid", "1 2"},
		{"/sales?buyer.none.role=admin", "2 3 4"},
		{`/sales?filter=` + url.QueryEscape(`{"buyer":{}}`), "1 2"},
		{"/sales?lines.some.itemId=7", "1 2 4"},
		{"/sales?lines.some.itemId=7&lines.some.qty.gte=2", "2 4"},
		{"/sales?lines.none.itemId=7", "3"},
		{"/sales?lines.every.itemId=7", "2 4"},
		{"/buyers?sales.some.lines.some.itemId=7", "p1 p2"},
		{"/buyers?sales.none.status=paid", ""},
		{"/sales?buyer.hidden=true",
			"400 buyer.hidden: unknown parameter; the filters of buyer are age, id, role and sales.*"},
		{"/sales?buyer.code=x",
			"400 buyer.code: unknown parameter; the filters of buyer are age, id, role and sales.*"},
		{"/sales?lines.itemId=7",
			"400 lines.itemId: unknown parameter; lines has many items, so some, none or every must follow it"},
		{"/sales?buyer.role.contains=x", "400 buyer.role.contains: role can be compared with eq, in and gte"},
		{"/sales?buyer.age=x", "400 buyer.age: must be an integer"},
	} {
		for _, o := range []saleOptions{{}, {separate: true}, {authorize: true}, {separate: true, authorize: true}} {
			t.Run(fmt.Sprintf("%s/%+v", test.query, o), func(t *testing.T) {
				t.Parallel()
				if diff := cmp.Diff(test.want, idsOf(t, saleServer(t, o), "GET", test.query, "")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestRule021RelationFilterForms: the filters are members of the content of QUERY, too, and use the names
// of the contract.
func TestRule021RelationFilterForms(t *testing.T) {
	t.Parallel()
	server := saleServer(t, saleOptions{})
	for content, want := range map[string]string{
		`{"buyer.role":"admin"}`:                          "1",
		`{"filter":{"lines":{"some":{"qty":{"gte":5}}}}}`: "1 2",
		`{"filter":{"buyer":{"code":{"eq":"x"}}}}`: `422 /filter: buyer: cannot filter by "code", ` +
			`only by age, id, role and sales.*`,
	} {
		if got := idsOf(t, server, "QUERY", "/sales", content); got != want {
			t.Errorf("QUERY %s: %s, want %s", content, got, want)
		}
	}
	old := saleServer(t, saleOptions{old: true})
	for query, want := range map[string]string{
		"/sales?buyer.kind=admin":                "1",
		"/buyers?sales.some.buyer.kind=user":     "p2",
		"/sales?buyer.role=admin":                "400 buyer.role: unknown parameter; the filters of buyer are id, kind and sales.*",
		"/sales?buyer.kind=admin&buyer.id.in=p1": "1",
	} {
		if got := idsOf(t, old, "GET", query, ""); got != want {
			t.Errorf("view: %s: %s, want %s", query, got, want)
		}
	}
}

// TestRule021RelationFilterBounds: keys that are read for a filter are limited, and streams have no
// filters through relations.
func TestRule021RelationFilterBounds(t *testing.T) {
	t.Parallel()
	people := resource.OpsOf(memory.New[buyer](nil))
	for i := range 1001 {
		b := buyer{ID: fmt.Sprintf("p%04d", i), Age: i}
		mustInsert(t, people, b.ID, b)
	}
	things := resource.OpsOf(memory.New[bargain](nil))
	for i := range 3 {
		id := fmt.Sprintf("p%04d", i)
		mustInsert(t, things, fmt.Sprint(i+1), bargain{ID: int64(i + 1), BuyerID: &id})
	}
	f := feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { f.Close() })
	ops := []query.Op{query.In, query.Gte}
	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: f},
		people.WithFastReads(resource.FastReads{}).Resource("buyers", &resource.Options[buyer]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"age": ops}}}),
		things.Resource("sales", &resource.Options[bargain]{Public: true,
			Query:     query.Support{Filter: map[string][]query.Op{"buyerId": ops}, Relations: []string{"buyer"}},
			Relations: []resource.Relation[bargain]{{Name: "buyer", Target: "buyers", Field: "buyerId"}}}))
	server := httptest.NewServer(rest.New(catalog, nil))
	t.Cleanup(server.Close)
	for query, want := range map[string]string{
		"/sales?buyer.age.gte=1": "2 3",
		"/sales?buyer.age.gte=0": "400 buyer: more than 1000 related items match; use a more specific filter",
	} {
		if got := idsOf(t, server, "GET", query, ""); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/sales?buyer.age.gte=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != 400 || !strings.Contains(string(body), "through relations") {
		t.Errorf("stream: %d %s", res.StatusCode, body)
	}
}

// TestRelationFilterRegistration: mistakes in Options.Query.Relations are found at the start.
func TestRelationFilterRegistration(t *testing.T) {
	t.Parallel()
	in := []query.Op{query.In}
	make := func(support query.Support, rel resource.Relation[bargain]) {
		people := resource.OpsOf(memory.New[buyer](nil)).WithFastReads(resource.FastReads{})
		resource.NewCatalog(nil, people.Resource("buyers", nil), resource.New("sales", memory.New[bargain](nil),
			&resource.Options[bargain]{Query: support, Relations: []resource.Relation[bargain]{rel}}))
	}
	rel := resource.Relation[bargain]{Name: "buyer", Target: "buyers", Field: "buyerId"}
	byFunction := resource.Relation[bargain]{Name: "buyer", Target: "buyers",
		Keys: func(s *bargain) []string { return []string{*s.BuyerID} }}
	for _, test := range []struct {
		name    string
		support query.Support
		rel     resource.Relation[bargain]
		want    string
	}{
		{"valid", query.Support{Relations: []string{"buyer"}, Filter: map[string][]query.Op{"buyerId": in}}, rel, ""},
		{"unknown", query.Support{Relations: []string{"buyers"}}, rel,
			`names "buyers", which is not the name of a relation`},
		{"repeated", query.Support{Relations: []string{"buyer", "buyer"},
			Filter: map[string][]query.Op{"buyerId": in}}, rel, `Options.Query.Relations names "buyer" twice`},
		{"no keys", query.Support{Relations: []string{"buyer"}}, rel,
			`declare "buyerId" of sales for the operator in in Options.Query`},
		{"function", query.Support{Relations: []string{"buyer"}}, byFunction,
			`the relation has a function Keys, and filters need a Field`},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				got := fmt.Sprint(recover())
				if test.want == "" && got != "<nil>" || !strings.Contains(got, test.want) {
					t.Errorf("panic %s, want %s", got, test.want)
				}
			}()
			make(test.support, test.rel)
		})
	}
}
