// Package eventstream writes and reads text/event-stream, the format of EventSource (WHATWG HTML
// section 9.2, server-sent events).
//
// A [Writer] sends events as the response to a request. A [Reader] parses them, for tests and Go
// clients. To send the same event to many clients, encode it once with [Append] and pass it to
// [Writer.Send].
//
//	func serve(w http.ResponseWriter, r *http.Request) {
//		stream, err := eventstream.Open(w, nil)
//		if err != nil {
//			... // http.ErrNotSupported: nothing was sent; otherwise the connection failed
//		}
//		for tick := range ticks(r.Context()) {
//			if err := stream.Event(eventstream.Event{ID: tick.ID, Data: tick.JSON}); err != nil {
//				return // the client has disconnected or does not read
//			}
//		}
//	}
package eventstream

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"
)

// ContentType is the media type of a stream. It has no charset parameter because the encoding is
// always UTF-8.
const ContentType = "text/event-stream"

// ErrField reports that the ID or Name of an event cannot be sent because it contains a line break
// or NUL.
var ErrField = errors.New("eventstream: line break or NUL in the id or name of an event")

// Event is one event of a stream.
type Event struct {
	// ID is the value that the client sends as Last-Event-ID when it reconnects. If it is empty,
	// the client keeps the previous ID.
	ID string
	// Name is the event type. Empty means "message".
	Name string
	// Data is the content. CR, LF and CRLF all arrive as LF. If Data is nil, no event is
	// dispatched, but ID takes effect. If it is empty but not nil, an event with empty data is
	// dispatched.
	Data []byte
}

// Append appends the encoded event to dst and returns the extended slice. If ID or Name is invalid,
// it returns dst unchanged and [ErrField].
func Append(dst []byte, e Event) ([]byte, error) {
	if strings.ContainsAny(e.ID, "\r\n\x00") || strings.ContainsAny(e.Name, "\r\n\x00") {
		return dst, ErrField
	}
	if e.ID != "" {
		dst = appendLine(dst, "id: ", e.ID)
	}
	if e.Name != "" && e.Data != nil {
		dst = appendLine(dst, "event: ", e.Name)
	}
	if e.Data != nil {
		dst = appendData(dst, e.Data)
	}
	return append(dst, '\n'), nil
}

// appendData appends one data field per line. The space after the colon is required, because
// readers remove one leading space of the value.
func appendData(dst, data []byte) []byte {
	for {
		part, rest, more := bytes.Cut(data, []byte{'\n'})
		if more { // CR LF is one line break; any other CR is one as well
			part = bytes.TrimSuffix(part, []byte{'\r'})
		}
		for again := true; again; {
			var line []byte
			line, part, again = bytes.Cut(part, []byte{'\r'})
			dst = appendLine(dst, "data: ", line)
		}
		if !more {
			return dst
		}
		data = rest
	}
}

// appendComment appends text as one or more comment lines.
func appendComment(dst []byte, text string) []byte {
	for {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			dst = appendLine(dst, ": ", text)
			return append(dst, '\n')
		}
		dst = appendLine(dst, ": ", text[:i])
		text = text[i+1:]
	}
}

// appendRetry appends the reconnection time in whole milliseconds.
func appendRetry(dst []byte, d time.Duration) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, max(d.Milliseconds(), 0), 10)
	return append(dst, "\n\n"...)
}

func appendLine[S string | []byte](dst []byte, field string, value S) []byte {
	dst = append(dst, field...)
	dst = append(dst, value...)
	return append(dst, '\n')
}
