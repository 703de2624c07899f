package middleware

// Recovery of panics. It answers 500 if the response has not begun, and aborts it otherwise.

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/stoa-go/stoa/resource/problem"
)

// RecoverOptions configures [Recover]. Nil means the zero value.
type RecoverOptions struct {
	// Logger receives panics with their stack. Default [slog.Default].
	Logger *slog.Logger
}

// Recover returns a middleware that turns a panic into a problem document with status 500. The
// document contains no details, only an instance that also appears in the log record. If the
// response has already begun, the connection is aborted with [http.ErrAbortHandler], so that the
// client does not take a partial response for a complete one. A panic with http.ErrAbortHandler is
// passed on.
//
// Header fields that the handler has set for its own response are removed, such as Set-Cookie and
// Location. opts may be nil.
func Recover(opts *RecoverOptions) func(http.Handler) http.Handler {
	var o RecoverOptions
	if opts != nil {
		o = *opts
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w, seen := newRecorder(w)
			defer func() {
				if v := recover(); v != nil {
					o.respond(seen, r, v)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// respond logs the panic v and writes the problem, or aborts the connection.
func (o *RecoverOptions) respond(w *recorder, r *http.Request, v any) {
	if v == http.ErrAbortHandler {
		panic(v)
	}
	instance := "urn:uuid:" + newUUID()
	loggerOrDefault(o.Logger).ErrorContext(r.Context(), "stoa: panic", "instance", instance, "method",
		sanitize(r.Method),
		"path", sanitize(r.URL.Path), "request_id", RequestIDFrom(r.Context()), "error",
		sanitize(fmt.Sprint(v)),
		"stack", string(debug.Stack()))
	if w.wroteHeader() {
		panic(http.ErrAbortHandler)
	}
	dropStale(w.Header())
	d := problem.New(problem.Internal, "")
	d.Instance = instance
	problem.Write(w, r, d)
}

// staleFields belong to the discarded response. problem.Write replaces the other fields.
var staleFields = [...]string{"Set-Cookie", "Location", "Expires", "Trailer", "Transfer-Encoding",
	"Preference-Applied"}

// dropStale removes fields that describe the response which the handler has begun.
func dropStale(h http.Header) {
	for _, name := range staleFields {
		h.Del(name)
	}
}

// loggerOrDefault returns l, or slog.Default if l is nil. The default logger may be replaced at any
// time.
func loggerOrDefault(l *slog.Logger) *slog.Logger {
	if l != nil {
		return l
	}
	return slog.Default()
}
