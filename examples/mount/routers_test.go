package main

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alexedwards/scs/v2"
	"github.com/coder/websocket"
	gingzip "github.com/gin-contrib/gzip"
	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/mux"
	"github.com/klauspost/compress/gzhttp"
	"github.com/labstack/echo/v5"
	echomiddleware "github.com/labstack/echo/v5/middleware"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// router is a way to mount a handler.
type router struct {
	name, prefix string
	mount        func(api http.Handler) http.Handler
}

// routers are those of main, and others that the README names.
func routers() []router {
	strip := func(prefix string, h http.Handler) http.Handler { return http.StripPrefix(prefix, h) }
	return []router{
		{"net/http", "/api", func(api http.Handler) http.Handler {
			m := http.NewServeMux()
			m.Handle("/api/", strip("/api", api))
			return m
		}},
		{"chi", "/chi/v1", newChi},
		{"gin", "/gin/v1", newGin},
		{"echo", "/echo/v1", newEcho},
		{"gorilla/mux", "/gorilla", func(api http.Handler) http.Handler {
			r := mux.NewRouter().UseEncodedPath()
			r.PathPrefix("/gorilla/").Handler(strip("/gorilla", api))
			return r
		}},
	}
}

// wrapped are routers with middleware that wraps the ResponseWriter.
func wrapped() []router {
	around := func(name string, wrap func(http.Handler) http.Handler) router {
		return router{name, "", wrap}
	}
	return append(routers(),
		around("otelhttp", func(h http.Handler) http.Handler { return otelhttp.NewHandler(h, "api") }),
		around("gzhttp", func(h http.Handler) http.Handler { return gzhttp.GzipHandler(h) }),
		around("chi Compress", func(h http.Handler) http.Handler {
			r := chi.NewRouter()
			r.Use(chimiddleware.Logger, chimiddleware.Compress(5))
			r.Mount("/", h)
			return r
		}),
		around("gin gzip", func(h http.Handler) http.Handler {
			r := gin.New()
			r.Use(gingzip.Gzip(gingzip.DefaultCompression))
			r.Any("/*path", gin.WrapH(h))
			return r
		}),
		around("echo Gzip", func(h http.Handler) http.Handler {
			e := echo.New()
			e.Use(echomiddleware.Gzip())
			e.Any("/*", echo.WrapHandler(h))
			return e
		}),
		around("sessions of scs", func(h http.Handler) http.Handler { return scs.New().LoadAndSave(h) }),
		around("middleware of Stoa", middleware.Chain(middleware.Log(nil), middleware.Timeout(nil))),
		router{"gin, and middleware of Stoa below", "/gin/v1", func(h http.Handler) http.Handler {
			return newGin(middleware.Log(nil)(h))
		}},
	)
}

// newChanges returns the handler of main with a change feed.
func newChanges() (http.Handler, *feed.Feed) {
	changes := feed.New(feed.NewMemory(nil), nil)
	notes := resource.New("notes", memory.New[Note](nil), &resource.Options[Note]{Public: true})
	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: changes}, notes)
	api := http.NewServeMux()
	api.Handle("/", rest.New(catalog, nil))
	api.Handle("/graphql", graphql.New(catalog, nil))
	return api, changes
}

// dial opens a socket of GraphQL and waits until it is acknowledged.
func dial(ctx context.Context, t *testing.T, url string) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.Dial(ctx, url+"/graphql", &websocket.DialOptions{
		Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	write(ctx, t, c, `{"type":"connection_init"}`)
	return c
}

func write(ctx context.Context, t *testing.T, c *websocket.Conn, message string) {
	t.Helper()
	if err := c.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
		t.Fatal(err)
	}
}

// read returns the next message, or the error with which the socket ended.
func read(ctx context.Context, c *websocket.Conn) string {
	_, message, err := c.Read(ctx)
	if err != nil {
		return err.Error()
	}
	return string(message)
}

// TestSocketsAndStreams: sockets and streams work below each router and wrapper, and a change arrives
// while they are open.
func TestSocketsAndStreams(t *testing.T) {
	t.Parallel()
	for _, r := range wrapped() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			api, changes := newChanges()
			server := httptest.NewServer(r.mount(api))
			defer server.Close()
			defer changes.Close()
			url := server.URL + r.prefix
			c := dial(t.Context(), t, url)
			got := []string{read(t.Context(), c)}
			write(t.Context(), t, c, `{"id":"1","type":"subscribe","payload":{"query":"{ __typename }"}}`)
			got = append(got, read(t.Context(), c), read(t.Context(), c))

			list, err := http.Get(url + "/notes")
			if err != nil {
				t.Fatal(err)
			}
			list.Body.Close()
			// From a cursor, so that the subscription may begin after the change.
			write(t.Context(), t, c, `{"id":"2","type":"subscribe","payload":{"query":`+
				`"subscription { noteChanged(after: \"`+list.Header.Get("Event-Cursor")+`\") { kind id } }"}}`)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/notes", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", "text/event-stream")
			res, err := http.DefaultClient.Do(req) // returns when the stream has begun
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			created, err := http.Post(url+"/notes", "application/json", strings.NewReader(`{"id":"a","text":"x"}`))
			if err != nil {
				t.Fatal(err)
			}
			created.Body.Close()
			got = append(got, read(t.Context(), c))
			lines := bufio.NewScanner(res.Body)
			for lines.Scan() {
				if data, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
					got = append(got, data)
					break
				}
			}
			want := []string{`{"type":"connection_ack"}`,
				`{"id":"1","type":"next","payload":{"data":{"__typename":"Query"}}}`, `{"id":"1","type":"complete"}`,
				`{"id":"2","type":"next","payload":{"data":{"noteChanged":{"kind":"CREATED","id":"a"}}}}`, "created"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}
