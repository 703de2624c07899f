package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	well := func(context.Context) error { return nil }
	tests := []struct {
		name    string
		check   func(context.Context) error
		details bool
		body    string // of 200; a part of 503
		log     string
		took    time.Duration
	}{
		{"well", well, false, `{"status":"ok"}` + "\n", "", 0},
		{"well, in detail", well, true, `{"status":"ok","checks":{"cache":"ok","database":"ok"}}` + "\n", "", 0},
		{"ill", func(context.Context) error { return errors.New("pq: s3cr3t") }, false, "", "pq: s3cr3t", 0},
		{"ill, in detail", func(context.Context) error { return errors.New("pq: s3cr3t") }, true,
			`"checks":{"cache":"ok","database":"failed"}`, "pq: s3cr3t", 0},
		{"panics", func(context.Context) error { panic("s3cr3t") }, false, "", "panic: s3cr3t", 0},
		{"waits", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, false, "", "deadline exceeded", 2 * time.Second},
		{"hangs", func(ctx context.Context) error { time.Sleep(time.Hour); return nil }, false, "", "deadline exceeded", 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log lines
				h := middleware.Health(map[string]func(context.Context) error{"database": tt.check, "cache": well},
					&middleware.HealthOptions{Details: tt.details, Logger: log.logger()})
				start, w := time.Now(), httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/health", nil))
				if took := time.Since(start); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				text := w.Body.String()
				if tt.log == "" {
					if diff := cmp.Diff(tt.body, text); diff != "" || w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
						t.Errorf("%d %v (-want +got):\n%s", w.Code, w.Header(), diff)
					}
					log.has(t, 0)
				} else {
					wantRecorded(t, w, problem.Unavailable)
					log.has(t, 1, tt.log, `"check":"database"`)
					if !strings.Contains(text, tt.body) || strings.Contains(text, "s3cr3t") || !tt.details && strings.Contains(text, "database") {
						t.Errorf("the client is told %s", text)
					}
				}
				time.Sleep(time.Hour) // the time limit of each check ends
			})
		})
	}
}

// TestHealthOfMany: however many ask, a check runs once at a time.
func TestHealthOfMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs, now, codes atomic.Int64
		h := middleware.Health(map[string]func(context.Context) error{"database": func(context.Context) error {
			runs.Add(1)
			if now.Add(1) > 1 {
				t.Error("two at once")
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return nil
		}}, nil)
		for range 50 {
			go func() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/health", nil))
				codes.Add(int64(w.Code))
			}()
		}
		time.Sleep(2 * time.Second)
		if runs.Load() != 1 || codes.Load() != 50*200 {
			t.Errorf("%d runs, codes %d", runs.Load(), codes.Load())
		}
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/health", nil))
		if runs.Load() != 2 {
			t.Errorf("%d runs: what was found is kept", runs.Load())
		}
	})
}

func TestHealthMethods(t *testing.T) {
	t.Parallel()
	h := middleware.Health(nil, nil)
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "POST": 405, "BREW": 405} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if w.Code != want || (want == 405 || want == 204) && w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
	onBothProtocols(t, h, func(t *testing.T, s *httptest.Server) {
		res, err := s.Client().Head(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 || res.ContentLength != 16 {
			t.Errorf("HEAD: %d %v", res.StatusCode, res.Header)
		}
	})
}

// TestHealthWhileDraining: a server that ends wants nothing new.
func TestHealthWhileDraining(t *testing.T) {
	t.Parallel()
	server := middleware.Server(http.NotFoundHandler(), nil)
	r := httptest.NewRequestWithContext(server.BaseContext(nil), "GET", "/health", nil)
	h := middleware.Health(nil, &middleware.HealthOptions{Logger: slog.New(slog.DiscardHandler)})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("%d before", w.Code)
	}
	server.Shutdown(t.Context())
	<-middleware.Draining(r.Context())
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	wantRecorded(t, w, problem.Unavailable)
}

func ExampleHealth() {
	h := middleware.Health(map[string]func(context.Context) error{
		"database": func(ctx context.Context) error { return nil }, // db.PingContext
	}, &middleware.HealthOptions{Timeout: time.Minute})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/health", nil))
	fmt.Print(w.Code, " ", w.Body)
	// Output: 200 {"status":"ok"}
}
