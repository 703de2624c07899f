package middleware

// Authentication by bearer token. bearer.go reads the field; the caller's function verifies the
// token. principal.go has the session in the context.

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// ErrToken is returned, bare or wrapped, by a verify function if the token is not valid: it was
// never issued, has expired or was revoked. [Authenticate] responds with 401.
var ErrToken = errors.New("middleware: invalid token")

// AuthenticateOptions configures [Authenticate]. The zero value allows requests without a token.
// Nil means the zero value.
type AuthenticateOptions struct {
	// Realm is the realm in challenges. Empty omits it.
	Realm string
	// Required reports whether a request needs a token. [Writes] requires one for every unsafe
	// method. Nil requires none; then inner handlers decide about anonymous requests. Required also
	// decides about messages over a WebSocket: see [CheckSocket]. A browser can send a token only in
	// the first message, so Required must be false for requests with Upgrade to let browsers connect.
	Required func(r *http.Request) bool
	// Stream reports whether a request is long-lived. Its context ends at Session.Expires, and a
	// request that is not a stream may take longer. Default: requests with Upgrade, and those that
	// accept text/event-stream.
	Stream func(r *http.Request) bool
	// Vary adds Authorization to Vary. It is needed only if shared caches may store responses that
	// depend on the caller (Cache-Control: public). Otherwise they do not store responses to
	// authorized requests (RFC 9111 section 3.5).
	Vary bool
	// Logger receives errors of verify. Tokens are never logged. Default [slog.Default].
	Logger *slog.Logger
}

// Authenticate returns a middleware that verifies the bearer token of each request (RFC 6750
// section 2.1). [Principal] returns its owner, and [Claims] what else verify returned. Tokens in the
// query or the body are ignored, because those parts are often logged.
//
// verify returns the session of a token. It must not read the body of r, and must be safe for
// concurrent use. The response depends on its error:
//   - [ErrToken], an empty Principal, or a session that has expired: 401, with the challenge
//     invalid_token. To tolerate clocks that differ, verify returns a later Session.Expires.
//   - [*problem.Details]: that problem, such as a 403 for a closed account.
//   - Any other error: 503, because the token may be valid. The error is logged.
//
// A request without a token for which one is required is rejected with 401 and a challenge without
// an error code. Several Authorization fields, or a malformed one, are rejected with 400 and
// invalid_request (RFC 6750 section 3.1). Other schemes, such as Basic, count as no token.
//
// opts may be nil. Authenticate panics if verify is nil.
func Authenticate[T any](verify func(r *http.Request, token string) (Session[T], error),
	opts *AuthenticateOptions) func(http.Handler) http.Handler {
	if verify == nil {
		panic("middleware: Authenticate: verify is nil; pass a function that verifies tokens")
	}
	return authenticate(func(r *http.Request, token string) (Session[T], error) {
		session, err := verify(r, token)
		if err == nil && !session.Expires.IsZero() && !time.Now().Before(session.Expires) {
			return Session[T]{}, ErrToken
		}
		return session, err
	}, opts)
}

// authenticate is [Authenticate] with a verify that checks Session.Expires itself.
func authenticate[T any](verify func(r *http.Request, token string) (Session[T], error),
	opts *AuthenticateOptions) func(http.Handler) http.Handler {
	a := &authenticator[T]{verify: verify}
	if opts != nil {
		a.opts = *opts
	}
	if a.opts.Stream == nil {
		a.opts.Stream = isStream
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if a.opts.Vary {
				addVary(w.Header(), "Authorization")
			}
			session, refusal := a.authenticate(r)
			if refusal != nil {
				problem.Write(w, r, refusal)
				return
			}
			ctx := r.Context()
			if r.Header["Upgrade"] != nil {
				ctx = context.WithValue(ctx, socketKey{}, a.socketOf(r))
			}
			if session.Principal != "" {
				ctx = WithSession(ctx, session)
			}
			if !session.Expires.IsZero() && a.opts.Stream(r) {
				var cancel context.CancelFunc
				ctx, cancel = WithExpiry(ctx)
				defer cancel()
			}
			if ctx == r.Context() {
				next.ServeHTTP(w, r)
				return
			}
			serveWith(next, w, r, ctx)
		})
	}
}

type authenticator[T any] struct {
	verify func(r *http.Request, token string) (Session[T], error)
	opts   AuthenticateOptions
}

// authenticate returns the session, which is zero without a token, or the problem to respond with.
func (a *authenticator[T]) authenticate(r *http.Request) (session Session[T], refusal *problem.Details) {
	token, is := readBearer(r.Header["Authorization"])
	switch {
	case is == malformed:
		d := problem.New(problem.InvalidHeader,
			"The Authorization header is malformed; send one of the form Bearer TOKEN.")
		d.Errors = []problem.Violation{{Header: "Authorization", Code: "syntax"}}
		return session, a.withChallenge(d, "invalid_request",
			"send one Authorization field with one bearer token")
	case is == bearer:
		return a.verifyToken(r, token)
	case a.opts.Required != nil && a.opts.Required(r):
		return session, a.withChallenge(problem.New(problem.Unauthenticated,
			"The request needs a bearer token in the Authorization header."), "", "")
	}
	return session, nil
}

// verifyToken calls verify and maps its error to a problem.
func (a *authenticator[T]) verifyToken(r *http.Request, token string) (session Session[T],
	refusal *problem.Details) {
	verified, err := a.verify(r, token)
	var details *problem.Details
	switch {
	case err == nil && verified.Principal != "":
		return verified, nil
	case err == nil, errors.Is(err, ErrToken): // an empty name is not a valid principal
		d := problem.New(problem.Unauthenticated, "The bearer token is invalid, expired or revoked.")
		return session, a.withChallenge(d, "invalid_token", "the token is invalid, expired or revoked")
	case errors.As(err, &details):
		d := *details
		if d.StatusCode() == http.StatusUnauthorized && d.Header.Get("WWW-Authenticate") == "" {
			return session, a.withChallenge(&d, "invalid_token", "")
		}
		return Session[T]{}, &d
	case r.Context().Err() == nil:
		loggerOrDefault(a.opts.Logger).ErrorContext(r.Context(), "stoa: token verification failed",
			"method", r.Method, "error", strings.ReplaceAll(err.Error(), token, "[token]"))
	}
	d := problem.New(problem.Unavailable, "The bearer token could not be verified; retry after 1 second.")
	d.Header = http.Header{"Retry-After": {"1"}}
	return Session[T]{}, d
}

// isStream reports whether the header of a request asks for an event stream or a WebSocket.
func isStream(r *http.Request) bool {
	accepted := strings.ToLower(strings.Join(r.Header["Accept"], ","))
	return r.Header["Upgrade"] != nil || strings.Contains(accepted, "text/event-stream")
}

// withChallenge adds WWW-Authenticate to d (RFC 6750 section 3).
func (a *authenticator[T]) withChallenge(d *problem.Details, code, description string) *problem.Details {
	d.Header = d.Header.Clone()
	if d.Header == nil {
		d.Header = http.Header{}
	}
	d.Header.Set("WWW-Authenticate", challenge(a.opts.Realm, code, description))
	return d
}

// addVary adds name to Vary if it is missing. Handlers that run later append to it.
func addVary(h http.Header, name string) {
	for _, line := range h["Vary"] {
		if slices.ContainsFunc(strings.Split(line, ","), func(member string) bool {
			member = strings.TrimSpace(member)
			return member == "*" || strings.EqualFold(member, name)
		}) {
			return
		}
	}
	h.Add("Vary", name)
}
