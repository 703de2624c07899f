package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

// verify knows the tokens of Ann, and ways to fail.
func verify(_ context.Context, token string) (string, error) {
	switch token {
	case "ann-1", "a.b~c+d/e_f-0==":
		return "ann", nil
	case "nobody":
		return "", nil
	case "closed":
		return "", problem.New(problem.Forbidden, "The account is closed.")
	case "expired":
		return "", &problem.Details{Kind: "https://example.com/problems/expired",
			Status: http.StatusUnauthorized}
	case "down":
		return "", fmt.Errorf("asking for %s: connection refused", token)
	case "late":
		return "ann", context.DeadlineExceeded
	}
	return "", fmt.Errorf("wrapped: %w", middleware.ErrToken)
}

// whoami responds with the principal.
func whoami(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	io.WriteString(w, "<"+middleware.Principal(r.Context())+">")
}

func ask(opts *middleware.AuthenticateOptions, method string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	for _, field := range fields {
		r.Header.Add("Authorization", field)
	}
	w := httptest.NewRecorder()
	middleware.Authenticate(verify, opts)(http.HandlerFunc(whoami)).ServeHTTP(w, r)
	return w
}

func TestRule138Bearer(t *testing.T) {
	t.Parallel()
	const (
		invalidToken   = `Bearer realm="shop", error="invalid_token", error_description="the token is invalid, expired or revoked"`
		invalidRequest = `Bearer realm="shop", error="invalid_request", ` +
			`error_description="send one Authorization field with one bearer token"`
	)
	tests := []struct {
		name      string
		method    string
		fields    []string
		status    int
		challenge string
		content   string // or a part of it
	}{
		{"nobody", "GET", nil, 200, "", "<>"},
		{"anonymous write", "POST", nil, 401, `Bearer realm="shop"`, problem.Unauthenticated.URI()},
		{"somebody", "GET", []string{"Bearer ann-1"}, 200, "", "<ann>"},
		{"authenticated write", "DELETE", []string{"Bearer ann-1"}, 200, "", "<ann>"},
		{"scheme in any case", "PUT", []string{"bEARER ann-1"}, 200, "", "<ann>"},
		{"spaces", "GET", []string{"  Bearer   ann-1  "}, 200, "", "<ann>"},
		{"every character", "GET", []string{"Bearer a.b~c+d/e_f-0=="}, 200, "", "<ann>"},
		{"wrong token", "GET", []string{"Bearer x"}, 401, invalidToken, problem.Unauthenticated.URI()},
		{"token without principal", "GET", []string{"Bearer nobody"}, 401, invalidToken,
			problem.Unauthenticated.URI()},
		{"another scheme", "GET", []string{"Basic YW5uOmFubg=="}, 200, "", "<>"},
		{"another scheme writes", "PATCH", []string{"Digest a=b"}, 401, `Bearer realm="shop"`,
			problem.Unauthenticated.URI()},
		{"a scheme that begins alike", "GET", []string{"Bearers ann-1"}, 200, "", "<>"},
		{"two fields", "GET", []string{"Bearer ann-1", "Bearer ann-1"}, 400, invalidRequest,
			`"header":"Authorization"`},
		{"two schemes", "GET", []string{"Basic x", "Bearer ann-1"}, 400, invalidRequest,
			problem.InvalidHeader.URI()},
		{"no token", "GET", []string{"Bearer"}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"empty token", "GET", []string{"Bearer  "}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"two tokens", "GET", []string{"Bearer ann-1 ann-1"}, 400, invalidRequest,
			problem.InvalidHeader.URI()},
		{"list", "GET", []string{"Bearer ann-1, Basic x"}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"quoted", "GET", []string{`Bearer "ann-1"`}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"only padding", "GET", []string{"Bearer =="}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"padding inside", "GET", []string{"Bearer a=b"}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"not ASCII", "GET", []string{"Bearer ännchen"}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"tab", "GET", []string{"Bearer\tann-1"}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"empty", "GET", []string{""}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"no scheme", "GET", []string{`"x"`}, 400, invalidRequest, problem.InvalidHeader.URI()},
		{"refused", "GET", []string{"Bearer closed"}, 403, "", "The account is closed."},
		{"refused with 401", "GET", []string{"Bearer expired"}, 401,
			`Bearer realm="shop", error="invalid_token"`,
			"https://example.com/problems/expired"},
		{"unknown", "GET", []string{"Bearer down"}, 503, "", problem.Unavailable.URI()},
		{"late", "GET", []string{"Bearer late"}, 503, "", problem.Unavailable.URI()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := &middleware.AuthenticateOptions{Realm: "shop", Required: middleware.Writes,
				Logger: slog.New(slog.DiscardHandler)}
			w := ask(opts, tt.method, tt.fields...)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.content) {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, tt.status, tt.content)
			}
			if diff := cmp.Diff(tt.challenge, w.Header().Get("WWW-Authenticate")); diff != "" {
				t.Errorf("challenge (-want +got):\n%s", diff)
			}
			if w.Code >= 400 && (w.Header().Get("Cache-Control") != "no-store" ||
				w.Header().Get("Content-Type") != problem.MediaType) {
				t.Errorf("header %v", w.Header())
			}
			if (w.Code == 503) != (w.Header().Get("Retry-After") == "1") {
				t.Errorf("Retry-After: %s", w.Header().Get("Retry-After"))
			}
			if strings.Contains(w.Header().Get("Vary"), "Authorization") {
				t.Errorf("Vary: %s", w.Header().Get("Vary"))
			}
		})
	}
}

// TestNothingLeaks: what kept a token from being checked is for the log, and the token is not even for that.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	secret := "s3cr3t"
	leaky := func(_ context.Context, token string) (string, error) {
		return "", errors.New("redis: no answer for session:" + token)
	}
	h := middleware.Authenticate(leaky,
		&middleware.AuthenticateOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	h(http.HandlerFunc(whoami)).ServeHTTP(w, r)
	if strings.Contains(w.Body.String(), "redis") || strings.Contains(w.Body.String(), secret) {
		t.Errorf("the client is told %s", w.Body)
	}
	if !strings.Contains(log.String(), "redis: no answer for session:[token]") ||
		strings.Contains(log.String(), secret) {
		t.Errorf("the log is told %s", &log)
	}
}

func TestVary(t *testing.T) {
	t.Parallel()
	w := ask(&middleware.AuthenticateOptions{Vary: true}, "GET")
	if diff := cmp.Diff([]string{"Authorization", "Accept"}, w.Header()["Vary"]); diff != "" {
		t.Errorf("Vary (-want +got):\n%s", diff)
	}
	twice := middleware.Authenticate(verify, &middleware.AuthenticateOptions{Vary: true})
	for _, before := range []string{"Accept, authorization", "*"} {
		w := httptest.NewRecorder()
		w.Header().Set("Vary", before)
		twice(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if diff := cmp.Diff([]string{before}, w.Header()["Vary"]); diff != "" {
			t.Errorf("Vary (-want +got):\n%s", diff)
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	if w := ask(nil, "POST"); w.Code != http.StatusOK || w.Body.String() != "<>" {
		t.Errorf("nobody: %d %s", w.Code, w.Body)
	}
	if w := ask(nil, "POST", "Bearer x"); w.Header().Get("WWW-Authenticate") !=
		`Bearer error="invalid_token", error_description="the token is invalid, expired or revoked"` {
		t.Errorf("challenge %s", w.Header().Get("WWW-Authenticate"))
	}
	defer func() {
		if diff := cmp.Diff(any("middleware: Authenticate: verify is nil; pass a function that verifies tokens"), recover()); diff != "" {
			t.Errorf("panic (-want +got):\n%s", diff)
		}
	}()
	middleware.Authenticate(nil, nil)
}

// TestClientGone: that a client went away is nothing for the log.
func TestClientGone(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	gone := func(ctx context.Context, _ string) (string, error) { return "", ctx.Err() }
	h := middleware.Authenticate(gone,
		&middleware.AuthenticateOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	r.Header.Set("Authorization", "Bearer x")
	w := httptest.NewRecorder()
	h(http.HandlerFunc(whoami)).ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || log.Len() > 0 {
		t.Errorf("%d %s, log %s", w.Code, w.Body, &log)
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	for realm, want := range map[string]string{
		"": "Bearer", "shop": `Bearer realm="shop"`, `a"b\c`: `Bearer realm="a\"b\\c"`,
		"a\r\nX: y": `Bearer realm="a  X: y"`,
	} {
		if diff := cmp.Diff(want, middleware.Challenge(realm)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", realm, diff)
		}
	}
}

func TestWrites(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]bool{"GET": false, "HEAD": false, "OPTIONS": false, "TRACE": false,
		"QUERY": false,
		"POST":  true, "PUT": true, "PATCH": true, "DELETE": true, "BREW": true} {
		if got := middleware.Writes(httptest.NewRequest(method, "/", nil)); got != want {
			t.Errorf("%s: %t, want %t", method, got, want)
		}
	}
}

func TestPrincipal(t *testing.T) {
	t.Parallel()
	if got := middleware.Principal(t.Context()); got != "" {
		t.Errorf("%q asks, want nobody", got)
	}
	if got := middleware.Principal(middleware.WithPrincipal(t.Context(), "ann")); got != "ann" {
		t.Errorf("%q asks, want ann", got)
	}
}
