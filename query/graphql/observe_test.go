package graphql_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/observe"
)

type observedTask struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true"`
}

// newObserved returns a handler of two tasks, and a function that returns the observations since its
// last call.
func newObserved(t *testing.T) (*graphql.Handler, func() []observe.Observation) {
	t.Helper()
	tasks := memory.New[observedTask](nil)
	for _, id := range []string{"1", "2"} {
		if _, err := tasks.Insert(t.Context(), id, observedTask{ID: id, Text: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var list []observe.Observation
	keep := func(_ context.Context, o observe.Observation) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, o)
	}
	changes := feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { changes.Close() })
	h := graphql.New(resource.NewCatalog(&resource.CatalogOptions{Observe: keep, Feed: changes},
		resource.New("tasks", tasks, &resource.Options[observedTask]{Public: true})), nil)
	return h, func() []observe.Observation {
		mu.Lock()
		defer mu.Unlock()
		taken := list
		list = nil
		return taken
	}
}

var untimed = cmpopts.IgnoreFields(observe.Observation{}, "Start", "Duration", "Bytes", "Lag")

func TestObserve(t *testing.T) {
	t.Parallel()
	const list = `query Names { tasks { nodes { id } } }`
	tests := []struct {
		name, query string
		want        observe.Observation
	}{
		{"query", list, observe.Observation{Operation: "query", Name: "Names", Status: 200, Items: 2}},
		{"field error", `mutation { patchObservedTask(id: "7", input: {text: "b"}) { id } }`,
			observe.Observation{Operation: "mutation", Status: 404}},
		{"mutation", `mutation { patchObservedTask(id: "1", input: {text: "b"}) { id } }`,
			observe.Observation{Operation: "mutation", Status: 200, Items: 1}},
		{"invalid argument", `{ tasks(first: -1) { nodes { id } } }`,
			observe.Observation{Operation: "query", Status: 400}},
		{"syntax error", `{`, observe.Observation{Status: 400}},
		{"unknown field", `{ nothing }`, observe.Observation{Status: 400}},
		{"missing variable", `query Q($id: ID!) { observedTask(id: $id) { id } }`,
			observe.Observation{Operation: "query", Name: "Q", Status: 400}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, take := newObserved(t)
			mux := http.NewServeMux()
			mux.Handle("/api/", http.StripPrefix("/api", h))
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/graphql",
				strings.NewReader(`{"query":`+quoted(tt.query)+`,"operationName":`+quoted(tt.want.Name)+`}`))
			r.Header.Set("Content-Type", "application/json")
			mux.ServeHTTP(httptest.NewRecorder(), r)
			tt.want.Protocol, tt.want.Method, tt.want.Route = "graphql", "POST", "/api/graphql"
			if diff := cmp.Diff([]observe.Observation{tt.want}, take(), untimed); diff != "" {
				t.Errorf("observations (-want +got):\n%s", diff)
			}
		})
	}
}

// The route does not depend on the path that the client chooses, and has no name of a tenant.
func TestObserveRoute(t *testing.T) {
	t.Parallel()
	h, take := newObserved(t)
	strip := func(next http.Handler) http.Handler { // removes two segments, as middleware for tenants does
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			segments := strings.SplitN(r.URL.Path, "/", 4)
			http.StripPrefix("/"+segments[1]+"/"+segments[2], next).ServeHTTP(w, r)
		})
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", h))
	mux.Handle("/exact/graphql", h)
	mux.Handle("/named/{tenant}/graphql", h)
	mux.Handle("/t/{tenant}/", strip(h))
	inner := http.NewServeMux()
	inner.Handle("/graphql", h)
	mux.Handle("/inner/{tenant}/", strip(inner))
	mux.Handle("/hidden/", strip(h))
	for path, want := range map[string]string{
		"/api/graphql":         "/api/graphql",
		"/api/chosen/graphql":  "/api/graphql",
		"/exact/graphql":       "/exact/graphql",
		"/named/acme/graphql":  "/named/{tenant}/graphql",
		"/t/acme/graphql":      "/t/{tenant}/graphql",
		"/inner/acme/graphql":  "/graphql",
		"/hidden/acme/graphql": "/graphql",
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(`{"query":"{ tasks { nodes { id } } }"}`))
		r.Header.Set("Content-Type", "application/json")
		mux.ServeHTTP(httptest.NewRecorder(), r)
		if got := take(); len(got) != 1 || got[0].Route != want {
			t.Errorf("%s: %+v, want the route %s", path, got, want)
		}
	}
}

// quoted returns a JSON string, and null for the empty string.
func quoted(s string) string {
	if s == "" {
		return "null"
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}

func TestObserveWithoutHTTP(t *testing.T) {
	t.Parallel()
	h, take := newObserved(t)
	if err := h.Execute(t.Context(), graphql.Request{Query: `{ observedTask(id: "1") { id } }`}).Err(); err != nil {
		t.Fatal(err)
	}
	want := []observe.Observation{{Protocol: "graphql", Method: "Execute", Operation: "query", Status: 200, Items: 1}}
	if diff := cmp.Diff(want, take(), untimed); diff != "" {
		t.Errorf("observations of Execute (-want +got):\n%s", diff)
	}
	messages := h.Subscribe(t.Context(), graphql.Request{Query: `subscription S { observedTaskChanged { kind } }`})
	h.Execute(t.Context(), graphql.Request{Query: `mutation { deleteObservedTask(id: "1") { id } }`})
	for _, err := range messages {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	want = []observe.Observation{
		{Protocol: "graphql", Method: "Execute", Operation: "mutation", Status: 200, Items: 1},
		{Protocol: "graphql", Method: "Subscribe", Operation: "subscription", Name: "S", Status: 200, Items: 1},
	}
	if diff := cmp.Diff(want, take(), untimed, cmpopts.IgnoreFields(observe.Observation{}, "Name")); diff != "" {
		t.Errorf("observations of Subscribe (-want +got):\n%s", diff)
	}
}

// An operation over a WebSocket has the route of the upgrade request.
func TestObserveWebSocket(t *testing.T) {
	t.Parallel()
	h, take := newObserved(t)
	mux := http.NewServeMux()
	mux.Handle("/v1/", http.StripPrefix("/v1", h))
	server := httptest.NewServer(mux)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, server.URL+"/v1/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	for _, exchange := range []struct{ send, until string }{
		{`{"type":"connection_init"}`, `"connection_ack"`},
		{`{"type":"subscribe","id":"1","payload":{"query":"{ tasks { nodes { id } } }"}}`, `"complete"`},
	} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(exchange.send)); err != nil {
			t.Fatal(err)
		}
		for received := []byte(nil); !strings.Contains(string(received), exchange.until); {
			if _, received, err = conn.Read(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []observe.Observation{{Protocol: "graphql", Method: "WebSocket", Route: "/v1/graphql",
		Operation: "query", Status: 200, Items: 2}}
	if diff := cmp.Diff(want, take(), untimed); diff != "" {
		t.Errorf("observations (-want +got):\n%s", diff)
	}
}
