package natsfeed

// The format of messages. relay.go encodes events, and stream.go decodes what it receives. A change
// of the format needs another number, because processes of two versions share a stream during a
// deployment.

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stoa-go/stoa/resource/feed"
)

// afterHeader has the cursor before the event. Nats-Msg-Id has the cursor after it.
const afterHeader = "Stoa-After"

// envelope is the maximum size of a message without its payload: subject, headers and what servers
// add. An event of which payload and envelope exceed the limit would be rejected by the server.
const envelope = 1024

// format is the first byte of a payload.
const format = 1

// errMessage reports a message of another publisher or of a later version of this package.
var errMessage = errors.New("natsfeed: message is not an event")

// message is an event in the stream.
type message struct {
	seq   uint64 // its number in the stream
	after feed.Cursor
	at    feed.Cursor
	event *feed.Event // nil if it exceeds the maximum payload and has to be read from the log
	size  int
}

// encode returns the message of an event that follows after. A message larger than limit gets no
// payload.
func encode(subject string, after feed.Cursor, e *feed.Event, limit int64) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Header.Set(nats.MsgIdHdr, e.Cursor.String())
	m.Header.Set(afterHeader, after.String())
	// 64 bytes cover the rest: the format, the kind, the time and six lengths.
	size := 64 + len(e.Collection) + len(e.ID) + len(e.Rev) + len(e.Before) + len(e.After) + len(e.Schema)
	if int64(size)+envelope > limit {
		return m
	}
	b := append(make([]byte, 0, size), format, byte(e.Kind))
	b = binary.AppendVarint(b, e.Time.UnixMicro())
	for _, part := range []string{e.Collection, e.ID, e.Rev, e.Schema} {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	for _, part := range [][]byte{e.Before, e.After} {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	m.Data = b
	return m
}

// decode parses a message. The event refers to data.
func decode(seq uint64, header nats.Header, data []byte) (*message, error) {
	at, err := feed.ParseCursor(header.Get(nats.MsgIdHdr))
	if err != nil {
		return nil, errMessage
	}
	after, err := feed.ParseCursor(header.Get(afterHeader))
	if err != nil || after.Epoch != at.Epoch || after.Seq >= at.Seq {
		return nil, errMessage
	}
	m := &message{seq: seq, after: after, at: at, size: len(data)}
	if len(data) > 0 {
		if m.event = payload(data); m.event == nil {
			return nil, errMessage
		}
		m.event.Cursor = at
	}
	return m, nil
}

// payload parses the payload that encode has written. It returns nil if data is invalid.
func payload(data []byte) *feed.Event {
	if len(data) < 2 || data[0] != format {
		return nil
	}
	e := &feed.Event{Kind: feed.Kind(data[1])}
	at, n := binary.Varint(data[2:])
	if n <= 0 {
		return nil
	}
	e.Time = time.UnixMicro(at).UTC()
	data = data[2+n:]
	var parts [6][]byte
	for i := range parts {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return nil
		}
		if size > 0 {
			// The capacity is limited, so that an append to one part cannot overwrite the next.
			parts[i] = data[n : n+int(size) : n+int(size)]
		}
		data = data[n+int(size):]
	}
	if len(data) > 0 {
		return nil
	}
	e.Collection, e.ID, e.Rev = string(parts[0]), string(parts[1]), string(parts[2])
	e.Schema = string(parts[3])
	e.Before, e.After = parts[4], parts[5]
	return e
}
