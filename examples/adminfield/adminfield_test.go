package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// No response to a caller without the role contains the field or its value, and each has its own
// entity tag.
func TestNothingIsRevealed(t *testing.T) {
	t.Parallel()
	h := newHandler()
	send := func(token, method, target, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := send("ann-token", "POST", "/employees", `{"name":"Eve","salary":77077}`); w.Code != 201 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	for _, target := range []string{
		"/employees", "/employees/1", "/openapi.json", "/openapi.yaml", "/graphql/schema.graphql", "/docs", "/llms.txt",
	} {
		for token, want := range map[string]bool{"ann-token": true, "bob-token": false, "": false} {
			text := send(token, "GET", target, "").Body.String()
			if got := strings.Contains(text, "salary") || strings.Contains(text, "77077"); got && !want {
				t.Errorf("GET %s with the token %q reveals the salary:\n%s", target, token, text)
			}
		}
	}
	for _, target := range []string{"/employees?sort=salary", "/employees?fields=salary", "/employees?salary.gte=1"} {
		if w := send("bob-token", "GET", target, ""); w.Code != 400 {
			t.Errorf("GET %s: %d, want 400: %s", target, w.Code, w.Body)
		}
	}
	all, some := send("ann-token", "GET", "/employees/1", ""), send("bob-token", "GET", "/employees/1", "")
	if all.Header().Get("ETag") == some.Header().Get("ETag") || !strings.Contains(all.Body.String(), "77077") {
		t.Errorf("the entity tags are %q and %q: %s", all.Header().Get("ETag"), some.Header().Get("ETag"), all.Body)
	}
	if w := send("bob-token", "DELETE", "/employees/1", ""); w.Code != 403 {
		t.Errorf("DELETE: %d, want 403", w.Code)
	}
}
