package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

type standOrder struct {
	ID        int64   `json:"id" readOnly:"true"`
	Lines     []line  `json:"lines" required:"true"`
	Note      *string `json:"note"`
	Status    string  `json:"status"`
	CreatedAt string  `json:"createdAt" readOnly:"true"`
}

type standPlace struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Country    string `json:"country"`
	Population int64  `json:"population"`
}

// standIn is what the workloads need of a shop, in this process.
func standIn(recreate bool) http.Handler {
	db := memory.NewDB()
	orders := memory.New(&memory.Options[standOrder]{DB: db})
	places := memory.New(&memory.Options[standPlace]{DB: db, Recreate: recreate})
	ops := resource.OpsOf(orders)
	ops.Insert = nil
	opts := &resource.CatalogOptions{
		Once:      idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil),
		Principal: func(context.Context) string { return "guest" },
	}
	return resource.NewCatalog(opts,
		resource.FromOps("orders", ops, &resource.Options[standOrder]{Public: true}),
		resource.New("places", places, &resource.Options[standPlace]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"country": {query.Eq}}}}))
}

// A fault is what a shop might do wrong. It calls next as often as it likes.
type fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// serve returns a fleet of one that has a fault, which may be nil.
func serve(t *testing.T, h http.Handler, f fault) *fleet.Fleet {
	t.Helper()
	faulty := h
	if f != nil {
		faulty = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(w, r, h) })
	}
	server := httptest.NewServer(faulty)
	t.Cleanup(server.Close)
	return fleet.Of(server.URL)
}

// everyTenth returns a fault that shows in each tenth request of a method below a path only.
func everyTenth(method, path string, f fault) fault {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == method && strings.HasPrefix(r.URL.Path, path) && n.Add(1)%10 == 0 {
			f(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// ask lets a handler answer a request that nobody sent.
func ask(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}
