package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// call is one request and the response to it.
type call struct {
	h           *Handler
	w           http.ResponseWriter
	r           *http.Request
	route       *route
	sel         *version.Selection // of the contract; nil where none is negotiated
	mediaType   []string           // Content-Type of the answer
	contractTag string             // of contract and form, in entity tags
	eventCursor []string           // where the feed was before anything was read: Event-Cursor
	onItem      bool               // the target is an item, not the collection
	began       bool               // the response has been begun, so nothing else can be answered

	batched bool // the content is a batch
	key     *resource.Key
}

// Media types.
const (
	mediaJSON    = "application/json"
	mediaNDJSON  = "application/x-ndjson"
	mediaProblem = "application/problem+json"
)

// Header values that responses share.
var (
	typeJSON   = []string{mediaJSON}
	typeNDJSON = []string{mediaNDJSON}
	nosniff    = []string{"nosniff"}
	noStore    = []string{"no-store"}
	noRanges   = []string{"none"}
	gzipValue  = []string{"gzip"}
	zeroLength = []string{"0"}
)

// base is what stands before the path as the catalog sees it: the configured base, and whatever a StripPrefix took off.
// It is never made from Host, which anybody can set.
func (x *call) base() string {
	path := x.path()
	full, _, _ := strings.Cut(x.r.RequestURI, "?")
	if !strings.HasSuffix(full, path) || full[0] != '/' {
		// Absolute-form (RFC 9112 section 3.2.2), or characters that should have been escaped.
		if u, err := url.ParseRequestURI(x.r.RequestURI); err == nil {
			full = u.EscapedPath()
		}
	}
	prefix, ok := strings.CutSuffix(full, path)
	if !ok {
		prefix = ""
	}
	return x.h.opts.Base + prefix
}

// path is the path as the catalog sees it, escaped. A StripPrefix that ends with a slash has taken its first one, too.
func (x *call) path() string {
	path := x.r.URL.EscapedPath()
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}

// respond sends body with the status. The headers that depend on what it is have been set, Content-Length included.
func (x *call) respond(status int, body []byte) error {
	x.w.Header()["X-Content-Type-Options"] = nosniff
	x.began = true
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		x.w.Write(body) // an error means that the client has gone, and nobody is left to tell
	}
	return nil
}

// noContent sends a response without content.
func (x *call) noContent(status int) error {
	h := x.w.Header()
	h["X-Content-Type-Options"] = nosniff
	if status != http.StatusNotModified { // from which net/http takes it by itself
		delete(h, "Content-Type")
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		h["Content-Length"] = zeroLength
	}
	x.began = true
	x.w.WriteHeader(status)
	return nil
}

// fail answers an error.
func (x *call) fail(err error) {
	if x.began && !errors.Is(x.r.Context().Err(), context.Canceled) { // the client is there, and cannot be told any more
		x.logError(err)
	}
	if x.began || errors.Is(err, context.Canceled) && x.r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client must see that this is not the end
	}
	if rec := x.key.Replayed(); rec != nil && rec.Status >= http.StatusBadRequest {
		x.refuseAgain(rec)
		return
	}
	d := *resource.Problem(err)
	d.Header = d.Header.Clone()
	if d.Header == nil {
		d.Header = http.Header{}
	}
	if x.route != nil {
		d.Header["Vary"] = x.vary()
	}
	if rev := currentRev(err); rev != "" && (x.route.blobs != nil || x.route.resource != nil) {
		d.Header["Etag"] = []string{x.currentTag(rev)}
	}
	switch d.StatusCode() {
	case http.StatusUnauthorized:
		if d.Header["Www-Authenticate"] == nil {
			d.Header["Www-Authenticate"] = []string{x.h.opts.Challenge}
		}
	case http.StatusInternalServerError:
		if d.Instance == "" { // otherwise a job has logged it
			d.Instance = x.logError(err)
		}
	case http.StatusServiceUnavailable:
		if errors.Is(err, feed.ErrClosed) && x.r.ProtoMajor == 1 {
			d.Header["Connection"] = closeValue // the server goes down
		}
	case http.StatusRequestEntityTooLarge:
		if x.r.ProtoMajor == 1 {
			d.Header["Connection"] = closeValue // the rest of the content is not read
		}
	}
	problem.Write(x.w, x.r, &d)
}

// currentTag is the entity tag of a revision, as a plain GET has it.
func (x *call) currentTag(rev resource.Rev) string {
	if x.route.blobs != nil {
		return (&blob.Blob{Rev: rev}).ETag()
	}
	return x.plainTag(rev, x.contractTag)
}

func (x *call) vary() []string {
	if x.route == nil {
		return nil
	}
	if x.onItem {
		return x.route.varyItem
	}
	return x.route.varyList
}

// logError logs an error whose text the client must not see. It returns the instance id that links the response to the log.
func (x *call) logError(err error) string {
	id := problem.NewInstance()
	x.h.catalog.Logger().ErrorContext(x.r.Context(), "stoa: internal error", "instance", id, "method", x.r.Method,
		"path", safe.Truncate(x.r.URL.Path), "principal", safe.Truncate(x.principal()), "error", safe.Truncate(err.Error()))
	return id
}

func (x *call) principal() string { return x.h.catalog.Principal(x.r.Context()) }

// recoverPanic turns a panic of user code into an internal error, unless the response has begun: then the connection is
// aborted, so that a client does not take half an answer for a whole one.
func (x *call) recoverPanic() {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := fmt.Errorf("panic: %v", v)
	x.h.catalog.Logger().ErrorContext(x.r.Context(), "stoa: panic", "error", safe.Truncate(err.Error()), "stack", string(debug.Stack()))
	if x.began {
		panic(http.ErrAbortHandler)
	}
	x.fail(err)
}

// prefer reads the preferences, RFC 7240.
func (x *call) prefer() header.Prefer {
	lines, ok := x.r.Header["Prefer"]
	if !ok {
		return header.Prefer{}
	}
	return header.ParsePrefer(lines)
}

func (x *call) lenient(p header.Prefer) bool {
	v, _ := p.Get("handling")
	if v != "lenient" {
		return false
	}
	x.applied("handling=lenient")
	if x.r.Method == http.MethodGet || x.r.Method == http.MethodHead { // what is refused without it may now be cached
		header.AddVary(x.w.Header(), []string{"Prefer"})
	}
	return true
}

// applied says which preferences were honoured, RFC 7240 section 3.
func (x *call) applied(preference string) {
	h := x.w.Header()
	if old := h.Get("Preference-Applied"); old != "" {
		preference = old + ", " + preference
	}
	h["Preference-Applied"] = []string{preference}
}

// plainTag is the entity tag of an uncompressed item; empty if it has no revision.
func (x *call) plainTag(rev resource.Rev, suffix string) string {
	if rev == "" {
		return ""
	}
	var room [96]byte
	return string(x.route.resource.AppendETag(room[:0], rev, false, suffix))
}
