package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestTimeout lets handlers take too long, in a time of their own.
func TestTimeout(t *testing.T) {
	t.Parallel()
	obedient := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a=b") // of a response that is never sent
		<-r.Context().Done()
	}
	tests := []struct {
		name   string
		sends  string
		drip   string
		h      http.HandlerFunc
		status int // 0: the connection is cut off
		took   time.Duration
	}{
		{"gives up", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", obedient, 503, 30 * time.Second},
		{"has answered", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "",
			func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusAccepted)
				obedient(w, r)
			}, 202, 30 * time.Second},
		{"works longer than reading may take", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "",
			func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(20 * time.Second)
				if r.Context().Err() != nil {
					w.WriteHeader(http.StatusTeapot)
				}
			}, 200, 20 * time.Second},
		{"works long with what it has read", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", "",
			func(w http.ResponseWriter, r *http.Request) {
				io.ReadAll(r.Body)
				time.Sleep(20 * time.Second)
				if r.Context().Err() != nil {
					w.WriteHeader(http.StatusTeapot)
				}
			}, 200, 20 * time.Second},
		{"content drips", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", "x",
			func(w http.ResponseWriter, r *http.Request) {
				_, err := io.ReadAll(r.Body)
				var d *problem.Details
				if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &d) {
					w.WriteHeader(http.StatusTeapot)
					return
				}
				problem.Write(w, r, d)
			}, 408, 15 * time.Second},
		{"takes no notice", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "",
			func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(2 * time.Minute)
				io.WriteString(w, "too late")
			}, 0, 2 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := serving(t, middleware.Server(middleware.Timeout(nil)(tt.h), nil))
				conn, start := p.dial(), time.Now()
				go func() {
					io.WriteString(conn, tt.sends)
					for tt.drip != "" {
						time.Sleep(time.Second)
						if _, err := io.WriteString(conn, tt.drip); err != nil {
							return
						}
					}
				}()
				res, body, err := receive(t, conn)
				if took := time.Since(start); took < tt.took || took > tt.took+time.Second {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				if tt.status == 0 {
					if err == nil {
						t.Errorf("%d %s, want none", res.StatusCode, body)
					}
				} else if err != nil || res.StatusCode != tt.status {
					t.Errorf("%v %v %s, want %d", err, res, body, tt.status)
				}
				if tt.status == 503 {
					wantProblem(t, res.StatusCode, res.Header, strings.NewReader(body), problem.Unavailable)
					if res.Header.Get("Retry-After") == "" {
						t.Error("no Retry-After")
					}
					if res.Header["Set-Cookie"] != nil {
						t.Error("a cookie of the answer that was given up")
					}
				}
				conn.Close()
				time.Sleep(2 * time.Second) // so that the slow client reads the error
			})
		})
	}
}

// TestTimeoutAfterBodyWasRead: if other middleware has read the body, the read deadline does not
// end the handler.
func TestTimeoutAfterBodyWasRead(t *testing.T) {
	t.Parallel()
	reader := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			content, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(content))
			next.ServeHTTP(w, r)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		h := middleware.Chain(reader,
			middleware.Timeout(nil))(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.ReadAll(r.Body)
			time.Sleep(20 * time.Second)
			if r.Context().Err() != nil {
				w.WriteHeader(http.StatusTeapot)
			}
		}))
		conn := serving(t, middleware.Server(h, nil)).dial()
		defer conn.Close()
		send(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
		if res, _, err := receive(t, conn); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%v %v", res, err)
		}
	})
}

// TestTimeoutLeavesStreamsAlone, for longer than any limit, and everything that has no limit.
func TestTimeoutLeavesStreamsAlone(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*middleware.TimeoutOptions{
		"stream":   {Stream: func(r *http.Request) bool { return r.URL.Path == "/events" }},
		"no limit": {Handle: -1, Read: -1, Write: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := middleware.Timeout(opts)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, bounded := r.Context().Deadline()
					for range 10 {
						time.Sleep(10 * time.Minute)
						if r.Context().Err() != nil || bounded {
							panic(http.ErrAbortHandler)
						}
						io.WriteString(w, "event\n")
						http.NewResponseController(w).Flush()
					}
				}))
				p := serving(t, middleware.Server(h, nil))
				conn := p.dial()
				defer conn.Close()
				send(conn, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
				if _, body, err := receive(t, conn); err != nil || body != strings.Repeat("event\n", 10) {
					t.Errorf("%v %q", err, body)
				}
			})
		})
	}
}

// TestTimeoutAndClients: after a disconnect nothing is sent, and a recorder of tests has no
// deadlines.
func TestTimeoutAndClients(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	middleware.Timeout(nil)(http.HandlerFunc(ok)).ServeHTTP(w,
		httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader("x")))
	if w.Body.Len() > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestTimeoutOnTheWire: content that never arrives is given up on both protocols, and so is a handler.
func TestTimeoutOnTheWire(t *testing.T) {
	t.Parallel()
	h := middleware.Timeout(&middleware.TimeoutOptions{Read: 20 * time.Millisecond,
		Handle: 40 * time.Millisecond})(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			var d *problem.Details
			switch {
			case errors.As(err, &d):
				problem.Write(w, r, d)
			case err == nil:
				<-r.Context().Done()
			}
		}))
	onBothProtocols(t, h, func(t *testing.T, s *httptest.Server) {
		never, end := io.Pipe()
		defer end.Close()
		for body, want := range map[io.Reader]int{never: http.StatusRequestTimeout,
			http.NoBody: http.StatusServiceUnavailable} {
			r, _ := http.NewRequest("POST", s.URL, body)
			res, err := s.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s: %d, want %d", res.Proto, res.StatusCode, want)
			}
		}
	})
}

// TestTimeoutOfContentOfStreams: the request body of a stream has a deadline. Otherwise clients
// could hold connections by sending slowly. The stream itself has none.
func TestTimeoutOfContentOfStreams(t *testing.T) {
	t.Parallel()
	const begin = "POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1"
	for rest, want := range map[string]int{"": http.StatusRequestTimeout, "2": http.StatusOK} {
		t.Run("rest "+rest, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := middleware.Timeout(&middleware.TimeoutOptions{Stream: func(*http.Request) bool {
					return true
				}})(
					http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						var d *problem.Details
						if _, err := io.ReadAll(r.Body); errors.As(err, &d) {
							problem.Write(w, r, d)
							return
						}
						time.Sleep(10 * time.Hour)
						if r.Context().Err() == nil {
							io.WriteString(w, "event\n")
						}
					}))
				conn := serving(t, middleware.Server(h, nil)).dial()
				defer conn.Close()
				send(conn, begin+rest)
				began := time.Now()
				res, body, err := receive(t, conn)
				if err != nil {
					t.Fatal(err)
				}
				if res.StatusCode != want || want == http.StatusOK && body != "event\n" {
					t.Errorf("%d %q, want %d", res.StatusCode, body, want)
				}
				if took := time.Since(began); want != http.StatusOK && took > time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
