package middleware_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

// lines collects the lines of a logger, as JSON.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(l, nil)) }

func (l *lines) options() *middleware.LogOptions { return &middleware.LogOptions{Logger: l.logger()} }

// has checks how many lines there are, and that all of the parts are in them.
func (l *lines) has(t *testing.T, count int, parts ...string) {
	t.Helper()
	text := l.String()
	if n := strings.Count(text, "\n"); n != count {
		t.Errorf("%d lines, want %d:\n%s", n, count, text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the log does not say %s:\n%s", part, text)
		}
	}
}

func quiet() *middleware.LogOptions {
	return &middleware.LogOptions{Logger: slog.New(slog.DiscardHandler)}
}

func recoverQuietly() *middleware.RecoverOptions {
	return &middleware.RecoverOptions{Logger: slog.New(slog.DiscardHandler)}
}

// flushesAndHijacks hides the ReaderFrom of a writer, as those do that change the content.
func flushesAndHijacks(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(notReading{w}, r) })
}

type notReading struct{ http.ResponseWriter }

func (n notReading) Unwrap() http.ResponseWriter { return n.ResponseWriter }
func (n notReading) Flush()                      { http.NewResponseController(n.ResponseWriter).Flush() }
func (n notReading) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(n.ResponseWriter).Hijack()
}

// refusal is a problem document.
type refusal struct {
	Type     string   `json:"type"`
	Status   int      `json:"status"`
	Detail   string   `json:"detail"`
	Instance string   `json:"instance"`
	Violated []string `json:"violated-policies"`
	Limit    int64    `json:"limit"`
}

// wantProblem checks that the response is a problem of the kind, and returns it.
func wantProblem(t *testing.T, status int, header http.Header, body io.Reader, kind problem.Kind) refusal {
	t.Helper()
	text, err := io.ReadAll(body)
	if err != nil {
		t.Error(err)
	}
	var got refusal
	err = json.Unmarshal(text, &got)
	want := (&problem.Details{Kind: kind}).StatusCode()
	if err != nil || status != want || got.Status != want || got.Type != kind.URI() ||
		header.Get("Content-Type") != problem.MediaType || header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s, want a problem %s (%v)", status, header, text, kind, err)
	}
	return got
}

func wantRecorded(t *testing.T, w *httptest.ResponseRecorder, kind problem.Kind) refusal {
	t.Helper()
	return wantProblem(t, w.Code, w.Header(), w.Body, kind)
}
