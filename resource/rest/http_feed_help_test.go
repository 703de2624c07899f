package rest_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// streamType asks for a feed.
const streamType = "Accept: text/event-stream"

// newFeed returns a Feed with a log in memory. It is closed at the end of the test.
func newFeed(t testing.TB) *feed.Feed {
	t.Helper()
	f := feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { f.Close() })
	return f
}

// begun waits until a feed knows its position, so that no later request reads it from the log, for
// which the tests leave little time.
func begun(t testing.TB, f *feed.Feed) {
	t.Helper()
	for _, err := range f.Watch(t.Context(), feed.Cursor{}, "nothing") {
		if err != nil {
			t.Fatal(err)
		}
		return // after the first bookmark
	}
}

// fed adds a feed to the shop of api.
func fed(f *feed.Feed) func(*setup) { return func(s *setup) { s.catalog.Feed = f } }

// stream is a streaming response. It is the ResponseWriter of a request that another goroutine
// serves. In a bubble of synctest, tests can wait until no more output follows.
type stream struct {
	t    *testing.T
	r    *http.Request
	stop context.CancelFunc // disconnects the client
	over chan struct{}

	mu       sync.Mutex
	header   http.Header
	status   int
	sent     http.Header // the header when the response began
	text     bytes.Buffer
	flushed  int // length of the flushed text
	deadline time.Time
	stalled  chan struct{} // a write waits for it or for the deadline; nil: writes do not wait
	panicked any
}

// open sends a request and waits until no more output follows.
func open(t *testing.T, h http.Handler, line string, rest ...string) *stream {
	t.Helper()
	r := request(t, line, rest...)
	ctx, stop := context.WithCancel(r.Context())
	return openWith(t, h, r.WithContext(ctx), stop)
}

func openWith(t *testing.T, h http.Handler, r *http.Request, stop context.CancelFunc) *stream {
	s := &stream{t: t, r: r, stop: stop, over: make(chan struct{}), header: http.Header{}}
	go func() {
		defer close(s.over)
		defer func() { s.panicked = recover() }()
		h.ServeHTTP(s, r)
	}()
	t.Cleanup(func() {
		stop()
		<-s.over
	})
	synctest.Wait()
	return s
}

func (s *stream) Header() http.Header { return s.header }

func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == 0 {
		s.status, s.sent = status, s.header.Clone()
	}
}

func (s *stream) Write(b []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	s.mu.Lock()
	stalled, deadline := s.stalled, s.deadline
	s.mu.Unlock()
	if stalled != nil {
		late := time.NewTimer(time.Until(deadline))
		defer late.Stop()
		select {
		case <-stalled:
		case <-late.C:
			return 0, os.ErrDeadlineExceeded
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *stream) FlushError() error {
	s.WriteHeader(http.StatusOK)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushed = s.text.Len()
	return nil
}

func (s *stream) SetWriteDeadline(at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = at
	return nil
}

// stall makes the client stop or resume reading.
func (s *stream) stall(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !yes {
		close(s.stalled)
		s.stalled = nil
		return
	}
	s.stalled = make(chan struct{})
}

// read waits until no more output follows, and returns the output since the last call.
func (s *stream) read() string {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flushed != s.text.Len() {
		s.t.Errorf("%s: what was written has not been sent: %q", s.r.RequestURI, s.text.String()[s.flushed:])
	}
	text := s.text.String()
	s.text.Reset()
	s.flushed = 0
	return text
}

// ended reports whether the response has ended, without waiting.
func (s *stream) ended() bool {
	synctest.Wait()
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// answer returns the response so far, for want and wantProblem.
func (s *stream) answer() *response {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return &response{s.r.Method + " " + s.r.RequestURI, s.status, s.sent, s.text.String()}
}

// eventsIn returns the events of a stream, each as "name data", and the last event id.
func eventsIn(t *testing.T, text string) (events []string, last string) {
	t.Helper()
	r := eventstream.NewReader(strings.NewReader(text), nil)
	for {
		e, err := r.Next()
		if err != nil {
			return events, r.LastID()
		}
		events = append(events, e.Name+" "+string(e.Data))
	}
}

// newEvents returns the events since the previous call.
func (s *stream) newEvents() []string {
	s.t.Helper()
	events, _ := eventsIn(s.t, s.read())
	return events
}

var (
	cursorLine = regexp.MustCompile(`(?m)^id: [\w-]{22,35}$`)
	retryLine  = regexp.MustCompile(`(?m)^retry: 2[0-9]{3}$`)
)

// plain replaces values that differ in each run.
func plain(text string) string {
	return retryLine.ReplaceAllString(cursorLine.ReplaceAllString(text, "id: *"), "retry: *")
}

// eventCursor returns the Event-Cursor of a response.
func eventCursor(t testing.TB, h http.Handler, line string, rest ...string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(t, line, rest...))
	at := w.Header().Get("Event-Cursor")
	if _, err := feed.ParseCursor(at); err != nil {
		t.Fatalf("%s: Event-Cursor %q: %v", line, at, err)
	}
	return at
}
