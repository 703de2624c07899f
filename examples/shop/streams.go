package main

// Event streams end with the session that opened them. middleware.go puts withSession around the
// shop.

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
)

// session holds the token of a stream. Only streams need it: other requests end soon after their
// token was checked.
type session struct {
	token   string // the id of the token; "" without a token
	user    string // the user of the token
	expires time.Time
}

// sessionKey is the key of the session in a context.
type sessionKey struct{}

// sessionOf returns the session of a stream, or nil for other requests.
func sessionOf(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

// withSession adds an empty session to the context of a stream. Authentication fills it. The
// session must exist before authentication, which runs in an inner handler and cannot change the
// context of this one.
func withSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isStream(r) {
			serveWith(next, w, r, context.WithValue(r.Context(), sessionKey{}, &session{}))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// endWithSession ends a stream if its token expires or is revoked, even if no event triggers a
// check.
func (c *collections) endWithSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := sessionOf(r.Context()); s != nil && s.token != "" {
			ctx, cancel := context.WithTimeout(r.Context(), s.expires.Sub(c.now()))
			defer cancel()
			serveWith(next, w, r, c.openStreams.register(ctx, s))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// connect authenticates a WebSocket by its first message: {"Authorization": "Bearer TOKEN"}.
// Browsers cannot set the header field of a WebSocket request. Without the member the header field
// decides. The result replaces the principal of the request for this socket only.
func (c *collections) connect(
	ctx context.Context, payload []byte,
) (within context.Context, until time.Time, err error) {
	var message struct {
		Authorization string `json:"Authorization"`
	}
	if err := json.Unmarshal(payload, &message); !c.auth || len(payload) == 0 ||
		err == nil && message.Authorization == "" {
		if s := sessionOf(ctx); s != nil && s.token != "" {
			ctx = c.openStreams.register(ctx, s)
		}
		return ctx, until, nil
	}
	token, ok := strings.CutPrefix(message.Authorization, "Bearer ")
	if !ok {
		return nil, until, resource.ErrUnauthenticated
	}
	user, expires, err := c.userOfToken(ctx, tokenID(token))
	if err != nil {
		return nil, until, err
	}
	s := &session{tokenID(token), strconv.FormatInt(user.ID, 10), expires}
	within = context.WithValue(c.openStreams.register(ctx, s), sessionKey{}, s)
	return middleware.WithPrincipal(within, s.user), time.Now().Add(expires.Sub(c.now())), nil
}

// serveWith serves a request with another context, and copies the pattern to r for the log.
func serveWith(next http.Handler, w http.ResponseWriter, r *http.Request, ctx context.Context) {
	inner := r.WithContext(ctx)
	defer func() { r.Pattern = inner.Pattern }()
	next.ServeHTTP(w, inner)
}
