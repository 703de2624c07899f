package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
			t.Parallel()
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
			if user, _, err := c.userOfToken(ctx, tokenID(old)); err != nil || user.ID != bob {
				t.Errorf("a good token is that of %v, %v", user, err)
			}
			if _, err := c.tokens.Get(ctx, old); !isAbsent(err) {
				t.Errorf("the token itself is in the table: %v", err)
			}
			for _, wrong := range []string{"", old + "A", strings.ToLower(old), tokenID(old)} {
				if user, _, err := c.userOfToken(ctx, tokenID(wrong)); err == nil {
					t.Errorf("%q is a token of %v", wrong, user)
				}
			}
			c.now = func() time.Time { return expires }
			if user, _, err := c.userOfToken(ctx, tokenID(old)); err == nil {
				t.Errorf("an expired token is one of %v", user)
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
			if user, _, err := c.userOfToken(ctx, tokenID(fresh)); err == nil {
				t.Errorf("%v may still do something", user)
			}
		})
	}
}
