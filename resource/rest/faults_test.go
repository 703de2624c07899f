package rest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// errSecret is an internal error of a store. No response may contain its text.
var errSecret = errors.New("secret: disk 7 is on fire")

// wantFault checks for an internal error that does not reveal its cause.
func wantFault(t *testing.T, res *response, kind problem.Kind) {
	t.Helper()
	d := wantProblem(t, res, kind)
	for _, word := range []string{"secret", "disk", "book", "*", "goroutine", ".go"} {
		if strings.Contains(strings.ReplaceAll(res.body, problem.Internal.URI(), ""), word) {
			t.Errorf("%s tells %q: %s", res.line, word, res.body)
		}
	}
	if kind == problem.Internal && !strings.HasPrefix(d.Instance, "urn:uuid:") && !strings.HasPrefix(res.line, "HEAD") {
		t.Errorf("%s: instance %q cannot be found in the log", res.line, d.Instance)
	}
}

// broken serves two books through operations that modify changes.
func broken(t testing.TB, spoil func(ops *resource.Ops[book])) http.Handler {
	t.Helper()
	ops := resource.OpsOf(stocked(t, book{Title: "a", Sequels: []int64{2}}, book{Title: "b"}))
	spoil(&ops)
	return catalog(t, ops.Resource("books", &resource.Options[book]{
		Query: bookSupport(), Relations: []resource.Relation[book]{
			{Name: "next", Target: "books", Many: true, Keys: func(*book) []string { return []string{"2"} }},
			{Name: "alike", Target: "books", By: "stars", Keys: func(*book) []string { return []string{"0"} }},
		}}))
}

// spoilItems changes every item that a store returns.
func spoilItems(change func(*resource.Item[book])) func(*resource.Ops[book]) {
	spoilt := func(seq iter.Seq2[resource.Item[book], error]) iter.Seq2[resource.Item[book], error] {
		return func(yield func(resource.Item[book], error) bool) {
			for item, err := range seq {
				change(&item)
				if !yield(item, err) {
					return
				}
			}
		}
	}
	return func(ops *resource.Ops[book]) {
		inner := *ops
		ops.Get = func(ctx context.Context, id string) (resource.Item[book], error) {
			item, err := inner.Get(ctx, id)
			change(&item)
			return item, err
		}
		ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[book], error] {
			return spoilt(inner.List(ctx, q))
		}
		ops.GetMany = func(ctx context.Context, ids []string) iter.Seq2[resource.Item[book], error] {
			return spoilt(inner.GetMany(ctx, ids))
		}
		ops.Create = func(ctx context.Context, v book) (resource.Item[book], error) {
			item, err := inner.Create(ctx, v)
			change(&item)
			return item, err
		}
	}
}

// spoilErrors makes every operation fail.
func spoilErrors(err error) func(*resource.Ops[book]) {
	none := func(yield func(resource.Item[book], error) bool) { yield(resource.Item[book]{}, err) }
	return func(ops *resource.Ops[book]) {
		inner := *ops
		failed := resource.Item[book]{}
		ops.List = func(context.Context, query.Query) iter.Seq2[resource.Item[book], error] { return none }
		ops.GetMany = func(context.Context, []string) iter.Seq2[resource.Item[book], error] { return none }
		ops.ListByKeys = func(context.Context, string, []string, query.Query) iter.Seq2[resource.Item[book], error] {
			return none
		}
		ops.Count = func(context.Context, query.Query) (int, error) { return 0, err }
		ops.Create = func(context.Context, book) (resource.Item[book], error) { return failed, err }
		ops.Insert = func(context.Context, string, book) (resource.Item[book], error) { return failed, err }
		ops.Replace = func(context.Context, string, resource.Rev, book) (resource.Item[book], error) { return failed, err }
		ops.Delete = func(context.Context, string, resource.Rev) error { return err }
		ops.Get = func(ctx context.Context, id string) (resource.Item[book], error) {
			if id == "1" { // so that the other operations are reached
				return inner.Get(ctx, id)
			}
			return failed, err
		}
	}
}

// everything are requests that call every operation.
var everything = [][]string{
	{"GET /books"}, {"HEAD /books"}, {"GET /books", "Accept: application/x-ndjson"}, {"GET /books/2"}, {"HEAD /books/2"},
	{"GET /books/1?expand=next"}, {"GET /books/1?expand=alike"},
	{"POST /books", jsonBody, "", `{"title":"c"}`},
	{"PUT /books/1", jsonBody, "", `{"title":"c"}`}, {"PATCH /books/1", mergeBody, "", `{"title":"c"}`}, {"DELETE /books/1"},
}

func TestStoresThatFail(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		kind problem.Kind
	}{
		{errSecret, problem.Internal},
		{fmt.Errorf("secret: %w", resource.ErrUnavailable), problem.Unavailable},
		{fmt.Errorf("secret: %w", context.DeadlineExceeded), problem.Unavailable},
		{context.Canceled, problem.Internal}, // the client did not cancel the request
		{resource.ErrUnauthenticated, problem.Unauthenticated},
		{&resource.Error{Op: "get", Resource: "secret", Err: errSecret}, problem.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			t.Parallel()
			h := broken(t, spoilErrors(tt.err))
			for _, exchange := range everything {
				res := send(t, h, exchange[0], exchange[1:]...)
				wantFault(t, res, tt.kind)
				if tt.kind == problem.Unavailable {
					want(t, res, http.StatusServiceUnavailable, "Retry-After: *")
				}
			}
		})
	}
}

func TestInconsistentStores(t *testing.T) {
	t.Parallel()
	reads := [][]string{{"GET /books"}, {"GET /books", "Accept: application/x-ndjson"}, {"GET /books/2"},
		{"GET /books/2?expand=next"}}
	tests := []struct {
		name   string
		change func(*resource.Item[book])
	}{
		{"the id is another", func(i *resource.Item[book]) { i.ID = "77" }},
		{"the value's id is another", func(i *resource.Item[book]) { i.Value.ID = 77 }},
		{"the id cannot be", func(i *resource.Item[book]) { i.ID, i.Value.ID = "x", 0 }},
		{"the id is not written so", func(i *resource.Item[book]) { i.ID = "0" + i.ID }},
		{"no revision", func(i *resource.Item[book]) { i.Rev = "" }},
		{"text that is not UTF-8", func(i *resource.Item[book]) { i.Value.Title = "secret \xff" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := broken(t, spoilItems(tt.change))
			for _, exchange := range reads {
				wantFault(t, send(t, h, exchange[0], exchange[1:]...), problem.Internal)
			}
			if tt.name != "text that is not UTF-8" { // an item was created that cannot be encoded
				wantFault(t, send(t, h, "POST /books", jsonBody, "", `{"title":"c"}`), problem.Internal)
			}
		})
	}
	h := broken(t, spoilItems(func(i *resource.Item[book]) { i.ID, i.Value.ID = "2", 2 }))
	want(t, send(t, h, "GET /books/2"), http.StatusOK)
	wantFault(t, send(t, h, "GET /books/1"), problem.Internal) // another item than the requested one
}

// TestStoresThatPanic: the library serves the next request.
func TestStoresThatPanic(t *testing.T) {
	t.Parallel()
	h := broken(t, func(ops *resource.Ops[book]) {
		get := ops.Get
		ops.Get = func(ctx context.Context, id string) (resource.Item[book], error) {
			if id == "2" {
				panic("secret")
			}
			return get(ctx, id)
		}
		ops.Replace = func(context.Context, string, resource.Rev, book) (resource.Item[book], error) { panic(errSecret) }
		ops.List = func(context.Context, query.Query) iter.Seq2[resource.Item[book], error] {
			return func(func(resource.Item[book], error) bool) { panic("secret") }
		}
	})
	for range 2 { // the lock of the id was released
		wantFault(t, send(t, h, "PATCH /books/1", mergeBody, "", `{"title":"c"}`), problem.Internal)
		wantFault(t, send(t, h, "GET /books/2"), problem.Internal)
		wantFault(t, send(t, h, "GET /books"), problem.Internal)
		want(t, send(t, h, "GET /books/1"), http.StatusOK)
	}
}

// TestStoresThatGiveMore: the library stops a store that ignores the limit of a page.
func TestStoresThatGiveMore(t *testing.T) {
	t.Parallel()
	given := 0
	h := broken(t, func(ops *resource.Ops[book]) {
		ops.List = func(_ context.Context, q query.Query) iter.Seq2[resource.Item[book], error] {
			return func(yield func(resource.Item[book], error) bool) {
				begin := int64(0)
				if q.After != nil {
					begin = q.After[0].(int64)
				}
				for id := begin + 1; yield(resource.Item[book]{Rev: "r", Value: book{ID: id, Title: "x"}}, nil); id++ {
					given++
				}
			}
		}
	})
	first := send(t, h, "GET /books?limit=3&fields=id")
	want(t, first, http.StatusOK)
	same(t, "first page", []int64{1, 2, 3}, ids(value[page[book]](t, first).Items))
	second := send(t, h, "GET "+link(first, "next"))
	same(t, "second page", []int64{4, 5, 6}, ids(value[page[book]](t, second).Items))
	if given > 10 {
		t.Errorf("%d items were read for two pages of 3", given)
	}
}

// TestErrorInTheMiddle: an error after some items fails the whole page. (Exports are tested in
// export_test.go.)
func TestErrorInTheMiddle(t *testing.T) {
	t.Parallel()
	h := broken(t, func(ops *resource.Ops[book]) {
		half := func(seq iter.Seq2[resource.Item[book], error]) iter.Seq2[resource.Item[book], error] {
			return func(yield func(resource.Item[book], error) bool) {
				for item := range seq {
					if !yield(item, nil) || !yield(resource.Item[book]{}, errSecret) {
						return
					}
				}
			}
		}
		inner := *ops
		ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[book], error] {
			return half(inner.List(ctx, q))
		}
		ops.ListByKeys = func(
			ctx context.Context, field string, keys []string, q query.Query,
		) iter.Seq2[resource.Item[book], error] {
			return half(inner.ListByKeys(ctx, field, keys, q))
		}
	})
	wantFault(t, send(t, h, "GET /books"), problem.Internal)
	wantFault(t, send(t, h, "GET /books", "Accept: application/x-ndjson"), problem.Internal)
	wantFault(t, send(t, h, "GET /books/1?expand=alike"), problem.Internal)
	want(t, send(t, h, "GET /books/1"), http.StatusOK)
}

// TestStaleForEver: retries end with the timeout of the request.
func TestStaleForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		h := broken(t, func(ops *resource.Ops[book]) {
			ops.Replace = func(context.Context, string, resource.Rev, book) (resource.Item[book], error) {
				attempts++
				return resource.Item[book]{}, resource.ErrStale
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		r := request(t, "PATCH /books/1", mergeBody, "", `{"title":"c"}`).WithContext(ctx)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		res := received("PATCH /books/1", w.Result())
		wantFault(t, res, problem.Unavailable)
		want(t, res, http.StatusServiceUnavailable, "Retry-After: *")
		if attempts < 2 {
			t.Errorf("%d attempts", attempts)
		}
	})
}

// TestStrangersOfGetMany: items that were not requested are ignored.
func TestStrangersOfGetMany(t *testing.T) {
	t.Parallel()
	h := broken(t, func(ops *resource.Ops[book]) {
		ops.GetMany = func(context.Context, []string) iter.Seq2[resource.Item[book], error] {
			return func(yield func(resource.Item[book], error) bool) {
				yield(resource.Item[book]{Rev: "r", Value: book{ID: 1, Title: "secret"}}, nil)
			}
		}
	})
	wantBody(t, send(t, h, "GET /books/1?expand=next&fields=id"), http.StatusOK, `{"id":1,"next":[]}`)
}

// TestStoredButNotRendered: the item is stored, so a PUT succeeds although JSON cannot represent what
// the store returned.
func TestStoredButNotRendered(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[share](nil))
	replace, insert := ops.Replace, ops.Insert
	ops.Replace = func(ctx context.Context, id string, rev resource.Rev, v share) (resource.Item[share], error) {
		item, err := replace(ctx, id, rev, v)
		item.Value.Share = math.NaN()
		return item, err
	}
	ops.Insert = func(ctx context.Context, id string, v share) (resource.Item[share], error) {
		item, err := insert(ctx, id, v)
		item.Value.Share = math.NaN()
		return item, err
	}
	h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Logger: slog.New(slog.DiscardHandler)},
		ops.Resource("shares", nil)), nil)
	want(t, send(t, h, "PUT /shares/a", jsonBody, "", `{"share":1}`), http.StatusCreated, "Location: /shares/a", "ETag: ")
	want(t, send(t, h, "PUT /shares/a", jsonBody, "", `{"share":2}`), http.StatusNoContent, "ETag: ")
	want(t, send(t, h, "PUT /shares/a", jsonBody, "Prefer: return=minimal", "", `{"share":3}`), http.StatusNoContent, "ETag: ")
}
