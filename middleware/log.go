package middleware

// The request log. The entry is filled in while the request is served, and written at its end.

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// LogOptions configures [Log]. Nil means the zero value.
type LogOptions struct {
	// Logger receives one record per request. Default [slog.Default].
	Logger *slog.Logger
	// Skip reports whether a request is not logged, such as a health check. Requests that are
	// aborted or end with a status of 500 or above are logged anyway. Nil logs all requests.
	Skip func(r *http.Request) bool
	// Query logs the query. Values of parameters with a name that contains one of these are
	// redacted: token, key, secret, pass, auth, code, sig, session, credential, cookie, jwt, otp,
	// pin. So are the variables of GraphQL. Default false, because filters may contain personal data.
	Query bool
	// Headers are additional request fields to log. Fields with secrets are never logged:
	// Authorization, Proxy-Authorization, Cookie, Idempotency-Key, and names that Query would
	// redact. Referer is logged without its query.
	Headers []string
}

// Log returns a middleware that logs each request after its response:
//
//	level=INFO msg=request method=GET route="/orders/{id}" status=200 bytes=71 duration=1.2ms
//	    principal=ann request_id=...
//
// route is the pattern that an inner [http.ServeMux] has matched; without one, path is logged.
// principal is set by an inner [Authenticate], client by an outer [ClientAddress]. A response that
// was not completed has aborted=true. A hijacked connection, such as a WebSocket, has status 101.
// The level is WARN for an aborted response, ERROR for a status of 500 or above, and INFO
// otherwise.
//
// Values that a client can choose are limited to 256 bytes, and unprintable characters are escaped.
// Idempotency keys, tokens and bodies are never logged. opts may be nil.
func Log(opts *LogOptions) func(http.Handler) http.Handler {
	l := &requestLog{}
	if opts != nil {
		l.opts = *opts
	}
	for _, name := range l.opts.Headers {
		if name = http.CanonicalHeaderKey(name); !isSecretName(name) {
			l.headers = append(l.headers, name)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			e := &logEntry{start: time.Now(), path: r.URL.Path, aborted: true}
			w, e.response = newRecorder(w)
			defer l.writeLine(r, e) // also during a panic
			serveWith(next, w, r, context.WithValue(r.Context(), entryKey{}, e))
			e.aborted = false
		})
	}
}

type requestLog struct {
	opts    LogOptions
	headers []string
}

// logEntry collects the values of one log record.
type logEntry struct {
	start     time.Time
	path      string // as received; inner handlers may strip a prefix
	response  *recorder
	principal atomic.Pointer[string] // set by WithPrincipal in inner handlers
	aborted   bool
}

type entryKey struct{}

// logPrincipal adds the principal to the log entry of the request.
func logPrincipal(ctx context.Context, principal string) {
	if e, ok := ctx.Value(entryKey{}).(*logEntry); ok {
		e.principal.Store(&principal)
	}
}

// writeLine logs the request, at a level that follows from its result. Skip never hides a failure.
// An unknown method (501) is a mistake of the client, unlike the other server errors.
func (l *requestLog) writeLine(r *http.Request, e *logEntry) {
	status := e.status()
	level := slog.LevelInfo
	switch {
	case status >= 500 && status != http.StatusNotImplemented:
		level = slog.LevelError
	case e.aborted:
		level = slog.LevelWarn
	}
	logger, ctx := loggerOrDefault(l.opts.Logger), r.Context()
	if !logger.Enabled(ctx, level) || level == slog.LevelInfo && l.opts.Skip != nil && l.opts.Skip(r) {
		return
	}
	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs, slog.String("method", sanitize(r.Method)), e.route(r), slog.Int("status", status),
		slog.Int64("bytes", e.response.bytes), slog.Duration("duration", time.Since(e.start)))
	if p := e.principal.Load(); p != nil {
		attrs = append(attrs, slog.String("principal", sanitize(*p)))
	} else if p := Principal(ctx); p != "" {
		attrs = append(attrs, slog.String("principal", sanitize(p)))
	}
	if c, ok := ctx.Value(clientKey{}).(*clientInfo); ok {
		attrs = append(attrs, slog.String("client", c.addr.String()))
	}
	if id := RequestIDFrom(ctx); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	if e.aborted {
		attrs = append(attrs, slog.Bool("aborted", true))
	}
	logger.LogAttrs(ctx, level, "request", l.optionalAttrs(attrs, r)...)
}

// optionalAttrs appends the attributes that Query and Headers add.
func (l *requestLog) optionalAttrs(attrs []slog.Attr, r *http.Request) []slog.Attr {
	if l.opts.Query && r.URL.RawQuery != "" {
		attrs = append(attrs, slog.String("query", sanitize(redactQuery(r.URL.RawQuery))))
	}
	for _, name := range l.headers {
		if lines := r.Header[name]; len(lines) > 0 {
			value := strings.Join(lines, ", ")
			if name == "Referer" { // its query may contain secrets
				value, _, _ = strings.Cut(value, "?")
			}
			attrs = append(attrs, slog.String(strings.ToLower(name), sanitize(value)))
		}
	}
	return attrs
}

// status returns the status that the client receives.
func (e *logEntry) status() int {
	switch {
	case e.response.status != 0:
		return e.response.status
	case e.response.hijacked:
		return http.StatusSwitchingProtocols
	case e.aborted:
		return 0 // no response at all
	}
	return http.StatusOK
}

// route returns the pattern without the method, or the path.
func (e *logEntry) route(r *http.Request) slog.Attr {
	if r.Pattern == "" {
		return slog.String("path", sanitize(e.path))
	}
	pattern := r.Pattern
	if _, path, ok := strings.Cut(pattern, " "); ok { // the method is logged separately
		pattern = strings.TrimLeft(path, " \t")
	}
	return slog.String("route", pattern)
}
