package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// subscriber receives events, disconnects, and resumes from its cursor on another node.
type subscriber struct {
	name     string
	protocol client.Protocol
	view     client.View
	link     *client.Link
	drops    int // disconnects after at most so many events; 0 is never
	// native is the node that it stays with, from 1. 0 is any.
	native int
	// beforeResume is called before the first reconnect, if it is not nil.
	beforeResume func(ctx context.Context)

	cursor     string
	sessions   []session
	received   []client.Event
	reconnects int
	expired    int  // refused cursors
	ended      bool // the final event was received
	err        error

	mu    sync.Mutex
	home  int                // native, or another node to move to
	leave context.CancelFunc // ends the session
}

// session is one stream of a subscriber.
type session struct {
	base         string
	began, ended time.Time
	from, to     string // cursors
	dropped      bool   // by the server
}

// moveTo makes a subscriber stay with one node from now on.
func (s *subscriber) moveTo(node int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.home = 1 + node
	if s.leave != nil {
		s.leave()
	}
}

// choose returns the address to subscribe at, or "" if no node is up.
func (s *subscriber) choose(ctx context.Context, f *fleet.Fleet, rng *rand.Rand) (context.Context, context.CancelFunc, string) {
	s.mu.Lock()
	home := s.home
	ctx, s.leave = context.WithCancel(ctx)
	leave := s.leave
	s.mu.Unlock()
	if home > 0 {
		return ctx, leave, f.URL(home - 1)
	}
	base, err := f.Pick(ctx, rng)
	if err != nil {
		base = ""
	}
	return ctx, leave, base
}

// run subscribes until the final event. ready is called after the first connect.
func (s *subscriber) run(ctx context.Context, f *fleet.Fleet, rng *rand.Rand, ready func()) {
	for first := true; ctx.Err() == nil && !s.ended && s.err == nil; {
		if !first && s.beforeResume != nil {
			s.beforeResume(ctx)
			s.beforeResume = nil
		}
		present, leave, base := s.choose(ctx, f, rng)
		if stream := s.connect(present, base); stream != nil {
			if first {
				first = false
				ready()
			} else {
				s.reconnects++
			}
			v := session{base: base, began: time.Now(), from: s.cursor}
			err := s.receive(stream, rng)
			v.dropped = err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && present.Err() == nil
			stream.Close()
			v.to, v.ended = s.cursor, time.Now()
			s.sessions = append(s.sessions, v)
		} else {
			client.Pause(ctx, time.Duration(rng.Int64N(int64(20*time.Millisecond))))
		}
		leave()
	}
}

// connect returns a stream, or nil if it has to be tried again.
func (s *subscriber) connect(ctx context.Context, base string) client.Stream {
	if base == "" {
		return nil
	}
	stream, err := s.protocol.Subscribe(ctx, base, s.cursor, s.view)
	var status client.StatusError
	switch {
	case err == nil:
		return stream
	case errors.Is(err, client.ErrExpired):
		s.expired++
		s.cursor = ""
	case errors.Is(err, client.ErrMalformed) || errors.As(err, &status) && status < 500:
		s.err = fmt.Errorf("%s, at %q: %w", s.name, s.cursor, err)
	}
	return nil
}

// receive reads events until the stream ends, which is an error, or until it disconnects.
func (s *subscriber) receive(stream client.Stream, rng *rand.Rand) error {
	left := -1
	if s.drops > 0 {
		left = 1 + rng.IntN(s.drops)
	}
	for ; left != 0; left-- {
		e, err := stream.Next()
		if e.Cursor != "" {
			s.cursor = e.Cursor
		}
		if errors.Is(err, client.ErrExpired) {
			s.expired++
			s.cursor = ""
		}
		if err != nil {
			return err
		}
		if e.Kind == "" {
			continue
		}
		if e.Name == finalName {
			s.ended = true
			return nil
		}
		s.received = append(s.received, e)
	}
	return nil
}
