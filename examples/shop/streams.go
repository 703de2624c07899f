package main

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

// session is what a stream was begun with. Other requests are over before it matters that a token is not good any more.
type session struct {
	token   string // as tokenID returns it; "" for who has shown none
	user    string // of the token
	expires time.Time
}

type sessionKey struct{}

// sessionOf returns that of a stream; nil if the request is none.
func sessionOf(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

// remembered makes room for the session of a stream, for whoever finds out whose it is.
func remembered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isStream(r) {
			serveWith(next, w, r, context.WithValue(r.Context(), sessionKey{}, &session{}))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// asLongAsItLasts ends a stream when its token is not good any more, be it of age or as its user has logged out, even if
// nothing happens that would be asked about.
func (c *collections) asLongAsItLasts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := sessionOf(r.Context()); s != nil && s.token != "" {
			ctx, cancel := context.WithTimeout(r.Context(), s.expires.Sub(c.now()))
			defer cancel()
			serveWith(next, w, r, c.endings.of(ctx, s))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// connect finds out who opens a WebSocket. A browser cannot say so in the header, and says it in its first message:
// {"Authorization": "Bearer TOKEN"}. Who says nothing is who the header says.
func (c *collections) connect(ctx context.Context, payload []byte) (within context.Context, until time.Time, err error) {
	var said struct {
		Authorization string `json:"Authorization"`
	}
	if err := json.Unmarshal(payload, &said); !c.auth || len(payload) == 0 || err == nil && said.Authorization == "" {
		if s := sessionOf(ctx); s != nil && s.token != "" {
			ctx = c.endings.of(ctx, s)
		}
		return ctx, until, nil
	}
	token, ok := strings.CutPrefix(said.Authorization, "Bearer ")
	if !ok {
		return nil, until, resource.ErrUnauthenticated
	}
	user, expires, err := c.userOfToken(ctx, tokenID(token))
	if err != nil {
		return nil, until, err
	}
	s := &session{tokenID(token), strconv.FormatInt(user.ID, 10), expires}
	within = context.WithValue(c.endings.of(ctx, s), sessionKey{}, s)
	return middleware.WithPrincipal(within, s.user), time.Now().Add(expires.Sub(c.now())), nil
}

// serveWith serves a request in another context. What it was found to be for is noted in the request outside, for the log.
func serveWith(next http.Handler, w http.ResponseWriter, r *http.Request, ctx context.Context) {
	inner := r.WithContext(ctx)
	defer func() { r.Pattern = inner.Pattern }()
	next.ServeHTTP(w, inner)
}
