package main

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestIsStream(t *testing.T) {
	t.Parallel()
	const events, upgrade = "Accept: text/event-stream", "Upgrade: WebSocket"
	tests := []struct {
		path, header string
		want         bool
	}{
		{"/orders", events, true},
		{"/v1.0/orders/7", events, true},
		{"/places?country=GR", events, true},
		{"/users", events, true},
		{"/graphql", events, true},
		{"/v2/graphql", upgrade, true},
		{"/orders", "Accept: application/json", false},
		// It may get a list, so the usual time limit applies.
		{"/orders", "Accept: text/event-stream;q=0.1, application/json", false},
		{"/files/text", events, false},
		{"/docs", events, false},
		{"/openapi/2.0.0.json", events, false},
		{"/a/b/orders/7", events, false},
		{"/orders/a%2Fb", events, true}, // one segment
		{"/orders", upgrade, false},     // gets a list
		{"POST /orders", events, false},
		{"PATCH /orders/1", events, false},
		{"POST /graphql", events, true},
		{"POST /graphql", upgrade, false},
	}
	for _, tt := range tests {
		method, path, named := strings.Cut(tt.path, " ")
		if !named {
			method, path = "GET", tt.path
		}
		r := httptest.NewRequest(method, path, nil)
		name, value, _ := strings.Cut(tt.header, ": ")
		r.Header.Set(name, value)
		if got := isStream(r); got != tt.want {
			t.Errorf("%s with %s: %t, want %t", tt.path, tt.header, got, tt.want)
		}
	}
}

// A stream ends if its token expires or is revoked, even without an event.
func TestStreamsEndWithTheirTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openShopOn(t, settings{db: "memory", auth: true})
		const token = "soon"
		_, err := s.collections.tokens.Insert(t.Context(), tokenID(token),
			Token{ID: tokenID(token), UserID: 2, ExpiresAt: s.today.Add(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		w := ask(t, s, "GET", "/orders", "", "Accept: text/event-stream", "Authorization: Bearer "+token)
		if w.Code != 200 || !strings.HasPrefix(w.Body.String(), "retry: ") ||
			strings.Contains(w.Body.String(), "event: ") {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("the stream ended after %v, want the second for which the token was valid", took)
		}
	})
}
