package middleware

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

// HealthOptions adjust [Health]. The zero value is meaningful; nil is the zero value.
type HealthOptions struct {
	// Timeout is how long the checks may take together; 2 seconds if zero.
	Timeout time.Duration
	// Details adds the name of each check and whether it passed. What an error says is never told but to the log.
	Details bool
	// Logger is told which checks failed, and why. Nil means [slog.Default].
	Logger *slog.Logger
}

// Health returns a handler that says whether the server can serve: 200 if all checks pass, else 503, a problem document. A
// [Server] that drains says 503, so that nothing new is sent to it. GET and HEAD are answered, never to be stored, and in bounded
// time, also if a check does not look at its context.
//
// However many ask at once, each check runs once at a time, and all who wait get what it finds: asking for the health of a
// server cannot make it ill. A check that panics has failed. checks may be nil: the server is there. opts may be nil.
func Health(checks map[string]func(ctx context.Context) error, opts *HealthOptions) http.Handler {
	h := &health{}
	if opts != nil {
		h.opts = *opts
	}
	h.opts.Timeout = either(h.opts.Timeout, 2*time.Second)
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		h.checks = append(h.checks, &check{name: name, do: checks[name]})
	}
	return h
}

type health struct {
	opts   HealthOptions
	checks []*check
}

func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const allow = "GET, HEAD, OPTIONS"
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		h.answer(w, r)
	case http.MethodOptions:
		w.Header().Set("Allow", allow)
		w.WriteHeader(http.StatusNoContent)
	default:
		d := problem.New(problem.MethodNotAllowed, "This can only be looked at.")
		d.Header = http.Header{"Allow": {allow}}
		problem.Write(w, r, d)
	}
}

func (h *health) answer(w http.ResponseWriter, r *http.Request) {
	select {
	case <-Draining(r.Context()):
		h.refuse(w, r, "The server is about to end.", nil)
		return
	default:
	}
	results, failed := h.run(r.Context())
	if failed {
		h.refuse(w, r, "Something that is needed does not work.", results)
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
	_, _ = w.Write(body) // net/http leaves it out for HEAD, and a client that has gone cannot be told
}

func (h *health) refuse(w http.ResponseWriter, r *http.Request, detail string, results map[string]string) {
	d := problem.New(problem.Unavailable, detail)
	d.Header = http.Header{"Retry-After": {"5"}}
	if h.opts.Details && results != nil {
		d.Extensions = map[string]any{"checks": results}
	}
	problem.Write(w, r, d)
}

// run makes all checks at once.
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
		if !errors.Is(ctx.Err(), context.Canceled) { // nobody is there to be told
			loggerOr(h.opts.Logger).ErrorContext(ctx, "stoa: unhealthy", "check", c.name, "error",
				clean(err.Error()))
		}
	}
	return results, failed
}

// check is one thing that is needed.
type check struct {
	name string
	do   func(ctx context.Context) error

	mu  sync.Mutex
	now *checkRun // nil if it is not running
}

// checkRun is once that a check was made.
type checkRun struct {
	done chan struct{}
	err  error // once it is done
}

// start makes the check, unless it is being made.
func (c *check) start(ctx context.Context, timeout time.Duration) *checkRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil {
		return c.now
	}
	run := &checkRun{done: make(chan struct{})}
	c.now = run
	go func() {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		run.err = c.safely(ctx)
		c.mu.Lock()
		c.now = nil
		c.mu.Unlock()
		close(run.done)
	}()
	return run
}

func (c *check) safely(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return c.do(ctx)
}

func (r *checkRun) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
