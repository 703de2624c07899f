package eventstream

// The writer of streams, which REST and GraphQL use.

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Heartbeat is a common value of [Options.Heartbeat]. Many proxies and load balancers close
// connections that are idle for a minute, and a server notices a disconnected client only when it
// sends.
const Heartbeat = 15 * time.Second

// Options configures a Writer. The zero value selects the defaults.
type Options struct {
	// Retry is the reconnection time sent to the client, in whole milliseconds. Zero sends none,
	// and the client uses its default.
	Retry time.Duration
	// Timeout limits how long sending an event may take. Default 10s. After that the client is
	// considered stalled and the stream ends.
	Timeout time.Duration
	// Heartbeat is the longest time without an event before an empty comment is sent. Zero disables
	// heartbeats. A stream with heartbeats must be closed with [Writer.Close].
	Heartbeat time.Duration
	// Gone, if not nil, is called once, in its own goroutine, when a heartbeat cannot be sent. A
	// handler that waits for events can use it to cancel that wait.
	Gone func()
}

// Writer sends a stream. Its methods are for one goroutine; heartbeats are sent concurrently. An
// idle Writer holds almost no memory.
type Writer struct {
	w         http.ResponseWriter
	control   *http.ResponseController
	timeout   time.Duration
	heartbeat time.Duration // Options.Heartbeat
	gone      func()

	mu    sync.Mutex // guards the fields below and is held during a send
	buf   []byte
	err   error       // of the first call that failed
	last  time.Time   // when data was last sent
	timer *time.Timer // nil without heartbeats
}

// Open responds to a request with a stream. It sends status 200 and the header immediately. It
// clears the server's read and write deadlines, because a stream has no fixed duration. A nil opts
// selects the defaults.
//
// If w cannot flush, as in an [http.TimeoutHandler], the error is [http.ErrNotSupported] with the type
// of w, and nothing was sent, so the handler can send another response. Any other error is an error of
// the connection; Open then also returns a Writer, and its sends fail with the same error.
func Open(w http.ResponseWriter, opts *Options) (*Writer, error) {
	if opts == nil {
		opts = &Options{}
	}
	s := &Writer{
		w:         w,
		control:   http.NewResponseController(w),
		timeout:   cmp.Or(max(opts.Timeout, 0), 10*time.Second),
		heartbeat: max(opts.Heartbeat, 0),
		gone:      opts.Gone,
	}
	h := w.Header()
	set := map[string]string{
		"Content-Type":      ContentType,
		"Cache-Control":     "no-store",
		"X-Accel-Buffering": "no", // disables buffering in nginx
	}
	before := h.Clone()
	for name, value := range set {
		h.Set(name, value)
	}
	h.Del("Content-Length")
	if err := s.sendHeader(); errors.Is(err, http.ErrNotSupported) {
		for name := range set {
			h.Del(name)
			if old := before[name]; old != nil {
				h[name] = old
			}
		}
		return nil, fmt.Errorf("eventstream: the ResponseWriter %T cannot flush; give it Flush or Unwrap, "+
			"or replace http.TimeoutHandler by middleware.Timeout: %w", innermost(w), http.ErrNotSupported)
	}
	err := s.err
	if opts.Retry > 0 && err == nil {
		err = s.Retry(opts.Retry)
	}
	s.start()
	return s, err
}

// innermost returns the ResponseWriter that has no Unwrap.
func innermost(w http.ResponseWriter) http.ResponseWriter {
	for {
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = u.Unwrap()
	}
}

// sendHeader sends the header. It clears the read deadline, which would otherwise cancel the
// request's context.
func (s *Writer) sendHeader() error {
	if err := s.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		s.err = fmt.Errorf("eventstream: %w", err)
		return s.err
	}
	return s.writeAndFlush(func() error { return nil })
}

// Event sends an event. After [ErrField] the stream can be used further. Any other error is
// permanent: the client has disconnected, or has not read for Options.Timeout
// ([os.ErrDeadlineExceeded]).
func (s *Writer) Event(e Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	frame, err := Append(s.buf[:0], e)
	if err != nil {
		return err
	}
	return s.sendBuffered(frame)
}

// Comment sends a comment, which clients ignore. It keeps proxies from closing the connection and
// detects a disconnected client. text may be empty.
func (s *Writer) Comment(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sendBuffered(appendComment(s.buf[:0], text))
}

// Retry sends a new reconnection time.
func (s *Writer) Retry(d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sendBuffered(appendRetry(s.buf[:0], d))
}

// Send sends frames encoded with [Append], one or several. It does not retain them.
func (s *Writer) Send(frames []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(frames)
}

// sendBuffered sends a frame that uses s.buf. It keeps the buffer for the next frame unless it is
// large, because most streams are idle. The caller holds s.mu, also for send.
func (s *Writer) sendBuffered(frame []byte) error {
	const keep = 4 << 10
	if s.buf = frame; cap(frame) > keep {
		s.buf = nil
	}
	return s.write(frame)
}

// write sends frames and keeps the first error, after which nothing is sent.
func (s *Writer) write(frames []byte) error {
	if s.err != nil {
		return s.err
	}
	return s.writeAndFlush(func() error {
		_, err := s.w.Write(frames)
		return err
	})
}

// writeAndFlush writes and flushes under a write deadline, and clears the deadline afterwards: over
// HTTP/2 an expired deadline ends the stream even if nothing is being written.
func (s *Writer) writeAndFlush(write func() error) error {
	s.last = time.Now()
	err := s.setWriteDeadline(s.last.Add(s.timeout))
	if err == nil {
		err = write()
	}
	if err == nil {
		err = s.control.Flush()
	}
	if err == nil {
		err = s.setWriteDeadline(time.Time{})
	}
	if err != nil {
		s.err = fmt.Errorf("eventstream: %w", err)
	}
	return s.err
}

func (s *Writer) setWriteDeadline(t time.Time) error {
	if err := s.control.SetWriteDeadline(t); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
