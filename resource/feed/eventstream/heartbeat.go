package eventstream

// Comments that keep an idle connection open, and detect one that is closed.

import (
	"errors"
	"net/http"
	"os"
	"time"
)

// errClosed is returned by sends after Close.
var errClosed = errors.New("eventstream: stream is closed")

// start starts the heartbeat timer if Options.Heartbeat is set.
func (s *Writer) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heartbeat > 0 && s.err == nil {
		s.timer = time.AfterFunc(s.heartbeat, s.beat)
	}
}

// beat is called by the timer. It calls Options.Gone if the heartbeat cannot be sent.
func (s *Writer) beat() {
	if !s.alive() && s.gone != nil {
		s.gone()
	}
}

// alive sends a heartbeat if nothing was sent for long enough, and resets the timer. It returns
// false if that heartbeat fails.
func (s *Writer) alive() (yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		// a ResponseWriter of a middleware may panic, and the timer's goroutine has no handler
		if v := recover(); v != nil {
			s.err, yes = http.ErrAbortHandler, false
		}
	}()
	if s.err != nil { // the caller of the failed send has the error
		return true
	}
	left := s.heartbeat - time.Since(s.last)
	if left <= 0 {
		left = s.heartbeat
		if s.sendBuffered(appendComment(s.buf[:0], "")) != nil {
			return false
		}
	}
	s.timer.Reset(left)
	return true
}

// Close ends the stream. After it returns, nothing is sent, including heartbeats. Further calls
// return the same result.
//
// Close reports whether the stream was cut off: the client stopped reading, or a heartbeat
// panicked. A handler should then panic with [http.ErrAbortHandler], so that the connection is
// closed and middleware counts the request as aborted.
func (s *Writer) Close() (cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.err == nil {
		s.err = errClosed
	}
	return errors.Is(s.err, os.ErrDeadlineExceeded) || s.err == http.ErrAbortHandler
}
