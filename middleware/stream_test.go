package middleware_test

import (
	"bufio"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// streaming serves /events for ten hours with an event every half an hour, within the middleware of
// a server. ended receives the error with which a stream has ended.
func streaming(log *lines, ended chan<- error) http.Handler {
	isStream := func(r *http.Request) bool { return r.URL.Path == "/events" }
	events := func(w http.ResponseWriter, r *http.Request) {
		out, err := eventstream.Open(w, nil)
		for i := 1; i <= 20 && err == nil; i++ {
			time.Sleep(30 * time.Minute)
			err = out.Event(eventstream.Event{ID: strconv.Itoa(i), Data: []byte(strings.Repeat("x", 100))})
		}
		if ended <- err; errors.Is(err, os.ErrDeadlineExceeded) {
			panic(http.ErrAbortHandler)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", events)
	mux.HandleFunc("GET /", ok)
	return middleware.Chain(
		middleware.Log(log.options()), middleware.Recover(recoverQuietly()), middleware.SecureHeaders(nil),
		middleware.Timeout(&middleware.TimeoutOptions{Stream: isStream}),
		middleware.Limit(&middleware.LimitOptions{InFlight: 1, Queue: -1, Stream: isStream}),
		middleware.RateLimit(middleware.Rate{Quota: 3, Window: 240 * time.Hour}, nil),
	)(mux)
}

// TestStreamsOfEvents: a stream outlasts every limit of time, takes no place of other requests, uses one of a quota, and is
// one line of the log, when it is over.
func TestStreamsOfEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log lines
		ended := make(chan error, 2)
		p := serving(t, middleware.Server(streaming(&log, ended), nil))
		var bodies [2]chan string
		for i := range bodies {
			conn := p.dial()
			defer conn.Close()
			bodies[i] = make(chan string, 1)
			send(conn, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
			go func() {
				_, body, err := receive(t, conn)
				if err != nil {
					t.Error(err)
				}
				bodies[i] <- body
			}()
		}
		time.Sleep(time.Hour)
		log.has(t, 0)
		// the third and the fourth request
		for _, status := range []int{http.StatusOK, http.StatusTooManyRequests} {
			conn := p.dial()
			defer conn.Close()
			send(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if res, body, err := receive(t, conn); err != nil || res.StatusCode != status {
				t.Errorf("another request: %v %v %s, want %d", res, err, body, status)
			}
		}
		for _, body := range bodies {
			if n := strings.Count(<-body, "data: "); n != 20 {
				t.Errorf("%d events have come, want 20", n)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		log.has(t, 4, `"route":"/events","status":200,"bytes":`, `"duration":36000000000000`)
		if strings.Contains(log.String(), "aborted") {
			t.Errorf("a stream that has come to its end is logged as broken off:\n%s", log.String())
		}
	})
}

// TestStreamThatIsNotRead: the stream ends, and the log reports that it was aborted.
func TestStreamThatIsNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log lines
		ended := make(chan error, 1)
		// which holds nothing that is not read
		conn := serving(t, middleware.Server(streaming(&log, ended), nil)).dial()
		defer conn.Close()
		send(conn, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%v %v", res, err)
		}
		began := time.Now()
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the stream ended with %v", err)
		}
		if d := time.Since(began); d != 30*time.Minute+10*time.Second {
			t.Errorf("it was given up after %v, want 10 seconds behind the first event", d)
		}
		synctest.Wait()
		log.has(t, 1, `"level":"WARN"`, `"aborted":true`, `"route":"/events"`)
	})
}
