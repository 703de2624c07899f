package main

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
// because an export is read from the database while it is sent.
const answerTime = 5 * time.Minute

// withMiddleware wraps the shop in the middleware that every server needs, in the order of package
// middleware. Authentication and the rate limit are not part of it because the page and the health
// check need neither; see withCaller.
//
// The number of concurrent requests is not limited. The database pools limit the work, and a
// request that waits for a connection costs little.
func withMiddleware(logger *slog.Logger, shop http.Handler) http.Handler {
	return middleware.Chain(
		middleware.RequestID(nil),
		middleware.Log(&middleware.LogOptions{Logger: logger, Skip: isHealth}),
		middleware.Recover(&middleware.RecoverOptions{Logger: logger}),
		middleware.SecureHeaders(nil),
		middleware.Limit(&middleware.LimitOptions{ContentOf: contentOf}),
		withTimeouts,
		// Pages of other origins must not write, because the shop may only be reachable from this
		// machine.
		middleware.CrossOrigin(nil),
	)(shop)
}

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
	reads, isGraphQL := r.Method == http.MethodGet, place[len(place)-1] != ""
	if isGraphQL && reads && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return true
	}
	return (reads || isGraphQL) && r.Header.Get("Accept") == "text/event-stream"
}

// withTimeouts limits the duration of each request, with a longer limit for files and imports. A stream
// has no such limit. It ends with the client, with the expiry of its token, or if the client does
// not read for too long.
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
