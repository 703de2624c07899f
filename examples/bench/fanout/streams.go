package main

// The measurement without sockets: handlers write event streams into a response writer that counts.
// The figure is the cost of matching, encoding and passing on a message.

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// stream is a response writer that passes the body to a tally.
type stream struct {
	header http.Header
	tally  *tally
}

// The methods of [http.ResponseController] succeed without effect. A peer that could not set
// deadlines or flush might refuse to stream, or buffer.
func (s *stream) Header() http.Header               { return s.header }
func (s *stream) WriteHeader(int)                   {}
func (s *stream) Flush()                            {}
func (s *stream) SetWriteDeadline(time.Time) error  { return nil }
func (s *stream) SetReadDeadline(t time.Time) error { return nil }

// Write counts a message. It is called by one goroutine for each subscriber.
func (s *stream) Write(b []byte) (int, error) {
	s.tally.receive(b)
	return len(b), nil
}

// intoStreams measures a peer in this process, with subscribers that have no sockets.
func intoStreams(p peer, n int, each time.Duration) (r result, err error) {
	h := p.handler(shop.New(100))
	c := &changes{handler: h}
	counts := &tally{}
	before := settle()
	// Cancelling the context ends the handlers, as a disconnected client would.
	ctx, leave := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer leave()
	body, err := json.Marshal(map[string]string{"query": subscription})
	if err != nil {
		return r, err
	}
	for range n {
		request := httptest.NewRequestWithContext(ctx, "POST", "/graphql", bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "text/event-stream")
		all.Go(func() { h.ServeHTTP(&stream{header: http.Header{}, tally: counts}, request) })
	}
	if err := counts.join(n, c.make, nil); err != nil {
		return r, err
	}
	idle := settle()
	r.held, r.size = perUnit(idle.Held, before.Held, n), len(*counts.sample.Load())
	events := 0
	first, began := now(), time.Now()
	for events == 0 || time.Since(began) < each {
		// The next burst starts after all subscribers have received this one. Otherwise a slow peer
		// would drop subscribers and seem fast.
		round := counts.begin(burst, n)
		if err := c.make(burst); err != nil {
			return r, err
		}
		<-round.all
		events += burst
	}
	r.fill(first, now(), events, n, time.Since(began))
	// The handler holds the feed. Without this line it could be collected while it is measured.
	runtime.KeepAlive(h)
	return r, nil
}
