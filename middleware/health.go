package middleware

// The health check. Concurrent requests share one run of the checks, so that a monitor cannot
// overload the database.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// HealthOptions configures [Health]. Nil means the zero value.
type HealthOptions struct {
	// Timeout limits the time for all checks together. Default 2s.
	Timeout time.Duration
	// Details adds the result of each check to the response. Error texts are logged only. Default
	// false.
	Details bool
	// Logger receives the errors of failed checks. Default [slog.Default].
	Logger *slog.Logger
}

// Health returns a handler that reports whether the server can serve requests: 200 if all checks
// pass, and otherwise 503 with a problem document. While a [Server] is draining it reports 503, so
// that load balancers send no new requests. [ServeOptions].Notice leaves them time to read it.
// Responses to GET and HEAD are not cacheable. They arrive within the timeout even if a check ignores
// its context.
//
// Checks run concurrently with each other. Each check runs once at a time, and concurrent requests
// share its result, so that many health requests do not load the server. A check that panics has
// failed. A nil map reports that the process is running. opts may be nil.
func Health(checks map[string]func(ctx context.Context) error, opts *HealthOptions) http.Handler {
	h := &health{}
	if opts != nil {
		h.opts = *opts
	}
	h.opts.Timeout = orDefault(h.opts.Timeout, 2*time.Second)
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		h.checks = append(h.checks, &healthCheck{name: name, do: checks[name]})
	}
	return h
}

type health struct {
	opts   HealthOptions
	checks []*healthCheck
}

// ServeHTTP implements [http.Handler].
func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const allow = "GET, HEAD, OPTIONS"
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		h.respond(w, r)
	case http.MethodOptions:
		w.Header().Set("Allow", allow)
		w.WriteHeader(http.StatusNoContent)
	default:
		d := problem.New(problem.MethodNotAllowed, "The health check is read-only; use GET or HEAD.")
		d.Header = http.Header{"Allow": {allow}}
		problem.Write(w, r, d)
	}
}

// respond runs the checks and sends 200 or 503. A server that drains is not healthy, so that load
// balancers stop sending requests before [Serve] closes the listener.
func (h *health) respond(w http.ResponseWriter, r *http.Request) {
	select {
	case <-Draining(r.Context()):
		h.refuse(w, r, "The server is shutting down.", nil)
		return
	default:
	}
	results, failed := h.run(r.Context())
	if failed {
		h.refuse(w, r, "A health check failed.", results)
		return
	}
	body := []byte(`{"status":"ok"`)
	if h.opts.Details {
		body = append(body, `,"checks":{`...)
		for i, c := range h.checks {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(strconv.AppendQuoteToASCII(body, c.name), `:"ok"`...)
		}
		body = append(body, '}')
	}
	body = append(body, "}\n"...)
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body) // net/http omits the body for HEAD
}

// refuse sends 503 with the results of the checks, if Details is set.
func (h *health) refuse(w http.ResponseWriter, r *http.Request, detail string, results map[string]string) {
	d := problem.New(problem.Unavailable, detail)
	d.Header = http.Header{"Retry-After": {"5"}}
	if h.opts.Details && results != nil {
		d.Extensions = map[string]any{"checks": results}
	}
	problem.Write(w, r, d)
}

// run runs all checks concurrently and returns their results by name.
func (h *health) run(ctx context.Context) (results map[string]string, failed bool) {
	runs := make([]*checkRun, len(h.checks))
	for i, c := range h.checks {
		runs[i] = c.start(context.WithoutCancel(ctx), h.opts.Timeout)
	}
	ctx, cancel := context.WithTimeout(ctx, h.opts.Timeout)
	defer cancel()
	results = make(map[string]string, len(h.checks))
	for i, c := range h.checks {
		results[c.name] = "ok"
		err := runs[i].wait(ctx)
		if err == nil {
			continue
		}
		results[c.name], failed = "failed", true
		if !errors.Is(ctx.Err(), context.Canceled) { // if canceled, the client has closed the connection
			loggerOrDefault(h.opts.Logger).ErrorContext(ctx, "stoa: health check failed", "check", c.name,
				"error",
				sanitize(err.Error()))
		}
	}
	return results, failed
}

// healthCheck is one named check.
type healthCheck struct {
	name string
	do   func(ctx context.Context) error

	mu      sync.Mutex
	running *checkRun // nil if it is not running
}

// checkRun is one execution of a check.
type checkRun struct {
	done chan struct{}
	err  error // set before done is closed
}

// start starts the check, or returns the execution that is in progress.
func (c *healthCheck) start(ctx context.Context, timeout time.Duration) *checkRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		return c.running
	}
	run := &checkRun{done: make(chan struct{})}
	c.running = run
	go func() {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		run.err = c.call(ctx)
		c.mu.Lock()
		c.running = nil
		c.mu.Unlock()
		close(run.done)
	}()
	return run
}

// call runs a check and returns a panic as its error.
func (c *healthCheck) call(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return c.do(ctx)
}

// wait returns the result of a run, or the error of ctx if it is done first.
func (r *checkRun) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
