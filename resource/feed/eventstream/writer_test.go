package eventstream_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// conn is a ResponseWriter that records calls and can be made to fail.
type conn struct {
	http.ResponseWriter
	log  []string
	fail string
}

func (c *conn) note(what string) error {
	c.log = append(c.log, what)
	if what == c.fail {
		return os.ErrDeadlineExceeded
	}
	return nil
}

func (c *conn) Write(p []byte) (int, error) { return len(p), c.note(string(p)) }
func (c *conn) FlushError() error           { return c.note("flush") }

func (c *conn) SetWriteDeadline(d time.Time) error {
	if d.IsZero() {
		return c.note("no deadline")
	}
	return c.note("deadline in " + time.Until(d).Round(time.Second).String())
}

func (c *conn) SetReadDeadline(d time.Time) error {
	if !d.IsZero() {
		return errors.New("there was to be no deadline")
	}
	return c.note("read on")
}

func TestWriterDeadlines(t *testing.T) {
	t.Parallel()
	// with fake time, which does not advance between setting a deadline and reading it
	synctest.Test(t, writerDeadlines)
}

func writerDeadlines(t *testing.T) {
	c := &conn{ResponseWriter: httptest.NewRecorder()}
	s, err := eventstream.Open(
		c,
		&eventstream.Options{Retry: 1500 * time.Millisecond, Timeout: 3 * time.Second},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{s.Event(eventstream.Event{ID: "1", Data: []byte("x")}), s.Comment("a\nb\r\nc"), s.Comment(""),
		s.Send([]byte("data: y\n\n")), s.Retry(0), s.Event(eventstream.Event{ID: "\n"})} {
		if err != nil && !errors.Is(err, eventstream.ErrField) {
			t.Error(err)
		}
	}
	want := []string{"read on", "deadline in 3s", "flush", "no deadline"}
	for _, frame := range []string{"retry: 1500\n\n", "id: 1\ndata: x\n\n", ": a\n: b\n: \n: c\n\n", ": \n\n", "data: y\n\n", "retry: 0\n\n"} {
		want = append(want, "deadline in 3s", frame, "flush", "no deadline")
	}
	if diff := cmp.Diff(want, c.log); diff != "" {
		t.Errorf("what was done (-want +got):\n%s", diff)
	}
	wantHeader := http.Header{
		"Content-Type":      {"text/event-stream"},
		"Cache-Control":     {"no-store"},
		"X-Accel-Buffering": {"no"},
	}
	if diff := cmp.Diff(wantHeader, c.Header()); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}

// TestWriterFails: the first error is permanent, and nothing is written after it.
func TestWriterFails(t *testing.T) {
	t.Parallel()
	for _, fail := range []string{"deadline in 10s", "data: x\n\n", "flush", "no deadline"} {
		t.Run(strings.TrimSpace(fail), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { writerFails(t, fail) })
		})
	}
}

func writerFails(t *testing.T, fail string) {
	c := &conn{ResponseWriter: httptest.NewRecorder()}
	s, err := eventstream.Open(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.fail = fail
	err = s.Event(eventstream.Event{Data: []byte("x")})
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Event: %v, want ErrDeadlineExceeded", err)
	}
	n := len(c.log)
	if again := s.Comment(""); again != err || len(c.log) != n {
		t.Errorf("Comment: %v and %q was done, want the error of before and nothing", again, c.log[n:])
	}
}

// plain is a ResponseWriter that cannot be flushed.
type plain struct{ w http.ResponseWriter }

func (p plain) Header() http.Header         { return p.w.Header() }
func (p plain) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p plain) WriteHeader(status int)      { p.w.WriteHeader(status) }

func TestOpenWithoutFlush(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	rec.Header().Set("Cache-Control", "private")
	_, err := eventstream.Open(plain{rec}, nil)
	if !errors.Is(err, http.ErrNotSupported) {
		t.Errorf("Open: %v, want ErrNotSupported", err)
	}
	want := "eventstream: the ResponseWriter eventstream_test.plain cannot flush; give it Flush or Unwrap, or " +
		"replace http.TimeoutHandler by middleware.Timeout: feature not supported"
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("Open mismatch (-want +got):\n%s", diff)
	}
	rec.WriteHeader(http.StatusNotAcceptable) // nothing was sent, so another response is possible
	if diff := cmp.Diff(http.Header{"Cache-Control": {"private"}}, rec.Result().Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if got := rec.Code; got != http.StatusNotAcceptable {
		t.Errorf("status %d", got)
	}
}

// TestOverHTTP opens streams over both versions of HTTP. They last longer than the timeouts of the
// server.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("HTTP %d", version), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { overHTTP(t, version) })
		})
	}
}

func overHTTP(t *testing.T, version int) {
	next := make(chan string)
	url, client := piped(t, version, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := eventstream.Open(w, &eventstream.Options{Timeout: 5 * time.Second})
		for text := range next {
			if err == nil {
				err = s.Event(eventstream.Event{ID: text, Data: []byte(text)})
			}
		}
		if err != nil || r.Context().Err() != nil {
			t.Errorf("the stream ended: %v, %v", err, r.Context().Err())
		}
	}), func(s *http.Server) { // these timeouts are shorter than the stream
		s.ReadTimeout, s.WriteTimeout = 5*time.Second, 5*time.Second
	})
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.ProtoMajor != version || resp.Header.Get("Content-Type") != eventstream.ContentType {
		t.Fatalf("HTTP %d, Content-Type %q", resp.ProtoMajor, resp.Header.Get("Content-Type"))
	}
	r := eventstream.NewReader(resp.Body, nil)
	for _, text := range []string{"a", "b", "c"} {
		next <- text // each event arrives before the next is sent
		if e, err := r.Next(); err != nil || string(e.Data) != text {
			t.Errorf("Next: %q, %v, want %s", e.Data, err, text)
		}
		time.Sleep(6 * time.Second)
	}
	close(next)
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("Next at the end: %v", err)
	}
}

// TestStalledReader: a client that does not read is detected.
func TestStalledReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		var began time.Time
		url, client := piped(t, 1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s, err := eventstream.Open(w, &eventstream.Options{Timeout: 3 * time.Second})
			for frame := make([]byte, 1<<20); err == nil; { // until the network buffers are full
				began = time.Now()
				err = s.Send(frame)
			}
			ended <- err
		}), nil)
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 3*time.Second {
			t.Errorf(
				"the stream ended with %v after %v, want ErrDeadlineExceeded after 3 s",
				err,
				time.Since(began),
			)
		}
	})
}

func TestGoneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		url, client := piped(t, 1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s, err := eventstream.Open(w, nil)
			for err == nil {
				err = s.Comment("are you there?")
			}
			ended <- err
		}), nil)
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the stream ended with %v, want the connection's error", err)
		}
	})
}

func ExampleOpen() {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream, err := eventstream.Open(w, &eventstream.Options{Retry: time.Second})
		if err != nil {
			return
		}
		stream.Event(eventstream.Event{ID: "1", Name: "created", Data: []byte("two\nlines")})
		stream.Comment("nothing happens")
	})
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
	fmt.Print(rec.Body)
	// Output:
	// retry: 1000
	//
	// id: 1
	// event: created
	// data: two
	// data: lines
	//
	// : nothing happens
}

func ExampleNewReader() {
	r := eventstream.NewReader(strings.NewReader("id: 1\nevent: created\ndata: two\ndata: lines\n\n"), nil)
	for {
		e, err := r.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %s %q\n", e.ID, e.Name, e.Data)
	}
	// Output:
	// 1 created "two\nlines"
	// EOF
}

func ExampleAppend() {
	frame, err := eventstream.Append(nil, eventstream.Event{ID: "1", Data: []byte("hello")})
	fmt.Printf("%q %v\n", frame, err)
	// Output:
	// "id: 1\ndata: hello\n\n" <nil>
}
