package client_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// TestWriteIsSentOnce: the transport does not repeat a write if the connection breaks. Otherwise
// the response to the second one would hide the result of the first.
func TestWriteIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPost, http.MethodPatch} {
		for _, header := range [][]string{nil, {"Idempotency-Key: k"}} {
			t.Run(method, func(t *testing.T) {
				t.Parallel()
				var writes atomic.Int64
				server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodGet {
						writes.Add(1)
						panic(http.ErrAbortHandler)
					}
				}))
				t.Cleanup(server.Close)
				c, nodes := client.New(1), fleet.Of(server.URL)
				rng := rand.New(rand.NewPCG(1, 1))
				if _, err := c.ReadAny(t.Context(), nodes, rng, "/"); err != nil { // opens the connection that the write reuses
					t.Fatal(err)
				}
				a, err := c.SendAny(t.Context(), nodes, rng, method, "/", "", header...)
				if err != nil || !a.Unknown() || writes.Load() != 1 {
					t.Errorf("%+v, %v after %d writes, want one of an unknown outcome", a, err, writes.Load())
				}
			})
		}
	}
}

// TestAnswer checks the outcome that each response means.
func TestAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                             string
		answer                           client.Answer
		acknowledged, ok, unknown, retry bool
	}{
		{"done", client.Answer{Status: 201}, true, true, false, false},
		{"done, body incomplete", client.Answer{Status: 201, Err: http.ErrAbortHandler}, true, false, false, true},
		{"no response", client.Answer{Err: http.ErrAbortHandler}, false, false, true, true},
		{"refused", client.Answer{Status: 412}, false, false, false, false},
		{"failed", client.Answer{Status: 503}, false, false, true, true},
		{"in progress", client.Answer{Status: 409, Body: []byte(`{"type":"x/request-in-flight"}`)}, false, false, false, true},
		{"outcome unknown", client.Answer{Status: 409, Body: []byte(`{"type":"x/outcome-unknown"}`)}, false, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := tt.answer
			if a.Acknowledged() != tt.acknowledged || a.OK() != tt.ok || a.Unknown() != tt.unknown || a.Retry() != tt.retry {
				t.Errorf("acknowledged %t, ok %t, unknown %t, retry %t", a.Acknowledged(), a.OK(), a.Unknown(), a.Retry())
			}
		})
	}
}
