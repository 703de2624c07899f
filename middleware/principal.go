package middleware

import (
	"context"
	"net/http"
)

type principalKey struct{}

// Principal returns the name of who is asking, as the verify function of [Authenticate] gave it, and "" for nobody. It is
// made to be a resource.CatalogOptions.Principal.
func Principal(ctx context.Context) string {
	name, _ := ctx.Value(principalKey{}).(string)
	return name
}

// WithPrincipal returns a context in which somebody is asking: for tests, and for doors through which no Authorization
// field comes, such as a WebSocket that was opened by a browser. [Log] is told, if it is outside.
func WithPrincipal(ctx context.Context, principal string) context.Context {
	notePrincipal(ctx, principal)
	return context.WithValue(ctx, principalKey{}, principal)
}

// Writes reports whether the method of the request asks for a change, as far as HTTP knows: whether it is none of those that
// are safe (RFC 9110 section 9.2.1). It is made to be an AuthenticateOptions.Required.
func Writes(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, "QUERY":
		return false
	}
	return true
}
