package rest_test

// QUERY (RFC 10008). The names of the tests are those in the table of .github/QUERY.md.

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

const (
	urlForm    = "Content-Type: application/x-www-form-urlencoded"
	queryTypes = "application/json, application/x-www-form-urlencoded"
)

// withOrders returns the shop with 20 orders. Notes and tags can be filtered, too.
func withOrders(t testing.TB, opts ...func(*setup)) http.Handler {
	t.Helper()
	h := api(t, append([]func(*setup){withLookup, func(s *setup) {
		s.orders.Query.Filter["note"] = []query.Op{query.Eq, query.In, query.Contains, query.IsNull}
	}}, opts...)...)
	for i := range 20 {
		create(t, h, "/orders", fmt.Sprintf(`{"customerId":"u%d","status":%q,"cents":%d,"note":%q}`, i%3,
			[]string{"open", "paid", "sent"}[i%3], i*100, `a,b\c `+strconv.Itoa(i%4)))
	}
	return h
}

// TestRule093QueryIsGet compares QUERY with the GET that its Location names: status, header and body.
func TestRule093QueryIsGet(t *testing.T) {
	t.Parallel()
	h := withOrders(t)
	tests := []struct{ name, media, content, url string }{
		{"everything", jsonBody, `{}`, "/orders"},
		{"everything, as a form", urlForm, ``, "/orders"},
		{"equal", jsonBody, `{"status":"paid"}`, "/orders?status=paid"},
		{"comparison of a number", jsonBody, ` { "cents.gte" : 500 } `, "/orders?cents.gte=500"},
		{"boolean", jsonBody, `{"note.isNull":true}`, "/orders?note.isNull=true"},
		{"list", jsonBody, `{"status.in":["paid","sent"]}`, "/orders?status.in=paid%2Csent"},
		{"list of one", jsonBody, `{"status.in":["paid"]}`, "/orders?status.in=paid"},
		{"list with commas", jsonBody, `{"note.in":["a,b\\c 1","x"]}`, `/orders?note.in=a%5C%2Cb%5C%5Cc+1%2Cx`},
		{"filter", jsonBody, `{"filter":{"or":[{"status":{"eq":"paid"}},{"not":{"cents":{"gte":300}}}]},"sort":["-cents","status"],"limit":3}`,
			"/orders?filter=%7B%22or%22%3A%5B%7B%22status%22%3A%7B%22eq%22%3A%22paid%22%7D%7D%2C%7B%22not%22%3A%7B%22cents%22%3A%7B%22gte%22%3A300%7D%7D%7D%5D%7D&limit=3&sort=-cents%2Cstatus"},
		{"fields and relations", jsonBody, `{"fields":["id","status"],"expand":["customer"],"limit":2}`,
			"/orders?expand=customer&fields=id%2Cstatus&limit=2"},
		{"one text for a list", jsonBody, `{"sort":"-cents,status","limit":"4"}`, "/orders?limit=4&sort=-cents%2Cstatus"},
		{"a form", urlForm, "status=paid&sort=-cents&limit=2", "/orders?limit=2&sort=-cents&status=paid"},
		{"lookup", jsonBody, `{"customerId":"u1","fields":["id"]}`, "/biggest?customerId=u1&fields=id"},
		{"read-only resource", jsonBody, `{"limit":1}`, "/places?limit=1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path, _, _ := strings.Cut(tt.url, "?")
			got := send(t, h, "QUERY "+path, tt.media, "", tt.content)
			want(t, got, http.StatusOK, "Location: "+tt.url)
			if path != "/biggest" {
				want(t, got, http.StatusOK, "Content-Location: "+tt.url)
			}
			get := send(t, h, "GET "+tt.url)
			got.header.Del("Location")
			if path != "/biggest" { // a lookup names its item for both methods
				got.header.Del("Content-Location")
			}
			same(t, "header", get.header, got.header)
			same(t, "body", get.body, got.body)
		})
	}
}

// TestRule093QueryAgreesWithGet makes random queries.
func TestRule093QueryAgreesWithGet(t *testing.T) {
	t.Parallel()
	h := withOrders(t)
	rng := rand.New(rand.NewPCG(93, 1))
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	found := 0
	for range 300 {
		var members []string
		params := url.Values{}
		add := func(name, text, value string) {
			if params.Has(name) {
				return
			}
			params.Set(name, text)
			members = append(members, fmt.Sprintf("%q:%s", name, value))
		}
		for range rng.IntN(4) {
			status, cents := pick("paid", "sent", "open", "lost"), strconv.Itoa(rng.IntN(2000))
			switch rng.IntN(5) {
			case 0:
				add("status", status, strconv.Quote(status))
			case 1:
				add("cents.lt", cents, cents)
			case 2:
				add("sort", "-cents,status", `["-cents","status"]`)
			case 3:
				add("limit", cents, cents)
			case 4:
				tree := `{"or":[{"status":{"in":["paid"]}},{"cents":{"gte":` + cents + `}}]}`
				add("filter", tree, tree)
			}
		}
		get := send(t, h, "GET /orders?"+params.Encode())
		got := send(t, h, "QUERY /orders", jsonBody, "", "{"+strings.Join(members, ",")+"}")
		if get.status != http.StatusOK {
			want(t, got, http.StatusUnprocessableEntity)
			continue
		}
		found++
		want(t, got, http.StatusOK, "Etag: "+get.header.Get("Etag"), "Link: "+get.header.Get("Link"))
		same(t, "body of "+got.line, get.body, got.body)
	}
	if found < 100 {
		t.Errorf("only %d of the requests were valid", found)
	}
}

// TestRule093QueryContentType: a missing type is 400, an unknown one 415 (RFC 10008 section 2.1).
func TestRule093QueryContentType(t *testing.T) {
	t.Parallel()
	h := withOrders(t)
	tests := []struct {
		name    string
		fields  []string
		content string
		kind    problem.Kind
		places  []string
	}{
		{"no type", nil, `{}`, problem.BadRequest, nil},
		{"no type and no content", nil, ``, problem.BadRequest, nil},
		{"another type", []string{"Content-Type: application/sql"}, `select`, problem.UnsupportedMediaType, nil},
		{"type of an item", []string{"Content-Type: application/vnd.shop.1.order+json"}, `{}`, problem.UnsupportedMediaType, nil},
		{"two types", []string{jsonBody, urlForm}, `{}`, problem.UnsupportedMediaType, nil},
		{"another charset", []string{jsonBody + ";charset=latin1"}, `{}`, problem.UnsupportedMediaType, nil},
		{"another coding", []string{jsonBody, "Content-Encoding: br"}, `{}`, problem.UnsupportedMediaType, nil},
		{"a form as JSON", []string{jsonBody}, `status=paid`, problem.MalformedJSON, []string{" syntax"}},
		{"empty", []string{jsonBody}, ``, problem.MalformedJSON, []string{" empty"}},
		{"two members", []string{jsonBody}, `{"limit":1,"limit":1}`, problem.MalformedJSON, []string{"/limit duplicateName"}},
		{"JSON as a form", []string{urlForm}, `{"status":"%zz"}`, problem.BadRequest, nil},
		{"semicolons", []string{urlForm}, `limit=1;sort=id`, problem.BadRequest, nil},
		{"a part", []string{jsonBody, "Content-Range: bytes 0-1/2"}, `{}`, problem.BadRequest, nil},
		{"not acceptable", []string{jsonBody, "Accept: text/html"}, `{}`, problem.NotAcceptable, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := wantProblem(t, send(t, h, "QUERY /orders", append(append(tt.fields, ""), tt.content)...), tt.kind,
				"Location:", "Content-Location:", "Etag:")
			wantErrors(t, d, tt.places...)
		})
	}
	wantProblem(t, send(t, h, "QUERY /orders", "Content-Type: application/sql", "", "x"), problem.UnsupportedMediaType,
		"Accept-Query: application/x-www-form-urlencoded, application/json", "Accept-Post:")
	for target, errors := range map[string]int{"/orders": 20, "/biggest": 20} {
		var many strings.Builder
		for i := range 30 {
			fmt.Fprintf(&many, `,"x%d":1,"y%d":null`, i, i)
		}
		d := wantProblem(t, send(t, h, "QUERY "+target, jsonBody, "", "{"+many.String()[1:]+"}"), problem.Invalid)
		if len(d.Errors) != errors {
			t.Errorf("%s: %d errors, want %d", target, len(d.Errors), errors)
		}
		wantProblem(t, send(t, h, "QUERY "+target, urlForm, "", strings.Repeat("a=1&", 1000)+"a=1"), problem.BadRequest)
		d = wantProblem(t, send(t, h, "QUERY "+target, urlForm, "", strings.Trim(strings.ReplaceAll(many.String(), ",", "&"), "&")),
			problem.Invalid)
		if len(d.Errors) != errors {
			t.Errorf("%s: %d errors of a form, want %d", target, len(d.Errors), errors)
		}
	}
	small := withOrders(t, func(s *setup) { s.catalog.Limits.Body = 200 })
	wantProblem(t, send(t, small, "QUERY /orders", jsonBody, "", `{"note":"`+strings.Repeat("x", 200)+`"}`), problem.TooLarge)
}

// TestRule093QueryInvalid: well-formed content that cannot be processed is 422 (RFC 10008 section
// 2.1), with pointers into JSON and the names of fields of a form.
func TestRule093QueryInvalid(t *testing.T) {
	t.Parallel()
	h := withOrders(t)
	tests := []struct {
		target, media, content string
		kind                   problem.Kind
		places                 []string
	}{
		{"/orders", jsonBody, `[]`, problem.Invalid, []string{" type"}},
		{"/orders", jsonBody, `{"filter":"x","limit":null,"note":["a"],"sort":[],"status":{"eq":"paid"},"status.in":[["x"]]}`,
			problem.Invalid,
			[]string{"/filter type", "/limit type", "/note type", "/sort type", "/status type", "/status.in type"}},
		{"/orders?status.in=paid", jsonBody, `{"status.in":["sent"]}`, problem.Invalid, []string{"/status.in duplicateParameter"}},
		{"/orders?expand=customer", urlForm, `expand=`, problem.Invalid, []string{"?expand duplicateParameter"}},
		{"/biggest", jsonBody, `{}`, problem.Invalid, []string{"/customerId required"}},
		{"/biggest", jsonBody, `{"customerId":["x","y"]}`, problem.Invalid, []string{"/customerId type"}},
		{"/biggest", jsonBody, `{"customerId":"x","filter":{}}`, problem.Invalid, []string{"/filter type"}},
		{"/orders", jsonBody, `{"a/b~c":1,"limit":0,"sort":["nope"],"filter":{"nope":{"eq":1}}}`, problem.Invalid,
			[]string{"/a~1b~0c unknownParameter", "/filter unsupportedFilter", "/limit invalidValue", "/sort unsupportedSort"}},
		{"/orders", urlForm, `nope=1&limit=x`, problem.Invalid, []string{"?limit invalidValue", "?nope unknownParameter"}},
		{"/orders?nope=1", jsonBody, `{}`, problem.InvalidParameter, []string{"?nope unknownParameter"}},
		{"/orders?nope=1", jsonBody, `{"limit":0}`, problem.Invalid, []string{"/limit invalidValue", "?nope unknownParameter"}},
		{"/orders?status=paid", jsonBody, `{"status":"open"}`, problem.Invalid, []string{"/status duplicateParameter"}},
		{"/orders", jsonBody, `{"after":"nope"}`, problem.InvalidCursor, []string{"/after invalidCursor"}},
		{"/orders", jsonBody, `{"fields":["nope"]}`, problem.Invalid, []string{"/fields unknownField"}},
		{"/orders", jsonBody, `{"expand":["nope"]}`, problem.Invalid, []string{"/expand unknownRelation"}},
		{"/biggest", jsonBody, `{"nope":1}`, problem.Invalid, []string{"/nope unknownParameter", "/customerId required"}},
	}
	for _, tt := range tests {
		t.Run(tt.target+" "+tt.content, func(t *testing.T) {
			t.Parallel()
			d := wantProblem(t, send(t, h, "QUERY "+tt.target, tt.media, "", tt.content), tt.kind, "Location:")
			wantErrors(t, d, tt.places...)
		})
	}
	want(t, send(t, h, "QUERY /orders?status=paid", jsonBody, "", `{"limit":2}`), http.StatusOK,
		"Location: /orders?limit=2&status=paid")
}

// TestRule093QueryConditions: a conditional QUERY is one of the equivalent GET (RFC 10008 section 2.6).
// Different content has different entity tags.
func TestRule093QueryConditions(t *testing.T) {
	t.Parallel()
	h := withOrders(t)
	seen := map[string]string{}
	for _, content := range []string{`{}`, `{"fields":["id"]}`, `{"limit":20}`, `{"sort":["id"]}`, `{"expand":["customer"]}`,
		`{"expand":["customer"],"limit":20}`} {
		res := send(t, h, "QUERY /orders", jsonBody, "", content)
		tag := res.header.Get("Etag")
		if seen[tag] != "" || tag == "" {
			t.Errorf("%s and %s have the entity tag %q", content, seen[tag], tag)
		}
		seen[tag] = content
		for _, again := range []*response{send(t, h, "QUERY /orders", jsonBody, "If-None-Match: "+tag, "", content),
			send(t, h, "GET "+res.header.Get("Location"), "If-None-Match: "+tag)} {
			want(t, again, http.StatusNotModified, "Etag: "+tag)
		}
	}
	want(t, send(t, h, "QUERY /orders", jsonBody, "If-None-Match: *", "", `{}`), http.StatusNotModified, "Location: /orders")
	for target, content := range map[string]string{"/orders": `{}`, "/biggest": `{"customerId":"u1"}`} {
		wantProblem(t, send(t, h, "QUERY "+target, jsonBody, `If-Match: "x"`, "", content), problem.PreconditionFailed,
			"Location:", "Content-Location:")
	}
	// The response to a strict client would be an error, and so would be the equivalent GET.
	want(t, send(t, h, "QUERY /orders", jsonBody, "Prefer: handling=lenient", "", `{"nope":1}`), http.StatusOK,
		"Vary: Prefer, Accept, Accept-Encoding", "Location:")
	want(t, send(t, h, "QUERY /orders", jsonBody, "Range: bytes=0-1", "", `{}`), http.StatusOK, "Content-Range:")
}

// TestRule093QueryPages follows the pages of a query with both methods.
func TestRule093QueryPages(t *testing.T) {
	t.Parallel()
	h := withOrders(t)
	const first = `{"sort":["-cents"],"limit":7`
	page := send(t, h, "QUERY /orders", jsonBody, "", first+"}")
	next := nextOf(t, page)
	second := send(t, h, "QUERY /orders", jsonBody, "", first+`,"after":`+strconv.Quote(next)+"}")
	want(t, second, http.StatusOK)
	same(t, "second page", send(t, h, "GET /orders?sort=-cents&limit=7&after="+next).body, second.body)
	if link := page.header.Get("Link"); !strings.Contains(link, "</orders?limit=7&sort=-cents&after="+next+`>; rel="next"`) {
		t.Errorf("Link: %s", link)
	}
}

// TestRule093QueryRepresentations: every representation of a list can be asked for, and compressed
// content.
func TestRule093QueryRepresentations(t *testing.T) {
	t.Parallel()
	h := withOrders(t)
	const content = `{"status":"paid","fields":["id","cents"]}`
	for _, media := range []string{"application/x-ndjson", "text/csv"} {
		got := send(t, h, "QUERY /orders", jsonBody, "Accept: "+media, "", content)
		want(t, got, http.StatusOK, "Location: /orders?fields=id%2Ccents&status=paid")
		same(t, media, send(t, h, "GET "+got.header.Get("Location"), "Accept: "+media).body, got.body)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, content)
	z.Close()
	want(t, send(t, h, "QUERY /orders", jsonBody, "Content-Encoding: gzip", "", zipped.String()), http.StatusOK,
		"Location: /orders?fields=id%2Ccents&status=paid")
	want(t, send(t, h, "QUERY /orders", jsonBody, "Prefer: count=exact", "", content), http.StatusOK,
		"Preference-Applied: count=exact")
}

// TestRule093QueryDiscovery: OPTIONS and 405 name the method, and Accept-Query the media types (RFC
// 10008 section 3).
func TestRule093QueryDiscovery(t *testing.T) {
	t.Parallel()
	h := withOrders(t)
	for target, there := range map[string]bool{"/orders": true, "/places": true, "/biggest": true, "/orders/1": false} {
		res := send(t, h, "OPTIONS "+target)
		if has := strings.Contains(res.header.Get("Allow"), "QUERY"); has != there {
			t.Errorf("%s: Allow: %s", target, res.header.Get("Allow"))
		}
		if there {
			want(t, res, http.StatusNoContent, "Accept-Query: "+queryTypes)
		} else {
			want(t, res, http.StatusNoContent, "Accept-Query:")
		}
	}
	wantProblem(t, send(t, h, "QUERY /orders/1", jsonBody, "", `{}`), problem.MethodNotAllowed,
		"Allow: GET, HEAD, PUT, PATCH, DELETE, OPTIONS")
	wantProblem(t, send(t, h, "QUERY /nothing", jsonBody, "", `{}`), problem.NotFound)
	want(t, send(t, h, "QUERY /orders/", jsonBody, "", `{}`), http.StatusPermanentRedirect, "Location: /orders")
}

// TestRule093QueryLocation: a long query has no URL, because proxies limit header fields, and none has
// with HideQuery (RFC 10008 section 4).
func TestRule093QueryLocation(t *testing.T) {
	t.Parallel()
	h := withOrders(t)
	long := `{"note":"` + strings.Repeat("x", 800) + `"}`
	want(t, send(t, h, "QUERY /orders", jsonBody, "", long), http.StatusOK, "Location:", "Content-Location:")
	// A filter that is too long for a URL is what QUERY is for.
	beyond := `{"note":"` + strings.Repeat("x", 20_000) + `"}`
	want(t, send(t, h, "QUERY /orders", jsonBody, "", beyond), http.StatusOK)
	wantProblem(t, send(t, h, "GET /orders?note="+strings.Repeat("x", 20_000)), problem.URITooLong)

	hidden := withOrders(t, func(s *setup) { s.rest.Resources["orders"] = rest.ResourceOptions{HideQuery: true} })
	want(t, send(t, hidden, "QUERY /orders", jsonBody, "", `{"status":"paid","limit":1}`), http.StatusOK,
		"Location:", "Content-Location:", "Link:")
	huge := send(t, h, "QUERY /orders", jsonBody, "", `{"note":"`+strings.Repeat(`\"`, 400_000)+`"}`)
	want(t, huge, http.StatusOK, "Link:", "Location:")
	want(t, send(t, hidden, "GET /orders?status=paid"), http.StatusOK, "Link: *")
}
