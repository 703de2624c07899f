package transportws

import (
	"context"
	"time"
)

// tick does what is due. It has a goroutine to itself while that takes.
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
		s.forbid()
	case !now.Before(ping) && !s.isThere():
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

// arm sets the timer to what is due next. The caller has locked mu.
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

// isThere asks the peer with a ping (RFC 6455 section 5.5.2). While a message is being written no ping can be, and none is
// needed: a peer that does not take that is found out by its deadline.
func (s *socket) isThere() bool {
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

// bucket bounds how many messages a client may send. One goroutine uses it.
type bucket struct {
	rate, burst int
	full        time.Time // when as many as burst may come again
}

// take counts a message, and reports whether it may come.
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
