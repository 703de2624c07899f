package middleware

import (
	"context"
	"net/http"
)

// Chain makes one middleware of several. The first is the outermost: it sees the request first and the response last.
// Those that are nil are left out, so that a list may name what is only sometimes there; of none at all Chain makes one that
// changes nothing. The package comment has the order that these are made for.
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

// same is the middleware that changes nothing.
func same(h http.Handler) http.Handler { return h }

// serveWith serves the request with another context. The request that came is told what pattern of a mux matched the copy,
// as net/http does: whoever is outside, such as [Log] or a tracer, names the request by it.
func serveWith(next http.Handler, w http.ResponseWriter, r *http.Request, ctx context.Context) {
	inner := r.WithContext(ctx)
	defer func() { r.Pattern = inner.Pattern }() // also while a panic passes
	next.ServeHTTP(w, inner)
}
