package rest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// comeBack is how soon a client comes back when the stream has ended, and comeLater how much later it may be: those whom one
// restart has cut off do not come back all at once. Where something is wrong here they would come back to just that, so it is
// ten times as long.
const (
	retryDelay      = 2 * time.Second
	retryJitter     = time.Second
	slowRetryFactor = 10
)

// changeStream is what is sent. Between two changes its goroutine waits in the feed.
type changeStream struct {
	stop context.CancelFunc  // ends the waiting
	out  *eventstream.Writer // nil before the stream begins
	// returned is false while changes are waited for or sent: also at the end, if that is a panic.
	returned bool
}

// open begins the stream. It returns an error as long as something else can be answered.
func (x *call) open(s *changeStream) (err error) {
	s.out, err = eventstream.Open(x.w, &eventstream.Options{
		Retry: retryDelay + rand.N(retryJitter), Heartbeat: eventstream.Heartbeat, Gone: s.stop,
	})
	if errors.Is(err, http.ErrNotSupported) { // what is around the catalog collects answers
		return err
	}
	x.started = true
	return nil // an error of the connection comes again with what is sent
}

// lost is the id of a client that cannot go on from where it is: when it comes back with that it is told so, with a status.
const expiredID = "expired"

// end makes of an error in the midst of the stream what the client is told when it comes back, which is all that can be done
// for it: that it was left too far behind, that it is nobody any more, or that the server goes down.
func (s *changeStream) end(err error) error {
	if errors.Is(err, feed.ErrExpired) {
		// Its own id may be one that can be gone on from, up to the event that cannot be told.
		_ = s.out.Event(eventstream.Event{ID: expiredID})
	}
	if resource.Problem(err).StatusCode() != http.StatusInternalServerError {
		return nil
	}
	s.delayRetry()
	return err
}

// notSoon has the client come back later than it would. That something fails for one client, such as policy, may pass, so that
// the stream has not ended for good.
func (s *changeStream) delayRetry() {
	_ = s.out.Retry(slowRetryFactor * (retryDelay + rand.N(retryJitter)))
}

// finish ends the stream. If the client has stopped reading, it aborts the connection, so that middleware counts it as
// aborted.
func (s *changeStream) finish() {
	if s.out == nil {
		return
	}
	defer func() {
		if s.out.Close() {
			panic(http.ErrAbortHandler)
		}
	}()
	if !s.returned {
		s.delayRetry()
	}
}

// send sends a change in the form that all share who listen alike, and reports whether there is somebody to go on for.
func (s *changeStream) send(l *subscription, c *feed.Change[resource.Entry]) (bool, error) {
	if c.Kind == feed.Bookmark {
		return s.out.Event(eventstream.Event{ID: c.Cursor.String()}) == nil, nil
	}
	f := l.encode(c)
	if f.err != nil {
		return false, f.err
	}
	return s.out.Send(f.text) == nil, nil
}
