package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestDiskViolations sends the writes of a full disk to servers that respond in one way, and compares what they list.
func TestDiskViolations(t *testing.T) {
	t.Parallel()
	refuse := func(status int, retry bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if retry {
				w.Header().Set("Retry-After", "1")
			}
			if r.Method == http.MethodPut && status == http.StatusServiceUnavailable {
				w.WriteHeader(http.StatusInsufficientStorage)
				return
			}
			w.WriteHeader(status)
		}
	}
	tests := []struct {
		name  string
		write http.HandlerFunc
		list  string
		fails bool
	}{
		{"refuses", refuse(503, true), "", false},
		{"responds 500", refuse(500, true), "", true},
		{"has no Retry-After", refuse(503, false), "", true},
		{"acknowledges and loses", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/orders/7")
			w.WriteHeader(http.StatusCreated)
		}, "", true},
		{"refuses and keeps", refuse(503, true), `{"id":7,"note":"disk 1"}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					fmt.Fprint(w, tt.list)
					return
				}
				tt.write(w, r)
			}))
			t.Cleanup(srv.Close)
			d := newFullDisk(t.TempDir(), 1)
			d.trial = newTestTrial(srv.URL)
			d.count("full")
			d.createOrder(t.Context(), true)
			d.putFile(t.Context(), true)
			d.compare(t.Context(), "in the test")
			if err := d.Err(); (err != nil) != tt.fails {
				t.Errorf("the violations are %v", err)
			}
		})
	}
}
