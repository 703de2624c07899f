package middleware_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	none := &middleware.LimitOptions{Content: -1, URL: -1, Fields: -1, FieldBytes: -1}
	uploads := &middleware.LimitOptions{Content: 10, ContentOf: func(r *http.Request) int64 {
		switch r.URL.Path {
		case "/files":
			return 100
		case "/any":
			return -1
		}
		return 0
	}}
	tests := []struct {
		name, target string
		opts         *middleware.LimitOptions
		fields, size int // of the header
		content      int
		kind         problem.Kind // "" is let through
		limit        int64
	}{
		{"nothing special", "/", nil, 1, 1, 1, "", 0},
		{"target", "/" + strings.Repeat("a", 8191), nil, 0, 0, 0, "", 0},
		{"target too long", "/" + strings.Repeat("a", 8192), nil, 0, 0, 0, problem.URITooLong, 8192},
		{"query too long", "/?" + strings.Repeat("a", 8192), nil, 0, 0, 0, problem.URITooLong, 8192},
		{"fields", "/", nil, 100, 1, 0, "", 0},
		{"too many fields", "/", nil, 101, 1, 0, problem.HeadersTooLarge, 100},
		{"header", "/", nil, 1, 32<<10 - 5, 0, "", 0},
		{"too large a header", "/", nil, 1, 32<<10 - 4, 0, problem.HeadersTooLarge, 32 << 10},
		{"content", "/", nil, 0, 0, 1 << 20, "", 0},
		{"too much content", "/", nil, 0, 0, 1<<20 + 1, problem.TooLarge, 1 << 20},
		{"upload", "/files", uploads, 0, 0, 100, "", 0},
		{"too much of an upload", "/files", uploads, 0, 0, 101, problem.TooLarge, 100},
		{"no upload", "/", uploads, 0, 0, 11, problem.TooLarge, 10},
		{"any upload", "/any", uploads, 0, 0, 1 << 21, "", 0},
		{"no limits", "/" + strings.Repeat("a", 10000), none, 200, 1000, 1 << 21, "", 0},
	}
	for _, tt := range tests {
		for _, chunked := range []bool{false, true} {
			t.Run(tt.name+" chunked="+strconv.FormatBool(chunked), func(t *testing.T) {
				t.Parallel()
				r := httptest.NewRequest("POST", tt.target,
					strings.NewReader(strings.Repeat("x", tt.content)))
				if chunked {
					r.ContentLength = -1
				}
				for range tt.fields {
					r.Header["X"] = append(r.Header["X"], strings.Repeat("v", tt.size))
				}
				w := httptest.NewRecorder()
				middleware.Limit(tt.opts)(http.HandlerFunc(swallow)).ServeHTTP(w, r)
				if tt.kind == "" {
					if w.Code != http.StatusOK || w.Body.String() != strconv.Itoa(tt.content) {
						t.Errorf("%d %s", w.Code, w.Body)
					}
					return
				}
				if got := wantRecorded(t, w, tt.kind); got.Limit != tt.limit {
					t.Errorf("limit %d, want %d", got.Limit, tt.limit)
				}
			})
		}
	}
}

// swallow reads the whole body and responds with its size.
func swallow(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		d := problem.New(problem.TooLarge, "too much")
		d.Extensions = map[string]any{"limit": tooLarge.Limit}
		problem.Write(w, r, d)
		return
	}
	io.WriteString(w, strconv.FormatInt(n, 10))
}

// TestNoReadingAfterRefusal: after a rejected body the connection is closed at once, even if the
// client continues to send. The handler may have begun its response.
func TestNoReadingAfterRefusal(t *testing.T) {
	t.Parallel()
	chunk := "ff\r\n" + strings.Repeat("x", 255) + "\r\n"
	const chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	begun := func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex() // or net/http reads before it answers
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		http.NewResponseController(w).Flush()
		io.Copy(io.Discard, r.Body)
	}
	tests := []struct {
		name, sends, drip string
		h                 http.HandlerFunc
		outside           func(http.Handler) http.Handler
	}{
		{"chunks that drip", chunked + strings.Repeat(chunk, 5), "1\r\nx\r\n", swallow, nil},
		{"queued", chunked + strings.Repeat(chunk, 5), "1\r\nx\r\n", swallow,
			middleware.Chain(middleware.Log(quiet()), onlyUnwraps, middleware.Recover(nil))},
		{"and before Timeout", chunked + strings.Repeat(chunk, 5), "1\r\nx\r\n", swallow,
			middleware.Timeout(nil)},
		{"length that drips", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\nx", "x", swallow,
			nil},
		{"begun", chunked + strings.Repeat(chunk, 5), "1\r\nx\r\n", begun, nil},
		{"queued, then begun", chunked + strings.Repeat(chunk, 5), "1\r\nx\r\n", begun,
			middleware.Log(quiet())},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				limit := middleware.Limit(&middleware.LimitOptions{Content: 1000})
				p := serving(t, middleware.Server(middleware.Chain(tt.outside, limit)(tt.h), nil))
				conn, start := p.dial(), time.Now()
				go func() {
					io.WriteString(conn, tt.sends)
					for {
						time.Sleep(100 * time.Millisecond)
						if _, err := io.WriteString(conn, tt.drip); err != nil {
							return
						}
					}
				}()
				res, _, err := receive(t, conn)
				if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge || !res.Close &&
					!strings.HasSuffix(tt.name, "begun") {
					t.Errorf("%v %v", err, res)
				}
				if more, _ := io.ReadAll(conn); strings.Contains(string(more), "HTTP/1.1") {
					t.Errorf("content was taken for a request: %s", more)
				}
				if took := time.Since(start); took > 2*time.Second { // net/http lingers half a second
					t.Errorf("the connection was read for %v", took)
				}
				conn.Close()
				time.Sleep(time.Second)
			})
		})
	}
}

// TestLimitOnTheWire: a client that continues to send receives 413, over both protocols.
func TestLimitOnTheWire(t *testing.T) {
	t.Parallel()
	h := middleware.Chain(middleware.Log(quiet()),
		middleware.Limit(&middleware.LimitOptions{Content: 1000}))(http.HandlerFunc(swallow))
	onBothProtocols(t, h, func(t *testing.T, s *httptest.Server) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		for range 3 {
			details := make(waits)
			// It continues after the response, because a client with a closed connection may not
			// receive it.
			r, _ := http.NewRequestWithContext(ctx, "POST", s.URL,
				io.MultiReader(io.LimitReader(zeros{}, 2000), details, io.LimitReader(zeros{}, 100_000)))
			res, err := s.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			wantProblem(t, res.StatusCode, res.Header, res.Body, problem.TooLarge)
			close(details)
			res.Body.Close()
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// waits is a body without data. It is closed when the body is closed.
type waits chan struct{}

func (w waits) Read([]byte) (int, error) {
	<-w
	return 0, io.EOF
}

// TestInFlight fills all slots and the queue, and sends one more request.
func TestInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var most, now atomic.Int64
		h := middleware.Limit(&middleware.LimitOptions{InFlight: 2, Queue: 3, Wait: 5 * time.Second,
			Stream: func(r *http.Request) bool { return r.URL.Path == "/events" }})(http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(4 * time.Second)
				now.Add(-1)
			}))
		codes := make(chan int, 20)
		ask := func(path string) {
			go func() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
				if w.Code != http.StatusOK && w.Header().Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
				codes <- w.Code
			}()
			synctest.Wait()
		}
		for range 5 {
			ask("/")
		}
		if most.Load() != 2 {
			t.Errorf("%d at once, want 2", most.Load())
		}
		ask("/") // the sixth: two are worked on, and three wait
		if len(codes) != 1 || <-codes != http.StatusServiceUnavailable {
			t.Error("one more than the queue holds is not refused at once")
		}
		ask("/events")
		if most.Load() != 3 {
			t.Error("a stream waits")
		}
		got := map[int]int{}
		for range 6 {
			got[<-codes]++
		}
		// of the three queued requests the third was not served within five seconds
		if got[200] != 5 || got[503] != 1 {
			t.Errorf("%v, want five served and one that waited in vain", got)
		}
		ask("/")
		if code := <-codes; code != 200 {
			t.Errorf("%d afterwards: a place was lost", code)
		}
	})
}
