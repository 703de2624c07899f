package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// LogOptions adjust [Log]. The zero value is meaningful; nil is the zero value.
type LogOptions struct {
	// Logger is told of every request. Nil means [slog.Default].
	Logger *slog.Logger
	// Skip says which requests are not worth a line, such as those of a health check. Nil skips none. A request that is
	// aborted or answered with 500 or above has its line all the same.
	Skip func(r *http.Request) bool
	// Query adds the query, without the values of parameters whose names sound secret: those with token, key, secret, pass,
	// auth, code, sig, session or credential in them. It is off, since what a filter asks for may be personal, too.
	Query bool
	// Headers are fields of the request to add. Those that carry secrets are never logged: Authorization,
	// Proxy-Authorization, Cookie, Idempotency-Key, and whatever sounds like a secret; of a Referer the query is not.
	Headers []string
}

// Log returns a middleware that writes one line for every request, when it has been answered:
//
//	level=INFO msg=request method=GET route="/orders/{id}" status=200 bytes=71 duration=1.2ms principal=ann request_id=...
//
// The route is the pattern by which an http.ServeMux behind it matched; where there is none it is the path. The principal is
// what [Authenticate] found out, though that stands behind; a caller that [ClientAddress] knows is there as client. An answer
// that was broken off has aborted=true, and a connection that was taken over, as by a WebSocket, status 101. The level is
// INFO, WARN where an answer was broken off, and ERROR from status 500.
//
// Nothing that a client can choose is longer than 256 bytes, and what would not be printed is escaped, whatever the handler
// of the logger does with it. Keys, tokens and content are not logged at all. opts may be nil.
func Log(opts *LogOptions) func(http.Handler) http.Handler {
	l := &requestLog{}
	if opts != nil {
		l.opts = *opts
	}
	for _, name := range l.opts.Headers {
		if name = http.CanonicalHeaderKey(name); !soundsSecret(name) {
			l.headers = append(l.headers, name)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			e := &entry{start: time.Now(), path: r.URL.Path, aborted: true}
			w, e.seen = watched(w)
			defer l.write(r, e) // also while a panic passes
			serveWith(next, w, r, context.WithValue(r.Context(), entryKey{}, e))
			e.aborted = false
		})
	}
}

type requestLog struct {
	opts    LogOptions
	headers []string
}

// entry is what becomes a line.
type entry struct {
	start     time.Time
	path      string // as it came: what is behind may take a prefix off
	seen      *watch
	principal atomic.Pointer[string] // told by WithPrincipal, behind
	aborted   bool
}

type entryKey struct{}

// notePrincipal tells the line of the request who is asking.
func notePrincipal(ctx context.Context, principal string) {
	if e, ok := ctx.Value(entryKey{}).(*entry); ok {
		e.principal.Store(&principal)
	}
}

func (l *requestLog) write(r *http.Request, e *entry) {
	status := e.status()
	level := slog.LevelInfo
	switch {
	case status >= 500:
		level = slog.LevelError
	case e.aborted:
		level = slog.LevelWarn
	}
	logger, ctx := loggerOr(l.opts.Logger), r.Context()
	if !logger.Enabled(ctx, level) || status < 500 && !e.aborted && l.opts.Skip != nil && l.opts.Skip(r) {
		return
	}
	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs, slog.String("method", clean(r.Method)), e.route(r), slog.Int("status", status),
		slog.Int64("bytes", e.seen.bytes), slog.Duration("duration", time.Since(e.start)))
	if p := e.principal.Load(); p != nil {
		attrs = append(attrs, slog.String("principal", clean(*p)))
	} else if p := Principal(ctx); p != "" {
		attrs = append(attrs, slog.String("principal", clean(p)))
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
	logger.LogAttrs(ctx, level, "request", l.more(attrs, r)...)
}

// more adds what the options ask for.
func (l *requestLog) more(attrs []slog.Attr, r *http.Request) []slog.Attr {
	if l.opts.Query && r.URL.RawQuery != "" {
		attrs = append(attrs, slog.String("query", clean(withoutSecrets(r.URL.RawQuery))))
	}
	for _, name := range l.headers {
		if lines := r.Header[name]; len(lines) > 0 {
			value := strings.Join(lines, ", ")
			if name == "Referer" { // it has a query of its own
				value, _, _ = strings.Cut(value, "?")
			}
			attrs = append(attrs, slog.String(strings.ToLower(name), clean(value)))
		}
	}
	return attrs
}

// status is what the client got, or will get from net/http.
func (e *entry) status() int {
	switch {
	case e.seen.status != 0:
		return e.seen.status
	case e.seen.hijacked:
		return http.StatusSwitchingProtocols
	case e.aborted:
		return 0 // nothing at all
	}
	return http.StatusOK
}

// route names what was asked for.
func (e *entry) route(r *http.Request) slog.Attr {
	if r.Pattern == "" {
		return slog.String("path", clean(e.path))
	}
	pattern := r.Pattern
	if _, path, ok := strings.Cut(pattern, " "); ok { // the method is there already
		pattern = strings.TrimLeft(path, " \t")
	}
	return slog.String("route", pattern)
}
