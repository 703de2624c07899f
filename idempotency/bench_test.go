package idempotency_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
)

// nowhere is a ResponseWriter that discards its content.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n *nowhere) WriteHeader(int)             {}

func bare(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusNoContent)
}

func wrappedBare() http.Handler {
	return idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{
		Principal: func(context.Context) string { return "ann" }}).Wrap(http.HandlerFunc(bare))
}

// BenchmarkWithoutKey measures Wrap for requests without a key.
func BenchmarkWithoutKey(b *testing.B) {
	for _, bb := range []struct {
		name string
		h    http.Handler
	}{{"bare", http.HandlerFunc(bare)}, {"wrapped", wrappedBare()}} {
		b.Run(bb.name, func(b *testing.B) {
			w, r := &nowhere{http.Header{}}, httptest.NewRequest("POST", "/", nil)
			b.ReportAllocs()
			for b.Loop() {
				bb.h.ServeHTTP(w, r)
			}
		})
	}
}

// TestNoKeyNoAllocations: without a key Wrap allocates nothing.
func TestNoKeyNoAllocations(t *testing.T) {
	h := wrappedBare()
	w, r := &nowhere{http.Header{}}, httptest.NewRequest("POST", "/", nil)
	if n := testing.AllocsPerRun(100, func() { h.ServeHTTP(w, r) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// BenchmarkWrap measures a request of 200 bytes: without Wrap, the first with a key, and a replay.
func BenchmarkWrap(b *testing.B) {
	body := `{"items":["` + strings.Repeat("x", 180) + `"]}`
	handler := func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			b.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		w.Write(content)
	}
	h := idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{Quota: -1,
		Principal: func(context.Context) string { return "ann" }}).Wrap(http.HandlerFunc(handler))
	serve := func(key string) {
		r := httptest.NewRequest("POST", "/orders", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		h.ServeHTTP(&nowhere{http.Header{}}, r)
	}
	for name, key := range map[string]func(n int) string{
		"without": func(int) string { return "" },
		"first":   strconv.Itoa,
		"replay":  func(int) string { return "k" },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				serve(key(n))
			}
		})
	}
}

// BenchmarkDo measures Do with a store in memory.
func BenchmarkDo(b *testing.B) {
	for _, level := range levels {
		e := &engine{}
		g := idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: e}),
			&idempotency.Options{Quota: -1})
		keys := map[string]func(n int) string{"first": strconv.Itoa, "replay": func(int) string { return "k" }}
		for name, key := range keys {
			b.Run(level.String()+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				op := anOperation()
				for n := 0; b.Loop(); n++ {
					op.Key = key(n)
					if _, _, err := g.Do(b.Context(), op, level, e, created); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
