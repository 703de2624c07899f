package main

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// TestWriteIsSentOnce sees to it that the transport does not repeat a write whose connection breaks: then nobody could
// tell what the refusal of the second one means.
func TestWriteIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPost, http.MethodPatch} {
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
			c := newClient(fleet.Of(server.URL), newTransport(1))
			rng := rand.New(rand.NewPCG(1, 1))
			if _, err := c.read(t.Context(), rng, "/"); err != nil { // so that the connection is used again
				t.Fatal(err)
			}
			a, err := c.write(t.Context(), rng, method, "/", "")
			if err != nil || a.outcome != unknown || writes.Load() != 1 {
				t.Errorf("%+v, %v after %d writes, want one of an unknown outcome", a, err, writes.Load())
			}
		})
	}
}
