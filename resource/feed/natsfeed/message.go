package natsfeed

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stoa-go/stoa/resource/feed"
)

// afterHeader names the place before the event, as Nats-Msg-Id names that behind it.
const afterHeader = "Stoa-After"

// envelope is what a message takes beside its payload, at most: subject, header and what servers add.
const envelope = 1024

// format is the first byte of a payload.
const format = 1

// errMessage says that somebody else has published in the stream, or a later version of this package.
var errMessage = errors.New("natsfeed: a message that is no event")

// message is an event as the stream has it.
type message struct {
	seq   uint64 // of the stream
	after feed.Cursor
	at    feed.Cursor
	event *feed.Event // nil if it has to be read in the log, as it is larger than a message may be
	size  int
}

// encode makes the message of an event that follows a place. If it were larger than limit, it has no payload.
func encode(subject string, after feed.Cursor, e *feed.Event, limit int64) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Header.Set(nats.MsgIdHdr, e.Cursor.String())
	m.Header.Set(afterHeader, after.String())
	size := 64 + len(e.Collection) + len(e.ID) + len(e.Rev) + len(e.Before) + len(e.After)
	if int64(size)+envelope > limit {
		return m
	}
	b := append(make([]byte, 0, size), format, byte(e.Kind))
	b = binary.AppendVarint(b, e.Time.UnixMicro())
	for _, part := range []string{e.Collection, e.ID, e.Rev} {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	for _, part := range [][]byte{e.Before, e.After} {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	m.Data = b
	return m
}

// decode reads a message. The event refers to its data.
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

// payload reads what encode wrote, and returns nil if it is nothing of that.
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
	var parts [5][]byte
	for i := range parts {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return nil
		}
		if size > 0 {
			parts[i] = data[n : n+int(size) : n+int(size)]
		}
		data = data[n+int(size):]
	}
	if len(data) > 0 {
		return nil
	}
	e.Collection, e.ID, e.Rev = string(parts[0]), string(parts[1]), string(parts[2])
	e.Before, e.After = parts[3], parts[4]
	return e
}
