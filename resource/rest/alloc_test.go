package rest_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stoa-go/stoa/resource"
)

// discard is a reusable response writer that discards the body.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header  { return d.header }
func (d *discard) WriteHeader(code int) { d.status = code }
func (d *discard) Write(b []byte) (int, error) {
	d.bytes += len(b)
	return len(b), nil
}

// TestAllocations limits the allocations of the hot path. It is not parallel, because AllocsPerRun
// measures the whole process.
func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	store := stocked[thing](t)
	for i := range 200 {
		id := strconv.Itoa(1000 + i)
		if _, err := store.Insert(t.Context(), id, thing{ID: id, Name: "thing " + id, N: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	h := catalog(t, resource.New("things", store, nil))
	tag := "If-None-Match: " + send(t, h, "GET /things/1001").header.Get("Etag")
	tests := []struct {
		name   string
		r      *http.Request
		status int
		most   float64
	}{
		{"item", request(t, "GET /things/1001"), 200, 5},
		{"item, not modified", request(t, "GET /things/1001", tag), 304, 3},
		{"no such item", request(t, "GET /things/900"), 404, 40},
		{"list of 50", request(t, "GET /things"), 200, 60},
		{"list of 100", request(t, "GET /things?limit=100"), 200, 60},
	}
	for _, tt := range tests {
		w := &discard{header: http.Header{}}
		n := testing.AllocsPerRun(200, func() {
			clear(w.header)
			w.bytes = 0
			h.ServeHTTP(w, tt.r)
		})
		if w.status != tt.status || w.bytes == 0 && tt.status != http.StatusNotModified {
			t.Fatalf("%s: status %d with %d bytes", tt.name, w.status, w.bytes)
		}
		t.Logf("%s: %v allocations", tt.name, n)
		if n > tt.most {
			t.Errorf("%s: %v allocations, want %v at most", tt.name, n, tt.most)
		}
	}
}
