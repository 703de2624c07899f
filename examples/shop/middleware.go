package main

// The chain of middleware around the shop, in the order in which requests pass through it.

import (
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/stoa-go/stoa/middleware"
)

// fileTime limits the transfer of a file or an import.
const fileTime = time.Hour

// answerTime limits the handling and the sending of every other response. Both have the same limit
// because an export is read from the database while it is sent. It is long enough for an export
// over a slow connection; a service without exports should use less.
const answerTime = 5 * time.Minute

// withMiddleware wraps the shop in the middleware that every server needs, in the order of package
// middleware. Authentication and the rate limit are not part of it because the page and the health
// check need neither; see withCaller.
//
// The number of concurrent requests is not limited. The database pools limit the work, and a
// request that waits for a connection costs little.
func withMiddleware(logger *slog.Logger, shop http.Handler) http.Handler {
	return middleware.Chain(
		// outermost, so that every log line and every problem has the id
		middleware.RequestID(nil),
		// Health checks are frequent and would hide other lines of the log.
		middleware.Log(&middleware.LogOptions{Logger: logger, Skip: isHealth}),
		// inside of Log, so that a panic is logged with status 500
		middleware.Recover(&middleware.RecoverOptions{Logger: logger}),
		// header fields that restrict what browsers do with a response
		middleware.SecureHeaders(nil),
		// 1 MiB by default; contentOf permits more for files and imports
		middleware.Limit(&middleware.LimitOptions{ContentOf: contentOf}),
		withTimeouts,
		// The user's browser can reach the shop on localhost. A page of another origin must not use
		// that to write. Reads are protected by the same-origin policy.
		middleware.CrossOrigin(nil),
	)(shop)
}

// isHealth reports whether r is a health check.
func isHealth(r *http.Request) bool { return r.URL.Path == "/health" }

// isLarge reports whether the request body or the response may be large: files and imports, under
// every contract.
func isLarge(r *http.Request) bool {
	path := r.URL.Path
	return strings.Contains(path, "/files/") || strings.HasSuffix(path, "/files") ||
		strings.HasSuffix(path, "/places/import")
}

// contentOf returns the maximum size of the request body. Zero means the default limit.
func contentOf(r *http.Request) int64 {
	if isLarge(r) {
		return largestFile
	}
	return 0
}

// streamPath matches the paths that can stream events, with or without the path of a contract.
var streamPath = regexp.MustCompile(`^(/[^/]+)?/((orders|users|places)(/[^/]+)?|(graphql))$`)

// isStream reports whether the response to r has no end: events of a collection or an item, or
// GraphQL over a WebSocket. Accept must name text/event-stream only, so that a list cannot avoid
// the time limit. A client that accepts other types, too, is disconnected after answerTime and can
// resume.
func isStream(r *http.Request) bool {
	place := streamPath.FindStringSubmatch(r.URL.EscapedPath())
	if place == nil {
		return false
	}
	reads, isGraphQL := r.Method == http.MethodGet || r.Method == "QUERY", place[len(place)-1] != ""
	if isGraphQL && reads && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return true
	}
	return (reads || isGraphQL) && r.Header.Get("Accept") == "text/event-stream"
}

// withTimeouts limits how long a request is received, handled and answered, with longer limits for
// files and imports. The body of any other request must arrive within the default of 15 seconds.
//
// A stream is not limited as a whole. It ends with the client, with the expiry of its token, or if
// one event cannot be sent within 10 seconds because the client does not read.
func withTimeouts(next http.Handler) http.Handler {
	usual := middleware.Timeout(
		&middleware.TimeoutOptions{Handle: answerTime, Write: answerTime, Stream: isStream})(next)
	large := middleware.Timeout(
		&middleware.TimeoutOptions{Handle: fileTime, Read: fileTime, Write: fileTime})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isLarge(r) {
			large.ServeHTTP(w, r)
			return
		}
		usual.ServeHTTP(w, r)
	})
}
