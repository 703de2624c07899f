package middleware

// The caller in the context of a request.

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
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

// Expires returns Session.Expires of the caller. It is zero for an anonymous request and for a session that
// does not expire.
func Expires(ctx context.Context) time.Time { return callerOf(ctx).expires }

// WithExpiry returns a copy of ctx that ends at [Expires]. Handlers of event streams use it, such as those
// of packages rest and graphql; WebSockets end at that time, too. The caller must call cancel.
func WithExpiry(ctx context.Context) (within context.Context, cancel context.CancelFunc) {
	until := Expires(ctx)
	if until.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, until)
}

// socketKey is the context key of the requirements of a WebSocket.
type socketKey struct{}

// socket is what [Authenticate] applies to the messages of a WebSocket.
type socket struct {
	// connect returns ctx with the session of a token.
	connect func(ctx context.Context, token string) (context.Context, error)
	// required returns the problem for a message without a token, or nil if it needs none.
	required func(method string) *problem.Details
	outer    *socket // of an outer Authenticate
}

// socketOf returns the socket for the request that opens a WebSocket.
func (a *authenticator[T]) socketOf(r *http.Request) *socket {
	// A copy, because the handler may return before the first message, and outer middleware then
	// changes the request.
	handshake := r.Clone(r.Context())
	outer, _ := r.Context().Value(socketKey{}).(*socket)
	return &socket{
		connect: func(ctx context.Context, token string) (context.Context, error) {
			session, refusal := a.verifyToken(handshake.WithContext(ctx), token)
			if refusal != nil {
				return nil, refusal
			}
			return WithSession(ctx, session), nil
		},
		required: func(method string) *problem.Details {
			message := handshake.Clone(context.WithoutCancel(handshake.Context()))
			message.Method = method
			for _, name := range [...]string{"Upgrade", "Connection"} {
				message.Header.Del(name)
			}
			if a.opts.Required == nil || !a.opts.Required(message) {
				return nil
			}
			d := problem.New(problem.Unauthenticated, "The operation needs a bearer token.")
			return a.withChallenge(d, "", "")
		},
		outer: outer,
	}
}

// CheckSocket returns a problem (401) if a WebSocket needs a token and ctx has no principal. The request
// that opens a WebSocket is a GET, so [Authenticate] cannot apply AuthenticateOptions.Required to its
// messages. CheckSocket calls Required with a copy of that request, which has no Upgrade and the given
// method: GET for the socket itself, and POST for a message that writes. Package graphql calls it after
// Socket.Connect and before each mutation; handlers of other WebSockets should do the same. It returns
// nil without Authenticate.
func CheckSocket(ctx context.Context, method string) error {
	if Principal(ctx) != "" {
		return nil
	}
	s, _ := ctx.Value(socketKey{}).(*socket)
	for ; s != nil; s = s.outer {
		if refusal := s.required(method); refusal != nil {
			return refusal
		}
	}
	return nil
}

// Connect authenticates a WebSocket by its first message, {"Authorization": "Bearer TOKEN"}, because
// browsers cannot set header fields of a WebSocket. It is a graphql.Socket.Connect. It calls the verify
// function of the [Authenticate] around the handler, with the request that opened the WebSocket.
// Without the member the session of that request applies, and [CheckSocket] decides what the socket may
// do if there is none. until is Session.Expires. For tokens that can be revoked use [Sessions.Connect].
func Connect(ctx context.Context, payload []byte) (within context.Context, until time.Time, err error) {
	token, given, err := readConnect(payload)
	if err != nil {
		return nil, until, err
	}
	if given {
		s, ok := ctx.Value(socketKey{}).(*socket)
		if !ok {
			return nil, until, errSession()
		}
		if ctx, err = s.connect(ctx, token); err != nil {
			return nil, until, err
		}
	}
	return ctx, Expires(ctx), nil
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
