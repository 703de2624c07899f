package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
)

// cachedShop answers all variants as the shop does.
type cachedShop struct {
	mu    sync.Mutex
	notes map[string]string
}

func (s *cachedShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept, "+apiVersion)
	v := variantOf(r)
	if v.version != "" {
		w.Header().Set(apiVersion, v.version)
	}
	w.Header().Set("Content-Type", v.mediaType)
	if v.status != http.StatusOK {
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(v.status)
		fmt.Fprintf(w, `{"status": %d}`, v.status)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := path.Base(r.URL.Path)
	if r.Method == http.MethodGet {
		s.get(w, id, v.version)
		return
	}
	var note string
	if _, err := fmt.Fscanf(r.Body, `{"note": %q`, &note); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.notes[id] = note
	w.WriteHeader(http.StatusNoContent)
}

func (s *cachedShop) get(w http.ResponseWriter, id, version string) {
	if id == "orders" {
		fmt.Fprintf(w, `{"items": [%s]}`, s.order("1", version))
		return
	}
	fmt.Fprint(w, s.order(id, version))
}

func (s *cachedShop) order(id, version string) string {
	if version == "2.0.0" {
		return fmt.Sprintf(`{"id": %s, "lines": [], "note": %q}`, id, s.notes[id])
	}
	return fmt.Sprintf(`{"id": %s, "itemId": 7, "note": %q}`, id, s.notes[id])
}

// variantOf returns the variant of a request.
func variantOf(r *http.Request) variant {
	for _, v := range variants {
		if v.header != "" && r.Header.Get(v.header) == v.value {
			return v
		}
	}
	return variant{status: http.StatusOK, version: "2.0.0", mediaType: jsonType}
}

// sharedCache stores responses by the fields in Vary, and never invalidates any.
type sharedCache struct {
	origin http.Handler
	mu     sync.Mutex
	vary   map[string]string
	kept   map[string]*httptest.ResponseRecorder
}

func (c *sharedCache) key(r *http.Request) string {
	key := r.URL.Path
	for field := range strings.SplitSeq(c.vary[r.URL.Path], ", ") {
		key += "\n" + r.Header.Get(field)
	}
	return key
}

func (c *sharedCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	res, hit := c.kept[c.key(r)]
	if hit = hit && r.Method == http.MethodGet; hit {
		w.Header().Set("X-Cache", "HIT from here")
	} else {
		res = httptest.NewRecorder()
		c.origin.ServeHTTP(res, r)
		if r.Method == http.MethodGet && res.Header().Get("Cache-Control") == "" {
			c.vary[r.URL.Path] = res.Header().Get("Vary")
			c.kept[c.key(r)] = res
		}
	}
	for field, values := range res.Header() {
		w.Header()[field] = values
	}
	w.WriteHeader(res.Code)
	w.Write(res.Body.Bytes())
}

// serveHandler returns the URL of a handler, for as long as the test runs.
func serveHandler(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func cached(t *testing.T, origin http.Handler) string {
	t.Helper()
	return serveHandler(t, &sharedCache{
		origin: origin,
		vary:   map[string]string{},
		kept:   map[string]*httptest.ResponseRecorder{},
	})
}

func newCachedShop() *cachedShop { return &cachedShop{notes: map[string]string{}} }
