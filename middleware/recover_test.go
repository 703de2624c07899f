package middleware_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestRule139PanicsOfAnyHandler: 500, as long as nothing was sent.
func TestRule139PanicsOfAnyHandler(t *testing.T) {
	t.Parallel()
	var log lines
	h := middleware.Recover(&middleware.RecoverOptions{Logger: log.logger()})(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Set-Cookie", "session=s3cr3t")
			h.Set("Location", "/orders/7")
			h.Set("Content-Length", "7")
			h.Set("ETag", `"7"`)
			h.Set("X-Request-Id", "kept")
			panic("the database said:\nno such table")
		}))
	onBothProtocols(t, h, func(t *testing.T, s *httptest.Server) {
		res, body := get(t, s, "/orders/7")
		got := wantProblem(t, res.StatusCode, res.Header, strings.NewReader(body), problem.Internal)
		for _, name := range []string{"Set-Cookie", "Location", "Etag"} {
			if res.Header.Get(name) != "" {
				t.Errorf("%s: %s", name, res.Header.Get(name))
			}
		}
		if res.Header.Get("X-Request-Id") != "kept" || strings.Contains(body, "database") {
			t.Errorf("%v %s", res.Header, body)
		}
		if got.Instance == "" || strings.Count(log.String(), got.Instance) != 1 {
			t.Errorf("instance %q is not in the log: %s", got.Instance, &log)
		}
	})
	log.has(t, 2, `the database said:\\nno such table`, "TestRule139PanicsOfAnyHandler", "goroutine ",
		`"path":"/orders/7"`)
}

// TestRule139BegunResponsesAreAborted: a client must not take half an answer for a whole one.
func TestRule139BegunResponsesAreAborted(t *testing.T) {
	t.Parallel()
	begin := map[string]func(http.ResponseWriter){
		"written": func(w http.ResponseWriter) { io.WriteString(w, "half") },
		"header":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
		"flushed": func(w http.ResponseWriter) { http.NewResponseController(w).Flush() },
		"copied":  func(w http.ResponseWriter) { io.Copy(w, strings.NewReader("half")) },
	}
	for name, begin := range begin {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log lines
			h := middleware.Recover(&middleware.RecoverOptions{Logger: log.logger()})(http.HandlerFunc(
				func(w http.ResponseWriter, r *http.Request) {
					begin(w)
					panic(errors.New("in the middle"))
				}))
			onBothProtocols(t, h, func(t *testing.T, s *httptest.Server) {
				s.Config.ErrorLog = nil
				res, err := s.Client().Get(s.URL)
				if err == nil {
					_, err = io.ReadAll(res.Body)
					res.Body.Close()
				}
				if err == nil {
					t.Error("the client sees a whole answer")
				}
			})
			log.has(t, 2, "in the middle")
		})
	}
}

// TestRecoverPasses what is no failure but the way to abort.
func TestRecoverPasses(t *testing.T) {
	t.Parallel()
	var log lines
	h := middleware.Recover(&middleware.RecoverOptions{Logger: log.logger()})(http.HandlerFunc(
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("panicked with %v", v)
		}
		log.has(t, 0)
	}()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(context.Background(), "GET", "/", nil))
}
