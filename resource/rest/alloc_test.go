package rest_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/patch"
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
		{"item", request(t, "GET /things/1001"), 200, 2},
		{"item, not modified", request(t, "GET /things/1001", tag), 304, 0},
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

// TestWriteAllocations limits the allocations of writes to a collection in memory, the store's own
// included. It is not parallel, as TestAllocations.
func TestWriteAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	store := stocked[thing](t)
	if _, err := store.Insert(t.Context(), "1", thing{ID: "1", Name: "thing", N: 0}); err != nil {
		t.Fatal(err)
	}
	h := catalog(t, resource.New("things", store, nil))
	const merge = "Content-Type: " + patch.MergeType
	tests := []struct {
		name   string
		r      *http.Request
		bodies []string // sent in turn
		status int
		most   float64
	}{
		{"merge patch", request(t, "PATCH /things/1", merge), []string{`{"n":1}`, `{"n":2}`}, 200, 17},
		{"merge patch without a change", request(t, "PATCH /things/1", merge), []string{`{"name":"thing"}`}, 200, 13},
		{"merge patch of all members", request(t, "PATCH /things/1", merge),
			[]string{`{"name":"thing","n":1}`, `{"name":"thing","n":2}`}, 200, 18},
		{"put", request(t, "PUT /things/1", jsonBody), []string{`{"id":"1","name":"thing","n":1}`,
			`{"id":"1","name":"thing","n":2}`}, 200, 17},
		{"put without a change", request(t, "PUT /things/1", jsonBody), []string{`{"id":"1","name":"thing","n":2}`},
			200, 12},
		{"post", request(t, "POST /things", jsonBody), []string{`{"name":"thing","n":1}`}, 201, 20},
	}
	for _, tt := range tests {
		w := &discard{header: http.Header{}}
		sent := 0
		n := testing.AllocsPerRun(200, func() {
			clear(w.header)
			w.bytes = 0
			body := tt.bodies[sent%len(tt.bodies)]
			sent++
			tt.r.Body, tt.r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			h.ServeHTTP(w, tt.r)
		})
		if w.status != tt.status || w.bytes == 0 {
			t.Fatalf("%s: status %d with %d bytes", tt.name, w.status, w.bytes)
		}
		t.Logf("%s: %v allocations", tt.name, n)
		if n > tt.most {
			t.Errorf("%s: %v allocations, want %v at most", tt.name, n, tt.most)
		}
	}
}
