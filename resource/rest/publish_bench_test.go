package rest_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// BenchmarkEvents measures the cost of an event for a PUT with a store in memory and without a
// network: without a feed, in the transaction of the change, and after it.
func BenchmarkEvents(b *testing.B) {
	type letter struct {
		ID    string `json:"id"`
		Text  string `json:"text" required:"true" minLength:"1" maxLength:"40"`
		Stars int64  `json:"stars,omitzero"`
	}
	for _, log := range []string{"", "shared", "none"} {
		b.Run("log="+log, func(b *testing.B) {
			db := memory.NewDB()
			opts := &resource.CatalogOptions{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
			if log != "" {
				logs := map[string]feed.Log{"shared": feed.NewMemory(&feed.MemoryOptions{Runner: db}), "none": feed.NewMemory(nil)}
				opts.Feed = feed.New(logs[log], nil)
				defer opts.Feed.Close()
			}
			letters := resource.New("letters", memory.New(&memory.Options[letter]{DB: db}), nil)
			h := rest.New(resource.NewCatalog(opts, letters), nil)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				r := httptest.NewRequest("PUT", "/letters/a", strings.NewReader(fmt.Sprintf(`{"text":"some text","stars":%d}`, n+1)))
				r.Header["Content-Type"] = []string{"application/json"}
				w := &discard{header: http.Header{}}
				if h.ServeHTTP(w, r); w.status > http.StatusCreated {
					b.Fatal(w.status)
				}
			}
		})
	}
}
