package rest_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// The handler implements interfaces of package version, which it does not import.
var (
	_ version.Reserver       = (*rest.Handler)(nil)
	_ version.Opaque         = (*rest.Handler)(nil)
	_ version.PatchVersioner = (*rest.Handler)(nil)
)

// forms are requests for the representations of one item in all contracts.
var forms = map[string][]string{
	"1.0.0":              {"API-Version: 1.0.0"},
	"1.1.0":              {"API-Version: 1.1.0"},
	"2.0.0":              nil,
	"1.0.0, vendor":      {"Accept: application/vnd.shop.1.0.order+json"},
	"1.1.0, vendor":      {"Accept: application/vnd.shop.1.1.order+json"},
	"2.0.0, vendor":      {"Accept: application/vnd.shop.2.order+json"},
	"1.1.0, bare vendor": {"Accept: application/vnd.shop.1.1.order"},
	"2.0.0, bare vendor": {"Accept: application/vnd.shop.2.order"},
	"2.0.0, gzip":        {"Accept-Encoding: gzip, identity;q=0"},
	"2.0.0, vendor gzip": {"Accept: application/vnd.shop.2.order+json", "Accept-Encoding: gzip, identity;q=0"},
}

// TestRule103TagsAcrossContracts: all representations have different tags.
func TestRule103TagsAcrossContracts(t *testing.T) {
	t.Parallel()
	h := versioned(t)
	for _, target := range []string{"/orders/1", "/orders/1?fields=id,status", "/orders/1?expand=customer", "/newest", "/orders",
		"/orders?expand=customer&limit=1", "/orders?fields=id"} {
		tags := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(forms)) {
			res := send(t, h, "GET "+target, forms[name]...)
			want(t, res, http.StatusOK, "Etag: *")
			tag := res.header.Get("Etag")
			if other := tags[tag]; other != "" {
				t.Errorf("%s: %s is the tag of %s and of %s", target, tag, other, name)
			}
			tags[tag] = name
		}
		for tag, of := range tags {
			for name, fields := range forms {
				for _, method := range []string{"GET", "HEAD"} {
					status := http.StatusOK
					if name == of {
						status = http.StatusNotModified
					}
					res := send(t, h, method+" "+target, append([]string{"If-None-Match: " + tag}, fields...)...)
					want(t, res, status)
					if name == of {
						want(t, res, status, "Etag: "+tag, "Api-Version: "+name[:5], "Content-Type:")
					}
				}
			}
		}
	}
}

// TestRule103TagsWithoutContract: without negotiation the tag of an item names no contract.
func TestRule103TagsWithoutContract(t *testing.T) {
	t.Parallel()
	store := stocked(t, book{Title: "a"})
	plain := catalog(t, resource.New("books", store, nil))
	h := version.New([]version.Contract{{Name: "1.0.0", Handler: plain}}, []version.Strategy{version.Path{}},
		&version.Options{Default: "1.0.0"})
	for _, target := range []string{"/books/1", "/books", "/books/1?fields=id"} {
		tag := send(t, plain, "GET "+target).header.Get("Etag")
		want(t, send(t, h, "GET "+target, "If-None-Match: "+tag), http.StatusOK)
		want(t, send(t, plain, "GET "+target, "If-None-Match: "+tag), http.StatusNotModified)
	}
	tag := send(t, plain, "GET /books/1").header.Get("Etag")
	res := send(t, h, "PATCH /books/1", mergeBody, "If-Match: "+tag, "Prefer: return=minimal", "", `{"title":"b"}`)
	want(t, res, http.StatusNoContent)
	want(t, send(t, h, "GET /books/1"), http.StatusOK, "Etag: "+res.header.Get("Etag"))
}

// TestRule104TagsOfAnyContractWrite: a write accepts the entity tag of any representation that shows no more
// than its own contract, since older contracts hide fields (rule 162). A stale tag is stale in every contract.
func TestRule104TagsOfAnyContractWrite(t *testing.T) {
	t.Parallel()
	for of, get := range forms {
		for in, fields := range forms {
			t.Run(of+" in "+in, func(t *testing.T) {
				t.Parallel()
				h := versioned(t)
				tag := "If-Match: " + send(t, h, "GET /orders/1", get...).header.Get("Etag")
				change := func(status string) []string {
					return append(append([]string{tag, mergeBody}, fields...), "", `{"status":"`+status+`"}`)
				}
				if of[:5] > in[:5] {
					wantProblem(t, send(t, h, "PATCH /orders/1", change("shipped")...), problem.PreconditionFailed)
					return
				}
				want(t, send(t, h, "PATCH /orders/1", change("shipped")...), http.StatusOK)
				res := send(t, h, "PATCH /orders/1", change("cancelled")...)
				current := send(t, h, "GET /orders/1", slices.DeleteFunc(slices.Clone(fields), func(f string) bool {
					// an error response has the tag of the uncompressed representation
					return strings.HasPrefix(f, "Accept-Encoding")
				})...).header.Get("Etag")
				wantProblem(t, res, problem.PreconditionFailed, "Etag: "+current)
				wantProblem(t, send(t, h, "DELETE /orders/1", append([]string{tag}, fields...)...), problem.PreconditionFailed,
					"Etag: *")
			})
		}
	}
}

// TestRule108NotModifiedNamesTheContract: a 304 has the same header fields about the contract as
// the 200.
func TestRule108NotModifiedNamesTheContract(t *testing.T) {
	t.Parallel()
	h := versioned(t)
	for _, target := range []string{"/orders/1", "/orders"} {
		for name, fields := range forms {
			full := send(t, h, "GET "+target, fields...)
			not := send(t, h, "GET "+target, append([]string{"If-None-Match: " + full.header.Get("Etag")}, fields...)...)
			want(t, not, http.StatusNotModified)
			for _, field := range []string{"Api-Version", "Vary", "Cache-Control", "Etag", "Link", "Content-Location"} {
				same(t, name+": "+field, full.header[field], not.header[field])
			}
		}
	}
}

// TestRule129CursorsAreBoundToContracts: contracts have different cursors, even if they represent a
// list identically.
func TestRule129CursorsAreBoundToContracts(t *testing.T) {
	t.Parallel()
	store := stocked(t, book{Title: "a"}, book{Title: "b"}, book{Title: "c"})
	books := resource.New("books", store, &resource.Options[book]{Query: bookSupport()})
	h := version.New([]version.Contract{{Name: "1.0.0", Handler: catalog(t, books)}, {Name: "1.1.0", Handler: catalog(t, books)}},
		[]version.Strategy{version.Path{}, version.Query{}, version.Header{Name: "API-Version"}},
		&version.Options{Default: "1.1.0"})
	for _, list := range []string{"/books?limit=1", "/books?limit=1&sort=-title&stars.gte=0"} {
		cursor := value[page[book]](t, send(t, h, "GET /v1.0"+list)).Next
		for way, fields := range map[string][]string{
			"/v1.0" + list: nil, list + "&version=1.0": nil, list: {"API-Version: 1.0.0"}, "/v1.0.0" + list: nil,
		} {
			res := send(t, h, "GET "+way+"&after="+cursor, fields...)
			want(t, res, http.StatusOK)
			same(t, way, []int64{2}, ids(value[page[book]](t, res).Items))
			want(t, send(t, h, "GET "+way+"&after="+cursor, append(fields, "Accept: application/x-ndjson")...), http.StatusOK)
		}
		for _, way := range []string{"/v1" + list, "/v1.1.0" + list, list, list + "&version=1"} {
			wantProblem(t, send(t, h, "GET "+way+"&after="+cursor), problem.InvalidCursor)
			wantProblem(t, send(t, h, "GET "+way+"&after="+cursor, "Accept: application/x-ndjson"), problem.InvalidCursor)
		}
	}
}

// TestRule130ServiceDescBesidePages: the link to the contract is sent in addition to the links to
// pages.
func TestRule130ServiceDescBesidePages(t *testing.T) {
	t.Parallel()
	h := versioned(t)
	res := send(t, h, "GET /v1.0/orders?limit=1")
	all := strings.Join(res.header["Link"], ", ")
	for _, rel := range []string{"next", "first", "last", "service-desc"} {
		if n := strings.Count(all, `rel="`+rel+`"`); n != 1 {
			t.Errorf("%d links are %s: %s", n, rel, all)
		}
	}
	if !strings.Contains(all, "</openapi/1.0.0.json>") {
		t.Errorf("no link to the description: %s", all)
	}
	for _, line := range []string{"GET /v1.0/orders/1", "HEAD /v1.0/orders/1", "GET /v1.0/orders/99", "DELETE /v1.0/orders/1"} {
		if res := send(t, h, line); !strings.Contains(res.header.Get("Link"), `rel="service-desc"`) {
			t.Errorf("%s: status %d without a link to the description: %q", line, res.status, res.header["Link"])
		}
	}
}

// TestRule028FaultsFoundWhileReading: if the request body is read late, an invalid version in it is
// reported as an error of reading, before anything is written.
func TestRule028FaultsFoundWhileReading(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"POST /orders", "PUT /orders/1"} {
		for _, tt := range []struct {
			doc  string
			kind problem.Kind
		}{
			{`{"version":"1.0","itemId":7,"qty":9}`, problem.AmbiguousVersion},
			{`{"version":"one","itemId":7,"qty":9}`, problem.MalformedVersion},
		} {
			h := versioned(t)
			method, path, _ := strings.Cut(line, " ")
			for _, fields := range [][]string{
				{"Expect: 100-continue", jsonBody, "", tt.doc},
				{"Expect: 100-continue", jsonBody, "Content-Encoding: gzip", "", zipped(t, tt.doc)},
				{jsonBody, "", tt.doc},
			} {
				wantProblem(t, send(t, h, method+" /v1.1"+path, fields...), tt.kind, "Vary: *")
			}
			same(t, "orders", 4, len(value[page[purchase]](t, send(t, h, "GET /orders")).Items))
			same(t, "order", purchaseSamples()[0].Lines, value[purchase](t, send(t, h, "GET /orders/1")).Lines)
		}
	}
	h := versioned(t)
	agrees := []string{"Expect: 100-continue", jsonBody, "", `{"version":"1.0","itemId":7,"qty":9}`}
	wantBody(t, send(t, h, "POST /v1.0/orders", agrees...), http.StatusCreated,
		`{"id":5,"status":"placed","itemId":7,"qty":9,"version":"1.0"}`)
	wantProblem(t, send(t, h, "PUT /v1.1/orders/99", agrees...), problem.NotFound) // before anything is read
	wantProblem(t, send(t, h, "POST /v1.0/orders", "Content-Type: text/plain", "Expect: 100-continue", "", `{"version":"3"}`),
		problem.UnsupportedMediaType)
}

// zipped compresses a document.
func zipped(t *testing.T, doc string) string {
	t.Helper()
	var b strings.Builder
	zw := gzip.NewWriter(&b)
	if _, err := io.WriteString(zw, doc); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRule043NotExpressedAnywhere: an item that a contract cannot express does not exist in it,
// whatever the strategy.
func TestRule043NotExpressedAnywhere(t *testing.T) {
	t.Parallel()
	orders := stocked(t, purchaseSamples()...)
	hub := resource.New("orders", orders, &resource.Options[purchase]{Samples: purchaseSamples()})
	v11, v10 := purchaseViews(hub, func(v11, _ *resource.ViewOptions) {
		v11.Where = query.Where("note", query.IsNull, true)
	})
	named := &rest.Options{Resources: map[string]rest.ResourceOptions{"orders": {Media: "order"}}}
	h := version.New([]version.Contract{{Name: "1.0.0", Handler: catalogWith(t, named, v10)},
		{Name: "1.1.0", Handler: catalogWith(t, named, v11)}, {Name: "2.0.0", Handler: catalogWith(t, named, hub)}},
		[]version.Strategy{version.Path{}, version.Host{Domains: []string{"example.com"}}, version.Query{},
			version.Header{Name: "API-Version"}, version.MediaType{Vendor: "shop"}},
		&version.Options{Default: "2.0.0"})
	for _, w := range ways {
		wantProblem(t, w.send(t, h, "GET /orders/2"), problem.NotFound, "API-Version: 1.0.0")
		wantProblem(t, w.send(t, h, "DELETE /orders/2"), problem.NotFound, "API-Version: 1.0.0")
		wantProblem(t, w.send(t, h, "PATCH /orders/2", mergeBody, "", `{"qty":1}`), problem.NotFound)
		wantBody(t, w.send(t, h, "GET /orders", "Prefer: count=exact"), http.StatusOK,
			`{"items":[{"id":1,"status":"paid","itemId":7,"qty":1}],"total":1}`)
	}
	want(t, send(t, h, "GET /orders/2"), http.StatusOK, "API-Version: 2.0.0")
}

// TestRule151Preflight: a browser sends a preflight before it can name a version, so it succeeds
// with any version.
func TestRule151Preflight(t *testing.T) {
	t.Parallel()
	h := versioned(t)
	for _, fields := range [][]string{nil, {"API-Version: 7"}, {"API-Version: one"}} {
		res := send(t, h, "OPTIONS /orders/1", append([]string{"Origin: https://app.example",
			"Access-Control-Request-Method: PATCH", "Access-Control-Request-Headers: api-version, if-match"}, fields...)...)
		want(t, res, http.StatusNoContent, "Allow: GET, HEAD, PUT, PATCH, DELETE, OPTIONS")
	}
	// not a preflight
	wantProblem(t, send(t, h, "OPTIONS /orders/1", "API-Version: 7"), problem.UnsupportedVersion)
}

// TestRuleD06TombstonesInEveryForm: an item that was deleted through one contract is 410 in all
// contracts and strategies.
func TestRuleD06TombstonesInEveryForm(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		h := versioned(t)
		want(t, w.send(t, h, "DELETE /orders/2"), http.StatusNoContent, "API-Version: 1.0.0")
		for _, method := range []string{"GET", "HEAD", "DELETE"} {
			for _, target := range []string{"/orders/2", "/v1/orders/2", "/2/orders/2", "http://api-v2.example.com/orders/2",
				"/orders/2?version=1.0"} {
				wantProblem(t, send(t, h, fmt.Sprint(method, " ", target)), problem.Gone, "API-Version: *")
			}
			wantProblem(t, send(t, h, method+" /orders/2", "Accept: application/vnd.shop.1.order+json"), problem.Gone)
		}
	}
}
