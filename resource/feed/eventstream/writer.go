package eventstream

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Options adjust a Writer. The zero value is meaningful.
type Options struct {
	// Retry is how long a reader waits before it comes back after the stream has ended, in whole milliseconds; zero leaves that
	// to the reader.
	Retry time.Duration
	// Timeout is how long a reader may take until an event has been handed to the network; 10 seconds if zero. Behind that it
	// has stopped reading, and the stream ends.
	Timeout time.Duration
}

// Writer sends a stream. It is for one goroutine, and holds next to nothing between two events.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	buf     []byte
	err     error // of the first call that failed
}

// Open answers a request with a stream: status 200 and the header, which are sent at once, so that the reader knows. opts
// may be nil.
//
// If the connection cannot be flushed the error is [http.ErrNotSupported] and nothing was sent, so that there can be
// another answer. Timeouts of the server end with Open: a stream lasts.
func Open(w http.ResponseWriter, opts *Options) (*Writer, error) {
	if opts == nil {
		opts = &Options{}
	}
	s := &Writer{w: w, control: http.NewResponseController(w), timeout: cmp.Or(max(opts.Timeout, 0), 10*time.Second)}
	h := w.Header()
	set := map[string]string{
		"Content-Type":      ContentType,
		"Cache-Control":     "no-store",
		"X-Accel-Buffering": "no", // nginx would collect the answer
	}
	before := h.Clone()
	for name, value := range set {
		h.Set(name, value)
	}
	h.Del("Content-Length")
	// A deadline for reading the request would end its context when it passes.
	if err := s.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, fmt.Errorf("eventstream: %w", err)
	}
	if err := s.flushed(func() error { return nil }); err != nil {
		for name := range set {
			h.Del(name)
			if old := before[name]; old != nil {
				h[name] = old
			}
		}
		return nil, err
	}
	if opts.Retry > 0 {
		return s, s.Retry(opts.Retry)
	}
	return s, nil
}

// Event sends an event. An error is [ErrField], after which the stream goes on, or the connection's: then the reader has
// gone, or has not read for too long (os.ErrDeadlineExceeded), and all that follows fails alike.
func (s *Writer) Event(e Event) error {
	frame, err := Append(s.buf[:0], e)
	if err != nil {
		return err
	}
	return s.own(frame)
}

// Comment sends what readers pass over, so that whatever is between knows that the stream lives, and the server finds out
// whether there is still a reader. "" will do.
func (s *Writer) Comment(text string) error { return s.own(appendComment(s.buf[:0], text)) }

// Retry tells the reader how long to wait before it comes back, from now on.
func (s *Writer) Retry(d time.Duration) error { return s.own(appendRetry(s.buf[:0], d)) }

// Send sends what [Append] has made, one event or several. It does not keep frames.
func (s *Writer) Send(frames []byte) error {
	if s.err != nil {
		return s.err
	}
	return s.flushed(func() error {
		_, err := s.w.Write(frames)
		return err
	})
}

// own sends a frame in the buffer, which is kept for the next unless it has grown large: most of the time a stream is idle.
func (s *Writer) own(frame []byte) error {
	const keep = 4 << 10
	if s.buf = frame; cap(frame) > keep {
		s.buf = nil
	}
	return s.Send(frame)
}

// flushed writes and flushes before the deadline. There is none in between: over HTTP/2 one that passes ends the stream,
// whether something is being written or not.
func (s *Writer) flushed(write func() error) error {
	err := s.deadline(time.Now().Add(s.timeout))
	if err == nil {
		err = write()
	}
	if err == nil {
		err = s.control.Flush()
	}
	if err == nil {
		err = s.deadline(time.Time{})
	}
	if err != nil {
		s.err = fmt.Errorf("eventstream: %w", err)
	}
	return s.err
}

func (s *Writer) deadline(t time.Time) error {
	if err := s.control.SetWriteDeadline(t); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
