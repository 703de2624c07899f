package eventstream

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Heartbeat is how long a stream is commonly silent at most: proxies and load balancers take for dead what says nothing for a
// minute, and whether the reader is still there shows only when something is sent.
const Heartbeat = 15 * time.Second

// Options adjust a Writer. The zero value is meaningful.
type Options struct {
	// Retry is how long a reader waits before it comes back after the stream has ended, in whole milliseconds; zero leaves that
	// to the reader.
	Retry time.Duration
	// Timeout is how long a reader may take until an event has been handed to the network; 10 seconds if zero. Behind that it
	// has stopped reading, and the stream ends.
	Timeout time.Duration
	// Heartbeat is how long the stream may be silent: then an empty comment is sent, by a timer; never if zero. A stream with a
	// heartbeat has to be closed.
	Heartbeat time.Duration
	// Gone is called when a heartbeat could not be sent, once, in a goroutine of its own: between two events the handler waits for
	// something, and there is nobody any more to wait for. Nil is not called.
	Gone func()
}

// Writer sends a stream. It is for one goroutine, beside which heartbeats are sent, and holds next to nothing between two
// events.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	silence time.Duration // Heartbeat
	gone    func()

	mu    sync.Mutex // for what follows, and while something is sent
	buf   []byte
	err   error       // of the first call that failed
	last  time.Time   // when something was sent
	timer *time.Timer // nil without a heartbeat
}

// Open answers a request with a stream: status 200 and the header, which are sent at once, so that the reader knows. opts
// may be nil.
//
// If the connection cannot be flushed the error is [http.ErrNotSupported] and nothing was sent, so that there can be
// another answer. With any other error, which is the connection's, there is a Writer too, and it fails with that. Timeouts of
// the server end with Open: a stream lasts.
func Open(w http.ResponseWriter, opts *Options) (*Writer, error) {
	if opts == nil {
		opts = &Options{}
	}
	s := &Writer{w: w, control: http.NewResponseController(w), timeout: cmp.Or(max(opts.Timeout, 0), 10*time.Second),
		silence: max(opts.Heartbeat, 0), gone: opts.Gone}
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
	if err := s.open(); errors.Is(err, http.ErrNotSupported) {
		for name := range set {
			h.Del(name)
			if old := before[name]; old != nil {
				h[name] = old
			}
		}
		return nil, err
	}
	err := s.err
	if opts.Retry > 0 && err == nil {
		err = s.Retry(opts.Retry)
	}
	s.start()
	return s, err
}

// open sends the header. A deadline for reading the request would end its context when it passes.
func (s *Writer) open() error {
	if err := s.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		s.err = fmt.Errorf("eventstream: %w", err)
		return s.err
	}
	return s.flushed(func() error { return nil })
}

// Event sends an event. An error is [ErrField], after which the stream goes on, or the connection's: then the reader has
// gone, or has not read for too long (os.ErrDeadlineExceeded), and all that follows fails alike.
func (s *Writer) Event(e Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	frame, err := Append(s.buf[:0], e)
	if err != nil {
		return err
	}
	return s.own(frame)
}

// Comment sends what readers pass over, so that whatever is between knows that the stream lives, and the server finds out
// whether there is still a reader. "" will do.
func (s *Writer) Comment(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own(appendComment(s.buf[:0], text))
}

// Retry tells the reader how long to wait before it comes back, from now on.
func (s *Writer) Retry(d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own(appendRetry(s.buf[:0], d))
}

// Send sends what [Append] has made, one event or several. It does not keep frames.
func (s *Writer) Send(frames []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(frames)
}

// own sends a frame in the buffer, which is kept for the next unless it has grown large: most of the time a stream is idle. The
// caller has locked, as that of send has.
func (s *Writer) own(frame []byte) error {
	const keep = 4 << 10
	if s.buf = frame; cap(frame) > keep {
		s.buf = nil
	}
	return s.send(frame)
}

func (s *Writer) send(frames []byte) error {
	if s.err != nil {
		return s.err
	}
	return s.flushed(func() error {
		_, err := s.w.Write(frames)
		return err
	})
}

// flushed writes and flushes before the deadline. There is none in between: over HTTP/2 one that passes ends the stream,
// whether something is being written or not.
func (s *Writer) flushed(write func() error) error {
	s.last = time.Now()
	err := s.deadline(s.last.Add(s.timeout))
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
