package socket

import (
	"errors"
	"strings"
	"unicode/utf8"
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

// Close is an error that closes the socket, with this code and reason. The reason is for the client; of one that is longer
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
