package middleware

import (
	"context"
	"net/http"
)

// principalKey is the context key of the principal.
type principalKey struct{}

// Principal returns the name that the verify function of [Authenticate] returned, and "" for an
// anonymous request. It can be used as resource.CatalogOptions.Principal.
func Principal(ctx context.Context) string {
	name, _ := ctx.Value(principalKey{}).(string)
	return name
}

// WithPrincipal returns a context with the given principal. Use it in tests, and if credentials
// arrive outside the Authorization field, for example in a WebSocket message. An outer [Log] logs
// the principal.
func WithPrincipal(ctx context.Context, principal string) context.Context {
	logPrincipal(ctx, principal)
	return context.WithValue(ctx, principalKey{}, principal)
}

// Writes reports whether the method of r is not safe (RFC 9110 section 9.2.1). QUERY counts as
// safe. Writes can be used as AuthenticateOptions.Required.
func Writes(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, "QUERY":
		return false
	}
	return true
}
