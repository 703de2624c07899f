package transportws

// Closing a socket: close codes, errors that close it, and what happens once.

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
)

// The close codes: those of RFC 6455 section 7.4.1, and those of the protocol.
const (
	GoingAway       = 1001 // the server shuts down; the client should reconnect
	PolicyViolation = 1008 // more messages than Options.Rate allows, or more sockets than Options.Sockets
	TooBig          = 1009 // a message exceeds Options.Message
	TryAgainLater   = 1013 // the client did not read a message within Options.Write
	BadRequest      = 4400 // an invalid message
	Unauthorized    = 4401 // an operation before the connection is acknowledged
	Forbidden       = 4403 // the connection is rejected, or its authorization has expired
	BadProtocol     = 4406 // the client offers no supported subprotocol
	InitTimeout     = 4408 // no connection_init within Options.Wait
	IDInUse         = 4409 // the id of a running operation is used again
	TooManyInits    = 4429 // a second connection_init
	InternalError   = 4500
)

// Close is an error that closes the socket with a code and a reason. [GoingAway] closes it in the
// same way as [Server.Shutdown]: operations with a single result complete first, and Reason is
// ignored. The reason is sent to the client, truncated to 123 bytes.
type Close struct {
	Code   int
	Reason string
}

// Error returns the reason.
func (c *Close) Error() string { return c.Reason }

// ErrGoingAway is the cause with which the context of a stream is canceled when the server shuts
// down.
var ErrGoingAway = errors.New("transportws: the server is shutting down")

// errGone is the cause with which contexts are canceled if the client has disconnected or has
// completed the operation.
var errGone = errors.New("transportws: the client has disconnected")

// maxReason is the maximum size of a close reason in bytes (RFC 6455 section 5.5).
const maxReason = 123

// cut truncates text to at most most bytes, between two characters.
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

// recovered calls do and returns a panic of the handler as an error.
func (s *socket) recovered(do func() error) (err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			err = http.ErrAbortHandler
		default:
			err = fmt.Errorf("panic: %v", v)
			s.server.opts.Logger.Error("stoa: panic", "error", gqlerror.Truncate(err.Error()), "stack",
				string(debug.Stack()))
		}
	}()
	return do()
}

// fail closes the socket because of err.
func (s *socket) fail(err error) {
	var c *Close
	switch {
	case errors.As(err, &c) && c.Code == GoingAway: // other operations may complete
		go s.closeGracefully(s.server.opts.Grace)
	case errors.As(err, &c):
		s.end(c.Code, c.Reason)
	case errors.Is(err, errGone), errors.Is(err, http.ErrAbortHandler),
		s.life.Err() != nil && errors.Is(err, s.life.Err()):
		s.drop()
	default:
		s.server.opts.Logger.Error("stoa: internal error", "error", gqlerror.Truncate(err.Error()))
		s.end(InternalError, "Internal error")
	}
}

// end closes the socket and sends a close frame. Only the first call of end or drop has an effect.
func (s *socket) end(code int, reason string) {
	if !s.markEnded() {
		return
	}
	s.wire.lastRead()
	// the socket is closed regardless of the client's response
	_ = s.conn.Close(websocket.StatusCode(code), cut(reason, maxReason))
}

// drop closes the connection of a client that does not respond, without a close frame.
func (s *socket) drop() {
	if s.markEnded() {
		_ = s.conn.CloseNow()
	}
}

// markEnded cancels the operations and reports whether this is the first call.
func (s *socket) markEnded() bool {
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

// isEnded reports whether the socket is closing or closed.
func (s *socket) isEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}
