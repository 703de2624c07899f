package rest

// The state of one request, and the functions that end it: respond, noContent and fail. Every
// handler of the package is a method of call. fail is the only place that turns an error into a
// response.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/internal/mount"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/observe"
	"github.com/stoa-go/stoa/resource/problem"
)

// call is one request and its response. A call is used by one goroutine.
type call struct {
	h           *Handler
	w           http.ResponseWriter
	r           *http.Request
	route       *route
	sel         contract.Selection // never nil
	mediaType   []string           // Content-Type of the response
	contractTag string             // contract and media type, as a suffix of entity tags
	eventCursor []string           // Event-Cursor: the position of the feed before the first read
	onItem      bool               // the target is an item, not the collection
	restores    bool               // the target restores an item
	started     bool               // the header is sent, so an error can only abort the connection

	batched  bool               // the request body is a batch
	watching bool               // the response is an event stream
	rec      *observe.Recording // nil if the request is not observed
	key      *resource.Key
}

// Media types.
const (
	mediaJSON    = "application/json"
	mediaNDJSON  = "application/x-ndjson"
	mediaCSV     = csv.MediaType
	mediaProblem = "application/problem+json"
)

// Header values that all responses share.
var (
	typeJSON   = []string{mediaJSON}
	typeNDJSON = []string{mediaNDJSON}
	nosniff    = []string{"nosniff"}
	noStore    = []string{"no-store"}
	gzipValue  = []string{"gzip"}
	zeroLength = []string{"0"}
)

// base returns the prefix of URLs in responses: Options.Base, and the path prefix that a
// StripPrefix has removed. If a middleware has rewritten the path, no prefix can be derived, and
// Base has to be set.
func (c *call) base() string { return c.h.opts.Base + mount.Prefix(c.r) }

// path returns the escaped path relative to the catalog.
func (c *call) path() string { return mount.Path(c.r) }

// respond sends the status and body. The caller has set the headers, Content-Length included.
func (c *call) respond(status int, body []byte) error {
	c.started = true
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		// An error means that the client has disconnected. No other response is possible.
		c.w.Write(body)
	}
	return nil
}

// noContent sends a response without a body. A 204 must not have a Content-Length, and that of a
// 304 would be the length of the 200 (RFC 9110 section 8.6). Any other status, such as 201, states
// that the body is empty.
func (c *call) noContent(status int) error {
	h := c.w.Header()
	// net/http removes the Content-Type of a 304 itself.
	if status != http.StatusNotModified {
		delete(h, "Content-Type")
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		h["Content-Length"] = zeroLength
	}
	c.started = true
	c.w.WriteHeader(status)
	return nil
}

// fail sends the problem details of err. If the response has started, it aborts the connection
// instead, so that the client does not treat a partial body as complete. A canceled request gets no
// response.
func (c *call) fail(err error) {
	// The response has started and the client is still connected: the log is the only place for the
	// error.
	if c.started && !errors.Is(c.r.Context().Err(), context.Canceled) {
		c.logError(err)
	}
	if c.started || errors.Is(err, context.Canceled) && c.r.Context().Err() != nil {
		// The client must see that the body is incomplete.
		panic(http.ErrAbortHandler)
	}
	// The idempotency record has the error response of the first request.
	if rec := c.key.Replayed(); rec != nil && rec.Status >= http.StatusBadRequest {
		if !rec.Reference() {
			c.replayError(rec)
			return
		}
		err = rec.NotKept()
	}
	// The details may be a value of the application that several requests share, so they are copied
	// before the header is modified.
	d := *resource.Problem(err)
	d.Header = d.Header.Clone()
	if d.Header == nil {
		d.Header = http.Header{}
	}
	// Vary is part of every response of the path, errors included: the same request fields have
	// selected the error (RFC 9110 section 12.5.5).
	if c.route != nil {
		d.Header["Vary"] = c.vary()
	}
	// After a failed precondition the client needs the current entity tag to try again.
	if rev := currentRev(err); rev != "" && (c.route.blobs != nil || c.route.resource != nil) {
		d.Header["Etag"] = []string{c.currentTag(rev)}
	}
	switch d.StatusCode() {
	// RFC 9110 section 15.5.2 requires the field. A policy may have set its own challenge.
	case http.StatusUnauthorized:
		if d.Header["Www-Authenticate"] == nil {
			d.Header["Www-Authenticate"] = []string{c.h.opts.Challenge}
		}
	case http.StatusInternalServerError, http.StatusInsufficientStorage:
		if d.Instance == "" { // otherwise the job has logged the error
			d.Instance = c.logError(err)
		}
	case http.StatusServiceUnavailable:
		// A client that reconnects needs a new connection, which can lead to another process.
		// HTTP/2 has no Connection field (RFC 9113 section 8.2.2).
		if errors.Is(err, feed.ErrClosed) && c.r.ProtoMajor == 1 {
			// The server is shutting down.
			d.Header["Connection"] = closeValue
		}
	}
	// The rest of the request body is not read (RFC 9110 section 15.5.14).
	switch d.StatusCode() {
	case http.StatusRequestEntityTooLarge, http.StatusInsufficientStorage:
		if c.r.ProtoMajor == 1 {
			d.Header["Connection"] = closeValue
		}
	}
	problem.Write(c.w, c.r, &d)
}

// currentTag returns the entity tag of rev that a plain GET returns.
func (c *call) currentTag(rev resource.Rev) string {
	if c.route.blobs != nil {
		return (&blob.Blob{Rev: rev}).ETag()
	}
	return c.plainTag(rev, c.contractTag)
}

// vary returns the Vary value of the path, or nil for a path without a route.
func (c *call) vary() []string {
	if c.route == nil {
		return nil
	}
	if c.onItem {
		return c.route.varyItem
	}
	return c.route.varyList
}

// logError logs an error with a text that must not reach the client. It returns the instance id,
// which links the response to the log line.
func (c *call) logError(err error) string {
	id := problem.NewInstance()
	logger := c.h.catalog.Logger()
	logger.ErrorContext(c.r.Context(), "stoa: internal error", "instance", id, "method", c.r.Method,
		"path", safe.Truncate(c.r.URL.Path), "principal", safe.Truncate(c.principal()),
		"error", safe.Truncate(err.Error()))
	return id
}

func (c *call) principal() string { return c.h.catalog.Principal(c.r.Context()) }

// onHeap runs a handler with a copy of the call on the heap. It is for handlers with closures over the
// call: the compiler would otherwise allocate the calls of all requests.
func (c *call) onHeap(handle func(*call) error) error {
	moved := *c
	defer func() { *c = moved }() // also after a panic, for recoverPanic
	return handle(&moved)
}

// recoverPanic turns a panic of user code into a 500 response. If the response has started, it
// aborts the connection, so that the client does not treat a partial body as complete.
func (c *call) recoverPanic() {
	v := recover()
	if v == nil {
		return
	}
	// The value is not a bug: a handler uses it to abort the response, and net/http does not log
	// it.
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := fmt.Errorf("panic: %v", v)
	logger := c.h.catalog.Logger()
	logger.ErrorContext(c.r.Context(), "stoa: panic", "error", safe.Truncate(err.Error()),
		"stack", string(debug.Stack()))
	if c.started {
		panic(http.ErrAbortHandler)
	}
	c.fail(err)
}

func (c *call) prefer() header.Prefer {
	lines, ok := c.r.Header["Prefer"]
	if !ok {
		return header.Prefer{}
	}
	return header.ParsePrefer(lines)
}

// lenient reports whether the client prefers handling=lenient, and confirms it in the response.
func (c *call) lenient(p header.Prefer) bool {
	v, _ := p.Get("handling")
	// The handler is strict without the preference, so handling=strict needs no confirmation.
	if v != "lenient" {
		return false
	}
	c.applied("handling=lenient")
	// Without the preference the request might be an error, so a cache must not share the response.
	// Responses to methods that write are not cached.
	switch c.r.Method {
	case http.MethodGet, http.MethodHead, methodQuery:
		header.AddVary(c.w.Header(), []string{"Prefer"})
	}
	return true
}

// applied adds a preference to Preference-Applied (RFC 7240 section 3).
func (c *call) applied(preference string) {
	h := c.w.Header()
	if old := h.Get("Preference-Applied"); old != "" {
		preference = old + ", " + preference
	}
	h["Preference-Applied"] = []string{preference}
}

// plainTag returns the entity tag of an uncompressed item, or "" if it has no revision.
func (c *call) plainTag(rev resource.Rev, suffix string) string {
	if rev == "" {
		return ""
	}
	var scratch [96]byte
	return string(c.route.resource.Raw().AppendETag(scratch[:0], rev, false, suffix))
}
