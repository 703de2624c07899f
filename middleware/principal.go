package middleware

// The caller in the context of a request.

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Session is the owner and the lifetime of a valid token.
type Session[T any] struct {
	Principal string    // the name of the caller; see [Principal]. Never empty.
	Expires   time.Time // of the token; zero if it does not expire
	Claims    T         // for policies, such as roles and a tenant, or the user in a database
}

// identityKey is the context key of the caller.
type identityKey struct{}

// caller is what the context has of a Session.
type caller struct {
	principal string
	expires   time.Time
	claims    any
}

// callerOf returns the caller of ctx, or the zero value.
func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(identityKey{}).(caller)
	return c
}

// Principal returns Session.Principal of the caller, and "" for an anonymous request. It can be used
// as resource.CatalogOptions.Principal.
func Principal(ctx context.Context) string { return callerOf(ctx).principal }

// Claims returns Session.Claims of the caller, for policies of resources. ok is false for an anonymous
// request, and if the claims have another type. They are the claims at the time of authentication, also
// in an event stream. With [Sessions], policies of streams call [Sessions.Current] for those of now.
//
//	if c, ok := middleware.Claims[MyClaims](ctx); !ok || !slices.Contains(c.Roles, "admin") {
//		return resource.ErrForbidden
//	}
func Claims[T any](ctx context.Context) (claims T, ok bool) {
	claims, ok = callerOf(ctx).claims.(T)
	return claims, ok
}

// WithSession returns a context with the session of a caller, in place of one that ctx has. Use it in
// tests, and if credentials arrive outside the Authorization field. An outer [Log] logs the principal.
func WithSession[T any](ctx context.Context, s Session[T]) context.Context {
	logPrincipal(ctx, s.Principal)
	return context.WithValue(ctx, identityKey{}, caller{s.Principal, s.Expires, s.Claims})
}

// WithPrincipal is [WithSession] for a caller without claims.
func WithPrincipal(ctx context.Context, principal string) context.Context {
	logPrincipal(ctx, principal)
	return context.WithValue(ctx, identityKey{}, caller{principal: principal})
}

// connectKey is the context key of the function that authenticates a WebSocket.
type connectKey struct{}

// connectFunc returns ctx with the session of a token.
type connectFunc func(ctx context.Context, token string) (context.Context, error)

// connect returns the function for the request that opens a WebSocket.
func (a *authenticator[T]) connect(r *http.Request) connectFunc {
	// A copy, because the handler may return before the first message, and outer middleware then
	// changes the request.
	handshake := r.Clone(r.Context())
	return func(ctx context.Context, token string) (context.Context, error) {
		session, refusal := a.verifyToken(handshake.WithContext(ctx), token)
		if refusal != nil {
			return nil, refusal
		}
		return WithSession(ctx, session), nil
	}
}

// Connect authenticates a WebSocket by its first message, {"Authorization": "Bearer TOKEN"}, because
// browsers cannot set header fields of a WebSocket. It is a graphql.Socket.Connect. It calls the verify
// function of the [Authenticate] around the handler, with the request that opened the WebSocket.
// Without the member the session of that request applies. until is Session.Expires. For tokens that can
// be revoked use [Sessions.Connect].
func Connect(ctx context.Context, payload []byte) (within context.Context, until time.Time, err error) {
	token, given, err := readConnect(payload)
	if err != nil {
		return nil, until, err
	}
	if given {
		connect, ok := ctx.Value(connectKey{}).(connectFunc)
		if !ok {
			return nil, until, errSession()
		}
		if ctx, err = connect(ctx, token); err != nil {
			return nil, until, err
		}
	}
	return ctx, callerOf(ctx).expires, nil
}

// readConnect returns the token in the first message of a WebSocket. given is false without one.
func readConnect(payload []byte) (token string, given bool, err error) {
	var message struct {
		Authorization string `json:"Authorization"`
	}
	if len(payload) > 0 {
		err = json.Unmarshal(payload, &message)
	}
	if err == nil && message.Authorization == "" {
		return "", false, nil
	}
	token, is := readBearer([]string{message.Authorization})
	if err != nil || is != bearer {
		return "", false, errSession()
	}
	return token, true, nil
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
