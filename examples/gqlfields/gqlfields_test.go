package main

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// Concurrent calls of the mutation lose nothing.
func TestConcurrentRestock(t *testing.T) {
	t.Parallel()
	h := newHandler()
	send := func(method, target, body string) string {
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Body.String()
	}
	send("PUT", "/products/p1", `{"title":"Lamp","stock":1}`)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			send("POST", "/graphql", `{"query":"mutation { restock(id: \"p1\", add: 2) { stock } }"}`)
		})
	}
	all.Wait()
	if diff := cmp.Diff(`{"stock":101}`, send("GET", "/products/p1?fields=stock", "")); diff != "" {
		t.Errorf("stock (-want +got):\n%s", diff)
	}
}
