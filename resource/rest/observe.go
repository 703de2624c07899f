package rest

// The observation of a request: its route, operation, status and size. Called by ServeHTTP if the
// catalog has CatalogOptions.Observe.

import (
	"context"
	"io"
	"net/http"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/observe"
)

// serveObserved serves a request with a writer that counts, and reports the observation at its end,
// also after a panic that aborts the response.
func (c *call) serveObserved(ctx context.Context, rec *observe.Recording) {
	outer, out := c.r, &observedWriter{ResponseWriter: c.w}
	c.r, c.w, c.rec = outer.WithContext(ctx), out, rec
	aborted := true
	defer func() {
		o := observe.Observation{
			Protocol: "rest", Method: "OTHER", Operation: c.operation(), Status: out.status, Bytes: out.bytes,
			Replayed: c.key.Replayed() != nil, Aborted: aborted,
		}
		if isKnownMethod(c.r.Method) {
			o.Method = c.r.Method
		}
		if c.route != nil {
			o.Resource, o.Route = c.route.name, c.h.catalog.Route(outer, c.r.Pattern)
		}
		// WithContext has copied the request, and middleware reads the pattern of the original.
		outer.Pattern = c.r.Pattern
		rec.Finish(ctx, o)
	}()
	c.answer()
	aborted = false
}

// operation returns the operation of an observation; see [observe.Observation].
func (c *call) operation() string {
	switch {
	case c.route == nil:
		return ""
	case c.batched:
		return "batch"
	case c.watching:
		return "watch"
	}
	switch c.r.Method {
	case http.MethodOptions:
		return "options"
	case http.MethodGet, http.MethodHead, methodQuery:
		if c.onItem || c.route.lookup != nil {
			return string(resource.OpGet)
		}
		return string(resource.OpList)
	case http.MethodPost:
		if c.route.command != nil {
			return string(command.OpInvoke)
		}
		if c.restores {
			return string(resource.OpRestore)
		}
		return string(resource.OpCreate)
	case http.MethodPut:
		return string(resource.OpReplace)
	case http.MethodPatch:
		return string(resource.OpPatch)
	case http.MethodDelete:
		return string(resource.OpDelete)
	}
	return ""
}

// observedWriter counts what is written. A ResponseController finds the other methods of the writer
// through Unwrap.
type observedWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap returns the writer for [http.ResponseController].
func (w *observedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *observedWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // informational responses precede the final one
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *observedWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets net/http copy a file to the connection without a buffer.
func (w *observedWriter) ReadFrom(src io.Reader) (int64, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := io.Copy(w.ResponseWriter, src)
	w.bytes += n
	return n, err
}
