package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/query/graphql/rivals/internal/shop"
)

// counted are the messages that streams have been given, all together.
type counted struct {
	heard, want atomic.Int64
	all         chan struct{}
	sample      atomic.Pointer[string]
}

// stream is a response writer that forgets the content.
type stream struct {
	header  http.Header
	counted *counted
}

func (s *stream) Header() http.Header               { return s.header }
func (s *stream) WriteHeader(int)                   {}
func (s *stream) Flush()                            {}
func (s *stream) SetWriteDeadline(time.Time) error  { return nil }
func (s *stream) SetReadDeadline(t time.Time) error { return nil }

func (s *stream) Write(b []byte) (int, error) {
	c := s.counted
	if bytes.Contains(b, []byte(told)) {
		if c.sample.Load() == nil {
			sample := string(b)
			c.sample.Store(&sample)
		}
		if c.heard.Add(1) == c.want.Load() {
			c.all <- struct{}{}
		}
	}
	return len(b), nil
}

// intoStreams measures a side in this process, with subscribers that have no sockets.
func intoStreams(s side, n int, each time.Duration) (r result, err error) {
	h := s.handler(shop.New(100))
	c := &changes{handler: h}
	counts := &counted{all: make(chan struct{}, 1)}
	before := settle()
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
		all.Go(func() { h.ServeHTTP(&stream{header: http.Header{}, counted: counts}, request) })
	}
	if err := counts.joined(c, n); err != nil {
		return r, err
	}
	idle := settle()
	r.held, r.size = perUnit(idle.Held, before.Held, n), len(*counts.sample.Load())
	events := 0
	first, began := now(), time.Now()
	for time.Since(began) < each {
		counts.heard.Store(0)
		counts.want.Store(int64(burst * n))
		if err := c.make(burst); err != nil {
			return r, err
		}
		<-counts.all
		events += burst
	}
	r.fill(first, now(), events, n, time.Since(began))
	runtime.KeepAlive(h)
	return r, nil
}

// joined waits until n streams are told of changes.
func (c *counted) joined(changes *changes, n int) error {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		c.heard.Store(0)
		c.want.Store(1 << 60)
		if err := changes.make(1); err != nil {
			return err
		}
		for last := int64(-1); c.heard.Load() != last && c.heard.Load() < int64(n); {
			last = c.heard.Load()
			time.Sleep(500 * time.Millisecond)
		}
		if c.heard.Load() == int64(n) {
			return nil
		}
	}
	return fmt.Errorf("%d of %d streams are told of changes", c.heard.Load(), n)
}
