package rest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// Lists as lines: all items, in constant memory, and never truncated without an error.

const asLines = "Accept: application/x-ndjson"

// manyOrders serves n orders and counts the pages that the store lists.
func manyOrders(t *testing.T, n int, opts ...func(*setup)) (h http.Handler, pages *atomic.Int32) {
	t.Helper()
	pages = new(atomic.Int32)
	return api(t, append([]func(*setup){func(s *setup) {
		for i := range n {
			if _, err := s.orderOps.Create(t.Context(), order{Customer: "u", Status: "open", Cents: int64(i % 7)}); err != nil {
				t.Fatal(err)
			}
		}
		list := s.orderOps.List
		s.orderOps.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[order], error] {
			pages.Add(1)
			if q.Limit < 1 || q.Limit > 501 {
				t.Errorf("the store is asked for %d items at once", q.Limit)
			}
			return list(ctx, q)
		}
	}}, opts...)...), pages
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"id\":%d}\n", i+1)
	}
	return b.String()
}

func TestExportIsWhole(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 499, 500, 501, 1000, 1203} {
		h, pages := manyOrders(t, n)
		res := send(t, h, "GET /orders?fields=id", asLines)
		want(t, res, http.StatusOK, "Content-Type: application/x-ndjson", "Vary: Accept, Accept-Encoding, Prefer",
			"Cache-Control: private, no-cache", "X-Content-Type-Options: nosniff", "Accept-Ranges:",
			"Accept-Post:", "Link:", "Etag:", "Content-Encoding:")
		wantBody(t, res, http.StatusOK, lines(n))
		if got, want := int(pages.Load()), max(1, (n+499)/500); got > want+1 {
			t.Errorf("%d items: the store was asked %d times, want %d", n, got, want)
		}
		zipped := send(t, h, "GET /orders?fields=id", asLines, "Accept-Encoding: gzip")
		if diff := cmp.Diff(lines(n), gunzip(t, zipped)); diff != "" {
			t.Errorf("%d items, gzip (-want +got):\n%s", n, diff)
		}
		pages.Store(0)
		head := send(t, h, "HEAD /orders?fields=id", asLines)
		if diff := cmp.Diff(res.header, head.header); diff != "" || head.body != "" || pages.Load() > 1 {
			t.Errorf("%d items: HEAD asked for %d pages and has %q (-GET +HEAD):\n%s", n, pages.Load(), head.body, diff)
		}
		// Whole items, without a query.
		if got := strings.Count(send(t, h, "GET /orders", asLines).body, "\n"); got != n {
			t.Errorf("%d lines, want %d", got, n)
		}
	}
}

func TestExportOfWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	h, _ := manyOrders(t, 1100, func(s *setup) { s.orders.MaxPageSize = 2000 })
	create(t, h, "/users", `{"id":"u","name":"n"}`)
	ids := func(target string) []string {
		res := send(t, h, "GET "+target, asLines)
		want(t, res, http.StatusOK)
		return strings.Split(strings.TrimSuffix(res.body, "\n"), "\n")
	}
	wantBody(t, send(t, h, "GET /orders?limit=2&fields=id", asLines), http.StatusOK, lines(2))
	wantBody(t, send(t, h, "GET /orders?limit=700&fields=id", asLines), http.StatusOK, lines(700))
	wantBody(t, send(t, h, "GET /orders?limit=500&fields=id", asLines), http.StatusOK, lines(500))
	wantBody(t, send(t, h, "GET /orders?limit=2000&fields=id", asLines), http.StatusOK, lines(1100))
	if got := len(ids("/orders?cents.gte=3&cents.lt=4")); got != 157 {
		t.Errorf("%d orders of 3 cents, want 157", got)
	}
	if got := ids("/orders?sort=-cents&limit=1&fields=id,cents"); !cmp.Equal(got, []string{`{"id":7,"cents":6}`}) {
		t.Errorf("first by -cents: %s", got)
	}
	wantBody(t, send(t, h, "GET /orders?limit=1&fields=id&expand=customer", asLines), http.StatusOK,
		`{"id":1,"customer":{"id":"u","name":"n"}}`+"\n")
	for _, line := range ids("/orders?expand=customer") {
		if !strings.HasSuffix(line, `"customer":{"id":"u","name":"n"}}`) {
			t.Fatalf("line %s", line)
		}
	}
	// An export can start after a page.
	_, next, _ := strings.Cut(send(t, h, "GET /orders?limit=400").body, `"next":"`)
	next, _, _ = strings.Cut(next, `"`)
	wantBody(t, send(t, h, "GET /orders?fields=id&after="+next, asLines), http.StatusOK,
		strings.TrimPrefix(lines(1100), lines(400)))
}

func TestExportHidesWhatListsHide(t *testing.T) {
	t.Parallel()
	h, _ := manyOrders(t, 1001, func(s *setup) {
		s.orders.Authorize = func(_ context.Context, _ resource.Op, before, _ *order) error {
			if before.ID%500 != 0 {
				return resource.ErrForbidden
			}
			return nil
		}
	})
	wantBody(t, send(t, h, "GET /orders?fields=id", asLines), http.StatusOK, "{\"id\":500}\n{\"id\":1000}\n")
	h, _ = manyOrders(t, 1001, func(s *setup) {
		s.orders.Scope = func(context.Context) (query.Filter, error) {
			return query.Where("cents", query.Eq, int64(8)), nil
		}
	})
	wantBody(t, send(t, h, "GET /orders", asLines), http.StatusOK, "")
}

// Errors of the request or of the first page are reported with their status.
func TestExportRefuses(t *testing.T) {
	t.Parallel()
	h := api(t)
	tests := []struct {
		target, place string
		kind          problem.Kind
	}{
		{"/orders?limit=201", "?limit invalidValue", problem.InvalidParameter},
		{"/orders?x=1", "?x unknownParameter", problem.InvalidParameter},
		{"/orders?after=x", "?after invalidCursor", problem.InvalidCursor},
		{"/orders?before=x", "?before invalidCursor", problem.InvalidCursor},
	}
	for _, tt := range tests {
		wantErrors(t, wantProblem(t, send(t, h, "GET "+tt.target, asLines), tt.kind), tt.place)
	}
	h = api(t, func(s *setup) {
		s.orderOps.List = func(context.Context, query.Query) iter.Seq2[resource.Item[order], error] {
			return func(yield func(resource.Item[order], error) bool) {
				yield(resource.Item[order]{}, resource.ErrUnavailable)
			}
		}
	})
	wantProblem(t, send(t, h, "GET /orders", asLines), problem.Unavailable, "Retry-After: 1", "Content-Encoding:")
	wantProblem(t, send(t, h, "HEAD /orders", asLines), problem.Unavailable, "Retry-After: 1")
}

// A failed export must not look like a complete one, in every version of HTTP that can distinguish
// them.
func TestExportThatFailsIsCutOff(t *testing.T) {
	t.Parallel()
	trouble := map[string]func(*setup){
		"the store": func(s *setup) {
			list := s.orderOps.List
			s.orderOps.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[order], error] {
				if q.After != nil {
					return func(yield func(resource.Item[order], error) bool) {
						yield(resource.Item[order]{}, errors.New(cause))
					}
				}
				return list(ctx, q)
			}
		},
		"the policy": func(s *setup) {
			s.orders.Authorize = func(_ context.Context, _ resource.Op, before, _ *order) error {
				if before != nil && before.ID == 777 {
					return errors.New(cause)
				}
				return nil
			}
		},
		"a panic": func(s *setup) {
			s.orders.Authorize = func(_ context.Context, _ resource.Op, before, _ *order) error {
				if before != nil && before.ID == 777 {
					panic(cause)
				}
				return nil
			}
		},
		"a relation": func(s *setup) {
			keys := s.orders.Relations[0].Keys
			s.orders.Relations[0].Keys = func(o *order) []string {
				if o.ID == 777 {
					panic(cause)
				}
				return keys(o)
			}
		},
	}
	for name, spoil := range trouble {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := manyOrders(t, 1000, spoil, func(s *setup) { s.catalog.Logger = slog.New(slog.DiscardHandler) })
			srv := listen(t, h)
			for _, coding := range []string{"identity", "gzip"} {
				for _, two := range []bool{false, true} {
					res, err := tryHTTP(t, srv, two)("GET /orders?expand=customer", asLines, "Accept-Encoding: "+coding)
					if err != nil && coding == "gzip" {
						continue // the connection ended before the first block of gzip
					}
					if err != nil || !strings.HasSuffix(res.body, ">") || strings.Contains(res.body, cause) {
						t.Fatalf("%s, HTTP/2 %t: %v, %+v", coding, two, err, res)
					}
					want(t, res, http.StatusOK, "Content-Type: application/x-ndjson")
				}
			}
		})
	}
}
