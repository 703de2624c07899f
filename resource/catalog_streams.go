package resource

import (
	"context"
	"net/http"
	"sync"

	"github.com/stoa-go/stoa/resource/problem"
)

// callers counts the streams of those who have any. The zero value is ready.
//
// It is here and not in a middleware, since who is calling is known behind them, and what is a stream only when it begins: a
// request that names text/event-stream may be answered otherwise. So other limits, such as that of requests in flight, leave
// streams out.
type callers struct {
	mu    sync.Mutex
	count map[string]int
}

// Stream counts a stream of the caller, for doors that send events, until leave is called, which is to be done once. The
// error is a problem: 429 with Retry-After, for one who has as many as [Limits].Streams allows. Several goroutines may call
// it at the same time.
func (c *Catalog) Stream(ctx context.Context) (leave func(), err error) {
	name := c.Principal(ctx)
	if name == "" {
		return func() {}, nil
	}
	s := &c.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[name] >= c.opts.Limits.Streams {
		d := problem.New(problem.TooManyRequests, "There are too many streams of this caller: end one of them first.")
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

func (s *callers) leave(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[name]--; s.count[name] == 0 {
		delete(s.count, name)
	}
}
