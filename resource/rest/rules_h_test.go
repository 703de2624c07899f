package rest_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// Sections H and I: responses and caching. Rule 130 belongs to package openapi.

func TestRule126DeterministicOutput(t *testing.T) {
	t.Parallel()
	h, _ := sheets(t, resource.Limits{})
	// Members in any order, any escapes and white space: the stored form is canonical.
	doc := "{ \"note\": \"\\u003cb\\u003e \\u00fc \\/ \\ud83d\\ude00\",\n\t\"meta\": {\"z\":1, \"y\":2, \"x\":3, \"a\":{\"b\":1,\"a\":2}}, \"title\": \"&\" }"
	wantSheet := `{"id":"b","title":"&","cells":[],"meta":{"a":{"a":2,"b":1},"x":3,"y":2,"z":1},"note":"<b> ü / 😀","seal":""}`
	wantBody(t, send(t, h, "PUT "+budgetPath, jsonBody, "", doc), http.StatusOK, wantSheet)
	for range 20 {
		wantBody(t, send(t, h, "GET "+budgetPath), http.StatusOK, wantSheet)
	}
	wantBody(t, send(t, h, "GET /sheets"), http.StatusOK, `{"items":[`+wantSheet+`]}`)
}

func TestRule127NoContent(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	tag := send(t, h, "GET "+path).header.Get("ETag")
	requests := [][]string{
		{"HEAD " + path},
		{"HEAD /users"},
		{"HEAD /users", "Accept: application/x-ndjson"},
		{"HEAD /users/none"},
		{"GET " + path, "If-None-Match: " + tag},
		{"GET /users", "If-None-Match: *"},
		{"OPTIONS " + path},
		{"PATCH " + path, mergeBody, "Prefer: return=minimal", "Content-Length: 2", "", `{}`},
		{"DELETE " + path},
		{"HEAD " + path},
	}
	// One connection: an additional byte would be parsed as the next response.
	c := dial(t, listen(t, h))
	for _, r := range requests {
		rest := append([]string{"Host: a"}, r[1:]...)
		if !slices.Contains(rest, "") {
			rest = append(rest, "")
		}
		c.write(r[0]+" HTTP/1.1", rest...)
		res := c.read(r[0])
		if res.body != "" {
			t.Errorf("%s: %d with content %q", r[0], res.status, res.body)
		}
		if res.status == http.StatusNoContent || res.status == http.StatusNotModified {
			want(t, res, res.status, "Content-Length:", "Content-Type:", "Content-Encoding:", "Transfer-Encoding:")
		}
	}
}

func TestRule128Nosniff(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.catalog.Limits.Body = 4096 })
	for _, res := range visit(func(line string, rest ...string) *response { return send(t, h, line, rest...) }) {
		field := "X-Content-Type-Options: nosniff"
		if media := res.header.Get("Content-Type"); media == "" || media == "application/json" {
			field = "X-Content-Type-Options:"
		}
		want(t, &res, res.status, field)
	}
}

var linkPattern = regexp.MustCompile(`<([^>]*)>; rel="([a-z]+)"`)

// linksOf returns the targets in Link by relation.
func linksOf(t *testing.T, res *response) map[string]string {
	t.Helper()
	found := map[string]string{}
	rest := linkPattern.ReplaceAllStringFunc(res.header.Get("Link"), func(link string) string {
		m := linkPattern.FindStringSubmatch(link)
		found[m[2]] = m[1]
		return ""
	})
	if strings.Trim(rest, ", ") != "" {
		t.Errorf("%s: there is more in the Link field: %q", res.line, rest)
	}
	return found
}

// listed is a list.
type listed struct {
	Items []struct {
		ID int64 `json:"id"`
	} `json:"items"`
	Next  string `json:"next"`
	Total *int   `json:"total"`
}

func pageOf(t *testing.T, res *response) (ids []int64, p listed) {
	t.Helper()
	want(t, res, http.StatusOK)
	if err := json.Unmarshal([]byte(res.body), &p); err != nil {
		t.Fatalf("%s: %v", res.line, err)
	}
	for _, item := range p.Items {
		ids = append(ids, item.ID)
	}
	return ids, p
}

// sevenOrders cost 0, 1, 2, 0, 1, 2 and 0 cents, so sorting by cents has ties.
func sevenOrders(t *testing.T) http.Handler {
	t.Helper()
	h := api(t)
	for i := range 7 {
		create(t, h, "/orders", fmt.Sprintf(`{"customerId":"u%d","cents":%d}`, i%2, i%3))
	}
	return h
}

// follow follows the links of one relation and returns the ids of all pages.
func follow(t *testing.T, h http.Handler, target, rel string) (pages [][]int64) {
	t.Helper()
	for target != "" {
		res := send(t, h, "GET "+target)
		ids, p := pageOf(t, res)
		pages = append(pages, ids)
		links := linksOf(t, res)
		if next := links["next"]; (p.Next == "") != (next == "") || !strings.HasSuffix(next, p.Next) {
			t.Errorf("GET %s: next is %q and the link %q", target, p.Next, next)
		}
		if target = links[rel]; len(pages) > 20 {
			t.Fatal("the walk does not end")
		}
	}
	return pages
}

func TestRule129Links(t *testing.T) {
	t.Parallel()
	h := sevenOrders(t)
	tests := []struct {
		target string
		want   [][]int64
	}{
		{"/orders", [][]int64{{1, 2, 3, 4, 5, 6, 7}}},
		{"/orders?limit=3", [][]int64{{1, 2, 3}, {4, 5, 6}, {7}}},
		{"/orders?limit=7", [][]int64{{1, 2, 3, 4, 5, 6, 7}}},
		{"/orders?sort=-cents&limit=2", [][]int64{{3, 6}, {2, 5}, {1, 4}, {7}}},
		{"/orders?limit=3&sort=-id", [][]int64{{7, 6, 5}, {4, 3, 2}, {1}}},
		{"/orders?customerId=u0&limit=3", [][]int64{{1, 3, 5}, {7}}},
		{"/orders?fields=id&limit=4&cents.gte=0", [][]int64{{1, 2, 3, 4}, {5, 6, 7}}},
		{"/orders?cents.gte=9", [][]int64{nil}},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, follow(t, h, tt.target, "next")); diff != "" {
				t.Errorf("following next (-want +got):\n%s", diff)
			}
			first := linksOf(t, send(t, h, "GET "+tt.target))
			if first["prev"] != "" || first["first"] != tt.target {
				t.Errorf("the first page has prev %q and first %q", first["prev"], first["first"])
			}
			// Backwards from the end, the pages have the same items in the same order.
			back := follow(t, h, first["last"], "prev")
			slices.Reverse(back)
			if diff := cmp.Diff(slices.Concat(tt.want...), slices.Concat(back...)); diff != "" {
				t.Errorf("following prev from last (-want +got):\n%s", diff)
			}
			if last := linksOf(t, send(t, h, "GET "+first["last"])); last["next"] != "" || last["first"] != tt.target {
				t.Errorf("the last page has next %q and first %q", last["next"], last["first"])
			}
		})
	}
}

// TestRule129LinkSize: Link has at most 2 KB, so that proxies accept the response. Each link repeats
// the query.
func TestRule129LinkSize(t *testing.T) {
	t.Parallel()
	h := sevenOrders(t)
	tests := []struct {
		query int // bytes
		want  []string
	}{
		{100, []string{"first", "last", "next", "prev"}},
		{700, []string{"next", "prev"}},
		{1200, []string{"next"}},
		{2100, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.query), func(t *testing.T) {
			t.Parallel()
			target := "/orders?limit=2&fields=" + strings.Repeat("id,", tt.query/3) + "id"
			first := send(t, h, "GET "+target)
			var page struct {
				Next string `json:"next"`
			}
			if err := json.Unmarshal([]byte(first.body), &page); err != nil || page.Next == "" {
				t.Fatalf("%v: next %q", err, page.Next)
			}
			res := send(t, h, "GET "+target+"&after="+page.Next)
			want(t, res, http.StatusOK)
			got := slices.Sorted(maps.Keys(linksOf(t, res)))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("relations (-want +got):\n%s", diff)
			}
			if n := len(res.header.Get("Link")); n > 2048 {
				t.Errorf("Link has %d bytes", n)
			}
			if tt.want == nil {
				want(t, res, http.StatusOK, "Link:")
			}
		})
	}
}

func TestRule129LinksKeepTheQuestion(t *testing.T) {
	t.Parallel()
	h := sevenOrders(t)
	const asked = "sort=-cents&limit=2&customerId=u%30&fields=id"
	links := linksOf(t, send(t, h, "GET /orders?"+asked))
	for rel, cursor := range map[string]string{"next": "&after=", "last": "&before="} {
		if !strings.HasPrefix(links[rel], "/orders?"+asked+cursor) {
			t.Errorf("%s is %s", rel, links[rel])
		}
	}
	second := linksOf(t, send(t, h, "GET "+links["next"]))
	if !strings.HasPrefix(second["prev"], "/orders?"+asked+"&before=") || second["first"] != "/orders?"+asked {
		t.Errorf("prev is %s, first %s", second["prev"], second["first"])
	}
	// The page size may change: a cursor is a position.
	ids, _ := pageOf(t, send(t, h, "GET "+strings.Replace(links["next"], "limit=2", "limit=9", 1)))
	if diff := cmp.Diff([]int64{1, 7}, ids[len(ids)-2:]); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
}

func TestRule129CursorsAreBound(t *testing.T) {
	t.Parallel()
	h := sevenOrders(t)
	_, p := pageOf(t, send(t, h, "GET /orders?limit=2&sort=cents"))
	after := "&after=" + p.Next
	raw, err := base64.RawURLEncoding.DecodeString(p.Next)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-1] ^= 1
	forged := base64.RawURLEncoding.EncodeToString(raw)
	for target, parameter := range map[string]string{
		"/orders?sort=-cents" + after:              "?after",
		"/orders?sort=status" + after:              "?after",
		"/orders?customerId=u0&sort=cents" + after: "?after",
		"/orders?after=" + p.Next:                  "?after",
		"/users?before=" + p.Next:                  "?before",
		"/orders?sort=cents&after=" + forged + "x": "?after",
		"/orders?sort=cents&after=nonsense!":       "?after",
		"/orders?sort=cents&before=" + p.Next[1:]:  "?before",
	} {
		wantErrors(t, wantProblem(t, send(t, h, "GET "+target), problem.InvalidCursor), parameter+" invalidCursor")
	}
	want(t, send(t, h, "GET /orders?sort=cents"+after), http.StatusOK)
	wantProblem(t, send(t, h, "GET /orders?sort=cents"+after+"&before="+p.Next), problem.InvalidParameter)

	current, older := contracts(nil)
	create(t, current, "/users", ann)
	create(t, current, "/users", `{"id":"bob","name":"Bob"}`)
	link := linksOf(t, send(t, current, "GET /users?limit=1"))["next"]
	want(t, send(t, current, "GET "+link), http.StatusOK)
	wantProblem(t, send(t, older, "GET "+link), problem.InvalidCursor)
}

// Pages are positions in an order, so creations and deletions elsewhere do not shift them.
func TestRule129PagesDoNotShift(t *testing.T) {
	t.Parallel()
	h := sevenOrders(t)
	next := linksOf(t, send(t, h, "GET /orders?limit=3&sort=-cents"))["next"] // 3, 6, 2
	create(t, h, "/orders", `{"customerId":"u","cents":2}`)
	want(t, send(t, h, "DELETE /orders/3"), http.StatusNoContent)
	want(t, send(t, h, "DELETE /orders/2"), http.StatusNoContent) // the item at the boundary
	ids, _ := pageOf(t, send(t, h, "GET "+next))
	if diff := cmp.Diff([]int64{5, 1, 4}, ids); diff != "" {
		t.Errorf("the second page (-want +got):\n%s", diff)
	}
	for i := range 8 {
		send(t, h, fmt.Sprintf("DELETE /orders/%d", i+1))
	}
	wantBody(t, send(t, h, "GET "+next), http.StatusOK, `{"items":[]}`)
}

// A page that became empty leads to the items that are left on the other side of its cursor.
func TestRule129EmptiedPages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query, rel string // the page is the one that rel of the second page leads to
		deleted          []int64
		back             string // the link of the empty page
		want             []int64
	}{
		{"after the last item", "limit=2", "next", []int64{5, 6, 7}, "prev", []int64{3, 4}},
		{"after a deleted item", "limit=2", "next", []int64{4, 5, 6, 7}, "prev", []int64{2, 3}},
		{"after the last item, with a filter", "customerId=u0&limit=1", "next", []int64{5, 7}, "prev", []int64{3}},
		{"before the first item", "limit=2", "prev", []int64{1, 2}, "next", []int64{3, 4}},
		{"before a deleted item", "limit=2", "prev", []int64{1, 2, 3}, "next", []int64{4, 5}},
		{"before the first item, sorted", "limit=2&sort=-cents", "prev", []int64{3, 6}, "next", []int64{2, 5}},
		{"after all items", "limit=2", "next", []int64{1, 2, 3, 4, 5, 6, 7}, "prev", nil},
		{"before all items", "limit=2", "prev", []int64{1, 2, 3, 4, 5, 6, 7}, "next", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := sevenOrders(t)
			second := linksOf(t, send(t, h, "GET /orders?"+tt.query))["next"]
			page := linksOf(t, send(t, h, "GET "+second))[tt.rel]
			for _, id := range tt.deleted {
				want(t, send(t, h, fmt.Sprintf("DELETE /orders/%d", id)), http.StatusNoContent)
			}
			res := send(t, h, "GET "+page)
			ids, p := pageOf(t, res)
			if links := linksOf(t, res); len(ids) > 0 || (p.Next == "") != (tt.back == "prev") ||
				links[tt.rel] != "" || links[tt.back] == "" {
				t.Fatalf("the empty page has items %v, next %q and links %v", ids, p.Next, links)
			}
			res = send(t, h, "GET "+linksOf(t, res)[tt.back])
			ids, _ = pageOf(t, res)
			if diff := cmp.Diff(tt.want, ids); diff != "" {
				t.Errorf("the page that %s leads to (-want +got):\n%s", tt.back, diff)
			}
			if links := linksOf(t, res); links[tt.back] != "" && len(tt.want) == 0 {
				t.Errorf("an empty list leads on to %s", links[tt.back])
			}
		})
	}
}

func TestRule131CacheControl(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.rest.Resources["places"] = rest.ResourceOptions{Cache: "public, max-age=60"} })
	path := create(t, h, "/users", ann)
	tag := send(t, h, "GET "+path).header.Get("ETag")
	for _, tt := range []struct {
		cache string
		req   []string
	}{
		{"private, no-cache", []string{"GET " + path}},
		{"private, no-cache", []string{"HEAD " + path}},
		{"private, no-cache", []string{"GET " + path, "If-None-Match: " + tag}},
		{"private, no-cache", []string{"GET /users"}},
		{"private, no-cache", []string{"GET /users", "Accept: application/x-ndjson"}},
		{"private, no-cache", []string{"POST /users", jsonBody, "", `{"id":"bob","name":"Bob"}`}},
		{"private, no-cache", []string{"PATCH " + path, mergeBody, "", `{}`}},
		{"private, no-cache", []string{"PUT " + path, jsonBody, "", `{"name":"Anna"}`}},
		{"no-store", []string{"DELETE " + path}},
		{"no-store", []string{"OPTIONS " + path}},
		{"public, max-age=60", []string{"GET /places/ath"}},
		{"public, max-age=60", []string{"GET /places"}},
		{"no-store", []string{"GET /places/none"}},
	} {
		res := send(t, h, tt.req[0], tt.req[1:]...)
		want(t, res, res.status, "Cache-Control: "+tt.cache)
	}
}

// There is no freshness lifetime by default, because it would outlast a PUT to another URI of the
// same item.
func TestRule132NoFreshnessByDefault(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	for _, target := range []string{path, "/users", "/places/ath"} {
		res := send(t, h, "GET "+target)
		want(t, res, http.StatusOK, "Expires:", "Age:", "Pragma:")
		if cache := res.header.Get("Cache-Control"); strings.Contains(cache, "max-age") || !strings.Contains(cache, "no-cache") {
			t.Errorf("%s: Cache-Control %s", res.line, cache)
		}
	}
}

func TestRule133ErrorsAreNotStored(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) {
		s.catalog.Limits.Body, s.users.RequireIfMatch = 64, true
		s.rest.Resources["users"] = rest.ResourceOptions{Cache: "public, max-age=3600"}
	})
	create(t, h, "/users", ann)
	create(t, h, "/users", `{"id":"bob","name":"Bob"}`)
	want(t, send(t, h, "DELETE /users/bob", "If-Match: *"), http.StatusNoContent)
	for status, req := range map[int][]string{
		400: {"GET /users?nonsense=1"},
		404: {"GET /users/none"},
		405: {"DELETE /users"},
		406: {"GET /users/ann", "Accept: text/html"},
		409: {"POST /users", jsonBody, "", ann},
		410: {"GET /users/bob"},
		412: {"GET /users/ann", `If-Match: "x"`},
		413: {"POST /users", jsonBody, "", strings.Repeat(" ", 65) + ann},
		414: {"GET /users/" + strings.Repeat("x", 9000)},
		415: {"POST /users", "Content-Type: text/plain", "", "x"},
		422: {"POST /users", jsonBody, "", `{}`},
		428: {"DELETE /users/ann"},
		501: {"BREW /users"},
	} {
		want(t, send(t, h, req[0], req[1:]...), status, "Cache-Control: no-store", "Content-Type: "+problem.MediaType)
	}
}

func TestRule134SharedCachesByChoice(t *testing.T) {
	t.Parallel()
	h := byCaller(api(t, hiding))
	want(t, send(t, h, "PUT /users/ann", asAdmin, jsonBody, "", ann), http.StatusCreated)
	for _, target := range []string{"/users/ann", "/users"} {
		res := send(t, h, "GET "+target, asAdmin, "Authorization: Bearer x")
		for _, shared := range []string{"public", "s-maxage", "must-revalidate"} {
			if strings.Contains(res.header.Get("Cache-Control"), shared) {
				t.Errorf("%s: Cache-Control %s", res.line, res.header.Get("Cache-Control"))
			}
		}
	}
	const warning = "Cache-Control is public"
	for cache, warned := range map[string]bool{"": false, "public, max-age=60": true} {
		h := api(t, hiding, func(s *setup) { s.rest.Resources["users"] = rest.ResourceOptions{Cache: cache} }).(*shop)
		if got := strings.Contains(h.Report(), warning); got != warned {
			t.Errorf("with %q the report warns: %t, want %t", cache, got, warned)
		}
	}
}

func TestRule135Vary(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	tag := send(t, h, "GET "+path).header.Get("ETag")
	const item, list = "Accept, Accept-Encoding", "Accept, Accept-Encoding, Prefer" // for the total
	for _, tt := range []struct {
		vary string
		req  []string
	}{
		{item, []string{"GET " + path}},
		{item, []string{"HEAD " + path, "Accept-Encoding: gzip"}},
		{item, []string{"GET " + path, "If-None-Match: " + tag}},
		{item, []string{"GET " + path, "Accept: text/html"}},
		{item, []string{"GET /users/none"}},
		{item, []string{"POST " + path}},
		{item, []string{"PATCH " + path, mergeBody, "", `{}`}},
		{list, []string{"GET /users"}},
		{list, []string{"GET /users", "If-None-Match: *"}},
		{list, []string{"GET /users", "Accept: application/x-ndjson"}},
		{list, []string{"GET /users", "Accept: text/html"}},
		{list, []string{"GET /users?nonsense=1"}},
		{list, []string{"DELETE /users"}},
		{item, []string{"DELETE " + path}},
		{item, []string{"GET " + path}},
	} {
		res := send(t, h, tt.req[0], tt.req[1:]...)
		want(t, res, res.status, "Vary: "+tt.vary)
		if n := len(res.header.Values("Vary")); n != 1 {
			t.Errorf("%s: %d Vary fields", res.line, n)
		}
	}
}

func TestRule136Dates(t *testing.T) {
	t.Parallel()
	h := api(t)
	create(t, h, "/users", ann)
	ask := dialHTTP(t, listen(t, h), false)
	for _, req := range [][]string{{"GET /users/ann"}, {"GET /users"}, {"GET /users/ann", "If-None-Match: *"},
		{"GET /users/none"}, {"OPTIONS /users"}, {"DELETE /users/ann"}, {"DELETE /users/ann"}} {
		res := ask(req[0], req[1:]...)
		for _, name := range []string{"Date", "Last-Modified"} {
			value := res.header.Get(name)
			if value == "" && name == "Last-Modified" {
				continue
			}
			if at, err := time.Parse(http.TimeFormat, value); err != nil || at.Format(http.TimeFormat) != value {
				t.Errorf("%s: %s %q is no IMF-fixdate: %v", res.line, name, value, err)
			}
		}
	}
}
