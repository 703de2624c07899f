package rest_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// node refers to other nodes.
type node struct {
	ID   int64   `json:"id" readOnly:"true"`
	Refs []int64 `json:"refs"`
}

// TestExpandIsBounded: a client cannot make an item expand to more related items than the limit.
func TestExpandIsBounded(t *testing.T) {
	t.Parallel()
	store := stocked(t, make([]node, 50)...)
	ops := resource.OpsOf(store)
	ops.GetMany = nil
	gets := 0
	get := ops.Get
	ops.Get = func(ctx context.Context, id string) (resource.Item[node], error) {
		gets++
		return get(ctx, id)
	}
	h := catalog(t, ops.Resource("nodes", &resource.Options[node]{Relations: []resource.Relation[node]{{
		Name: "friends", Target: "nodes", Many: true, Limit: 3, Keys: func(n *node) []string {
			var keys []string
			for _, ref := range n.Refs {
				keys = append(keys, strconv.FormatInt(ref, 10))
			}
			return keys
		}}}}))
	patch := func(refs string) {
		want(t, send(t, h, "PATCH /nodes/1", mergeBody, "", `{"refs":[`+refs+`]}`), http.StatusOK)
	}
	type friends struct {
		Friends []node `json:"friends"`
	}
	patch(strings.Repeat("2,", 1000) + "3")
	if got := value[friends](t, send(t, h, "GET /nodes/1?expand=friends")).Friends; len(got) != 2 {
		t.Errorf("a friend named a thousand times makes %d friends, want 2", len(got))
	}
	patch("2,3,4,5,6,7,8,9")
	gets = 0
	if got := value[friends](t, send(t, h, "GET /nodes/1?expand=friends")).Friends; len(got) != 3 || gets != 4 {
		t.Errorf("eight friends make %d, with %d reads, want 3 with 4", len(got), gets)
	}
}

// TestHiddenListEnds: a list is read past hidden items in few reads, and not to its end. It needs two visible
// items for a page of one.
func TestHiddenListEnds(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(stocked(t, make([]node, 12_000)...))
	lists := 0
	list := ops.List
	ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[node], error] {
		lists++
		return list(ctx, q)
	}
	h := catalog(t, ops.Resource("nodes", &resource.Options[node]{
		Authorize: func(_ context.Context, _ resource.Op, n, _ *node) error {
			if n.ID == 700 || n.ID == 1400 {
				return nil
			}
			return resource.ErrForbidden
		}}))
	res := send(t, h, "GET /nodes?limit=1")
	want(t, res, http.StatusOK)
	if got := value[page[node]](t, res); len(got.Items) != 1 || got.Items[0].ID != 700 || lists > 8 {
		t.Errorf("with %d lists %v, want item 700 with 8 at most", lists, got.Items)
	}
	lists = 0
	res = send(t, h, "GET /nodes?limit=1&after="+value[page[node]](t, res).Next)
	want(t, res, http.StatusServiceUnavailable)
	if lists > 25 {
		t.Errorf("%d lists for nothing, want 25 at most", lists)
	}
}

// TestForbiddenBeforeConditions: a caller that may not write receives 403, whether or not the
// condition holds.
func TestForbiddenBeforeConditions(t *testing.T) {
	t.Parallel()
	h := byCaller(api(t, func(s *setup) {
		s.users.RequireIfMatch = true
		s.users.Authorize = func(ctx context.Context, op resource.Op, _, _ *user) error {
			if op == resource.OpGet || caller(ctx) == "admin" {
				return nil
			}
			return resource.ErrForbidden
		}
	}))
	want(t, send(t, h, "PUT /users/ann", asAdmin, jsonBody, "", `{"name":"Ann"}`), http.StatusCreated)
	for _, condition := range []string{`If-Match: "other.x"`, "X-None: 1"} {
		want(t, send(t, h, "PUT /users/ann", asMallory, condition, jsonBody, "", `{"name":"A"}`), http.StatusForbidden)
		want(t, send(t, h, "PATCH /users/ann", asMallory, condition, mergeBody, "", `{"name":"A"}`), http.StatusForbidden)
		want(t, send(t, h, "DELETE /users/ann", asMallory, condition), http.StatusForbidden)
	}
	want(t, send(t, h, "PATCH /users/ann", asAdmin, `If-Match: "other.x"`, mergeBody, "", `{"name":"A"}`), 412)
	want(t, send(t, h, "PATCH /users/ann", asAdmin, mergeBody, "", `{"name":"A"}`), 428)
}

// TestScopeAnswersAlike: the error of Scope does not depend on the existence of the item.
func TestScopeAnswersAlike(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) {
		s.places.Scope = func(context.Context) (query.Filter, error) { return query.Filter{}, resource.ErrUnauthenticated }
	})
	for _, target := range []string{"/places/ath", "/places/nowhere", "/places"} {
		want(t, send(t, h, "GET "+target), http.StatusUnauthorized, "WWW-Authenticate: Bearer")
	}
}

type account struct {
	ID  string `json:"id"`
	Pin string `json:"pin,omitempty"`
}

// TestLongIDs: an id must fit into the URL of the item.
func TestLongIDs(t *testing.T) {
	t.Parallel()
	h := api(t)
	body := func(n int) string { return `{"id":"` + strings.Repeat("x", n) + `","name":"x"}` }
	res := send(t, h, "POST /users", jsonBody, "", body(1024))
	want(t, res, http.StatusCreated)
	want(t, send(t, h, "GET "+res.header.Get("Location")), http.StatusOK)
	want(t, send(t, h, "POST /users", jsonBody, "", body(1025)), http.StatusUnprocessableEntity)
}

// TestContentLocationOfAPart: Content-Location has the URL of the content in the response.
func TestContentLocationOfAPart(t *testing.T) {
	t.Parallel()
	h := api(t)
	want(t, send(t, h, "PUT /users/ann", jsonBody, "", `{"name":"Ann"}`), http.StatusCreated, "Content-Location: /users/ann")
	res := send(t, h, "POST /orders?fields=status,id&expand=customer", jsonBody, "", `{"customerId":"ann"}`)
	want(t, res, http.StatusCreated, "Location: /orders/1", "Content-Location: /orders/1?expand=customer&fields=id%2Cstatus")
	if again := send(t, h, "GET "+res.header.Get("Content-Location")); again.body != res.body {
		t.Errorf("at Content-Location is %s, sent was %s", again.body, res.body)
	}
}

// TestLimitsOfOthers: a body limit of a middleware also results in 413.
func TestLimitsOfOthers(t *testing.T) {
	t.Parallel()
	h := api(t)
	outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 10)
		h.ServeHTTP(w, r)
	})
	want(t, send(t, outer, "POST /users", jsonBody, "", `{"name":"a name of more than ten bytes"}`), 413)
}

// TestEscapedCursorNames: links replace a cursor even if its parameter name was escaped.
func TestEscapedCursorNames(t *testing.T) {
	t.Parallel()
	h := api(t)
	next := value[page[place]](t, send(t, h, "GET /places?limit=1")).Next
	link := send(t, h, "GET /places?limit=1&%61fter="+next).header.Get("Link")
	if strings.Contains(link, "%61fter") || !strings.Contains(link, `</places?limit=1>; rel="first"`) {
		t.Errorf("Link: %s", link)
	}
}

// TestWrittenBeyondTheView: a write succeeds although the view cannot represent the stored item.
func TestWrittenBeyondTheView(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(stocked[account](t))
	create := ops.Create
	ops.Create = func(ctx context.Context, a account) (resource.Item[account], error) {
		a.Pin = "new"
		return create(ctx, a)
	}
	accounts := ops.Resource("accounts", nil)
	down := func(a account) (account, error) { return a, nil }
	up := func(v, _ account) (account, error) { return v, nil }
	h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Logger: slog.New(slog.DiscardHandler)},
		resource.View(accounts, down, up, &resource.ViewOptions{Where: query.Where("pin", query.Eq, "old")})), nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(t, "POST /accounts", jsonBody, "", `{"pin":"old"}`))
	if w.Code != http.StatusCreated || w.Body.Len() != 0 || w.Header().Get("Location") == "" {
		t.Errorf("%d %q %q, want 201 without content", w.Code, w.Header().Get("Location"), w.Body)
	}
	want(t, send(t, h, "POST /accounts", jsonBody, "", `{"pin":"other"}`), problem.Invalid.Status())
}

// TestWrittenAndNotShown: a write succeeds although the view cannot convert the stored item, which is logged.
func TestWrittenAndNotShown(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	books := resource.New("books", stocked[book](t), nil)
	view := resource.View(books, func(book) (bookV1, error) { return bookV1{}, errors.New("secret") }, fromV1,
		&resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}, view), nil)
	want(t, send(t, h, "POST /books", jsonBody, "", `{"name":"new"}`), http.StatusCreated,
		"Location: /books/1", "Content-Location:", "Content-Length: 0")
	if !strings.Contains(log.String(), "secret") {
		t.Errorf("the log is %q", &log)
	}
}
