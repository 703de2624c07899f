package main

import (
	"net/http"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// collections are what the shop keeps. They share a database, so that they can change together.
type collections struct {
	db     *memory.DB
	orders *memory.Store[Order]
	users  *memory.Store[User]
	places *memory.Store[Place]
	cache  string // Cache-Control of what is served from them
}

func newCollections(cache string) *collections {
	db := memory.NewDB()
	return &collections{
		db:     db,
		orders: memory.New(&memory.Options[Order]{DB: db, Index: []string{"status", "customerId", "createdAt"}}),
		users:  memory.New(&memory.Options[User]{DB: db, Index: []string{"active", "role"}}),
		places: memory.New(&memory.Options[Place]{DB: db,
			Index: []string{"name", "country", "kind", "admin", "population", "lat", "lon"}}),
		cache: cache,
	}
}

// catalog serves the collections.
func (c *collections) catalog() *resource.Catalog {
	return resource.NewCatalog(nil, c.ordersResource(), c.usersResource(), c.placesResource())
}

// assigned takes away that clients may choose ids: the shop does.
func assigned[T any](c resource.Collection[T]) resource.Ops[T] {
	ops := resource.OpsOf(c)
	ops.Insert = nil
	return ops
}

// everything lets clients filter by every field of T that is a single value, and sort by it. Stores that cannot answer
// all of that declare less.
func everything[T any]() query.Support {
	s := query.Support{Filter: map[string][]query.Op{}}
	for _, f := range schema.For[T]().Fields {
		if f.Comparable() {
			s.Filter[f.Name] = comparisons(f)
			s.Sort = append(s.Sort, f.Name)
		}
	}
	return s
}

// comparisons are those that make sense for a field.
func comparisons(f *schema.Field) []query.Op {
	ops := []query.Op{query.Eq, query.Ne, query.In, query.NotIn}
	isTime := f.Type.Format == "date-time"
	if f.Type.Kind != schema.Boolean {
		ops = append(ops, query.Lt, query.Lte, query.Gt, query.Gte)
	}
	if f.Type.Kind == schema.String && !isTime {
		ops = append(ops, query.Contains, query.StartsWith)
	}
	if f.Nullable {
		ops = append(ops, query.IsNull)
	}
	return slices.Clip(ops)
}

// routes puts the page and the health check beside the catalog. It is no [http.ServeMux], which would answer some
// requests itself, with redirects and in plain text.
func routes(catalog http.Handler) http.Handler {
	page := readOnly(newPage())
	health := readOnly(http.HandlerFunc(serveHealth))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			page.ServeHTTP(w, r)
		case "/health":
			health.ServeHTTP(w, r)
		default:
			catalog.ServeHTTP(w, r)
		}
	})
}

// readOnly serves what can only be looked at.
func readOnly(next http.Handler) http.Handler {
	const allow = "GET, HEAD, OPTIONS"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			next.ServeHTTP(w, r)
		case http.MethodOptions:
			w.Header().Set("Allow", allow)
			w.WriteHeader(http.StatusNoContent)
		case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodTrace:
			d := problem.New(problem.MethodNotAllowed, "This can only be looked at.")
			d.Header = http.Header{"Allow": {allow}}
			problem.Write(w, r, d)
		default: // RFC 9110 section 9.1
			problem.Write(w, r, problem.New(problem.NotImplemented, "There is no such method."))
		}
	})
}

// serveHealth answers as long as the shop serves: a shop that drains takes no connections any more.
func serveHealth(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", "16")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.Write([]byte(`{"status":"ok"}` + "\n")) // net/http leaves the body out for HEAD
}
