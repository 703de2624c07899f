package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestOwnHosts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, addr, host string
		status           int
	}{
		{"listen address", "shop.example:8080", "shop.example", 200},
		{"listen address, spelled otherwise", "Shop.Example:8080", "SHOP.example.:80", 200},
		{"listen address of IPv6", "[fd00::1]:8080", "[fd00::1]:8080", 200},
		{"every address", ":8080", "localhost", 200},
		{"every address, and no name", ":8080", ":8080", 421},
		{"HTTP/1.0 without a host", "127.0.0.1:8080", "", 200},
		{"another host", "shop.example:8080", "shop.example.org", 421},
		{"another address of IPv6", "[fd00::1]:8080", "[fd00::2]", 421},
	}
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/orders", nil)
			r.Host = tt.host
			w := httptest.NewRecorder()
			ownHosts(tt.addr, ok).ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
		})
	}
}
