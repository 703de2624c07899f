package middleware

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/stoa-go/stoa/resource/problem"
)

// RecoverOptions adjust [Recover]. The zero value is meaningful; nil is the zero value.
type RecoverOptions struct {
	// Logger is told of panics, with the stack. Nil means [slog.Default].
	Logger *slog.Logger
}

// Recover returns a middleware that makes of a panic an internal error: a problem document with status 500 which says nothing
// but an instance, by which the line in the log is found. Once the response has begun there is no such way back, and the
// connection is aborted instead ([http.ErrAbortHandler]), so that half an answer is not taken for a whole one. That panic
// itself goes through untouched.
//
// What the handler had put into the header of the response is dropped where it was meant for the answer that is not sent:
// cookies, a location, validators. opts may be nil.
func Recover(opts *RecoverOptions) func(http.Handler) http.Handler {
	var o RecoverOptions
	if opts != nil {
		o = *opts
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w, seen := watched(w)
			defer func() {
				if v := recover(); v != nil {
					o.answer(seen, r, v)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// answer tells the log of a panic, and the client if it can still be told.
func (o *RecoverOptions) answer(w *watch, r *http.Request, v any) {
	if v == http.ErrAbortHandler {
		panic(v)
	}
	instance := "urn:uuid:" + newUUID()
	loggerOr(o.Logger).ErrorContext(r.Context(), "stoa: panic", "instance", instance, "method",
		clean(r.Method),
		"path", clean(r.URL.Path), "request_id", RequestIDFrom(r.Context()), "error", clean(fmt.Sprint(v)),
		"stack", string(debug.Stack()))
	if w.begun() {
		panic(http.ErrAbortHandler)
	}
	drop(w.Header())
	d := problem.New(problem.Internal, "")
	d.Instance = instance
	problem.Write(w, r, d)
}

// dropped belong to an answer that is not sent, beside what problem.Write replaces.
var dropped = [...]string{"Set-Cookie", "Location", "Expires", "Trailer", "Transfer-Encoding",
	"Preference-Applied"}

func drop(h http.Header) {
	for _, name := range dropped {
		h.Del(name)
	}
}

// loggerOr is the logger, or the default one, which may be replaced while the server runs.
func loggerOr(l *slog.Logger) *slog.Logger {
	if l != nil {
		return l
	}
	return slog.Default()
}
