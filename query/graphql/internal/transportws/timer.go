package transportws

// Timers of a socket, and the rate limit of messages.

import (
	"context"
	"time"
)

// tick handles the timer: the timeout of connection_init, the expiry of authorization, and pings.
// It runs in its own goroutine.
func (s *socket) tick() {
	if !s.hold() {
		return
	}
	defer s.release()
	now := time.Now()
	s.mu.Lock()
	waiting, until, ping := s.state == opened, s.until, s.ping
	s.mu.Unlock()
	switch {
	case waiting:
		s.end(InitTimeout, "Connection initialisation timeout")
	case !until.IsZero() && !now.Before(until):
		s.expire()
	case !now.Before(ping) && !s.pingPeer():
		s.drop()
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		if !now.Before(s.ping) {
			s.ping = now.Add(s.server.opts.Ping)
		}
		s.arm()
	}
}

// arm sets the timer to the next event. The caller holds s.mu.
func (s *socket) arm() {
	if s.ended {
		return
	}
	next := s.ping
	if !s.until.IsZero() && s.until.Before(next) {
		next = s.until
	}
	s.timer.Reset(max(0, time.Until(next)))
}

// pingPeer pings the client (RFC 6455 section 5.5.2) and reports whether it is alive. While a
// message is written, a ping cannot be sent and is not needed: the write has a deadline.
func (s *socket) pingPeer() bool {
	ctx, cancel := context.WithTimeout(context.Background(), s.server.opts.Read)
	defer cancel()
	if s.conn.Ping(ctx) == nil {
		return true
	}
	select {
	case s.out <- struct{}{}:
		s.unlock()
		return false
	default:
		return true
	}
}

// bucket is a token bucket for messages. It is not safe for concurrent use.
type bucket struct {
	rate, burst int
	full        time.Time // when burst messages may arrive at once
}

// take counts a message and reports whether it is within the limit.
func (b *bucket) take(now time.Time) bool {
	if b.full.Before(now) {
		b.full = now
	}
	each := time.Second / time.Duration(b.rate)
	if b.full.Sub(now) > each*time.Duration(b.burst-1) {
		return false
	}
	b.full = b.full.Add(each)
	return true
}
