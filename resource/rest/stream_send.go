package rest

// Writing a change feed: the events, the end of the stream and the delay before a client
// reconnects. Called by stream.go for each change; calls package eventstream, which writes from its
// own goroutine.

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

// retryDelay plus up to retryJitter is the delay before a client reconnects. The jitter spreads the
// clients that a restart has disconnected. After an internal error the delay is slowRetryFactor
// times as long, because the next stream is likely to fail in the same way.
const (
	retryDelay      = 2 * time.Second
	retryJitter     = time.Second
	slowRetryFactor = 10
)

// changeStream is the stream of one client. Between two changes its goroutine waits for the feed.
type changeStream struct {
	stop context.CancelFunc  // stops the wait for the next change
	out  *eventstream.Writer // nil before the stream starts
	// returned is false until sendChanges has returned. finish reads it to detect a panic.
	returned bool
}

// open starts the stream. It returns an error only if the handler can still send another response.
func (c *call) open(s *changeStream) (err error) {
	// The heartbeat detects a client that has disconnected while no events are sent, and frees its
	// subscription.
	s.out, err = eventstream.Open(c.w, &eventstream.Options{
		Retry: retryDelay + rand.N(retryJitter), Heartbeat: eventstream.Heartbeat, Gone: s.stop})
	// A middleware buffers the response.
	if errors.Is(err, http.ErrNotSupported) {
		return err
	}
	c.started = true
	return nil // the next write returns an error of the connection
}

// expiredID is the event id that replaces the cursor of a client that cannot resume. The client
// sends it when it reconnects, and receives 410.
const expiredID = "expired"

// end ends a stream that has started. It returns err if err is an internal error, and otherwise
// nil. An error that the client can handle, such as an expired cursor, is reported when the client
// reconnects.
func (s *changeStream) end(err error) error {
	if errors.Is(err, feed.ErrExpired) {
		// The last cursor of the client may still be valid, up to the event that cannot be sent.
		_ = s.out.Event(eventstream.Event{ID: expiredID})
	}
	// A shutdown or an expired login, for example. The client gets the status code when it
	// reconnects.
	if resource.Problem(err).StatusCode() != http.StatusInternalServerError {
		return nil
	}
	s.delayRetry()
	return err
}

// delayRetry sets a longer delay before the client reconnects. The client may succeed later, for
// example if a policy fails only for some time, so the stream must not be closed for good.
func (s *changeStream) delayRetry() {
	_ = s.out.Retry(slowRetryFactor * (retryDelay + rand.N(retryJitter)))
}

// finish ends the stream. If the client has stopped reading, it aborts the connection, so that
// middleware counts it as aborted.
func (s *changeStream) finish() {
	if s.out == nil {
		return
	}
	defer func() {
		// Close reports whether the client had stopped reading.
		if s.out.Close() {
			panic(http.ErrAbortHandler)
		}
	}()
	// A panic of the feed or of the policy is likely to happen again.
	if !s.returned {
		s.delayRetry()
	}
}

// send writes a change and reports whether the client is still connected. The frame is shared with
// the other subscriptions.
func (s *changeStream) send(l *subscription, c *feed.Change[resource.Entry]) (bool, error) {
	// A bookmark moves the cursor of an idle client, so that the cursor does not expire.
	if c.Kind == feed.Bookmark {
		return s.out.Event(eventstream.Event{ID: c.Cursor.String()}) == nil, nil
	}
	f := l.encode(c)
	if f.err != nil {
		return false, f.err
	}
	return s.out.Send(f.text) == nil, nil
}
