package main

import (
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/stoa-go/stoa/middleware"
)

// fileTime is how long a file or an import may take on its way, however slow the line.
const fileTime = time.Hour

// answerTime is how long any other answer may take to be sent: an export over a slow line. What is worked on may take as
// long, since an export is read from the database while it is sent.
const answerTime = 5 * time.Minute

// around puts around the shop what every server wants around its handlers, in the order of package middleware. Who is
// asking, and how often, is behind it, as the page and the health check are for everybody: see admitted.
//
// How many requests are worked on at once is not limited: the pools of the database are, and what waits for them costs
// little.
func around(logger *slog.Logger, shop http.Handler) http.Handler {
	return middleware.Chain(
		middleware.RequestID(nil),
		middleware.Log(&middleware.LogOptions{Logger: logger, Skip: isHealth}),
		middleware.Recover(&middleware.RecoverOptions{Logger: logger}),
		middleware.SecureHeaders(nil),
		middleware.Limit(&middleware.LimitOptions{ContentOf: contentOf}),
		patient,
		middleware.CrossOrigin(nil), // a page of somebody else's is not to write here, as this machine may and it may not
	)(shop)
}

func isHealth(r *http.Request) bool { return r.URL.Path == "/health" }

// isLarge reports whether content may be large, under whichever contract: of files and imports.
func isLarge(r *http.Request) bool {
	path := r.URL.Path
	return strings.Contains(path, "/files/") || strings.HasSuffix(path, "/files") || strings.HasSuffix(path, "/places/import")
}

// contentOf is how much content a request may have: zero is the usual limit.
func contentOf(r *http.Request) int64 {
	if isLarge(r) {
		return largestFile
	}
	return 0
}

// streamPath is what one can listen to, under whichever contract.
var streamPath = regexp.MustCompile(`^(/[^/]+)?/((orders|users|places)(/[^/]+)?|(graphql))$`)

// isStream reports whether a request wants an answer that has no end: changes of a collection or of an item, or whatever
// GraphQL tells over a WebSocket. Only what wants nothing else may take all the time there is, so that nobody gets a list that
// way; a client that names other media types, too, is cut off after answerTime, and goes on from where it was.
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

// patient bounds the time of each request, and gives large content more of it. A stream is bounded by its client, by the token
// that it was begun with, and by how long it may leave unread what it is sent.
func patient(next http.Handler) http.Handler {
	usual := middleware.Timeout(&middleware.TimeoutOptions{Handle: answerTime, Write: answerTime, Stream: isStream})(next)
	large := middleware.Timeout(&middleware.TimeoutOptions{Handle: fileTime, Read: fileTime, Write: fileTime})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isLarge(r) {
			large.ServeHTTP(w, r)
			return
		}
		usual.ServeHTTP(w, r)
	})
}
