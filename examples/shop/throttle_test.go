package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestThrottle(t *testing.T) {
	t.Parallel()
	var guesses10 throttle
	now := time.Date(2026, time.November, 21, 8, 0, 0, 0, time.UTC)
	for i := range guesses {
		if err := guesses10.enter("ann@example.com", now); err != nil {
			t.Fatalf("guess %d: %v", i, err)
		}
	}
	err := guesses10.enter("ANN@example.com", now)
	if err == nil {
		t.Fatal("another spelling of the address was allowed")
	}
	if d := resource.Problem(err); d.Kind != problem.TooManyRequests || d.Header.Get("Retry-After") != "30" {
		t.Errorf("rejected with %v, Retry-After %q", d, d.Header.Get("Retry-After"))
	}
	if err := guesses10.enter("bob@example.com", now); err != nil {
		t.Errorf("another address: %v", err)
	}
	if err := guesses10.enter("ann@example.com", now.Add(guessTime)); err != nil {
		t.Errorf("one attempt after the interval: %v", err)
	}
	guesses10.succeeded("ann@example.com")
	if err := guesses10.enter("ann@example.com", now.Add(guessTime)); err != nil {
		t.Errorf("a successful attempt was counted: %v", err)
	}
	if err := guesses10.enter("ann@example.com", now.Add(guessTime)); err == nil {
		t.Error("two attempts were allowed after the interval")
	}
}

// Attempts at many accounts cannot exhaust the memory.
func TestThrottleIsBounded(t *testing.T) {
	t.Parallel()
	var all throttle
	now := time.Date(2026, time.November, 21, 8, 0, 0, 0, time.UTC)
	for i := range accounts + 100 {
		if err := all.enter(fmt.Sprint(i), now); err != nil {
			t.Fatal(err)
		}
	}
	if len(all.until) > accounts {
		t.Errorf("%d accounts are in memory, want at most %d", len(all.until), accounts)
	}
	if err := all.enter("later", now.Add(time.Hour)); err != nil || len(all.until) != 1 {
		t.Errorf("after an hour %d accounts remain, %v", len(all.until), err)
	}
}

// Login attempts are limited over REST and GraphQL, and do not show whether the account exists.
func TestLoginIsThrottled(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	body := func(email string) string { return `{"email":"` + email + `","password":"wrong"}` }
	for _, email := range []string{"ann@example.com", "nobody@example.com"} {
		for range guesses {
			// The time is in the future, so that no attempt expires during the test.
			s.collections.guesses.enter(email, time.Now().Add(time.Hour))
		}
		w := ask(t, s, "POST", "/auth/login", body(email), jsonType)
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v: %s", email, w.Code, w.Header(), w.Body)
		}
		w = ask(
			t,
			s,
			"POST",
			"/graphql",
			`{"query":"mutation { authLogin(input: {email: \"`+email+`\", password: \"wrong\"}) { token } }"}`,
			jsonType,
		)
		if !strings.Contains(w.Body.String(), `"code":"RATE_LIMITED"`) {
			t.Errorf("%s, GraphQL: %v", email, w.Body)
		}
	}
	login(t, s, "bob")
}
