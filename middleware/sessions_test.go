package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

// tokens is a table of sessions with a role as user.
type tokens struct {
	mu    sync.Mutex
	valid map[string]middleware.Session[string]
	err   error
	panic bool
	reads []string      // the tokens of each call of find
	wait  chan struct{} // received from in each call of find, if it is not nil
}

func (k *tokens) find(_ context.Context, tokens []string) (map[string]middleware.Session[string], error) {
	k.mu.Lock()
	slices.Sort(tokens)
	k.reads = append(k.reads, fmt.Sprint(tokens))
	wait := k.wait
	k.mu.Unlock()
	if wait != nil {
		<-wait
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.panic {
		panic("broken")
	}
	found := map[string]middleware.Session[string]{}
	for _, token := range tokens {
		if session, ok := k.valid[token]; ok {
			found[token] = session
		}
	}
	return found, k.err
}

// set changes the table.
func (k *tokens) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

func newTokens() *tokens {
	return &tokens{valid: map[string]middleware.Session[string]{
		"a": {Principal: "ann", Claims: "admin"}, "b": {Principal: "bob", Claims: "customer"},
	}}
}

// streams are the options of sessions that end streams.
var streams = middleware.AuthenticateOptions{Stream: isStream}

func isStream(r *http.Request) bool { return r.Header.Get("Accept") == "text/event-stream" }

// follow sends a request and returns its context, for a handler that runs until the context is done.
func follow(t *testing.T, s *middleware.Sessions[string], token string) context.Context {
	t.Helper()
	opened := make(chan context.Context, 1)
	h := s.Authenticate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		opened <- r.Context()
		<-r.Context().Done()
	}))
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/orders", nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	go h.ServeHTTP(httptest.NewRecorder(), r)
	synctest.Wait()
	select {
	case ctx := <-opened:
		return ctx
	default:
		t.Fatalf("the token %s was refused", token)
		return nil
	}
}

// TestSessionsEndStreams: a stream ends when its token expires or Check finds that it was revoked.
func TestSessionsEndStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTokens()
		k.valid["soon"] = middleware.Session[string]{Principal: "ann", Expires: time.Now().Add(time.Minute)}
		s := middleware.NewSessions(k.find, &middleware.SessionsOptions{AuthenticateOptions: streams})
		ann, bob, soon := follow(t, s, "a"), follow(t, s, "b"), follow(t, s, "soon")
		check := func(when, principal string, open int, want ...error) {
			t.Helper()
			if err := s.Check(t.Context(), principal); err != k.err {
				t.Errorf("%s: Check: %v", when, err)
			}
			synctest.Wait()
			for i, ctx := range []context.Context{ann, bob, soon} {
				if ctx.Err() != want[i] {
					t.Errorf("%s: stream %d: %v, want %v", when, i, ctx.Err(), want[i])
				}
			}
			if n := s.Streams(""); n != open {
				t.Errorf("%s: %d streams are open, want %d", when, n, open)
			}
		}
		check("before", "", 3, nil, nil, nil)
		time.Sleep(time.Minute)
		check("after a minute", "nobody", 2, nil, nil, context.DeadlineExceeded)
		k.set(func() { delete(k.valid, "a"); delete(k.valid, "b") })
		check("another principal", "cat", 2, nil, nil, context.DeadlineExceeded)
		k.set(func() { k.err = errors.New("away") })
		check("the store fails", "ann", 2, nil, nil, context.DeadlineExceeded)
		k.set(func() { k.err = nil })
		check("one principal", "ann", 1, context.Canceled, nil, context.DeadlineExceeded)
		check("all", "", 0, context.Canceled, context.Canceled, context.DeadlineExceeded)
	})
}

// TestSessionsWithoutPrincipal: a session that has lost its principal is not valid any more.
func TestSessionsWithoutPrincipal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTokens()
		s := middleware.NewSessions(k.find, &middleware.SessionsOptions{AuthenticateOptions: streams})
		ann := follow(t, s, "a")
		k.set(func() { k.valid["a"] = middleware.Session[string]{Claims: "admin"} })
		if _, err := s.Current(ann); !errors.Is(err, middleware.ErrToken) {
			t.Errorf("Current: %v, want %v", err, middleware.ErrToken)
		}
		if err := s.Check(t.Context(), ""); err != nil || ann.Err() != context.Canceled {
			t.Errorf("Check: %v, the stream: %v", err, ann.Err())
		}
	})
}

// TestSessionsClock: the context has the time of expiry on the clock of the process.
func TestSessionsClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now().AddDate(-1, 0, 0)
		k := newTokens()
		k.valid["a"] = middleware.Session[string]{Principal: "ann", Expires: now.Add(time.Minute)}
		s := middleware.NewSessions(k.find, &middleware.SessionsOptions{AuthenticateOptions: streams,
			Now: func() time.Time { return now }})
		ann := follow(t, s, "a")
		if got := middleware.Expires(ann); time.Until(got) != time.Minute {
			t.Errorf("expires in %v, want 1m", time.Until(got))
		}
		if session, err := s.Current(ann); err != nil || !session.Expires.Equal(now.Add(time.Minute)) {
			t.Errorf("Current: %v %v, want the time of find", session.Expires, err)
		}
		time.Sleep(time.Minute)
	})
}

// TestSessionsCurrent: the session of a stream is read for each call, that of another request is not.
func TestSessionsCurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTokens()
		unbatched := false
		s := middleware.NewSessions(k.find, &middleware.SessionsOptions{AuthenticateOptions: streams,
			Unbatched: func(context.Context) bool { return unbatched }})
		role := func(ctx context.Context) string {
			session, err := s.Current(ctx)
			var d *problem.Details
			switch {
			case errors.Is(err, middleware.ErrToken) && errors.As(err, &d) && d.StatusCode() == 401:
				return "no session"
			case err != nil:
				return err.Error()
			}
			return session.Claims
		}
		if got := role(t.Context()); got != "no session" {
			t.Errorf("without a request: %s", got)
		}
		h := s.Authenticate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			reads := len(k.reads)
			k.set(func() { k.valid["b"] = middleware.Session[string]{Principal: "bob", Claims: "clerk"} })
			if got := role(r.Context()); got != "customer" || len(k.reads) != reads {
				t.Errorf("in a request: %s after %d reads", got, len(k.reads)-reads)
			}
			time.Sleep(time.Second)
			if got := role(r.Context()); got != "clerk" {
				t.Errorf("in a request that takes longer: %s", got)
			}
		}))
		r := httptest.NewRequest("GET", "/orders", nil)
		r.Header.Set("Authorization", "Bearer b")
		h.ServeHTTP(httptest.NewRecorder(), r)
		stream := follow(t, s, "b")
		for _, unbatched = range []bool{false, true} {
			for _, tt := range []struct {
				name   string
				change func()
				want   string
			}{
				{"as it is", func() {}, "clerk"},
				{"another role", func() { k.valid["b"] = middleware.Session[string]{Principal: "bob", Claims: "admin"} }, "admin"},
				{"expired", func() {
					k.valid["b"] = middleware.Session[string]{Principal: "bob", Expires: time.Now()}
				}, "no session"},
				{"revoked", func() { delete(k.valid, "b") }, "no session"},
				{"failure", func() { k.err = errors.New("away") }, "away"},
				{"back", func() {
					k.err = nil
					k.valid["b"] = middleware.Session[string]{Principal: "bob", Claims: "clerk"}
				}, "clerk"},
			} {
				k.set(tt.change)
				if got := role(stream); got != tt.want {
					t.Errorf("%s, unbatched %t: %s, want %s", tt.name, unbatched, got, tt.want)
				}
			}
		}
		unbatched = false
		k.set(func() { k.panic = true })
		if got := role(stream); got != "middleware: find panicked: broken" {
			t.Errorf("panic: %s", got)
		}
	})
}

// TestSessionsShareReads: calls during a read share the next one, because the read may have begun
// before a change that they have to see.
func TestSessionsShareReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTokens()
		s := middleware.NewSessions(k.find, &middleware.SessionsOptions{AuthenticateOptions: streams})
		ann, bob := follow(t, s, "a"), follow(t, s, "b")
		wait := make(chan struct{})
		k.set(func() { k.reads, k.wait = nil, wait })
		var mu sync.Mutex
		var got []string
		ask := func(ctx context.Context) {
			session, err := s.Current(ctx)
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(session.Claims, " ", err))
		}
		check := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: results (-want +got):\n%s", when, diff)
			}
			got = nil
		}
		go ask(ann)
		synctest.Wait()
		gone, leave := context.WithCancel(bob)
		go ask(gone)
		for _, ctx := range []context.Context{ann, ann, bob} {
			go ask(ctx)
		}
		check("during the first read")
		leave()
		check("a canceled call", " context canceled")
		wait <- struct{}{}
		check("the first call", "admin <nil>")
		wait <- struct{}{}
		check("the other calls", "admin <nil>", "admin <nil>", "customer <nil>")
		if diff := cmp.Diff([]string{"[a]", "[a b]"}, k.reads); diff != "" {
			t.Errorf("reads (-want +got):\n%s", diff)
		}
	})
}

// TestSessionsConnect authenticates sockets by their first message or by the header.
func TestSessionsConnect(t *testing.T) {
	t.Parallel()
	expires := time.Now().Add(time.Hour)
	k := newTokens()
	k.valid["b"] = middleware.Session[string]{Principal: "bob", Expires: expires}
	k.valid["nameless"] = middleware.Session[string]{Claims: "admin"}
	s := middleware.NewSessions(k.find, nil)
	tests := []struct {
		name, header, payload string
		principal             string
		until                 bool
		err                   error
	}{
		{"a token", "", `{"Authorization":"Bearer b"}`, "bob", true, nil},
		{"lower case", "", `{"authorization":"Bearer b","locale":"en"}`, "bob", true, nil},
		{"a token that does not expire", "", `{"Authorization":"Bearer a"}`, "ann", false, nil},
		{"nothing", "", "", "", false, nil},
		{"without the member", "", `{"locale":"en"}`, "", false, nil},
		{"the header", "b", `{}`, "bob", true, nil},
		{"both", "b", `{"Authorization":"Bearer a"}`, "ann", false, nil},
		{"another token", "", `{"Authorization":"Bearer x"}`, "", false, middleware.ErrToken},
		{"another scheme", "b", `{"Authorization":"Basic x"}`, "", false, middleware.ErrToken},
		{"a token without a principal", "", `{"Authorization":"Bearer nameless"}`, "", false, middleware.ErrToken},
		{"not a string", "", `{"Authorization":7}`, "", false, middleware.ErrToken},
		{"not JSON", "", `x`, "", false, middleware.ErrToken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := s.Authenticate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				ctx, until, err := s.Connect(r.Context(), []byte(tt.payload))
				if !errors.Is(err, tt.err) || tt.err == nil && err != nil {
					t.Fatalf("error %v, want %v", err, tt.err)
				}
				if err != nil {
					return
				}
				if got := middleware.Principal(ctx); got != tt.principal || until.IsZero() == tt.until {
					t.Errorf("principal %q until %v, want %q, until %t", got, until, tt.principal, tt.until)
				}
				if n := s.Streams(tt.principal); tt.principal != "" && n == 0 {
					t.Error("the socket is no open stream")
				}
			}))
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/graphql", nil)
			if tt.header != "" {
				r.Header.Set("Authorization", "Bearer "+tt.header)
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
}

func TestSessionsWithoutFind(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("nil was accepted")
		}
	}()
	middleware.NewSessions[string](nil, nil)
}

func ExampleNewSessions() {
	type user struct{ Role string }
	sessions := middleware.NewSessions(
		func(_ context.Context, tokens []string) (map[string]middleware.Session[user], error) {
			found := map[string]middleware.Session[user]{}
			for _, token := range tokens {
				if token == "valid" { // a service reads a table of tokens and users
					found[token] = middleware.Session[user]{Principal: "ann", Claims: user{Role: "admin"}}
				}
			}
			return found, nil
		}, nil)
	h := sessions.Authenticate(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := sessions.Current(r.Context())
		fmt.Println(session.Principal, session.Claims.Role, err)
	}))
	r := httptest.NewRequest("GET", "/orders", nil)
	r.Header.Set("Authorization", "Bearer valid")
	h.ServeHTTP(httptest.NewRecorder(), r)
	// Output: ann admin <nil>
}
