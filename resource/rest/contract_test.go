package rest_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// versioned serves the shop in the contracts 1.0.0, 1.1.0 and 2.0.0, with all strategies. Orders
// and users differ between them, places do not.
func versioned(t testing.TB) http.Handler {
	t.Helper()
	now := func() time.Time { return modified }
	orders := stocked(t, append(purchaseSamples(), purchaseSamples()...)...)
	users := stocked(t, customer{Email: "ann@example.com", Active: true, Role: "admin"})
	places := memory.New(&memory.Options[town]{Now: now})
	fill(t, func(ctx context.Context, v town) (resource.Item[town], error) { return places.Insert(ctx, v.ID, v) },
		town{"athens", "Athens", "GR", 643452, 37.98, 23.73})
	o, u := orderOptions(now), &resource.Options[customer]{}
	hub, people := withoutInsert(orders).Resource("orders", o), withoutInsert(users).Resource("users", u)
	v11, v10 := purchaseViews(hub)
	people10 := resource.View(people, customerToV10, customerFromV10, nil)
	part := resource.New("places", places, nil)
	named := goldenMedia()
	named.Resources["places"] = rest.ResourceOptions{Media: "place"}
	inPatch := named.Resources["users"]
	inPatch.VersionInPatch = true
	named.Resources["users"] = inPatch
	logger := &resource.CatalogOptions{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	serve := func(orders, users *resource.Resource) *rest.Handler {
		newest := resource.NewLookup("newest", "orders", func(context.Context, struct{}) (string, error) { return "1", nil })
		archive := resource.New[thing]("archive", readOnly[thing]{}, nil)
		return rest.New(resource.NewCatalog(logger, orders, users, part, archive, newest), named)
	}
	return version.New([]version.Contract{
		{Name: "1.0.0", Handler: serve(v10, people10), OpenAPI: "/openapi/1.0.0.json"},
		{Name: "1.1.0", Handler: serve(v11, people)},
		{Name: "2.0.0", Handler: serve(hub, people)},
	}, []version.Strategy{
		version.Path{}, version.Host{Domains: []string{"example.com"}}, version.Query{}, version.Header{Name: "API-Version"},
		version.MediaType{Vendor: "shop"}, version.Body{},
	}, &version.Options{Default: "2.0.0"})
}

// A way is one of the strategies to name contract 1.0.0 in a request.
type way struct {
	name   string
	before string // prefix of the path
	query  string
	fields []string
}

var ways = []way{
	{name: "path", before: "/v1.0"},
	{name: "path without v", before: "/1.0.0"},
	{name: "host", before: "http://api-v1-0.example.com"},
	{name: "query", query: "version=1.0"},
	{name: "header", fields: []string{"API-Version: 1.0"}},
	{name: "media type", fields: []string{"Accept: application/vnd.shop.1.0.order+json"}},
	{name: "path and host", before: "http://api-v1-0.example.com/v1.0"},
	{name: "path and query", before: "/v1.0", query: "version=1.0.0"},
}

// send sends a request with the strategy w. If line has a body type, rest contains it.
func (w *way) send(t testing.TB, h http.Handler, line string, rest ...string) *response {
	t.Helper()
	method, path, _ := strings.Cut(line, " ")
	return send(t, h, method+" "+w.before+joined(path, w.query), append(append([]string{}, w.fields...), rest...)...)
}

// joined adds a parameter to a path.
func joined(path, query string) string {
	switch {
	case query == "":
		return path
	case strings.Contains(path, "?"):
		return path + "&" + query
	}
	return path + "?" + query
}

// given returns the URLs in a response, apart from those of the negotiation.
func given(t testing.TB, res *response) []string {
	t.Helper()
	var urls []string
	for _, field := range []string{"Location", "Content-Location"} {
		urls = append(urls, res.header[field]...)
	}
	for _, rel := range []string{"next", "prev", "first", "last"} {
		if target := link(res, rel); target != "" {
			urls = append(urls, target)
		}
	}
	if strings.Contains(res.body, `"existing"`) {
		urls = append(urls, value[details](t, res).Existing)
	}
	return urls
}

// TestRule042LinksStayInTheirStrategy: a link leads to the same contract if it is followed with the
// strategy of its request.
func TestRule042LinksStayInTheirStrategy(t *testing.T) {
	t.Parallel()
	requests := []struct {
		line   string
		rest   []string
		status int
		urls   int
	}{
		{"POST /orders", []string{jsonBody, "", `{"itemId":7,"qty":1}`}, 201, 2},
		{"POST /orders?fields=qty", []string{jsonBody, "", `{"itemId":7,"qty":1}`}, 201, 2},
		{"POST /orders", []string{jsonBody, "Prefer: return=minimal", "", `{"itemId":7,"qty":1}`}, 201, 1},
		{"PATCH /orders/1", []string{mergeBody, "", `{"qty":3}`}, 200, 1},
		{"PATCH /orders/1?expand=customer&fields=qty", []string{mergeBody, "", `{"qty":3}`}, 200, 1},
		{"PUT /orders/1", []string{jsonBody, "", `{"itemId":7,"qty":4}`}, 200, 1},
		{"GET /orders?limit=1", nil, 200, 3},
		{"GET /orders?limit=2&status=placed&sort=-status", nil, 200, 2},
		{"HEAD /orders", nil, 200, 2},
		{"GET /newest", nil, 200, 1},
		{"GET /newest?fields=id,qty", nil, 200, 1},
		{"GET /orders/1/", nil, 308, 1},
		{"GET /orders/?limit=3", nil, 308, 1},
	}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			prefix := w.before[strings.LastIndex(w.before, ".com")+1:]
			prefix = strings.TrimPrefix(prefix, "com")
			if !strings.HasPrefix(w.before, "http") {
				prefix = w.before
			}
			for _, r := range requests {
				h := versioned(t)
				res := w.send(t, h, r.line, r.rest...)
				want(t, res, r.status, "API-Version: 1.0.0")
				urls := given(t, res)
				if len(urls) != r.urls {
					t.Errorf("%s gives out %q, want %d URLs", res.line, urls, r.urls)
				}
				for _, target := range urls {
					u, err := url.Parse(target)
					if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, prefix+"/") || strings.Count(target, "?") > 1 {
						t.Errorf("%s: %s does not stay under %q (%v)", res.line, target, prefix, err)
						continue
					}
					if got := u.Query()["version"]; len(got) != strings.Count(w.query, "version") {
						t.Errorf("%s: %s names the version %q", res.line, target, got)
					}
					followed := send(t, h, "GET "+strings.TrimSuffix(w.before, prefix)+target, w.fields...)
					want(t, followed, http.StatusOK, "API-Version: 1.0.0")
					if strings.Contains(followed.body, `"lines"`) {
						t.Errorf("%s leads to another contract: %s", target, followed.body)
					}
				}
			}
		})
	}
}

func TestRule042Existing(t *testing.T) {
	t.Parallel()
	for _, w := range ways[:5] {
		h := versioned(t)
		res := w.send(t, h, "POST /places", jsonBody, "", `{"id":"athens","name":"Athens","country":"GR"}`)
		d := wantProblem(t, res, problem.Exists)
		target := d.Existing
		if strings.HasPrefix(w.before, "http") {
			target = w.before + target
		}
		want(t, send(t, h, "GET "+target, w.fields...), http.StatusOK, "API-Version: 1.0.0")
	}
}

// TestRule019NoURLFromHost: no URL in a response contains the host of the request, whether from
// Host or from a forwarding field.
func TestRule019NoURLFromHost(t *testing.T) {
	t.Parallel()
	h := versioned(t)
	for _, host := range []string{"example.com", "EXAMPLE.com.:8080", "api-v1.example.com", "API-V2.example.com:80"} {
		for _, line := range []string{"GET http://" + host + "/orders?limit=1", "POST http://" + host + "/orders",
			"GET http://" + host + "/newest", "GET http://" + host + "/orders/1/"} {
			res := send(t, h, line, jsonBody, "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https",
				"Forwarded: host=evil.example", "", `{"itemId":7,"qty":1,"lines":[{"itemId":7,"qty":1}]}`)
			for _, target := range given(t, res) {
				if !strings.HasPrefix(target, "/") || strings.HasPrefix(target, "//") {
					t.Errorf("%s gives out %s", line, target)
				}
			}
		}
	}
	wantProblem(t, send(t, h, "GET http://elsewhere.example/orders/1"), problem.Misdirected)
}

func TestRule035FullTypeInTheAnswer(t *testing.T) {
	t.Parallel()
	const vnd = "application/vnd.shop."
	tests := []struct{ accept, item, list string }{
		{"", "application/json", ""},
		{"*/*", "application/json", ""},
		{"application/*", "application/json", ""},
		{"application/json", "application/json", ""},
		{vnd + "1.0.0.order+json", vnd + "1.0.0.order+json", ""},
		{vnd + "1.0.order+json", vnd + "1.0.0.order+json", ""},
		{vnd + "1.order+json", vnd + "1.1.0.order+json", ""},
		{vnd + "1.order", vnd + "1.1.0.order", ""},
		{vnd + "order+json", vnd + "2.0.0.order+json", ""},
		{"APPLICATION/VND.Shop.1.ORDER+JSON", vnd + "1.1.0.order+json", ""},
		{vnd + "1.order+json;charset=utf-8", vnd + "1.1.0.order+json", ""},
		{vnd + "1.order+json, application/json;q=0.5", vnd + "1.1.0.order+json", ""},
		{"application/json;q=0.5, " + vnd + "1.order+json", vnd + "1.1.0.order+json", ""},
		{"*/*;q=0.1, " + vnd + "1.order+json;q=0.2", vnd + "1.1.0.order+json", ""},
		{"application/x-ndjson, application/json;q=0.9", "application/json", "application/x-ndjson"},
	}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			t.Parallel()
			h := versioned(t)
			var fields []string
			if tt.accept != "" {
				fields = []string{"Accept: " + tt.accept}
			}
			list := tt.list
			if list == "" {
				list = tt.item
			}
			for _, method := range []string{"GET", "HEAD"} {
				want(t, send(t, h, method+" /orders/1", fields...), http.StatusOK, "Content-Type: "+tt.item)
				want(t, send(t, h, method+" /newest", fields...), http.StatusOK, "Content-Type: "+tt.item)
				want(t, send(t, h, method+" /orders", fields...), http.StatusOK, "Content-Type: "+list)
			}
			want(t, send(t, h, "PATCH /orders/1", append(fields, mergeBody, "", `{}`)...), http.StatusOK, "Content-Type: "+tt.item)
		})
	}
}

// TestRule034Suffixes: the types with and without +json are different media types. Both are
// supported. The response has the requested one, or by default that of the request body.
func TestRule034Suffixes(t *testing.T) {
	t.Parallel()
	const vnd = "application/vnd.shop."
	tests := []struct{ content, accept, want string }{
		{vnd + "1.0.order+json", "", vnd + "1.0.0.order+json"},
		{vnd + "1.0.order", "", vnd + "1.0.0.order"},
		{vnd + "1.0.order", "*/*", vnd + "1.0.0.order"},
		{vnd + "1.0.order+json; charset=UTF-8", "*/*", vnd + "1.0.0.order+json"},
		{vnd + "1.0.order+json", "application/json", "application/json"},
		{vnd + "1.0.order+json", vnd + "1.0.0.order", vnd + "1.0.0.order"},
		{vnd + "1.0.order", vnd + "1.0.0.order+json", vnd + "1.0.0.order+json"},
		{"application/json", vnd + "1.0.order", vnd + "1.0.0.order"},
	}
	for _, tt := range tests {
		t.Run(tt.content+" "+tt.accept, func(t *testing.T) {
			t.Parallel()
			h := versioned(t)
			fields := []string{"Content-Type: " + tt.content}
			if tt.accept != "" {
				fields = append(fields, "Accept: "+tt.accept)
			}
			body := []string{"", `{"itemId":7,"qty":1}`}
			want(t, send(t, h, "POST /orders", append(fields, body...)...), http.StatusCreated,
				"Content-Type: "+tt.want, "API-Version: 1.0.0", "Etag: *")
			want(t, send(t, h, "PUT /orders/1", append(fields, body...)...), http.StatusOK,
				"Content-Type: "+tt.want, "API-Version: 1.0.0")
		})
	}
}

// TestRule034OtherTypes: the response to an unsupported media type lists the supported ones.
func TestRule034OtherTypes(t *testing.T) {
	t.Parallel()
	const own, plain, lines = "application/vnd.shop.1.0.0.order+json", "application/json", "application/x-ndjson"
	h := versioned(t)
	d := wantProblem(t, send(t, h, "GET /v1.0/orders/1", "Accept: text/html"), problem.NotAcceptable)
	same(t, "available", []string{own, plain}, d.Available)
	d = wantProblem(t, send(t, h, "GET /v1.0/orders", "Accept: text/html"), problem.NotAcceptable)
	same(t, "available of lists", []string{own, plain, lines, "text/csv"}, d.Available)
	res := send(t, h, "POST /v1.0/orders", "Content-Type: application/vnd.shop.1.0.user+json", "", `{"itemId":7,"qty":1}`)
	wantProblem(t, res, problem.UnsupportedMediaType, "Accept: "+own+", "+postTypes, "Accept-Post: "+own+", "+postTypes)
	res = send(t, h, "PUT /v1.0/orders/1", "Content-Type: text/plain", "", `{"itemId":7,"qty":1}`)
	wantProblem(t, res, problem.UnsupportedMediaType, "Accept: "+own+", "+plain, "Accept-Post:")
	want(t, send(t, h, "OPTIONS /v1.0/orders"), http.StatusNoContent, "Accept-Post: "+own+", "+postTypes)
	want(t, send(t, h, "GET /v1.0/orders"), http.StatusOK, "Accept-Post:")
	for _, line := range []string{"OPTIONS /v1.0/newest", "OPTIONS /v1.0/archive", "GET /v1.0/archive", "GET /archive"} {
		want(t, send(t, h, line), send(t, h, line).status, "Accept-Post:")
	}
}

// TestRule039PatchesCarryNoVersion: a patch applies to the representation that the rest of the
// request selects.
func TestRule039PatchesCarryNoVersion(t *testing.T) {
	t.Parallel()
	h := versioned(t)
	const own = "application/vnd.shop.1.0.order+json"
	wantBody(t, send(t, h, "PATCH /orders/1", mergeBody, "Accept: "+own, "", `{"itemId":8}`), http.StatusOK,
		`{"id":1,"status":"paid","itemId":8,"qty":1}`)
	wantBody(t, send(t, h, "PATCH /v1.0/orders/1", patchBody, "", `[{"op":"replace","path":"/qty","value":2}]`), http.StatusOK,
		`{"id":1,"status":"paid","itemId":8,"qty":2}`)
	wantErrors(t, wantProblem(t, send(t, h, "PATCH /orders/1", mergeBody, "", `{"itemId":8}`), problem.Invalid), "/itemId unknown")
	wantProblem(t, send(t, h, "PATCH /orders/1", "Content-Type: "+own, "", `{"itemId":8}`), problem.UnsupportedMediaType,
		"Accept-Patch: "+patchTypes)
	wantErrors(t, wantProblem(t, send(t, h, "PATCH /orders/1", mergeBody, "", `{"version":"1.0","note":"x"}`), problem.Invalid),
		"/version unknown") // rule 26: in a patch it is data
}

// TestRule026BodyOfCreateAndReplace: the member names the contract in the body of POST and PUT.
func TestRule026BodyOfCreateAndReplace(t *testing.T) {
	t.Parallel()
	h := versioned(t)
	for _, named := range []string{`"1.0"`, `1.0`, `"v1.0.0"`} {
		res := send(t, h, "POST /orders", jsonBody, "", `{"version":`+named+`,"itemId":7,"qty":1}`)
		want(t, res, http.StatusCreated, "API-Version: 1.0.0")
	}
	wantBody(t, send(t, h, "PUT /orders/1", jsonBody, "", `{"itemId":7,"qty":1,"version":"1.1"}`), http.StatusOK,
		`{"id":1,"status":"placed","itemId":7,"qty":1,"note":null,"version":"1.1"}`)
	wantProblem(t, send(t, h, "POST /orders", jsonBody, "", `{"version":"1.0","lines":[]}`), problem.Invalid, "API-Version: 1.0.0")
}

// TestRule026MergePatch: with VersionInPatch the member names the contract in a merge patch, and is
// repeated in the response.
func TestRule026MergePatch(t *testing.T) {
	t.Parallel()
	h := versioned(t)
	const user = "PATCH /users/1"
	wantBody(t, send(t, h, user, mergeBody, "", `{"version":"1.0","active":false}`), http.StatusOK,
		`{"id":1,"email":"ann@example.com","active":false,"version":"1.0"}`)
	want(t, send(t, h, user, mergeBody, "", `{"version":1,"role":"clerk"}`), http.StatusOK, "API-Version: 1.1.0")
	want(t, send(t, h, user, mergeBody, "Prefer: return=minimal", "", `{"version":"1.1","role":"admin"}`),
		http.StatusNoContent, "API-Version: 1.1.0")
	wantBody(t, send(t, h, user, mergeBody, "", `{"version":"1.0"}`), http.StatusOK,
		`{"id":1,"email":"ann@example.com","active":false,"version":"1.0"}`)
	wantErrors(t, wantProblem(t, send(t, h, user, mergeBody, "", `{"version":"1.0","role":"clerk"}`), problem.Invalid),
		"/role unknown")
	wantProblem(t, send(t, h, "PATCH /v1.1/users/1", mergeBody, "", `{"version":"1.0","active":true}`),
		problem.AmbiguousVersion)
	wantProblem(t, send(t, h, user, mergeBody, "", `{"version":"7"}`), problem.UnsupportedVersion)
	wantProblem(t, send(t, h, user, patchBody, "", `[{"op":"add","path":"/version","value":"1.0"}]`), problem.Invalid)
}

// TestRule027EchoOfTheMember: the member that named the contract is repeated in the response. It is
// neither stored nor part of the item.
func TestRule027EchoOfTheMember(t *testing.T) {
	t.Parallel()
	h := versioned(t)
	const doc, echo = `{"version":"1","itemId":7,"qty":1}`, `"version":"1.1"}`
	res := send(t, h, "POST /orders", jsonBody, "", doc)
	wantBody(t, res, http.StatusCreated, `{"id":5,"status":"placed","itemId":7,"qty":1,"note":null,`+echo)
	want(t, res, http.StatusCreated, "Location: /orders/5", "Content-Location:", "Etag: *")
	wantBody(t, send(t, h, "GET /v1/orders/5", "If-None-Match: "+res.header.Get("Etag")), http.StatusNotModified, "")
	wantBody(t, send(t, h, "GET /v1/orders/5"), http.StatusOK, `{"id":5,"status":"placed","itemId":7,"qty":1,"note":null}`)

	whole := `{"id":5,"status":"placed","itemId":7,"qty":2,"note":null}`
	res = send(t, h, "PUT /orders/5", jsonBody, "", whole[:len(whole)-1]+`,"version":"1.1"}`)
	wantBody(t, res, http.StatusOK, whole[:len(whole)-1]+`,`+echo)
	want(t, res, http.StatusOK, "Content-Location:", "Etag:", "Last-Modified:")
	res = send(t, h, "PUT /orders/5", jsonBody, "Prefer: return=minimal", "", whole[:len(whole)-1]+`,"version":"1.1"}`)
	want(t, res, http.StatusNoContent, "Etag:")
	res = send(t, h, "PUT /v1/orders/5", jsonBody, "", whole) // the same bytes, with the contract in the path
	want(t, res, http.StatusOK, "Content-Location: /v1/orders/5", "Etag: *")

	wantBody(t, send(t, h, "POST /orders?fields=qty", jsonBody, "", doc), http.StatusCreated, `{"qty":1,`+echo)
	res = send(t, h, "POST /orders?expand=customer&fields=qty", jsonBody, "", doc)
	wantBody(t, res, http.StatusCreated, `{"qty":1,"customer":null,`+echo)
	for _, line := range []string{"PATCH /v1/orders/5", "GET /v1/orders/5"} {
		if res := send(t, h, line, mergeBody, "", `{"qty":1}`); strings.Contains(res.body, "version") {
			t.Errorf("%s repeats a version that the content did not name: %s", line, res.body)
		}
	}
}

// TestRule027ReservedNames: the member and the parameter for the version cannot have another
// meaning.
func TestRule027ReservedNames(t *testing.T) {
	t.Parallel()
	type release struct {
		ID      string `json:"id"`
		Version string `json:"version"`
	}
	filtered := &resource.Options[release]{Query: query.Support{Filter: map[string][]query.Op{"version": {query.Gt}}}}
	related := &resource.Options[thing]{Relations: []resource.Relation[thing]{
		{Name: "version", Target: "things", Keys: func(*thing) []string { return nil }}}}
	by := func(in release) (string, error) { return "", nil }
	plain := resource.New("things", memory.New[thing](nil), nil)
	tests := []struct {
		name, member, parameter, want string
		parts                         []resource.Part
	}{
		{"nothing", "version", "version", "", []resource.Part{plain}},
		{"written", "version", "", "rest: member version cannot select the version: items of releases have it",
			[]resource.Part{plain, resource.New("releases", memory.New[release](nil), nil)}},
		{"only read", "version", "version", "", []resource.Part{resource.New[release]("releases", readOnly[release]{}, nil)}},
		{"no body", "", "version", "", []resource.Part{resource.New("releases", memory.New[release](nil), nil)}},
		{"other names", "contract", "contract", "", []resource.Part{resource.New("releases", memory.New[release](nil), filtered)}},
		{"relation", "version", "", "rest: member version cannot select the version: items of things have it",
			[]resource.Part{resource.New("things", memory.New[thing](nil), related)}},
		{"filter", "", "version", "rest: query parameter version cannot select the version: releases filters by that field",
			[]resource.Part{resource.New[release]("releases", readOnly[release]{}, filtered)}},
		{"no filter", "version", "", "", []resource.Part{resource.New[release]("releases", readOnly[release]{}, filtered)}},
		{"lookup", "", "version", "rest: query parameter version cannot select the version: lookup by has it",
			[]resource.Part{plain, newLookup("by", "things", by)}},
		{"no query", "", "", "", []resource.Part{plain, newLookup("by", "things", by)}},
	}
	for _, name := range []string{"limit", "sort", "after", "before", "fields", "expand", "filter", "lastEventId", "q", "highlight", "group"} {
		tests = append(tests, struct {
			name, member, parameter, want string
			parts                         []resource.Part
		}{name, "", name, "rest: query parameter " + name + " cannot select the version: it is a parameter of lists", nil})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, got := catalog(t, tt.parts...), ""
			if err := c.Reserve(tt.member, tt.parameter); err != nil {
				got = err.Error()
			}
			same(t, "objection", tt.want, got)
		})
	}
}
