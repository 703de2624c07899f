package resource

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

const (
	// heartbeat is how long a stream is silent at most: proxies take what says nothing for dead, commonly after a minute.
	heartbeat = 15 * time.Second
	// comeBack is how soon a client comes back when the stream has ended, and comeLater how much later it may be: those whom
	// one restart has cut off do not come back all at once.
	comeBack  = 2 * time.Second
	comeLater = time.Second
)

// stream is what is sent. Between two changes its goroutine waits in the feed, so what keeps the connection alive is a
// timer, and they take turns.
type stream struct {
	stop context.CancelFunc // ends the waiting

	mu    sync.Mutex
	out   *eventstream.Writer // nil before the stream begins, and from its end on
	last  time.Time           // when something was sent
	timer *time.Timer
	err   error // of the connection
}

// open begins the stream. It returns an error as long as something else can be answered.
func (x *exchange) open(s *stream) error {
	out, err := eventstream.Open(x.w, &eventstream.Options{Retry: comeBack + rand.N(comeLater)})
	if errors.Is(err, http.ErrNotSupported) { // what is around the catalog collects answers
		return err
	}
	x.began = true
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err = err; err == nil {
		s.out, s.last = out, time.Now()
		s.timer = time.AfterFunc(heartbeat, s.beat)
	}
	return nil
}

// lost is the id of a client that cannot go on from where it is: when it comes back with that it is told so, with a status.
const lost = "expired"

// end makes of an error in the midst of the stream what the client is told when it comes back, which is all that can be done
// for it: that it was left too far behind, that it is nobody any more, or that the server goes down.
func (s *stream) end(err error) error {
	if errors.Is(err, feed.ErrExpired) {
		// Its own id may be one that can be gone on from, up to the event that cannot be told.
		s.write(func(out *eventstream.Writer) error { return out.Event(eventstream.Event{ID: lost}) })
	}
	if Problem(err).StatusCode() != http.StatusInternalServerError {
		return nil
	}
	return err
}

// close ends the stream: nothing is written any more when it returns. A client that has stopped reading is cut off, so that
// whoever counts requests sees that it was not the end.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = nil
	if s.timer != nil {
		s.timer.Stop()
	}
	if errors.Is(s.err, os.ErrDeadlineExceeded) || s.err == http.ErrAbortHandler {
		panic(http.ErrAbortHandler)
	}
}

// send sends a change in the form that all share who listen alike, and reports whether there is somebody to go on for.
func (s *stream) send(l *listening, c *feed.Change[Entry]) (bool, error) {
	if c.Kind == feed.Bookmark {
		return s.write(func(out *eventstream.Writer) error { return out.Event(eventstream.Event{ID: c.Cursor.String()}) }), nil
	}
	f := l.frame(c)
	if f.err != nil {
		return false, f.err
	}
	return s.write(func(out *eventstream.Writer) error { return out.Send(f.text) }), nil
}

// write writes to a stream that goes on, and reports whether it still does.
func (s *stream) write(do func(out *eventstream.Writer) error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writing(do)
}

// writing is write for who holds the lock.
func (s *stream) writing(do func(out *eventstream.Writer) error) bool {
	if s.out == nil {
		return false
	}
	if s.err = do(s.out); s.err != nil {
		s.out = nil
		return false
	}
	s.last = time.Now()
	return true
}

// beat is called by the timer. It says something if nobody has for long, and sees to the next time.
func (s *stream) beat() {
	defer func() {
		if v := recover(); v != nil { // of a writer that stands around that of the server: there is nobody else to catch it
			s.giveUp()
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	left := heartbeat - time.Since(s.last)
	if left <= 0 {
		left = heartbeat
		if !s.writing(func(out *eventstream.Writer) error { return out.Comment("") }) {
			s.stop()
			return
		}
	}
	if s.out != nil {
		s.timer.Reset(left)
	}
}

// giveUp ends a stream that cannot be written to.
func (s *stream) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out, s.err = nil, http.ErrAbortHandler
	s.stop()
}
