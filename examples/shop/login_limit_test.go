package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/middleware"
)

// Login attempts are limited over REST and GraphQL, and do not show whether the account exists.
func TestLoginIsThrottled(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	body := func(email string) string { return `{"email":"` + email + `","password":"wrong"}` }
	for _, email := range []string{"ann@example.com", "nobody@example.com"} {
		for range 10 {
			s.collections.logins.Do(t.Context(), email, func(context.Context) error { return io.EOF })
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

// TestLoginFlood: while other passwords are hashed, a login is refused and not hashed as well. Other
// requests continue.
func TestLoginFlood(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.collections.logins = middleware.NewAttempts(&middleware.AttemptsOptions{Concurrent: 1, Queue: -1})
	begun, end := make(chan bool), make(chan bool)
	go s.collections.logins.Do(t.Context(), "", func(context.Context) error {
		begun <- true
		<-end
		return nil
	})
	<-begun
	defer close(end)
	for _, password := range []string{"wrong", "bob"} {
		w := ask(t, s, "POST", "/auth/login", `{"email":"bob@example.com","password":"`+password+`"}`, jsonType)
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
			t.Errorf("%d %v: %s", w.Code, w.Header(), w.Body)
		}
	}
	if w := ask(t, s, "GET", "/orders", ""); w.Code != http.StatusOK {
		t.Errorf("GET during a login: %d", w.Code)
	}
}
