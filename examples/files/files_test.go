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

// A file that is too large is rejected by its Content-Length, before it is read.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	h, err := newHandler(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "PUT", "/files/a.pdf", strings.NewReader("%PDF"))
	r.Header.Set("Content-Type", "application/pdf")
	r.ContentLength = largest + 1
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 413 {
		t.Errorf("status %d, want 413: %s", w.Code, w.Body)
	}
}
