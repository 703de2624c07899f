package transportws

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
)

// The codes with which sockets are closed: those of RFC 6455 section 7.4.1, and those of the protocol.
const (
	GoingAway       = 1001 // the server is about to end; the client connects again
	PolicyViolation = 1008 // more messages than Options.Rate allows, or more sockets than Options.Sockets
	TooBig          = 1009 // a message larger than Options.Message
	TryAgainLater   = 1013 // the peer did not take what was sent to it
	BadRequest      = 4400 // a message that the protocol does not know
	Unauthorized    = 4401 // an operation before the connection is acknowledged
	Forbidden       = 4403 // the connection is refused, or what it was allowed with has expired
	BadProtocol     = 4406 // the client speaks no protocol that is spoken here
	InitTimeout     = 4408 // no connection_init in time
	IDInUse         = 4409 // an operation with the id of one that is live
	TooManyInits    = 4429 // a second connection_init
	InternalError   = 4500
)

// Close is an error that closes the socket, with this code and reason. With [GoingAway] it is closed as by [Server.Shutdown],
// with the reason of that, once what has one result has been answered. The reason is for the client; of one that is longer
// than 123 bytes the rest is cut off.
type Close struct {
	Code   int
	Reason string
}

// Error returns the reason.
func (c *Close) Error() string { return c.Reason }

// ErrGoingAway is why the context of a stream ends when the server is about to end.
var ErrGoingAway = errors.New("socket: the server is going away")

// errGone is why contexts end when nobody is there any more, or wants the results.
var errGone = errors.New("socket: the client has gone")

// maxReason is what a close frame has room for beside the code (RFC 6455 section 5.5).
const maxReason = 123

// cut shortens a text to a number of bytes, between two characters.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// safely makes an error of a panic in the handler.
func (s *socket) safely(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			s.server.opts.Logger.Error("stoa: panic", "error", gqlerror.Cut(err.Error()), "stack",
				string(debug.Stack()))
		}
	}()
	return do()
}

// fail ends the socket for an error.
func (s *socket) fail(err error) {
	var c *Close
	switch {
	case errors.As(err, &c) && c.Code == GoingAway: // what else runs here may come to its end
		go s.leaveNow(s.server.opts.Grace)
	case errors.As(err, &c):
		s.end(c.Code, c.Reason)
	case errors.Is(err, errGone), s.life.Err() != nil && errors.Is(err, s.life.Err()):
		s.drop()
	default:
		s.server.opts.Logger.Error("stoa: internal error", "error", gqlerror.Cut(err.Error()))
		s.end(InternalError, "Internal error")
	}
}

// end closes the socket, as the first who wants that says, and tells the peer why.
func (s *socket) end(code int, reason string) {
	if !s.finish() {
		return
	}
	s.wire.lastRead()
	// it is closed, whatever the peer says to that
	_ = s.conn.Close(websocket.StatusCode(code), cut(reason, maxReason))
}

// drop closes the socket of somebody who is not there any more.
func (s *socket) drop() {
	if s.finish() {
		_ = s.conn.CloseNow()
	}
}

func (s *socket) finish() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.ended = true
	s.cancel(errGone)
	s.timer.Stop()
	return true
}

func (s *socket) isEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}
