package rest_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// Section E: methods. HEAD is in rules_e_head_test.go, Prefer in rules_e_prefer_test.go, lists as
// lines in rules_e_export_test.go. DELETE has its own files.

func TestRule074SafeMethods(t *testing.T) {
	t.Parallel()
	var writes atomic.Int32
	h := api(t, withLookup, func(s *setup) {
		s.orders.After = func(context.Context, resource.Op, *order, *order) { writes.Add(1) }
	})
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	before := send(t, h, "GET "+path)
	for _, line := range []string{"GET " + path, "HEAD " + path, "OPTIONS " + path, "GET /orders", "HEAD /orders",
		"OPTIONS /orders", "GET /orders?expand=customer", "GET /biggest?customerId=u", "TRACE " + path, "GET " + path + "/"} {
		send(t, h, line, "If-Match: *", mergeBody, "", `{"cents":1}`)
	}
	after := send(t, h, "GET "+path)
	if diff := cmp.Diff(before, after, cmp.AllowUnexported(response{})); diff != "" || writes.Load() != 1 {
		t.Errorf("%d writes, (-want +got):\n%s", writes.Load(), diff)
	}
}

func TestRule076Created(t *testing.T) {
	t.Parallel()
	h := api(t)
	res := send(t, h, "POST /orders", jsonBody, "", `{"customerId":"u"}`)
	want(t, res, http.StatusCreated, "Location: /orders/1", "Content-Location: /orders/1", "Etag: *",
		"Content-Type: application/json", "Last-Modified: Fri, 01 Mar 2024 12:00:00 GMT")
	got := send(t, h, "GET /orders/1")
	wantBody(t, got, http.StatusOK, res.body)
	want(t, got, http.StatusOK, "Etag: "+res.header.Get("Etag"))
	// The requested members.
	wantBody(t, send(t, h, "POST /orders?fields=id", jsonBody, "", `{"customerId":"u"}`), http.StatusCreated, `{"id":2}`)
	// The id of the client if it may choose it, otherwise that of the store.
	want(t, send(t, h, "POST /users", jsonBody, "", `{"id":"me","name":"n"}`), http.StatusCreated, "Location: /users/me")
	res = send(t, h, "POST /users", jsonBody, "", `{"name":"n"}`)
	want(t, res, http.StatusCreated)
	want(t, send(t, h, "GET "+res.header.Get("Location")), http.StatusOK)
	d := wantProblem(t, send(t, h, "POST /orders", jsonBody, "", `{"id":5,"customerId":"u"}`), problem.Invalid)
	wantErrors(t, d, "/id readOnly")
}

func TestRule077PostWhereNothingIsCreated(t *testing.T) {
	t.Parallel()
	h := api(t)
	want(t, send(t, h, "PUT /users/a%2Fb", jsonBody, "", `{"name":"n","email":"n@example.com"}`), http.StatusCreated)
	wantProblem(t, send(t, h, "POST /users/a%2Fb", jsonBody, "", `{"name":"n"}`), problem.MethodNotAllowed, "Allow: *")
	wantProblem(t, send(t, h, "POST /places", jsonBody, "", `{}`), problem.MethodNotAllowed, "Allow: GET, HEAD, QUERY, OPTIONS")

	d := wantProblem(t, send(t, h, "POST /users", jsonBody, "", `{"id":"a/b","name":"other"}`), problem.Exists,
		"Location:")
	if d.Existing != "/users/a%2Fb" {
		t.Errorf("existing %q", d.Existing)
	}
	wantBody(t, send(t, h, "GET "+d.Existing+"?fields=name"), http.StatusOK, `{"name":"n"}`)
	// Another unique field.
	d = wantProblem(t, send(t, h, "POST /users", jsonBody, "", `{"name":"m","email":"n@example.com"}`), problem.Conflict)
	wantErrors(t, d, "/email taken")
}

func TestRule078PutStatus(t *testing.T) {
	t.Parallel()
	h := api(t)
	res := send(t, h, "PUT /users/u", jsonBody, "", `{"name":"a"}`)
	want(t, res, http.StatusCreated, "Location: /users/u", "Content-Location: /users/u")
	wantBody(t, res, http.StatusCreated, `{"id":"u","name":"a"}`)
	res = send(t, h, "PUT /users/u", jsonBody, "", `{"name":"b"}`)
	want(t, res, http.StatusOK, "Location:", "Content-Location: /users/u")
	wantBody(t, res, http.StatusOK, `{"id":"u","name":"b"}`)
	// The same again: nothing changes, and nothing is created.
	wantBody(t, send(t, h, "PUT /users/u", jsonBody, "", `{"name":"b"}`), http.StatusOK, `{"id":"u","name":"b"}`)
}

func TestRule079IDInTheBody(t *testing.T) {
	t.Parallel()
	h := api(t)
	// A member that the server sets may be absent or equal, but not different, in POST and PUT.
	for _, status := range []int{http.StatusCreated, http.StatusOK} {
		d := wantProblem(t, send(t, h, "PUT /users/u", jsonBody, "", `{"id":"v","name":"a"}`), problem.Invalid)
		if len(d.Errors) != 1 || *d.Errors[0].Pointer != "/id" {
			t.Errorf("errors %v", d.Errors)
		}
		wantBody(t, send(t, h, "PUT /users/u", jsonBody, "", `{"id":"u","name":"a"}`), status, `{"id":"u","name":"a"}`)
		wantBody(t, send(t, h, "PUT /users/u", jsonBody, "", `{"name":"b"}`), http.StatusOK, `{"id":"u","name":"b"}`)
	}
	wantBody(t, send(t, h, "PUT /users/w", jsonBody, "", `{"name":"c"}`), http.StatusCreated, `{"id":"w","name":"c"}`)
	wantProblem(t, send(t, h, "GET /users/v"), problem.NotFound)
	d := wantProblem(t, send(t, h, "PATCH /users/u", mergeBody, "", `{"id":"v"}`), problem.Invalid)
	wantErrors(t, d, "/id readOnly")
}

func TestRule080PutOfAnUnknownID(t *testing.T) {
	t.Parallel()
	h := api(t)
	wantProblem(t, send(t, h, "PUT /orders/77", jsonBody, "", `{"customerId":"u"}`), problem.NotFound)
	wantProblem(t, send(t, h, "PUT /orders/077", jsonBody, "", `{"customerId":"u"}`), problem.NotFound)
	wantProblem(t, send(t, h, "PUT /orders/77", jsonBody, "If-None-Match: *", "", `{"customerId":"u"}`), problem.NotFound)
	wantProblem(t, send(t, h, "GET /orders/77"), problem.NotFound)
	// A collection rejects ids that its type cannot represent.
	type thing struct {
		ID int8 `json:"id"`
		N  int  `json:"n"`
	}
	h = api(t, func(s *setup) {
		s.parts = append(s.parts, resource.New("things", memory.New[thing](nil), nil))
	})
	want(t, send(t, h, "PUT /things/127", jsonBody, "", `{"n":1}`), http.StatusCreated)
	for _, id := range []string{"128", "01", "x", "-0"} {
		wantProblem(t, send(t, h, "PUT /things/"+id, jsonBody, "", `{"n":1}`), problem.NotFound)
	}
}

func TestRule081NoValidatorAfterPut(t *testing.T) {
	t.Parallel()
	exact := `{"id":"u","name":"a","email":"a@example.com"}`
	tests := []struct {
		name, doc string
		always    bool
		tagged    bool
	}{
		{"octet by octet", exact, false, true},
		{"white space", `{ "id":"u","name":"a","email":"a@example.com"}`, false, false},
		{"another order", `{"name":"a","id":"u","email":"a@example.com"}`, false, false},
		{"id filled in", `{"name":"a","email":"a@example.com"}`, false, false},
		{"escapes", `{"id":"u","name":"\u0061","email":"a@example.com"}`, false, false},
		{"hidden item", `{"id":"u","name":"a","email":"a@example.com","pin":"1"}`, false, false},
		{"always, octet by octet", exact, true, true},
		{"always, white space", `{ "id":"u","name":"a","email":"a@example.com"}`, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, prefer := range []string{"Prefer: return=representation", "Prefer: return=minimal"} {
				h := api(t, func(s *setup) { s.rest.Resources["users"] = rest.ResourceOptions{AlwaysETagOnPut: tt.always} })
				for _, verb := range []string{"created", "replaced"} {
					if verb == "replaced" {
						want(t, send(t, h, "PATCH /users/u", mergeBody, "", `{"name":"other"}`), http.StatusOK)
					}
					res := send(t, h, "PUT /users/u", jsonBody, prefer, "", tt.doc)
					if res.status/100 != 2 {
						t.Fatalf("%s: %d %s", verb, res.status, res.body)
					}
					now := send(t, h, "GET /users/u")
					if tt.tagged {
						want(t, res, res.status, "Etag: "+now.header.Get("Etag"),
							"Last-Modified: "+now.header.Get("Last-Modified"))
					} else {
						want(t, res, res.status, "Etag:", "Last-Modified:")
					}
				}
			}
		})
	}
}

func TestRule082FieldsThatAreNoData(t *testing.T) {
	t.Parallel()
	h := api(t)
	res := send(t, h, "PUT /users/u", jsonBody, "Content-Location: /users/v", "Content-Language: el", "X-Anything: 1",
		"Etag: \"mine\"", "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT", "Content-Md5: x", "", `{"name":"a"}`)
	want(t, res, http.StatusCreated, "Location: /users/u", "Content-Location: /users/u", "Content-Language:")
	wantProblem(t, send(t, h, "GET /users/v"), problem.NotFound)
	got := send(t, h, "GET /users/u")
	want(t, got, http.StatusOK, "Content-Language:", "Last-Modified: Fri, 01 Mar 2024 12:00:00 GMT")
	if got.header.Get("Etag") == `"mine"` {
		t.Error("the client's tag was taken over")
	}
}

func TestRule083PatchIsAtomic(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u","cents":1}`)
	before := send(t, h, "GET "+path)
	tests := []struct {
		name, contentType, doc string
		want                   problem.Kind
	}{
		{"second operation fails", patchBody, `[{"op":"replace","path":"/cents","value":2},{"op":"remove","path":"/no"}]`,
			problem.PatchConflict},
		{"test fails at the end", patchBody, `[{"op":"replace","path":"/cents","value":2},` +
			`{"op":"test","path":"/cents","value":1}]`, problem.PatchConflict},
		{"result is not valid", patchBody, `[{"op":"replace","path":"/cents","value":2},` +
			`{"op":"remove","path":"/customerId"}]`, problem.Invalid},
		{"merge is not valid", mergeBody, `{"cents":2,"status":"lost"}`, problem.Invalid},
	}
	for _, tt := range tests {
		wantProblem(t, send(t, h, "PATCH "+path, tt.contentType, "", tt.doc), tt.want)
		if diff := cmp.Diff(before, send(t, h, "GET "+path), cmp.AllowUnexported(response{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	// A constraint may be violated between two operations and must hold at the end.
	want(t, send(t, h, "PATCH "+path, patchBody, "", `[{"op":"remove","path":"/customerId"},`+
		`{"op":"add","path":"/customerId","value":"v"}]`), http.StatusOK)
}

func TestRule084PatchCreatesNothing(t *testing.T) {
	t.Parallel()
	h := api(t)
	for contentType, doc := range map[string]string{
		mergeBody: `{"name":"n"}`,
		patchBody: `[{"op":"add","path":"/name","value":"n"}]`,
	} {
		wantProblem(t, send(t, h, "PATCH /users/new", contentType, "", doc), problem.NotFound)
		wantProblem(t, send(t, h, "PATCH /users/new", contentType, "If-None-Match: *", "", doc), problem.NotFound)
		wantProblem(t, send(t, h, "PATCH /users/new", contentType, "If-Match: *", "", doc), problem.NotFound)
		wantProblem(t, send(t, h, "GET /users/new"), problem.NotFound)
	}
	want(t, send(t, h, "PUT /users/old", jsonBody, "", `{"name":"n"}`), http.StatusCreated)
	want(t, send(t, h, "DELETE /users/old"), http.StatusNoContent)
	wantProblem(t, send(t, h, "PATCH /users/old", mergeBody, "", `{"name":"m"}`), problem.Gone)
}

func TestRule085PatchSuccess(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	res := send(t, h, "PATCH "+path, mergeBody, "", `{"cents":2}`)
	want(t, res, http.StatusOK, "Content-Location: "+path, "Content-Type: application/json", "Location:",
		"Last-Modified: *")
	wantBody(t, res, http.StatusOK, `{"id":1,"customerId":"u","status":"open","cents":2,"note":null}`)
	want(t, send(t, h, "GET "+path), http.StatusOK, "Etag: "+res.header.Get("Etag"))
	res = send(t, h, "PATCH "+path, mergeBody, "Prefer: return=minimal", "", `{"cents":3}`)
	want(t, res, http.StatusNoContent, "Content-Type:", "Content-Length:")
	want(t, send(t, h, "GET "+path), http.StatusOK, "Etag: "+res.header.Get("Etag"))
}

func TestRule086ResultIsValidated(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u","tags":["a"]}`)
	tests := []struct{ contentType, doc, place string }{
		{mergeBody, `{"id":2}`, "/id readOnly"},
		{mergeBody, `{"id":null}`, "/id readOnly"},
		{patchBody, `[{"op":"remove","path":"/id"}]`, "/id readOnly"},
		{patchBody, `[{"op":"replace","path":"/id","value":2}]`, "/id readOnly"},
		{mergeBody, `{"customerId":null}`, "/customerId required"},
		{mergeBody, `{"status":"lost"}`, "/status enum"},
		{mergeBody, `{"tags":["1","2","3","4","5","6"]}`, "/tags maxItems"},
		{patchBody, `[{"op":"add","path":"/tags/-","value":3}]`, "/tags/1 type"},
		{patchBody, `[{"op":"replace","path":"","value":{"customerId":"v","status":"open"}}]`, "/id readOnly"},
	}
	for _, tt := range tests {
		d := wantProblem(t, send(t, h, "PATCH "+path, tt.contentType, "", tt.doc), problem.Invalid)
		wantErrors(t, d, tt.place)
	}
	want(t, send(t, h, "PATCH "+path, mergeBody, "", `{"id":1}`), http.StatusOK) // it is 1
}

func TestRule087NothingToChange(t *testing.T) {
	t.Parallel()
	var writes atomic.Int32
	h := api(t, func(s *setup) {
		replace := s.orderOps.Replace
		s.orderOps.Replace = func(ctx context.Context, id string, rev resource.Rev, v order) (resource.Item[order], error) {
			writes.Add(1)
			return replace(ctx, id, rev, v)
		}
	})
	path := create(t, h, "/orders", `{"customerId":"u","cents":2,"tags":["a"]}`)
	tag := send(t, h, "GET "+path).header.Get("Etag")
	for _, x := range [][]string{
		{"PATCH " + path, mergeBody, "", `{}`},
		{"PATCH " + path, mergeBody, "", `{"cents":2}`},
		{"PATCH " + path, mergeBody, "", `{"cents":2.0e0,"note":null,"tags":["a"]}`},
		{"PATCH " + path, patchBody, "", `[]`},
		{"PATCH " + path, patchBody, "", `[{"op":"test","path":"/cents","value":2}]`},
		{"PATCH " + path, patchBody, "", `[{"op":"replace","path":"/cents","value":9},` +
			`{"op":"replace","path":"/cents","value":2}]`},
	} {
		want(t, send(t, h, x[0], x[1:]...), http.StatusOK, "Etag: "+tag)
	}
	want(t, send(t, h, "PUT "+path, jsonBody, "", `{"customerId":"u","cents":2,"tags":["a"]}`), http.StatusOK)
	want(t, send(t, h, "PATCH "+path, mergeBody, "Prefer: return=minimal", "", `{}`), http.StatusNoContent, "Etag: "+tag)
	want(t, send(t, h, "GET "+path), http.StatusOK, "Etag: "+tag)
	if n := writes.Load(); n != 0 {
		t.Errorf("%d writes", n)
	}
	want(t, send(t, h, "PATCH "+path, mergeBody, "", `{"cents":3}`), http.StatusOK)
	if n := writes.Load(); n != 1 || send(t, h, "GET "+path).header.Get("Etag") == tag {
		t.Errorf("%d writes, want 1 and another tag", n)
	}
}

func TestRule088AcceptPatch(t *testing.T) {
	t.Parallel()
	h := api(t, withLookup)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	field := "Accept-Patch: " + patchTypes
	want(t, send(t, h, "GET "+path), http.StatusOK, "Accept-Patch:")
	want(t, send(t, h, "HEAD "+path), http.StatusOK, "Accept-Patch:")
	want(t, send(t, h, "OPTIONS "+path), http.StatusNoContent, field)
	want(t, send(t, h, "GET /biggest?customerId=u"), http.StatusOK, "Content-Location: "+path)
	wantProblem(t, send(t, h, "PATCH "+path, "Content-Type: text/plain", "", "x"), problem.UnsupportedMediaType, field)
	for _, line := range []string{"GET /places/ath", "HEAD /places/ath", "OPTIONS /places/ath", "GET /orders",
		"OPTIONS /orders"} {
		res := send(t, h, line)
		want(t, res, res.status, "Accept-Patch:")
	}
	// All listed media types are supported.
	for mediaType := range strings.SplitSeq(patchTypes, ", ") {
		doc := `{}`
		if mediaType == patch.JSONType {
			doc = `[]`
		}
		want(t, send(t, h, "PATCH "+path, "Content-Type: "+mediaType, "", doc), http.StatusOK)
	}
}

// interrupted makes the first n attempts to replace an order stale, each after a concurrent write.
func interrupted(n int) func(*setup) {
	return func(s *setup) {
		get, replace := s.orderOps.Get, s.orderOps.Replace
		s.orderOps.Replace = func(ctx context.Context, id string, rev resource.Rev, v order) (resource.Item[order], error) {
			if n != 0 {
				n--
				item, err := get(ctx, id)
				if err != nil {
					return item, err
				}
				item.Value.Cents++
				if _, err := replace(ctx, id, item.Rev, item.Value); err != nil {
					return item, err
				}
			}
			return replace(ctx, id, rev, v)
		}
	}
}

func TestRule089OptimisticRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := api(t, interrupted(3))
		path := create(t, h, "/orders", `{"customerId":"u","cents":10}`)
		// No change is lost: neither the three concurrent ones nor this one.
		wantBody(t, send(t, h, "PATCH "+path, mergeBody, "", `{"note":"x"}`), http.StatusOK,
			`{"id":1,"customerId":"u","status":"open","cents":13,"note":"x"}`)
	})
	synctest.Test(t, func(t *testing.T) { // each attempt repeats all checks
		h := api(t, interrupted(1))
		path := create(t, h, "/orders", `{"customerId":"u","cents":10}`)
		wantProblem(t, send(t, h, "PATCH "+path, patchBody, "", `[{"op":"test","path":"/cents","value":10},`+
			`{"op":"replace","path":"/cents","value":0}]`), problem.PatchConflict)
	})
	synctest.Test(t, func(t *testing.T) { // a client that named a revision receives the error
		h := api(t, interrupted(1))
		path := create(t, h, "/orders", `{"customerId":"u","cents":10}`)
		old := send(t, h, "GET "+path).header.Get("Etag")
		res := send(t, h, "PATCH "+path, mergeBody, "If-Match: "+old, "", `{"note":"x"}`)
		wantProblem(t, res, problem.PreconditionFailed, "Etag: "+send(t, h, "GET "+path).header.Get("Etag"))
		wantBody(t, send(t, h, "GET "+path+"?fields=cents,note"), http.StatusOK, `{"cents":11,"note":null}`)
	})
	synctest.Test(t, func(t *testing.T) { // and retries end with the timeout
		h := api(t, interrupted(-1))
		path := create(t, h, "/orders", `{"customerId":"u","cents":10}`)
		for _, x := range [][]string{
			{"PATCH " + path, mergeBody, "", `{"note":"x"}`},
			{"PUT " + path, jsonBody, "", `{"customerId":"u"}`},
			{"PATCH " + path, mergeBody, "If-Match: *", "", `{"note":"x"}`},
		} {
			wantProblem(t, send(t, h, x[0], x[1:]...), problem.Unavailable, "Retry-After: 1")
		}
	})
}

func TestRule090DeleteSuccess(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	res := send(t, h, "DELETE "+path)
	want(t, res, http.StatusNoContent, "Cache-Control: no-store", "Content-Type:", "Content-Length:", "Etag:",
		"Last-Modified:", "X-Content-Type-Options:")
	if res.body != "" {
		t.Errorf("body %q", res.body)
	}
}
