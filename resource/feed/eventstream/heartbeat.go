package eventstream

import (
	"errors"
	"net/http"
	"os"
	"time"
)

// errClosed is the error of what is sent after Close.
var errClosed = errors.New("eventstream: the stream is closed")

// start begins the heartbeat, if there is to be one.
func (s *Writer) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silence > 0 && s.err == nil {
		s.timer = time.AfterFunc(s.silence, s.beat)
	}
}

// beat is called by the timer. It says something if nobody has for long, and sees to the next time.
func (s *Writer) beat() {
	if !s.alive() && s.gone != nil {
		s.gone()
	}
}

// alive is beat as long as there is a reader. It reports false once, when a heartbeat finds out that there is none.
func (s *Writer) alive() (yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if v := recover(); v != nil { // of a writer that stands around that of the server: there is nobody else to catch it
			s.err, yes = http.ErrAbortHandler, false
		}
	}()
	if s.err != nil { // whoever sent last knows
		return true
	}
	left := s.silence - time.Since(s.last)
	if left <= 0 {
		left = s.silence
		if s.own(appendComment(s.buf[:0], "")) != nil {
			return false
		}
	}
	s.timer.Reset(left)
	return true
}

// Close ends the stream: nothing is sent any more when it returns, not by the heartbeat either. All calls but the first do
// nothing, and report what that did.
//
// It reports whether the reader was cut off in the midst, since it has stopped reading, or since a heartbeat has panicked. A
// handler then panics with [http.ErrAbortHandler], so that the connection ends and whoever counts requests sees that it was not
// the end.
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
