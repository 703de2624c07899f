package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/observe"
	"github.com/stoa-go/stoa/resource/rest"
)

type observedNote struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true"`
}

// observations collects what a catalog reports.
type observations struct {
	mu   sync.Mutex
	list []observe.Observation
}

func (o *observations) observe(_ context.Context, one observe.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, one)
}

// take returns the observations since the last call.
func (o *observations) take() []observe.Observation {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list
	o.list = nil
	return list
}

// untimed ignores the fields that depend on time and on the length of bodies.
var untimed = cmpopts.IgnoreFields(observe.Observation{}, "Start", "Duration", "Bytes")

// newObserved returns a handler of notes with one item. o observes its requests.
func newObserved(t *testing.T, o *observations, opts *resource.CatalogOptions) http.Handler {
	t.Helper()
	notes := memory.New[observedNote](nil)
	if _, err := notes.Insert(t.Context(), "1", observedNote{ID: "1", Text: "first"}); err != nil {
		t.Fatal(err)
	}
	if opts == nil {
		opts = &resource.CatalogOptions{}
	}
	opts.Observe = o.observe
	ping := command.New("notes/ping", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil },
		&command.Options[struct{}]{Public: true})
	return rest.New(resource.NewCatalog(opts,
		resource.New("notes", notes, &resource.Options[observedNote]{Public: true}), ping), nil)
}

func TestObserve(t *testing.T) {
	t.Parallel()
	one := func(method, route, op string, status, items int) observe.Observation {
		o := observe.Observation{Protocol: "rest", Method: method, Route: route, Operation: op, Status: status,
			Items: items}
		if route != "" {
			o.Resource = "notes"
		}
		return o
	}
	pinged := one("POST", "/notes/ping", "invoke", 200, 0)
	pinged.Resource = "notes/ping"
	tests := []struct {
		name, method, path, contentType, body string
		want                                  observe.Observation
	}{
		{"item", "GET", "/notes/1", "", "", one("GET", "/notes/{id}", "get", 200, 1)},
		{"head", "HEAD", "/notes/1", "", "", one("HEAD", "/notes/{id}", "get", 200, 1)},
		{"absent item", "GET", "/notes/7", "", "", one("GET", "/notes/{id}", "get", 404, 0)},
		{"list", "GET", "/notes", "", "", one("GET", "/notes", "list", 200, 1)},
		{"create", "POST", "/notes", "application/json", `{"text":"a"}`, one("POST", "/notes", "create", 201, 1)},
		{"invalid", "POST", "/notes", "application/json", `{}`, one("POST", "/notes", "create", 422, 0)},
		{"replace", "PUT", "/notes/1", "application/json", `{"id":"1","text":"b"}`,
			one("PUT", "/notes/{id}", "replace", 200, 1)},
		{"patch", "PATCH", "/notes/1", "application/merge-patch+json", `{"text":"c"}`,
			one("PATCH", "/notes/{id}", "patch", 200, 1)},
		{"delete", "DELETE", "/notes/1", "", "", one("DELETE", "/notes/{id}", "delete", 204, 0)},
		{"batch", "POST", "/notes", "application/vnd.stoa.batch+json",
			`{"operations":[{"op":"create","value":{"text":"a"}},{"op":"create","value":{"text":"b"}}]}`,
			one("POST", "/notes", "batch", 200, 2)},
		{"options", "OPTIONS", "/notes", "", "", one("OPTIONS", "/notes", "options", 204, 0)},
		{"command", "POST", "/notes/ping", "application/json", `{}`, pinged},
		{"no route", "GET", "/other", "", "", one("GET", "", "", 404, 0)},
		{"unknown method", "FROB", "/notes", "", "", one("OTHER", "", "", 501, 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var o observations
			h := newObserved(t, &o, nil)
			r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, strings.NewReader(tt.body))
			if tt.contentType != "" {
				r.Header.Set("Content-Type", tt.contentType)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			got := o.take()
			if diff := cmp.Diff([]observe.Observation{tt.want}, got, untimed); diff != "" {
				t.Fatalf("observations (-want +got):\n%s\n%s", diff, w.Body)
			}
			if got[0].Bytes != int64(w.Body.Len()) {
				t.Errorf("Bytes = %d, want %d", got[0].Bytes, w.Body.Len())
			}
			if tt.want.Route != r.Pattern {
				t.Errorf("Pattern of the request = %q, want %q", r.Pattern, tt.want.Route)
			}
		})
	}
}

// The route has the mount as the pattern of the mux names it, and no values of wildcards.
func TestObserveRouteBelowPrefix(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, pattern, path string
		strip               func(next http.Handler) http.Handler
		want                string
	}{
		{"root", "/", "/notes/1", nil, "/notes/{id}"},
		{"prefix", "/api/", "/api/notes/1",
			func(next http.Handler) http.Handler { return http.StripPrefix("/api", next) }, "/api/notes/{id}"},
		{"prefix with slash", "/api/", "/api/notes/1",
			func(next http.Handler) http.Handler { return http.StripPrefix("/api/", next) }, "/api/notes/{id}"},
		{"wildcard", "/t/{tenant}/", "/t/acme/notes/1",
			func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					http.StripPrefix("/t/"+r.PathValue("tenant"), next).ServeHTTP(w, r)
				})
			}, "/t/{tenant}/notes/{id}"},
		{"escaped prefix", "/api/", "/%61pi/notes/1",
			func(next http.Handler) http.Handler { // as package version removes a segment
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					inner := r.Clone(r.Context())
					inner.URL.Path, inner.URL.RawPath = "/notes/1", ""
					next.ServeHTTP(w, inner)
				})
			}, "/api/notes/{id}"},
		{"wildcard below a prefix", "/api/", "/api/acme/notes/1",
			func(next http.Handler) http.Handler {
				inner := http.NewServeMux()
				inner.HandleFunc("/{tenant}/", func(w http.ResponseWriter, r *http.Request) {
					http.StripPrefix("/"+r.PathValue("tenant"), next).ServeHTTP(w, r)
				})
				return http.StripPrefix("/api", inner)
			}, "/notes/{id}"},
		{"tenant without a wildcard", "/t/", "/t/acme/notes/1",
			func(next http.Handler) http.Handler { return http.StripPrefix("/t/acme", next) }, "/notes/{id}"},
		{"path below the mount", "/t/{tenant}/notes/", "/t/acme/notes/1",
			func(next http.Handler) http.Handler { return http.StripPrefix("/t/acme", next) },
			"/t/{tenant}/notes/{id}"},
		{"wildcard of the rest", "GET /t/{tenant}/{rest...}", "/t/acme/notes/1",
			func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					http.StripPrefix("/t/"+r.PathValue("tenant"), next).ServeHTTP(w, r)
				})
			}, "/t/{tenant}/notes/{id}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var o observations
			h := newObserved(t, &o, nil)
			if tt.strip != nil {
				h = tt.strip(h)
			}
			mux := http.NewServeMux()
			mux.Handle(tt.pattern, h)
			mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", tt.path, nil))
			got := o.take()
			if len(got) != 1 || got[0].Route != tt.want || got[0].Status != 200 {
				t.Errorf("observations %+v, want one with the route %q", got, tt.want)
			}
		})
	}
}

// ObserveMount names the mount if no pattern does.
func TestObserveMount(t *testing.T) {
	t.Parallel()
	var o observations
	h := http.StripPrefix("/t/acme", newObserved(t, &o, &resource.CatalogOptions{ObserveMount: "/t/{tenant}"}))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/t/acme/notes/1", nil))
	if got := o.take(); len(got) != 1 || got[0].Route != "/t/{tenant}/notes/{id}" {
		t.Errorf("observations %+v, want one with the route /t/{tenant}/notes/{id}", got)
	}
	for _, mistake := range []string{"t/{tenant}", "/t/{tenant}/", "/"} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, "ObserveMount") {
					t.Errorf("NewCatalog with ObserveMount %q panicked with %q", mistake, p)
				}
			}()
			resource.NewCatalog(&resource.CatalogOptions{ObserveMount: mistake})
		}()
	}
}

// A conflict with another writer is counted, and the request succeeds.
func TestObserveRetries(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[observedNote](nil))
	if _, err := ops.Insert(t.Context(), "1", observedNote{ID: "1", Text: "a"}); err != nil {
		t.Fatal(err)
	}
	replace, failures := ops.Replace, 2
	ops.Replace = func(ctx context.Context, id string, expect resource.Rev, v observedNote) (
		resource.Item[observedNote], error) {
		if failures > 0 {
			failures--
			return resource.Item[observedNote]{}, resource.ErrStale
		}
		return replace(ctx, id, expect, v)
	}
	var o observations
	h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Observe: o.observe},
		ops.Resource("notes", &resource.Options[observedNote]{Public: true})), nil)
	r := httptest.NewRequestWithContext(t.Context(), "PATCH", "/notes/1", strings.NewReader(`{"text":"b"}`))
	r.Header.Set("Content-Type", "application/merge-patch+json")
	h.ServeHTTP(httptest.NewRecorder(), r)
	want := []observe.Observation{{Protocol: "rest", Method: "PATCH", Route: "/notes/{id}", Resource: "notes",
		Operation: "patch", Status: 200, Items: 1, Retries: 2}}
	if diff := cmp.Diff(want, o.take(), untimed); diff != "" {
		t.Errorf("observations (-want +got):\n%s", diff)
	}
}

// An event stream is observed at its end, with the number of its events and their delay.
func TestObserveStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o observations
		changes := feed.New(feed.NewMemory(nil), nil)
		defer changes.Close()
		h := newObserved(t, &o, &resource.CatalogOptions{Feed: changes})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			r := httptest.NewRequestWithContext(ctx, "GET", "/notes", nil)
			r.Header.Set("Accept", "text/event-stream")
			h.ServeHTTP(httptest.NewRecorder(), r)
		}()
		synctest.Wait()
		for range 3 {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/notes", strings.NewReader(`{"text":"a"}`))
			r.Header.Set("Content-Type", "application/json")
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
		time.Sleep(time.Second)
		o.take()
		stats := changes.Stats()
		if stats.Subscribers != 1 || stats.BufferEvents != 3 || time.Since(stats.LastRead) > time.Second {
			t.Errorf("stats of the feed: %+v", stats)
		}
		cancel()
		<-done
		want := []observe.Observation{{Protocol: "rest", Method: "GET", Route: "/notes", Resource: "notes",
			Operation: "watch", Status: 200, Items: 3}}
		got := o.take()
		if diff := cmp.Diff(want, got, untimed, cmpopts.IgnoreFields(observe.Observation{}, "Lag")); diff != "" {
			t.Fatalf("observations (-want +got):\n%s", diff)
		}
		if got[0].Lag < 0 || got[0].Lag > 200*time.Millisecond || got[0].Duration < time.Second {
			t.Errorf("Lag %v, Duration %v", got[0].Lag, got[0].Duration)
		}
	})
}
