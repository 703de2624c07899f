// Package eventstream writes and reads text/event-stream, which browsers know as EventSource (WHATWG HTML section 9.2).
//
// Its nouns are an [Event], a [Writer], which sends events as the answer to a request, and a [Reader], for tests and for
// clients in Go. What many readers are sent alike is encoded once with [Append] and given to [Writer.Send].
//
//	func serve(w http.ResponseWriter, r *http.Request) {
//		stream, err := eventstream.Open(w, nil)
//		if err != nil {
//			... // nothing was sent if it is http.ErrNotSupported, and else the reader has gone
//		}
//		for tick := range ticks(r.Context()) {
//			if err := stream.Event(eventstream.Event{ID: tick.ID, Data: tick.JSON}); err != nil {
//				return // the reader has gone, or it has stopped reading
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

// ContentType is the media type of a stream. It has no parameter, as it is always UTF-8.
const ContentType = "text/event-stream"

// ErrField says that the ID or the Name of an event cannot be sent: there is a line break in it, or a NUL, for which readers
// pass over an id.
var ErrField = errors.New("eventstream: a line break or NUL in the id or name of an event")

// Event is one event.
type Event struct {
	// ID is what the reader sends as Last-Event-ID when it comes back, and keeps until there is another; "" leaves the one it
	// has.
	ID string
	// Name is the type of the event, for which the reader listens; "" is "message".
	Name string
	// Data is the content. Line breaks of all three kinds arrive as line feeds. Nil is no event: nobody is told, but ID counts.
	// With no content, but not nil, it is one, with the data "".
	Data []byte
}

// Append appends the event as it is sent, and returns the extended slice; dst as it was if the error is not nil, which is
// [ErrField] then.
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

// appendData appends a field for each line. The space behind the colon is part of the syntax: without it, readers would take
// away one at the beginning of the line.
func appendData(dst, data []byte) []byte {
	for {
		part, rest, more := bytes.Cut(data, []byte{'\n'})
		if more { // CR LF is one line break, and other CRs are one each
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

// appendComment appends text as lines that readers pass over, one at least.
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

// appendRetry appends how long a reader waits before it comes back, in whole milliseconds.
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
