package middleware

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

// ErrToken is what a verify function returns, bare or wrapped, for a token that is not valid: one that was never issued, has
// expired or was revoked. It is answered with 401.
var ErrToken = errors.New("the token is not valid")

// AuthenticateOptions adjust [Authenticate]. The zero value lets everybody through who shows no token; nil is the zero
// value.
type AuthenticateOptions struct {
	// Realm names what the tokens are for, in challenges; "" leaves it out.
	Realm string
	// Required says whether a request may not go on without a token. [Writes] asks for one with every change. Nil means that
	// none has to: then it is for what is behind to refuse nobody in particular.
	Required func(r *http.Request) bool
	// Vary adds Authorization to Vary. It is for servers that let shared caches keep (Cache-Control: public) what depends on
	// the caller; without that caches keep nothing that was authorized (RFC 9111 section 3.5), and the member only divides
	// what they could share.
	Vary bool
	// Logger is told why tokens could not be checked, and never a token. Nil means [slog.Default].
	Logger *slog.Logger
}

// Authenticate returns a middleware that finds out who is asking by the bearer token of the request (RFC 6750 section 2.1),
// and tells [Principal]. Tokens in the query or in the content are not looked at: those get into logs.
//
// verify returns whose a token is, and is called by many goroutines at once. Its errors are answered so:
//   - [ErrToken], and no name: 401, with a challenge that says invalid_token.
//   - A [*problem.Details]: that, such as a 403 for an account that is closed.
//   - Any other: 503, since the request may be a good one, and what it was goes to the log.
//
// Where a token is required and there is none the answer is 401 with a challenge that says no more. More than one
// Authorization field, or one that cannot be read, is 400 with invalid_request (RFC 6750 section 3.1). Other schemes, such
// as Basic, are somebody else's: the request has no token.
//
// opts may be nil. Authenticate panics if verify is nil.
func Authenticate(
	verify func(ctx context.Context, token string) (principal string, err error), opts *AuthenticateOptions,
) func(http.Handler) http.Handler {
	if verify == nil {
		panic("middleware: Authenticate needs a verify function")
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
			principal, refusal := a.admit(r)
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

// admit returns who is asking, "" for nobody, or why the request goes no further.
func (a *authenticator) admit(r *http.Request) (principal string, refusal *problem.Details) {
	token, is := readBearer(r.Header["Authorization"])
	switch {
	case is == malformed:
		d := problem.New(problem.InvalidHeader, "The Authorization field cannot be read.")
		d.Errors = []problem.Violation{{Header: "Authorization", Code: "syntax"}}
		return "", a.challenged(d, "invalid_request", "one Authorization field with one token is wanted")
	case is == bearer:
		return a.check(r, token)
	case a.opts.Required != nil && a.opts.Required(r):
		return "", a.challenged(problem.New(problem.Unauthenticated, "A bearer token is required."), "", "")
	}
	return "", nil
}

// check asks verify.
func (a *authenticator) check(r *http.Request, token string) (principal string, refusal *problem.Details) {
	principal, err := a.verify(r.Context(), token)
	var told *problem.Details
	switch {
	case err == nil && principal != "":
		return principal, nil
	case err == nil, errors.Is(err, ErrToken): // a token that is nobody's opens nothing
		d := problem.New(problem.Unauthenticated, "The token is not valid, or not any more.")
		return "", a.challenged(d, "invalid_token", "the token is not valid")
	case errors.As(err, &told):
		d := *told
		if d.StatusCode() == http.StatusUnauthorized && d.Header.Get("WWW-Authenticate") == "" {
			return "", a.challenged(&d, "invalid_token", "")
		}
		return "", &d
	case r.Context().Err() == nil:
		loggerOr(a.opts.Logger).ErrorContext(r.Context(), "stoa: a token cannot be checked", "method",
			r.Method,
			"error", strings.ReplaceAll(err.Error(), token, "[token]"))
	}
	d := problem.New(problem.Unavailable, "The token cannot be checked at the moment; try again.")
	d.Header = http.Header{"Retry-After": {"1"}}
	return "", d
}

// challenged adds what is wanted instead (RFC 6750 section 3).
func (a *authenticator) challenged(d *problem.Details, code, description string) *problem.Details {
	d.Header = d.Header.Clone()
	if d.Header == nil {
		d.Header = http.Header{}
	}
	d.Header.Set("WWW-Authenticate", challenge(a.opts.Realm, code, description))
	return d
}

// addVary adds a member to Vary, unless it is there. It is added before the handler, which adds its own.
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
