package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/rest"
)

// target is a path of the document with the id filled in.
func target(path, id string) string { return strings.ReplaceAll(path, "{id}", id) }

// TestOperationsAreThoseOfTheCatalog compares the document with the description of the catalog.
func TestOperationsAreThoseOfTheCatalog(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := latest(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	listed := map[string][]string{}
	d.operations(func(path, method string, _ object) {
		listed[path] = append(listed[path], method)
		if method == "GET" {
			listed[path] = append(listed[path], "HEAD") // is said in the description of the API
		}
	})
	var paths []string
	for _, r := range shop.now.Resources() {
		paths = append(paths, "/"+r.Name(), "/"+r.Name()+"/{id}")
	}
	for _, l := range resource.PartsOf[*resource.Lookup](shop.now) {
		paths = append(paths, "/"+l.Name())
	}
	for _, b := range resource.PartsOf[*blob.Collection](shop.now) {
		paths = append(paths, "/"+b.Name(), "/"+b.Name()+"/{id}")
	}
	for _, c := range resource.PartsOf[*command.Command](shop.now) {
		paths = append(paths, "/"+c.Name())
	}
	for _, path := range paths {
		allow := send(shop.handler(), "OPTIONS "+target(path, "1"), "").Header.Get("Allow")
		want, got := strings.Split(allow, ", "), listed[path]
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		delete(listed, path)
	}
	if len(listed) > 0 {
		t.Errorf("described, but not served: %v", listed)
	}
}

// TestOperationIDs are unique and stay what they are: they are the names of methods in clients.
func TestOperationIDs(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	described(t, openapi.New(newShop(t).now, &openapi.Options{REST: shopREST})).operations(func(path,
		method string, op object) {
		id := op["operationId"].(string)
		if seen[id] != "" {
			t.Errorf("%s is %s and %s %s", id, seen[id], method, path)
		}
		seen[id] = method + " " + path
	})
	want := map[string]string{"listOrders": "GET /orders", "createOrder": "POST /orders",
		"getOrder":     "GET /orders/{id}",
		"replaceOrder": "PUT /orders/{id}", "patchOrder": "PATCH /orders/{id}",
		"deleteOrder":         "DELETE /orders/{id}",
		"getOrderArchiveItem": "GET /order-archive/{id}", "findCapital": "GET /capital"}
	for id, at := range want {
		if seen[id] != at {
			t.Errorf("%s is %q, want %q", id, seen[id], at)
		}
	}
}

// check reports what an exchange has that the document does not.
func (d reader) check(t *testing.T, path, request string, res *http.Response) {
	t.Helper()
	method, _, _ := strings.Cut(request, " ")
	described := d.at(d.root, "paths", path, strings.ToLower(method), "responses",
		strconv.Itoa(res.StatusCode))
	if described == nil {
		t.Errorf("%s: %d is not documented", request, res.StatusCode)
		return
	}
	for name := range res.Header {
		unsaid := []string{"X-Accel-Buffering", "Content-Type", "Content-Length", "Content-Encoding",
			"X-Content-Type-Options", "Accept-Ranges",
			"Connection"} // those of every response, or of none in particular
		if !slices.Contains(unsaid, name) && !hasHeader(d.at(described, "headers"), name) {
			t.Errorf("%s: %d has %s, which is not documented", request, res.StatusCode, name)
		}
	}
	if content, ok := d.at(described, "content").(object); ok && content["*/*"] != nil {
		return // bytes, which the document does not describe
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	media := res.Header.Get("Content-Type")
	schema := d.schemaOf(described, media)
	if len(body) > 0 && schema == nil {
		t.Errorf("%s: %d is %s, which is not documented", request, res.StatusCode, media)
	}
	if media == "application/x-ndjson" || strings.HasPrefix(media, "text/csv;") || len(body) == 0 {
		return
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	for _, bad := range append(d.invalid(schema, v, ""), d.unknown(schema, v, "")...) {
		t.Errorf("%s: %d: %s in %s", request, res.StatusCode, bad, body)
	}
}

func hasHeader(v any, name string) bool {
	o, _ := v.(object)
	for described := range o {
		if strings.EqualFold(described, name) {
			return true
		}
	}
	return false
}

// TestWalk makes requests at random, most of them with something wrong, and looks each answer up.
func TestWalk(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := latest(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	w := walker{Rand: rand.New(rand.NewPCG(1, 2)), d: d}
	seen := map[string]int{}
	for range 10000 {
		path, request, body, header := w.step()
		res := send(shop.handler(), request, body, header...)
		if tag := res.Header.Get("Etag"); tag != "" && w.IntN(3) == 0 {
			w.tag = tag
		}
		method, _, _ := strings.Cut(request, " ")
		seen[method+" "+strconv.Itoa(res.StatusCode)]++
		d.check(t, path, request, res)
	}
	for _, want := range []string{"GET 200", "GET 206", "GET 304", "GET 400", "GET 404", "GET 406", "GET 410",
		"GET 412", "GET 416", "POST 200", "POST 201",
		"POST 202", "POST 204", "POST 400", "POST 401", "POST 413", "POST 406", "POST 409", "POST 415",
		"POST 422", "PUT 200", "PUT 201", "PUT 204", "PUT 410", "PUT 412",
		"PUT 422", "PUT 428", "PATCH 200", "PATCH 204", "PATCH 400", "PATCH 409", "PATCH 415", "PATCH 422",
		"DELETE 204",
		"DELETE 404", "DELETE 410", "DELETE 412", "OPTIONS 204", "QUERY 200", "QUERY 304", "QUERY 400", "QUERY 406",
		"QUERY 415", "QUERY 422"} {
		if seen[want] == 0 {
			t.Errorf("the walk never came to %s, so it says nothing about it", want)
		}
	}
	t.Log(seen)
}

type walker struct {
	*rand.Rand
	d   reader
	tag string // of some item
}

// maybe returns s one time in n.
func (w *walker) maybe(n int, s ...string) []string {
	if w.IntN(n) > 0 {
		return nil
	}
	return []string{w.pick(s...)}
}

func (w *walker) pick(s ...string) string { return s[w.IntN(len(s))] }

// step makes up a request from the examples of the document.
func (w *walker) step() (path, request, body string, header []string) {
	paths := []string{"/orders", "/orders/{id}", "/orders/{id}", "/users", "/users/{id}", "/places",
		"/places/{id}",
		"/countries", "/countries/{id}", "/countries/{id}", "/order-archive", "/order-archive/{id}",
		"/capital", "/auth/login",
		"/auth/logout", "/places/import", "/orders/cancel-stale", "/orders/newest", "/jobs", "/jobs/{id}",
		"/files", "/files/{id}", "/files/{id}",
		"/photos", "/photos/{id}", "/photos/{id}", "/icons/{id}"}
	paths = slices.DeleteFunc(paths, func(path string) bool { return w.d.at(w.d.root, "paths", path) == nil })
	path = w.pick(paths...)
	var ops []string
	for _, m := range append(methods, "get", "put", "post", "patch", "patch", "patch", "patch") {
		if w.d.at(w.d.root, "paths", path, m) != nil && (m != "delete" && m != "options" || w.IntN(2) == 0) {
			ops = append(ops, m)
		}
	}
	method := w.pick(ops...)
	at := target(path, w.pick("1", "2", "3", "4", "GR", "FR", "264371", "nobody", "%ff", "a.png"))
	switch {
	case method == "get" || w.IntN(9) == 0:
		at += strings.Join(w.maybe(2, "?limit=1", "?limit=0", "?fields=id", "?fields=nope", "?sort=-id",
			"?after=nope", "?nope=1",
			"?country=GR", "?country=gr", "?expand=customer", "?expand=orders", "?status=paid",
			"?status=nope",
			"?filter=%7B%22not%22:%7B%22id%22:%7B%22eq%22:1%7D%7D%7D"), "")
	}
	header = append(header, w.maybe(20, "Accept: text/html", "Accept: application/x-ndjson", "Accept: text/csv",
		"Accept: text/csv;header=absent", "Accept-Encoding: identity;q=0")...)
	header = append(header, w.maybe(3, "Prefer: return=minimal", "Prefer: handling=lenient",
		"Prefer: count=exact",
		"Prefer: return=representation")...)
	if w.tag != "" {
		header = append(header, w.maybe(5, "If-Match: "+w.tag, "If-None-Match: "+w.tag, "If-Match: nope",
			"If-None-Match: *")...)
	}
	header = append(header, w.maybe(9, "If-Match: *")...)
	header = append(header, w.maybe(9, "Range: bytes=0-9", "Range: bytes=-1", "Range: bytes=5000-",
		"Range: lines=1")...)
	header = append(header, w.maybe(20, "Repr-Digest: sha-256=:AAAA:", "Content-Digest: nope",
		"Content-Encoding: br")...)
	if method == "query" {
		media, content := w.query()
		return path, "QUERY " + at, content, append(header, w.maybe(1, "Content-Type: "+media)...)
	}
	if content := w.d.at(w.d.root, "paths", path, method, "requestBody", "content"); content != nil {
		var media string
		media, body = w.content(content.(object))
		header = append(header, "Content-Type: "+media)
	}
	return path, fmt.Sprintf("%s %s", strings.ToUpper(method), at), body, header
}

// query returns content of QUERY.
func (w *walker) query() (media, content string) {
	if w.IntN(3) == 0 {
		return "application/x-www-form-urlencoded", w.pick("", "limit=1", "code=gr", "fields=nope", "filter=%zz")
	}
	return w.pick("application/json", "application/json", "application/json", "text/plain"),
		w.pick("{}", "{}", "[]", "{", `{"limit":1}`, `{"limit":0}`, `{"code":"gr"}`, `{"code":"GR","fields":["id"]}`,
			`{"sort":["-id"]}`, `{"nope":1}`, `{"after":"nope"}`, `{"filter":{"not":{"id":{"eq":1}}}}`, `{"expand":null}`,
			`{"filter":{"note":{"ne":"`+strings.Repeat("x", 2000)+`"}}}`)
}

// content takes the example of one of the media types, and spoils it now and then.
func (w *walker) content(content object) (media, body string) {
	var types []string
	for name := range content {
		types = append(types, name)
	}
	slices.Sort(types)
	media = w.pick(types...)
	if family, _, any := strings.Cut(media, "/*"); any { // bytes
		return strings.ReplaceAll(family, "*", "image") + w.pick("/png", "/png", ""),
			w.pick("", "x", strings.Repeat("x", 90), strings.Repeat("x", 2000))
	}
	v := w.d.at(content, media, "examples", "sample", "value")
	if v == nil {
		v = object{"code": w.pick("GR", "FR", "gr"), "name": "somewhere"}
	}
	if o, ok := v.(object); ok && w.IntN(3) == 0 {
		v = w.spoiled(o)
	}
	b, _ := json.Marshal(v)
	if text, ok := v.(string); ok { // lines
		b = []byte(text)
	}
	switch w.IntN(20) {
	case 0:
		return media, "{"
	case 1:
		return "text/plain", string(b)
	case 2, 3, 4:
		if content["application/json-patch+json"] != nil {
			media = "application/json-patch+json" // application/json would be a merge patch
		}
		return media, `[{"op":"test","path":"/name","value":"nope"}]`
	}
	return media, string(b)
}

// spoiled returns a copy of o with a member removed, changed or added.
func (w *walker) spoiled(o object) object {
	out := object{}
	var names []string
	for name, v := range o {
		out[name] = v
		names = append(names, name)
	}
	slices.Sort(names)
	switch name := w.pick(append(names, "nope")...); w.IntN(5) {
	case 0:
		delete(out, name)
	case 1:
		out[name] = nil
	case 2:
		out[name] = -1
	case 3:
		out[name] = "nope"
	case 4:
		out["id"] = w.pick("3", "264371")
	}
	return out
}

// TestCapabilitiesDecide about the statuses and the description of an operation.
func TestCapabilitiesDecide(t *testing.T) {
	t.Parallel()
	all := resource.OpsOf(memory.New[place](nil))
	once := resource.Ops[place]{Get: all.Get, List: all.List, Insert: all.Insert}
	forgetful := all
	forgetful.Deleted = nil
	again := resource.Options[place]{AllowRecreate: true}
	hidden := forgetful.Resource("places", &resource.Options[place]{
		Authorize: func(context.Context, resource.Op, *place, *place) error { return nil }})
	tests := []struct {
		name, method string
		r            *resource.Resource
		statuses     string // of success
		says         string
	}{
		{"insert only", "put", once.Resource("places", nil), "201",
			"An existing item cannot be replaced"},
		{"all", "put", all.Resource("places", nil), "200 201 204",
			"A deleted item cannot be created again"},
		{"again", "put", all.Resource("places", &again), "200 201 204",
			"If the item does not exist, it is created. With"},
		{"assigned", "put", assigned(memory.New[place](nil)).Resource("places", nil), "200 204",
			"Replaces the item"},
		{"forgetful", "delete", forgetful.Resource("places", nil), "204",
			"Only recent deletions are remembered"},
		{"forgetful, with 204", "delete", forgetful.Resource("places", nil), "204",
			"deleted, now or before; other methods return 410 for a deleted item. Only recent deletions are"},
		{"forgetful", "get", forgetful.Resource("places", nil), "200",
			"410 means that the item was deleted. Only recent deletions are remembered"},
		{"hidden", "delete", hidden, "204",
			"204 means that the item has been deleted. Deletions are not remembered"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rested := &rest.Options{Resources: map[string]rest.ResourceOptions{"places": {AlwaysETagOnPut: tt.name == "again"}}}
			if strings.HasSuffix(tt.name, "204") {
				rested.Resources["places"] = rest.ResourceOptions{RepeatedDelete: http.StatusNoContent}
			}
			d := described(t, openapi.New(resource.NewCatalog(nil, tt.r), &openapi.Options{REST: rested}))
			op := d.at(d.root, "paths", "/places/{id}", tt.method)
			var got []string
			for status := range d.at(op, "responses").(object) {
				if status[0] == '2' {
					got = append(got, status)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.statuses, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if text := d.at(op, "description").(string); !strings.Contains(text, tt.says) {
				t.Errorf("the description does not say %q: %s", tt.says, text)
			}
		})
	}
}
