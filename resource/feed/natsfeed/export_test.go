package natsfeed

import (
	"github.com/nats-io/nats.go"

	"github.com/stoa-go/stoa/resource/feed"
)

// Encode returns the message of an event; limit is its maximum size.
func Encode(after feed.Cursor, e *feed.Event, limit int64) *nats.Msg {
	return encode("stoa.events", after, e, limit)
}

// Decode parses a message. The event is nil if it has to be read from the log.
func Decode(header nats.Header, data []byte) (after, at feed.Cursor, e *feed.Event, err error) {
	m, err := decode(1, header, data)
	if err != nil {
		return after, at, nil, err
	}
	return m.after, m.at, m.event, nil
}
