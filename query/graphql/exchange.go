package graphql

// One HTTP request: the method, the media types and the errors of the GraphQL over HTTP draft.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// exchange is an HTTP request and its response.
type exchange struct {
	work
	w     http.ResponseWriter
	r     *http.Request
	form  form             // of the response
	media []string         // Content-Type of the response, if it is a vendor media type
	enc   header.Encodings // content codings that the client accepts
	began bool             // the response has begun, so no other status is possible
	// acceptsEvents reports that the client accepts events, possibly for subscriptions only. streaming
	// reports that the response is sent as events.
	acceptsEvents, streaming bool
}

// Header values that responses share.
var (
	nosniff     = []string{"nosniff"}
	noStore     = []string{"no-store"}
	gzipValue   = []string{"gzip"}
	varyAnswer  = []string{"Accept, Accept-Encoding"}
	allowAll    = []string{"GET, HEAD, POST, OPTIONS"}
	allowChange = []string{"POST, OPTIONS"}
	allowRead   = []string{"GET, HEAD, OPTIONS"}
	acceptPost  = []string{mediaJSON}
)

// serve handles requests to the path of the handler. The checks are in the order of their cost, as
// in REST: target, method, response media type, origin, content.
func (x *exchange) serve() error {
	if len(x.r.URL.Path)+len(x.r.URL.RawQuery) > x.h.opts.Limits.URL {
		return problem.New(problem.URITooLong, "The request target is too long.")
	}
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		return x.get()
	case http.MethodPost:
		return x.post()
	case http.MethodOptions:
		return x.options(allowAll)
	}
	return badMethod(x.r.Method, allowAll)
}

// badMethod returns the error for an unsupported method: 405 for a standard method, and 501
// otherwise (RFC 9110 section 9.1).
func badMethod(method string, allow []string) error {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "QUERY":
		return notAllowed(allow, "The method is not supported here. Allow lists the supported methods.")
	}
	return problem.New(problem.NotImplemented, "The method is unknown.")
}

// notAllowed returns a problem with status 405.
func notAllowed(allow []string, detail string) error {
	d := problem.New(problem.MethodNotAllowed, detail)
	d.Header = http.Header{"Allow": allow}
	return d
}

// options responds to OPTIONS (RFC 9110 section 9.3.7).
func (x *exchange) options(allow []string) error {
	h := x.w.Header()
	h["Allow"] = allow
	if allow[0] == allowAll[0] {
		h["Accept-Post"] = acceptPost
	}
	h["Cache-Control"] = noStore
	x.noContent(http.StatusNoContent)
	return nil
}

// fail responds to a request that is not a valid GraphQL request. The body is a GraphQL response,
// which GraphQL clients read, and the status is that of the problem.
func (x *exchange) fail(err error) {
	if x.began || errors.Is(err, context.Canceled) && x.r.Context().Err() != nil {
		// abort the connection, so that the client detects the incomplete response
		panic(http.ErrAbortHandler)
	}
	if x.streaming && x.sendError(err) {
		return
	}
	e := gqlerror.Of(err)
	// The body and the status derive from the same problem.
	d := resource.Problem(err)
	status := d.StatusCode()
	h := x.w.Header()
	for name, lines := range d.Header {
		h[http.CanonicalHeaderKey(name)] = lines
	}
	switch {
	case status == http.StatusUnauthorized && h["Www-Authenticate"] == nil:
		h["Www-Authenticate"] = []string{x.h.opts.Challenge}
	case status == http.StatusRequestEntityTooLarge && x.r.ProtoMajor == 1:
		h["Connection"] = []string{"close"} // the rest of the request body is not read
	case status == http.StatusInternalServerError:
		x.logError(x.r.Context(), e.Problem.Instance, err)
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	*buf = gqlerror.Answer(*buf, e)
	h["Cache-Control"] = noStore
	x.send(status, *buf)
}

// recoverPanic responds with an internal error after a panic. If the response has begun, it aborts
// the connection, so that the client detects the incomplete response.
func (x *exchange) recoverPanic() {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := fmt.Errorf("panic: %v", v)
	x.h.opts.Logger.ErrorContext(x.r.Context(), "stoa: panic", "error", gqlerror.Truncate(err.Error()),
		"stack",
		string(debug.Stack()))
	x.fail(err)
}
