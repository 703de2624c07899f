package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/middleware"
)

// login returns a token of a user with the name as the password.
func login(t *testing.T, s *opened, name string) string {
	t.Helper()
	w := ask(t, s, "POST", "/auth/login", `{"email":"`+name+`@example.com","password":"`+name+`"}`,
		"Content-Type: application/json")
	var got Login
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
		t.Fatalf("%s cannot log in: %d %s", name, w.Code, w.Body)
	}
	return got.Token
}

// signIn returns a token of a user without a password, the hash of which takes seconds with the race detector.
func signIn(t *testing.T, s *opened, name string) string {
	t.Helper()
	user, err := s.collections.userByEmail(t.Context(), name+"@example.com")
	if err != nil {
		t.Fatal(err)
	}
	return tokenOf(t, s, user.ID)
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	tests := []struct {
		name, body string
		status     int
	}{
		{"admin", `{"email":"ann@example.com","password":"ann"}`, 200},
		{"customer", `{"email":"bob@example.com","password":"bob"}`, 200},
		{"another customer", `{"email":"cat@example.com","password":"cat"}`, 200},
		{"the password of another user", `{"email":"bob@example.com","password":"ann"}`, 401},
		{"nobody", `{"email":"dan@example.com","password":"dan"}`, 401},
		{"no address and no password", `{"email":"dan@example.com","password":""}`, 401},
		{"no address", `{"email":"ann","password":"ann"}`, 401},
		{"no password", `{"email":"ann@example.com"}`, 422},
		{"more than there is", `{"email":"ann@example.com","password":"ann","role":"admin"}`, 422},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(t, s, "POST", "/auth/login", tt.body, "Content-Type: application/json")
			if w.Code != tt.status {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
			if got := w.Header().Get("WWW-Authenticate"); (got != "") != (w.Code == 401) {
				t.Errorf("%d with WWW-Authenticate %q", w.Code, got)
			}
			if got := w.Header().Get("Cache-Control"); w.Code == 200 && got != "no-store" {
				t.Errorf("Cache-Control is %q", got)
			}
		})
	}
}

// A failed login does not show whether the user exists.
func TestLoginRevealsNothing(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	var answers []string
	for _, body := range []string{
		`{"email":"ann@example.com","password":"x"}`, `{"email":"dan@example.com","password":"x"}`,
	} {
		answers = append(answers,
			ask(t, s, "POST", "/auth/login", body, "Content-Type: application/json").Body.String())
	}
	if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
		t.Errorf("wrong password and unknown address (-want +got):\n%s", diff)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ctx := openShopOn(t, settings{db: open(t)}), t.Context()
			c, bob := s.collections, int64(2)
			old, expires, err := c.newToken(ctx, bob)
			if err != nil {
				t.Fatal(err)
			}
			// principal returns the user of the token, or "" if it is not valid.
			principal := func(token string) string {
				within, _, err := c.sessions.Connect(ctx, []byte(`{"Authorization":"Bearer `+token+`"}`))
				if err != nil {
					return ""
				}
				return middleware.Principal(within)
			}
			if got := principal(old); got != "2" {
				t.Errorf("a good token is that of %q", got)
			}
			if _, err := c.tokens.Get(ctx, old); !isAbsent(err) {
				t.Errorf("the token itself is in the table: %v", err)
			}
			for _, wrong := range []string{"", old + "A", strings.ToLower(old), tokenID(old)} {
				if got := principal(wrong); got != "" {
					t.Errorf("%q is a token of %q", wrong, got)
				}
			}
			c.now = func() time.Time { return expires }
			if got := principal(old); got != "" {
				t.Errorf("an expired token is one of %q", got)
			}
			fresh, _, err := c.newToken(ctx, bob)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.removeExpiredTokens(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := c.tokens.Get(ctx, tokenID(old)); !isAbsent(err) {
				t.Errorf("the expired token is kept: %v", err)
			}
			if w := ask(t, s, "PATCH", "/users/2", `{"active":false}`,
				"Content-Type: application/merge-patch+json"); w.Code != 200 {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
			if got := principal(fresh); got != "" {
				t.Errorf("a token of %q is valid after a deactivation", got)
			}
		})
	}
}
