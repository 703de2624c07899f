package main

import (
	"strings"
	"testing"
)

// TestSessions changes and revokes the passwords and tokens of a user, on each database.
func TestSessions(t *testing.T) {
	t.Parallel()
	for name, source := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShopOn(t, settings{db: source(t), cache: "private, no-cache", auth: true})
			tokens := map[string]string{"ann": login(t, s, "ann"), "bob": login(t, s, "bob")}
			for _, tt := range []struct {
				name, who, method, target, body string
				status                          int
				holds                           string
			}{
				{"a user", "ann", "POST", "/users", `{"email":"dan@example.com","active":true}`, 201, `"id":4`},
				{"who has no password", "", "POST", "/auth/login", `{"email":"dan@example.com","password":""}`, 401, ""},
				{"a password by another customer", "bob", "POST", "/auth/password", `{"userId":4,"password":"12345678"}`, 403, ""},
				{"a password by nobody", "", "POST", "/auth/password", `{"userId":4,"password":"12345678"}`, 401, ""},
				{"one that is too short", "ann", "POST", "/auth/password", `{"userId":4,"password":"1234567"}`, 422, "/password"},
				{"of nobody", "ann", "POST", "/auth/password", `{"userId":99,"password":"12345678"}`, 422, "/userId"},
				{"a password by an admin", "ann", "POST", "/auth/password", `{"userId":4,"password":"12345678"}`, 200, `"tokens":0`},
				{"with which one logs in", "", "POST", "/auth/login", `{"email":"dan@example.com","password":"12345678"}`, 200, "token"},
				{"their own, unproven", "bob", "POST", "/auth/password", `{"userId":2,"password":"87654321"}`, 403, "current"},
				{"their own, wrong", "bob", "POST", "/auth/password", `{"userId":2,"password":"87654321","current":"x"}`, 403, "current"},
				{"their own", "bob", "POST", "/auth/password", `{"userId":2,"password":"87654321","current":"bob"}`, 200, `"tokens":1`},
				{"which ends all sessions", "bob", "GET", "/orders", "", 401, ""},
				{"the old one", "", "POST", "/auth/login", `{"email":"bob@example.com","password":"bob"}`, 401, ""},
				{"to leave, as nobody", "", "POST", "/auth/logout", `{}`, 401, ""},
				{"to leave", "ann", "POST", "/v1/auth/logout", `{}`, 200, `"tokens":1`},
				{"and be gone", "ann", "GET", "/orders", "", 401, ""},
			} {
				status, body := as(t, s, tokens, tt.who, tt.method, tt.target, tt.body)
				if status != tt.status || !strings.Contains(body, tt.holds) {
					t.Errorf("%s: %d, want %d and %q: %s", tt.name, status, tt.status, tt.holds, body)
				}
			}
		})
	}
}

// Without -auth there are no sessions, and no contract has commands for them.
func TestNoSessionsWithoutAuth(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for _, path := range []string{"/auth/logout", "/auth/password"} {
		if w := ask(t, s, "POST", path, "{}", jsonType); w.Code != 404 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
