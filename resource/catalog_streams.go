package resource

// The limit of open event streams for each principal. Called by protocols.

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/stoa-go/stoa/resource/problem"
)

// callers counts the open streams of each principal. The zero value is ready to use.
//
// A middleware cannot count them: the principal is known only after it, and a request that accepts
// text/event-stream may receive a different response.
type callers struct {
	mu    sync.Mutex
	count map[string]int
}

// Stream counts an event stream of the caller until leave is called, which must happen exactly
// once. Protocols call it before they send events. If the principal already has Limits.Streams
// streams, leave is nil and the error is a problem with status 429 and Retry-After. Stream is safe
// for concurrent use.
func (c *Catalog) Stream(ctx context.Context) (leave func(), err error) {
	name := c.Principal(ctx)
	if name == "" {
		return func() {}, nil
	}
	s := &c.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[name] >= c.opts.Limits.Streams {
		d := problem.New(problem.TooManyRequests, fmt.Sprintf(
			"The limit of %d concurrent streams is reached; close one of them first.", c.opts.Limits.Streams))
		d.Header = http.Header{"Retry-After": {"30"}}
		d.Extensions = map[string]any{"limit": c.opts.Limits.Streams}
		return nil, d
	}
	if s.count == nil {
		s.count = map[string]int{}
	}
	s.count[name]++
	return func() { s.leave(name) }, nil
}

// leave ends a stream of the caller.
func (s *callers) leave(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[name]--; s.count[name] == 0 {
		delete(s.count, name)
	}
}
