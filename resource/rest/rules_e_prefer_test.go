package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
)

// Rule 94: supported preferences are reported, and others are ignored.

func TestRule094Return(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line, contentType, doc string
		full, minimal                int
		location                     bool // with a Location
	}{
		{"POST", "POST /orders", jsonBody, `{"customerId":"v"}`, http.StatusCreated, http.StatusCreated, true},
		{"PUT creates", "PUT /users/u", jsonBody, `{"name":"n"}`, http.StatusCreated, http.StatusCreated, true},
		{"PUT replaces", "PUT /orders/1", jsonBody, `{"customerId":"v"}`, http.StatusOK, http.StatusNoContent, false},
		{"PATCH", "PATCH /orders/1", mergeBody, `{"cents":3}`, http.StatusOK, http.StatusNoContent, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ask := func(prefer ...string) *response {
				h := api(t)
				create(t, h, "/orders", `{"customerId":"u"}`)
				return send(t, h, tt.line, append(prefer, tt.contentType, "", tt.doc)...)
			}
			plain := ask()
			want(t, plain, tt.full, "Preference-Applied:")
			res := ask("Prefer: return=representation")
			want(t, res, tt.full, "Preference-Applied: return=representation")
			wantBody(t, res, tt.full, plain.body)
			for _, prefer := range []string{"return=minimal", "Return=minimal", `return="minimal"`, "return=minimal;x=y",
				"wait=1, return=minimal", "return=minimal, return=representation"} {
				res = ask("Prefer: " + prefer)
				want(t, res, tt.minimal, "Preference-Applied: return=minimal", "Content-Type:", "Content-Location:",
					"Location: "+plain.header.Get("Location"))
				if res.body != "" {
					t.Errorf("%s: body %q", prefer, res.body)
				}
			}
			for _, prefer := range []string{"return=", "return", "return=nothing", "unknown", "respond-async", "wait=5", "",
				",;="} {
				res = ask("Prefer: " + prefer)
				want(t, res, tt.full, "Preference-Applied:")
				wantBody(t, res, tt.full, plain.body)
			}
			if tt.location && plain.header.Get("Location") == "" {
				t.Error("no Location")
			}
		})
	}
}

func TestRule094ReturnMeansNothingElsewhere(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	for _, prefer := range []string{"Prefer: return=minimal", "Prefer: return=representation"} {
		want(t, send(t, h, "GET "+path, prefer), http.StatusOK, "Preference-Applied:", "Content-Type: application/json")
		want(t, send(t, h, "GET /orders", prefer), http.StatusOK, "Preference-Applied:")
		want(t, send(t, h, "OPTIONS /orders", prefer), http.StatusNoContent, "Preference-Applied:")
		wantProblem(t, send(t, h, "PATCH /orders/9", prefer, mergeBody, "", `{}`), problem.NotFound, "Preference-Applied:")
	}
	want(t, send(t, h, "DELETE "+path, "Prefer: return=representation"), http.StatusNoContent, "Preference-Applied:")
}

func TestRule094Handling(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	lenient, strict := "Prefer: handling=lenient", "Prefer: handling=strict"
	for _, target := range []string{"/orders?nonsense=1", path + "?nonsense=1"} {
		for _, prefer := range []string{"Prefer:", strict, "Prefer: handling", "Prefer: handling=loose"} {
			d := wantProblem(t, send(t, h, "GET "+target, prefer), problem.InvalidParameter, "Preference-Applied:")
			wantErrors(t, d, "?nonsense unknownParameter")
		}
		// Responses that depend on a preference must have Vary (rule 36).
		res := send(t, h, "GET "+target, lenient)
		want(t, res, http.StatusOK, "Preference-Applied: handling=lenient", "Vary: Prefer, Accept, Accept-Encoding")
	}
	// It ignores unknown parameters only.
	wantProblem(t, send(t, h, "GET /orders?limit=x", lenient), problem.InvalidParameter)
	wantProblem(t, send(t, h, "POST /orders", lenient, jsonBody, "", `{"x":1}`), problem.Invalid)
	want(t, send(t, h, "POST /orders", lenient, jsonBody, "", `{"customerId":"u","x":1}`), http.StatusCreated,
		"Preference-Applied: handling=lenient")
	want(t, send(t, h, "PATCH "+path, "Prefer: handling=lenient, return=minimal", mergeBody, "", `{"x":1}`),
		http.StatusNoContent, "Preference-Applied: handling=lenient, return=minimal")
	want(t, send(t, h, "PATCH "+path, lenient, "Prefer: return=representation", mergeBody, "", `{"x":1}`),
		http.StatusOK, "Preference-Applied: handling=lenient, return=representation")
}

func TestRule094Count(t *testing.T) {
	t.Parallel()
	h := api(t)
	for _, doc := range []string{`{"customerId":"u","cents":1}`, `{"customerId":"u","cents":2}`, `{"customerId":"v"}`} {
		create(t, h, "/orders", doc)
	}
	exact := "Prefer: count=exact"
	applied := "Preference-Applied: count=exact"
	total := func(target string) string {
		res := send(t, h, "GET "+target, exact)
		want(t, res, http.StatusOK, applied, "Vary: Accept, Accept-Encoding, Prefer")
		_, n, _ := strings.Cut(res.body, `"total":`)
		return strings.TrimSuffix(n, "}")
	}
	tests := []struct{ target, want string }{
		{"/orders", "3"},
		{"/orders?limit=1", "3"},
		{"/orders?customerId=u", "2"},
		{"/orders?customerId=nobody", "0"},
		{"/orders?cents.gte=2&sort=-cents&fields=id", "1"},
	}
	for _, tt := range tests {
		if got := total(tt.target); got != tt.want {
			t.Errorf("%s: total %q, want %q", tt.target, got, tt.want)
		}
	}
	// A total is only counted on request, and is part of the representation.
	res := send(t, h, "GET /orders")
	want(t, res, http.StatusOK, "Preference-Applied:", "Vary: Accept, Accept-Encoding, Prefer")
	if strings.Contains(res.body, "total") {
		t.Errorf("body %s", res.body)
	}
	tag := res.header.Get("Etag")
	want(t, send(t, h, "GET /orders", "If-None-Match: "+tag), http.StatusNotModified)
	want(t, send(t, h, "GET /orders", exact, "If-None-Match: "+tag), http.StatusOK, applied)
	for _, prefer := range []string{"count", "count=estimated", "count=none"} {
		want(t, send(t, h, "GET /orders", "Prefer: "+prefer), http.StatusOK, "Preference-Applied:")
	}
	// A store without Count omits the total without an error.
	h = api(t, func(s *setup) { s.orderOps.Count = nil })
	res = send(t, h, "GET /orders", exact)
	want(t, res, http.StatusOK, "Preference-Applied:", "Vary: Accept, Accept-Encoding")
	wantBody(t, res, http.StatusOK, `{"items":[]}`)
}

// Errors have the same Vary as the successful response, so that a cache distinguishes them by the
// same fields.
func TestRule036VaryOfErrors(t *testing.T) {
	t.Parallel()
	h := api(t, withLookup)
	create(t, h, "/orders", `{"customerId":"u"}`)
	gone := create(t, h, "/orders", `{"customerId":"u"}`)
	want(t, send(t, h, "DELETE "+gone), http.StatusNoContent, "Vary: Accept, Accept-Encoding")
	lists, items := "Vary: Accept, Accept-Encoding, Prefer", "Vary: Accept, Accept-Encoding"
	tests := []struct {
		line string
		vary string
		kind problem.Kind
	}{
		{"PUT /orders", lists, problem.MethodNotAllowed},
		{"GET /orders?limit=0", lists, problem.InvalidParameter},
		{"POST /orders", lists, problem.MalformedJSON},
		{"POST /orders/1", items, problem.MethodNotAllowed},
		{"GET /orders/7", items, problem.NotFound},
		{"HEAD /orders/7", items, problem.NotFound},
		{"GET " + gone, items, problem.Gone},
		{"DELETE " + gone, items, problem.Gone},
		{"GET /orders/1?x=1", items, problem.InvalidParameter},
		{"POST /biggest", items, problem.MethodNotAllowed},
		{"GET /biggest", items, problem.InvalidParameter},
		{"GET /biggest?customerId=nobody", items, problem.NotFound},
		// The target is unknown.
		{"GET /nothing", "Vary:", problem.NotFound},
		{"BREW /orders", "Vary:", problem.NotImplemented},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			wantProblem(t, send(t, h, tt.line), tt.kind, tt.vary)
		})
	}
	want(t, send(t, h, "GET /orders/1"), http.StatusOK, items)
	want(t, send(t, h, "GET /orders"), http.StatusOK, lists)
	tag := send(t, h, "GET /orders/1").header.Get("Etag")
	want(t, send(t, h, "GET /orders/1", "If-None-Match: "+tag), http.StatusNotModified, items)
	want(t, send(t, h, "GET /biggest?customerId=u"), http.StatusOK, items)
	wantProblem(t, send(t, h, "GET /orders/1", "Accept: text/html"), problem.NotAcceptable, items)
	wantProblem(t, send(t, h, "PATCH /orders/1", `If-Match: "x"`, mergeBody, "", `{}`), problem.PreconditionFailed, items)
}

// Vary fields of an outer middleware remain, without duplicates.
func TestRule036VaryIsAddedTo(t *testing.T) {
	t.Parallel()
	inner := api(t)
	outer := func(vary ...string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Vary"] = vary
			inner.ServeHTTP(w, r)
		})
	}
	tests := []struct {
		name, want string
		outside    []string
	}{
		{"one", "Origin, Accept, Accept-Encoding", []string{"Origin"}},
		{"two lines", "Origin, Cookie, Accept, Accept-Encoding", []string{"Origin", "Cookie"}},
		{"the same", "accept-encoding, Origin, Accept", []string{"accept-encoding, Origin"}},
		{"everything", "*", []string{"*"}},
	}
	for _, tt := range tests {
		for _, target := range []string{"/places/ath", "/places/none", "/places"} {
			res := send(t, outer(tt.outside...), "GET "+target)
			got := strings.TrimSuffix(strings.Join(res.header["Vary"], ", "), ", Prefer") // lists only
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: GET %s: Vary (-want +got):\n%s", tt.name, target, diff)
			}
		}
	}
	h := outer("Origin")
	want(t, send(t, h, "GET /places"), http.StatusOK, "Vary: Origin, Accept, Accept-Encoding, Prefer")
	want(t, send(t, h, "PUT /users/u", jsonBody, "", `{"name":"n"}`), http.StatusCreated,
		"Vary: Origin, Accept, Accept-Encoding")
	want(t, send(t, h, "DELETE /users/u"), http.StatusNoContent, "Vary: Origin, Accept, Accept-Encoding")
}
