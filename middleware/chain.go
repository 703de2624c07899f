package middleware

import (
	"context"
	"net/http"
)

// Chain combines several middleware into one. The first is the outermost: it sees the request first
// and the response last. Nil elements are skipped. Without elements, Chain returns a middleware
// that does nothing. The package documentation recommends an order.
func Chain(mws ...func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		for i := len(mws) - 1; i >= 0; i-- {
			if mws[i] != nil {
				h = mws[i](h)
			}
		}
		return h
	}
}

// identity is the middleware that does nothing.
func identity(h http.Handler) http.Handler { return h }

// serveWith serves r with another context. Like net/http, it copies the Pattern of the inner
// request to r, so that outer middleware such as [Log] or a tracer can read it.
func serveWith(next http.Handler, w http.ResponseWriter, r *http.Request, ctx context.Context) {
	inner := r.WithContext(ctx)
	defer func() { r.Pattern = inner.Pattern }() // also during a panic
	next.ServeHTTP(w, inner)
}
