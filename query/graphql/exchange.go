package graphql

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

// exchange is one request over HTTP and the answer to it.
type exchange struct {
	work
	w     http.ResponseWriter
	r     *http.Request
	form  form             // of the answer
	media []string         // Content-Type of the answer, where it is a vendor's
	enc   header.Encodings // that the client takes
	began bool             // the answer has been begun, so nothing else can be answered
	// eventful says that the client takes events, if only for a subscription. streaming says that it gets them, whatever happens.
	eventful, streaming bool
}

// Header values that answers share.
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

// serve answers on the path of the door. Its checks come in the order of what they cost, and in the one in which the
// catalog makes them: target, method, what the answer may be, whether the request is meant, and then the content.
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

// badMethod refuses a method: 405 where an API may have it, else 501 (RFC 9110 section 9.1).
func badMethod(method string, allow []string) error {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "QUERY":
		return notAllowed(allow, "This is served with other methods; see Allow.")
	}
	return problem.New(problem.NotImplemented, "There is no such method.")
}

func notAllowed(allow []string, detail string) error {
	d := problem.New(problem.MethodNotAllowed, detail)
	d.Header = http.Header{"Allow": allow}
	return d
}

// options says what can be done here, RFC 9110 section 9.3.7.
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

// fail answers what keeps a request from being understood. Clients of GraphQL read nothing else, so it is in the form of a
// GraphQL answer, with the status that says it to everybody else.
func (x *exchange) fail(err error) {
	if x.began || errors.Is(err, context.Canceled) && x.r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client must see that this is not the end, if it is still there
	}
	if x.streaming && x.tell(err) {
		return
	}
	e := gqlerror.Of(err)
	// Both are made of one problem: the one is what clients of GraphQL read, the other what HTTP says.
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
		h["Connection"] = []string{"close"} // the rest of the content is not read
	case status == http.StatusInternalServerError:
		x.logError(x.r.Context(), e.Problem.Instance, err)
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	*buf = gqlerror.Answer(*buf, e)
	h["Cache-Control"] = noStore
	x.send(status, *buf)
}

// survive makes one internal error of a panic, unless the answer has begun: then the connection is aborted, so that a
// client does not take half an answer for a whole one.
func (x *exchange) survive() {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := fmt.Errorf("panic: %v", v)
	x.h.opts.Logger.ErrorContext(x.r.Context(), "stoa: panic", "error", gqlerror.Cut(err.Error()), "stack",
		string(debug.Stack()))
	x.fail(err)
}
