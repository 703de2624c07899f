package openapi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/version"
)

func TestGoldenDefault(t *testing.T) {
	t.Parallel()
	doc := openapi.New(newShop(t).now, &openapi.Options{REST: shopREST, Title: "Shop",
		Description: "Orders, and who made them."})
	golden(t, "default.json", doc.JSON())
	golden(t, "default.yaml", doc.YAML())
	golden(t, "default-3.0.json", doc.Render(&openapi.Variant{Version: "3.0"}))
	golden(t, "feeds-3.2.json", openapi.New(watchedCatalog(t), &openapi.Options{Title: "Notes"}).Render(
		&openapi.Variant{Version: "3.2", Full: true}))
}

// TestDefaultProfile checks what each operation of the default profile has.
func TestDefaultProfile(t *testing.T) {
	t.Parallel()
	d := read(t, openapi.New(newShop(t).now, &openapi.Options{REST: shopREST}).JSON())
	tests := []struct {
		path, method string
		parameters   string // sorted
		body         string // its media types
		responses    string // status and media types
		headers      string // of the successes
		says         string
	}{
		{"/orders", "get", "Prefer after createdAt customerId expand filter id limit note sort status where", "",
			"200:application/json default:application/problem+json", "", ""},
		{"/orders", "post", "", "application/json",
			"201:application/json default:application/problem+json", "ETag", "Errors: 409, 422."},
		{"/orders/{id}", "get", "expand id", "",
			"200:application/json default:application/problem+json", "ETag", "Errors: 404, 410."},
		{"/orders/{id}", "put", "If-Match id", "application/json",
			"200:application/json default:application/problem+json", "ETag", "Errors: 404, 409, 410, 412, 422."},
		{"/places/{id}", "put", "If-Match If-None-Match id", "application/json",
			"200:application/json 201:application/json default:application/problem+json", "ETag", ""},
		{"/orders/{id}", "patch", "If-Match id", "application/merge-patch+json",
			"200:application/json default:application/problem+json", "ETag", ""},
		{"/orders/{id}", "delete", "If-Match id", "", "204: default:application/problem+json", "",
			"Errors: 404, 409, 410, 412."},
		{"/countries/{id}", "delete", "If-Match id", "", "204: default:application/problem+json", "", "428"},
		{"/files/{id}", "get", "id", "", "200:*/* default:application/problem+json", "ETag", ""},
		{"/files/{id}", "put", "If-Match If-None-Match id", "*/*",
			"201: 204: default:application/problem+json", "ETag Location", "507"},
		{"/photos/{id}", "put", "If-Match If-None-Match id", "image/* video/mp4",
			"201: 204: default:application/problem+json", "ETag Location", ""},
		{"/orders/cancel-stale", "post", "Prefer", "application/json",
			"200:application/json 202:application/json default:application/problem+json", "Retry-After", ""},
		{"/auth/logout", "post", "", "",
			"200:application/json default:application/problem+json", "", ""},
		{"/capital", "get", "country year", "", "200:application/json default:application/problem+json", "ETag",
			""},
		{"/places/import", "post", "atomic mode", "application/x-ndjson",
			"200:application/json default:application/problem+json", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			t.Parallel()
			op := d.at(d.root, "paths", tt.path, tt.method).(object)
			types := func(v any) string {
				content, _ := d.at(v, "content").(object)
				return strings.Join(slices.Sorted(maps.Keys(content)), " ")
			}
			var responses []string
			headers := map[string]bool{}
			for _, status := range slices.Sorted(maps.Keys(op["responses"].(object))) {
				res := d.at(op, "responses", status)
				responses = append(responses, status+":"+types(res))
				fields, _ := d.at(res, "headers").(object)
				for name := range fields {
					headers[name] = true
				}
			}
			want := []string{tt.parameters, tt.body, tt.responses, tt.headers}
			got := []string{strings.Join(slices.Sorted(maps.Keys(d.parameters(tt.path, tt.method))), " "),
				types(op["requestBody"]), strings.Join(responses, " "),
				strings.Join(slices.Sorted(maps.Keys(headers)), " ")}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("parameters, body, responses, headers (-want +got):\n%s", diff)
			}
			if text := op["description"].(string); !strings.Contains(text, tt.says) {
				t.Errorf("the description has no %q: %s", tt.says, text)
			}
		})
	}
	if d.at(d.root, "paths", "/icons") != nil {
		t.Error("a path without operations is described")
	}
	d.operations(func(path, method string, op object) {
		if method == "OPTIONS" {
			t.Errorf("OPTIONS %s is described", path)
		}
	})
	for _, word := range []string{"readOnly", "writeOnly", "ndjson+", "fields", "JSONPatch", "Batch"} {
		if components, _ := json.Marshal(d.root["components"]); bytes.Contains(components, []byte(`"`+word)) {
			t.Errorf("a component has %s", word)
		}
	}
}

// TestDefaultProfileOfFiles checks that all media types of files remain.
func TestDefaultProfileOfFiles(t *testing.T) {
	t.Parallel()
	sheets := blob.New("sheets", newBytes(), &blob.Options{Public: true,
		MediaTypes: []string{"application/json", "application/vnd.ms-excel", "text/csv"}})
	d := read(t, openapi.New(resource.NewCatalog(nil, sheets), nil).JSON())
	content := d.at(d.root, "paths", "/sheets/{id}", "put", "requestBody", "content")
	want := object{"application/json": object{}, "application/vnd.ms-excel": object{}, "text/csv": object{}}
	if diff := cmp.Diff(want, content); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReferencesResolve checks that all references of a document have a target, and that the default
// profile has no component without a reference.
func TestReferencesResolve(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	n := negotiated(shop, newClock(deprecated).now, everyStrategy()...)
	docs := map[string]*openapi.Document{
		"shop": openapi.New(shop.now, &openapi.Options{REST: shopREST}),
		"contract": openapi.New(shop.old, &openapi.Options{REST: shopREST, Contract: "1.0.0", Negotiator: n,
			RateLimit: true, IdempotencyKey: true}),
		"feeds": openapi.New(watchedCatalog(t), nil),
		"keys":  openapi.New(keyedCatalog(nil), &openapi.Options{REST: keyedREST}),
	}
	for name, doc := range docs {
		for _, v := range []openapi.Variant{{}, {Full: true}, {Version: "3.0"}, {Version: "3.2", Full: true}} {
			text := doc.Render(&v)
			d := read(t, text)
			used := map[string]bool{}
			for part := range strings.SplitSeq(string(text), `"#/components/`) {
				ref, _, ok := strings.Cut(part, `"`)
				if kind, component, found := strings.Cut(ref, "/"); ok && found && !strings.Contains(ref, "{") {
					used[ref] = true
					if d.at(d.root, "components", kind, component) == nil {
						t.Errorf("%s %+v: %s has no target", name, v, ref)
					}
				}
			}
			if v.Full {
				continue
			}
			for kind, list := range d.root["components"].(object) {
				for component := range list.(object) {
					if !used[kind+"/"+component] && kind != "securitySchemes" {
						t.Errorf("%s %+v: nothing refers to %s/%s", name, v, kind, component)
					}
				}
			}
		}
	}
}

// TestDefaultFilters sends each filter of the default profile in the form that clients generate: a
// parameter, or a member of the object in style form, exploded.
func TestDefaultFilters(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := read(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}).JSON())
	whole := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	for _, path := range []string{"/orders", "/users", "/places"} {
		got := map[string]bool{}
		for name, p := range d.parameters(path, "get") {
			if p["in"] != "query" {
				continue
			}
			if properties, ok := d.at(p["schema"], "properties").(object); ok {
				if name != "where" || p["style"] != "form" || p["explode"] != true {
					t.Errorf("%s: the object %s is %v", path, name, p)
				}
				for member := range properties {
					got[member] = true
				}
				continue
			}
			got[name] = true
		}
		for name, p := range whole.parameters(path, "get") {
			if p["in"] == "query" && name != "fields" && name != "before" && !got[name] {
				t.Errorf("%s: %s is in the full profile only", path, name)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("%s: %v are not in the full profile", path, got)
		}
	}
	for target, status := range map[string]int{
		"/orders?status=paid&id.gte=1&id.lt=9":                                  http.StatusOK,
		"/orders?status.in=paid,placed&note.isNull=true":                        http.StatusOK,
		"/orders?filter=" + url.QueryEscape(`{"not":{"status":{"eq":"paid"}}}`): http.StatusOK,
		"/orders?where[id.gte]=1":                                               http.StatusBadRequest, // the style that the document does not have
	} {
		if got := send(shop.handler(), "GET "+target, "").StatusCode; got != status {
			t.Errorf("%s: %d, want %d", target, got, status)
		}
	}
}

// TestFilterNames checks a field with the name of the object.
func TestFilterNames(t *testing.T) {
	t.Parallel()
	type spot struct {
		ID    string `json:"id"`
		Where string `json:"where"`
	}
	spots := resource.New("spots", memory.New[spot](nil), &resource.Options[spot]{Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"where": {query.Eq, query.Ne}}}})
	d := read(t, openapi.New(resource.NewCatalog(nil, spots), nil).JSON())
	params := d.parameters("/spots", "get")
	if d.at(params["where"], "schema", "type") != "string" ||
		d.at(params["where_"], "schema", "properties", "where.ne", "type") != "string" {
		t.Errorf("the filters are %v", params)
	}
}

// TestContractsInDefaultProfile checks that an operation describes at most one way to name the
// contract, and none if the server or the default names it.
func TestContractsInDefaultProfile(t *testing.T) {
	t.Parallel()
	const vendor = "application/vnd.shop.1.0.0.order+json"
	tests := []struct {
		name, contract string
		strategies     []version.Strategy
		servers        string
		parameters     string // of GET /orders/{id}
		media          string // of its response
		member         bool   // of the contract in OrderCreate
	}{
		{"path", "1.0.0", []version.Strategy{version.Path{}, version.Query{}, version.Body{}}, "/v1", "expand id",
			"application/json", false},
		{"every one, not the default", "1.0.0", everyStrategy(), "/v1 https://api-v1.example.com", "expand id",
			"application/json", false},
		{"every one, the default", "2.0.0", everyStrategy(), "/v2 https://api-v2.example.com /", "expand id",
			"application/json", false},
		{"header, not the default", "1.0.0", []version.Strategy{version.Body{}, version.Header{Name: "API-Version"},
			version.Query{}}, "/", "API-Version expand id", "application/json", false},
		{"header, the default", "2.0.0", []version.Strategy{version.Header{Name: "API-Version"}}, "/", "expand id",
			"application/json", false},
		{"media type", "1.0.0", []version.Strategy{version.MediaType{Vendor: "shop"}}, "/", "expand id", vendor,
			false},
		{"body", "1.0.0", []version.Strategy{version.Body{}}, "/", "expand id", "application/json", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			shop := newShop(t)
			catalog := shop.old
			if tt.contract == "2.0.0" {
				catalog = shop.now
			}
			n := negotiated(shop, newClock(deprecated).now, tt.strategies...)
			d := read(t, openapi.New(catalog, &openapi.Options{REST: shopREST, Contract: tt.contract,
				Negotiator: n}).JSON())
			var servers []string
			for _, s := range d.root["servers"].([]any) {
				servers = append(servers, s.(object)["url"].(string))
			}
			content := d.at(d.root, "paths", "/orders/{id}", "get", "responses", "200", "content").(object)
			want := []any{tt.servers, tt.parameters, tt.media, tt.member}
			got := []any{strings.Join(servers, " "),
				strings.Join(slices.Sorted(maps.Keys(d.parameters("/orders/{id}", "get"))), " "),
				strings.Join(slices.Sorted(maps.Keys(content)), " "),
				d.at(d.root, "components", "schemas", "OrderCreate", "properties", "version") != nil}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("servers, parameters, media types, member (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSize is the budget of the default profile: two resources with filters, relations, keys and feeds
// in 25 KB.
func TestSize(t *testing.T) {
	t.Parallel()
	f := feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { f.Close() })
	orders := assigned(memory.New[order](nil)).Resource("orders", &resource.Options[order]{
		Query: everything[order](), Samples: []order{sampleOrder()}, Public: true,
		Relations: []resource.Relation[order]{{Name: "customer", Target: "users", Keys: customerOf}}})
	users := assigned(memory.New[user](nil)).Resource("users", &resource.Options[user]{
		Query: everything[user](), Public: true,
		Samples:   []user{{ID: 2, Email: "bob@example.com", Active: true, Role: "clerk"}},
		Relations: []resource.Relation[user]{{Name: "orders", Target: "orders", By: "customerId"}}})
	doc := openapi.New(resource.NewCatalog(&resource.CatalogOptions{Feed: f,
		Idempotency: idempotency.New(idempotency.NewMemory(nil), nil), Principal: signedIn}, orders, users), nil)
	size := func(text []byte) int {
		var out bytes.Buffer
		if err := json.Compact(&out, text); err != nil {
			t.Fatal(err)
		}
		return out.Len()
	}
	simple, whole := size(doc.JSON()), size(full(doc))
	t.Logf("default %d bytes, full %d bytes", simple, whole)
	if simple > 25_000 {
		t.Errorf("the default profile has %d bytes, want at most 25000", simple)
	}
	if whole < 3*simple {
		t.Errorf("the full profile has %d bytes, and the default %d", whole, simple)
	}
}
