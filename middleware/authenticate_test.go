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
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

// roles are the claims of the tokens below.
type roles []string

// verify knows the tokens of Ann, and ways to fail.
func verify(r *http.Request, token string) (s middleware.Session[roles], err error) {
	switch token {
	case "ann-1", "a.b~c+d/e_f-0==":
		return middleware.Session[roles]{Principal: "ann", Claims: roles{"clerk"}}, nil
	case "soon":
		return middleware.Session[roles]{Principal: "ann", Expires: time.Now().Add(time.Minute)}, nil
	case "host":
		return middleware.Session[roles]{Principal: "ann@" + r.Host}, nil
	case "nobody":
		return s, nil
	case "closed":
		return s, problem.New(problem.Forbidden, "The account is closed.")
	case "expired":
		return s, &problem.Details{Kind: "https://example.com/problems/expired",
			Status: http.StatusUnauthorized}
	case "down":
		return s, fmt.Errorf("asking for %s: connection refused", token)
	case "late":
		s.Principal = "ann"
		return s, context.DeadlineExceeded
	}
	return s, fmt.Errorf("wrapped: %w", middleware.ErrToken)
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
	leaky := func(_ *http.Request, token string) (s middleware.Session[string], err error) {
		return s, errors.New("redis: no answer for session:" + token)
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
	middleware.Authenticate[string](nil, nil)
}

// TestClientGone: that a client went away is nothing for the log.
func TestClientGone(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	gone := func(r *http.Request, _ string) (s middleware.Session[string], err error) { return s, r.Context().Err() }
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

// TestClaims: inner handlers get the claims in their own type, and none of another caller.
func TestClaims(t *testing.T) {
	t.Parallel()
	type other []string
	show := func(ctx context.Context) string {
		claims, ok := middleware.Claims[roles](ctx)
		_, typed := middleware.Claims[other](ctx)
		return fmt.Sprintf("%s %v %t %t", middleware.Principal(ctx), claims, ok, typed)
	}
	tests := []struct {
		name, field string
		inner       func(ctx context.Context) context.Context
		want        string
	}{
		{"claims", "Bearer ann-1", nil, "ann [clerk] true false"},
		{"anonymous", "", nil, " [] false false"},
		{"other scheme", "Basic x", nil, " [] false false"},
		{"verify gets the request", "Bearer host", nil, "ann@example.com [] true false"},
		{"another principal has no claims", "Bearer ann-1",
			func(ctx context.Context) context.Context { return middleware.WithPrincipal(ctx, "bob") }, "bob [] false false"},
		{"another session", "Bearer ann-1", func(ctx context.Context) context.Context {
			return middleware.WithSession(ctx, middleware.Session[roles]{Principal: "bob", Claims: roles{"admin"}})
		}, "bob [admin] true false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got string
			h := middleware.Authenticate(verify, nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				ctx := r.Context()
				if tt.inner != nil {
					ctx = tt.inner(ctx)
				}
				got = show(ctx)
			}))
			r := httptest.NewRequest("GET", "/", nil)
			if tt.field != "" {
				r.Header.Set("Authorization", tt.field)
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("caller (-want +got):\n%s", diff)
			}
		})
	}
	if got := show(t.Context()); got != " [] false false" {
		t.Errorf("without middleware: %s", got)
	}
}

// TestStreamsExpire: the context of a stream ends with its token, and that of other requests does not.
func TestStreamsExpire(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			opts := &middleware.AuthenticateOptions{Stream: func(*http.Request) bool { return stream }}
			var after time.Duration
			h := middleware.Authenticate(verify, opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				begin := time.Now()
				select {
				case <-r.Context().Done():
				case <-time.After(time.Hour):
				}
				after = time.Since(begin)
			}))
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Authorization", "Bearer soon")
			h.ServeHTTP(httptest.NewRecorder(), r)
			want := time.Hour
			if stream {
				want = time.Minute
			}
			if after != want {
				t.Errorf("stream %t: the context ended after %v, want %v", stream, after, want)
			}
		})
	}
}

// TestStreamsByDefault: the spelling of Accept and the number of its lines do not matter, because the
// handlers of streams do not depend on them.
func TestStreamsByDefault(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header http.Header
		stream bool
	}{
		{"event stream", http.Header{"Accept": {"text/event-stream"}}, true},
		{"other case", http.Header{"Accept": {"Text/Event-Stream"}}, true},
		{"second line", http.Header{"Accept": {"application/json;q=0.1", "text/event-stream"}}, true},
		{"upgrade", http.Header{"Upgrade": {"websocket"}}, true},
		{"JSON", http.Header{"Accept": {"application/json"}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bounded := false
			h := middleware.Authenticate(verify, nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, bounded = r.Context().Deadline()
			}))
			r := httptest.NewRequest("GET", "/", nil)
			r.Header = tt.header
			r.Header.Set("Authorization", "Bearer soon")
			h.ServeHTTP(httptest.NewRecorder(), r)
			if bounded != tt.stream {
				t.Errorf("the context has a deadline: %t, want %t", bounded, tt.stream)
			}
		})
	}
}

// TestExpiredSession: verify need not compare Session.Expires with the clock.
func TestExpiredSession(t *testing.T) {
	t.Parallel()
	h := middleware.Authenticate(func(*http.Request, string) (middleware.Session[string], error) {
		return middleware.Session[string]{Principal: "ann", Expires: time.Now().Add(-time.Second)}, nil
	}, nil)(http.NotFoundHandler())
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer old")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("status %d, want 401", w.Code)
	}
}

// TestConnect authenticates sockets by their first message or by the header.
func TestConnect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, header, payload string
		want                  string // principal and claims
		until                 bool
		status                int // of an error
	}{
		{name: "token", payload: `{"Authorization":"Bearer ann-1"}`, want: "ann [clerk]"},
		{name: "token that expires", payload: `{"Authorization":"bearer soon"}`, want: "ann []", until: true},
		{name: "handshake", payload: `{"Authorization":"Bearer host"}`, want: "ann@example.com []"},
		{name: "nothing", want: " []"},
		{name: "without the member", payload: `{"locale":"en"}`, want: " []"},
		{name: "header", header: "soon", payload: `{}`, want: "ann []", until: true},
		{name: "both", header: "soon", payload: `{"Authorization":"Bearer ann-1"}`, want: "ann [clerk]"},
		{name: "invalid token", header: "ann-1", payload: `{"Authorization":"Bearer x"}`, status: 401},
		{name: "another scheme", payload: `{"Authorization":"Basic x"}`, status: 401},
		{name: "not a string", payload: `{"Authorization":7}`, status: 401},
		{name: "not JSON", payload: `x`, status: 401},
		{name: "closed account", payload: `{"Authorization":"Bearer closed"}`, status: 403},
		{name: "fault", payload: `{"Authorization":"Bearer down"}`, status: 503},
	}
	quiet := &middleware.AuthenticateOptions{Logger: slog.New(slog.DiscardHandler)}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			called := false
			h := middleware.Authenticate(verify, quiet)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				called = true
				ctx, until, err := middleware.Connect(r.Context(), []byte(tt.payload))
				if err != nil || tt.status != 0 {
					var d *problem.Details
					if !errors.As(err, &d) || d.StatusCode() != tt.status {
						t.Errorf("error %v, want status %d", err, tt.status)
					}
					return
				}
				claims, _ := middleware.Claims[roles](ctx)
				if got := fmt.Sprintf("%s %v", middleware.Principal(ctx), claims); got != tt.want || until.IsZero() == tt.until {
					t.Errorf("%s until %v, want %s, until %t", got, until, tt.want, tt.until)
				}
			}))
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/graphql", nil)
			r.Header.Set("Upgrade", "websocket")
			if tt.header != "" {
				r.Header.Set("Authorization", "Bearer "+tt.header)
			}
			if h.ServeHTTP(httptest.NewRecorder(), r); !called {
				t.Error("the handshake was rejected")
			}
		})
	}
	// The message may arrive after the handler has returned, while outer middleware changes the request.
	connected := make(chan string)
	h := middleware.Authenticate(verify, quiet)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		go func() {
			ctx, _, _ := middleware.Connect(r.Context(), []byte(`{"Authorization":"Bearer host"}`))
			connected <- middleware.Principal(ctx)
		}()
	}))
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/graphql", nil)
	r.Header.Set("Upgrade", "websocket")
	h.ServeHTTP(httptest.NewRecorder(), r)
	r.Host, r.Pattern = "changed", "/changed"
	if got := <-connected; got != "ann@example.com" {
		t.Errorf("after the handler has returned: %s", got)
	}
	// Without Authenticate a token cannot be verified.
	if _, _, err := middleware.Connect(t.Context(), []byte(`{"Authorization":"Bearer ann-1"}`)); !errors.Is(err, middleware.ErrToken) {
		t.Errorf("without Authenticate: %v", err)
	}
}
