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
			tokens := map[string]string{"ann": signIn(t, s, "ann"), "bob": signIn(t, s, "bob")}
			for _, tt := range []struct {
				name, who, method, target, body string
				status                          int
				holds                           string
			}{
				{"create a user", "ann", "POST", "/users", `{"email":"dan@example.com","active":true}`, 201, `"id":4`},
				{"log in without a password", "", "POST", "/auth/login", `{"email":"dan@example.com","password":""}`, 401, ""},
				{"set a password as another customer", "bob", "POST", "/auth/password", `{"userId":4,"password":"12345678"}`, 403, ""},
				{"set a password without a token", "", "POST", "/auth/password", `{"userId":4,"password":"12345678"}`, 401, ""},
				{"set a password that is too short", "ann", "POST", "/auth/password", `{"userId":4,"password":"1234567"}`, 422, "/password"},
				{"set the password of an unknown user", "ann", "POST", "/auth/password", `{"userId":99,"password":"12345678"}`, 422, "/userId"},
				{"set a password as an admin", "ann", "POST", "/auth/password", `{"userId":4,"password":"12345678"}`, 200, `"tokens":0`},
				{"log in with the new password", "", "POST", "/auth/login", `{"email":"dan@example.com","password":"12345678"}`, 200, "token"},
				{"set their own without the current one", "bob", "POST", "/auth/password", `{"userId":2,"password":"87654321"}`, 403, "current"},
				{"set their own with a wrong current one", "bob", "POST", "/auth/password", `{"userId":2,"password":"87654321","current":"x"}`, 403, "current"},
				{"set their own", "bob", "POST", "/auth/password", `{"userId":2,"password":"87654321","current":"bob"}`, 200, `"tokens":1`},
				{"use a revoked token", "bob", "GET", "/orders", "", 401, ""},
				{"log in with the old password", "", "POST", "/auth/login", `{"email":"bob@example.com","password":"bob"}`, 401, ""},
				{"log out without a token", "", "POST", "/auth/logout", `{}`, 401, ""},
				{"log out", "ann", "POST", "/v1/auth/logout", `{}`, 200, `"tokens":1`},
				{"use the token after logout", "ann", "GET", "/orders", "", 401, ""},
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
