package middleware

// Authentication by bearer token. bearer.go reads the field; the caller's function verifies the
// token.

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

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
	// method. Nil requires none; then inner handlers decide about anonymous requests.
	Required func(r *http.Request) bool
	// Vary adds Authorization to Vary. It is needed only if shared caches may store responses that
	// depend on the caller (Cache-Control: public). Otherwise they do not store responses to
	// authorized requests (RFC 9111 section 3.5).
	Vary bool
	// Logger receives errors of verify. Tokens are never logged. Default [slog.Default].
	Logger *slog.Logger
}

// Authenticate returns a middleware that verifies the bearer token of each request (RFC 6750
// section 2.1). [Principal] returns its owner. Tokens in the query or the body are ignored, because
// those parts are often logged.
//
// verify returns the owner of a token. It must be safe for concurrent use. The response depends on
// its error:
//   - [ErrToken], or an empty name: 401, with the challenge invalid_token.
//   - [*problem.Details]: that problem, such as a 403 for a closed account.
//   - Any other error: 503, because the token may be valid. The error is logged.
//
// A request without a token for which one is required is rejected with 401 and a challenge without
// an error code. Several Authorization fields, or a malformed one, are rejected with 400 and
// invalid_request (RFC 6750 section 3.1). Other schemes, such as Basic, count as no token.
//
// opts may be nil. Authenticate panics if verify is nil.
func Authenticate(
	verify func(ctx context.Context, token string) (principal string, err error), opts *AuthenticateOptions,
) func(http.Handler) http.Handler {
	if verify == nil {
		panic("middleware: Authenticate: verify is nil; pass a function that verifies tokens")
	}
	a := &authenticator{verify: verify}
	if opts != nil {
		a.opts = *opts
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if a.opts.Vary {
				addVary(w.Header(), "Authorization")
			}
			principal, refusal := a.authenticate(r)
			if refusal != nil {
				problem.Write(w, r, refusal)
				return
			}
			if principal == "" {
				next.ServeHTTP(w, r)
				return
			}
			serveWith(next, w, r, WithPrincipal(r.Context(), principal))
		})
	}
}

type authenticator struct {
	verify func(ctx context.Context, token string) (string, error)
	opts   AuthenticateOptions
}

// authenticate returns the principal, "" if there is no token, or the problem to respond with.
func (a *authenticator) authenticate(r *http.Request) (principal string, refusal *problem.Details) {
	token, is := readBearer(r.Header["Authorization"])
	switch {
	case is == malformed:
		d := problem.New(problem.InvalidHeader,
			"The Authorization header is malformed; send one of the form Bearer TOKEN.")
		d.Errors = []problem.Violation{{Header: "Authorization", Code: "syntax"}}
		return "", a.withChallenge(d, "invalid_request", "send one Authorization field with one bearer token")
	case is == bearer:
		return a.verifyToken(r, token)
	case a.opts.Required != nil && a.opts.Required(r):
		return "", a.withChallenge(problem.New(problem.Unauthenticated,
			"The request needs a bearer token in the Authorization header."), "",
			"")
	}
	return "", nil
}

// verifyToken calls verify and maps its error to a problem.
func (a *authenticator) verifyToken(r *http.Request, token string) (principal string,
	refusal *problem.Details) {
	principal, err := a.verify(r.Context(), token)
	var details *problem.Details
	switch {
	case err == nil && principal != "":
		return principal, nil
	case err == nil, errors.Is(err, ErrToken): // an empty name is not a valid principal
		d := problem.New(problem.Unauthenticated, "The bearer token is invalid, expired or revoked.")
		return "", a.withChallenge(d, "invalid_token", "the token is invalid, expired or revoked")
	case errors.As(err, &details):
		d := *details
		if d.StatusCode() == http.StatusUnauthorized && d.Header.Get("WWW-Authenticate") == "" {
			return "", a.withChallenge(&d, "invalid_token", "")
		}
		return "", &d
	case r.Context().Err() == nil:
		loggerOrDefault(a.opts.Logger).ErrorContext(r.Context(), "stoa: token verification failed",
			"method", r.Method, "error", strings.ReplaceAll(err.Error(), token, "[token]"))
	}
	d := problem.New(problem.Unavailable, "The bearer token could not be verified; retry after 1 second.")
	d.Header = http.Header{"Retry-After": {"1"}}
	return "", d
}

// withChallenge adds WWW-Authenticate to d (RFC 6750 section 3).
func (a *authenticator) withChallenge(d *problem.Details, code, description string) *problem.Details {
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
