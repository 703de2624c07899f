// Command mount adds a catalog, over REST and GraphQL, to existing servers: under a prefix of a
// [http.ServeMux] and of a router of chi, gin and echo. URLs in responses keep the prefix.
//
//	go run -C examples ./mount
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v5"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// Note is the resource of the example.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true" maxLength:"500"`
}

// newAPI returns the handler of the notes, which is mounted below.
func newAPI() http.Handler {
	notes := resource.New("notes", memory.New[Note](nil), &resource.Options[Note]{Public: true})
	catalog := resource.NewCatalog(nil, notes)
	graphqlHandler := graphql.New(catalog, nil)

	api := http.NewServeMux()
	api.Handle("/", rest.New(catalog, nil))
	api.Handle("/graphql", graphqlHandler)
	api.Handle("/graphql/", graphqlHandler) // the schema
	return api
}

// newMux returns a mux with a page, the notes and the other routers. The pattern of the notes has no
// method, because the catalog answers 405 with Allow itself.
func newMux() *http.ServeMux {
	api := newAPI()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", page)
	mux.Handle("/api/", http.StripPrefix("/api", api))
	mux.Handle("/chi/", newChi(api))
	mux.Handle("/gin/", newGin(api))
	mux.Handle("/echo/", newEcho(api))
	return mux
}

// newChi serves api under /chi/v1. Mount keeps the prefix in the path for nested chi routers, so
// StripPrefix is needed.
func newChi(api http.Handler) http.Handler {
	r := chi.NewRouter()
	r.Get("/chi/page", page)
	r.Mount("/chi/v1", http.StripPrefix("/chi/v1", api))
	return r
}

// newGin serves api under /gin/v1. Any does not include the method QUERY.
func newGin(api http.Handler) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/gin/page", gin.WrapF(page))
	h := gin.WrapH(http.StripPrefix("/gin/v1", api))
	r.Any("/gin/v1/*path", h)
	r.Handle("QUERY", "/gin/v1/*path", h)
	return r
}

// newEcho serves api under /echo/v1.
func newEcho(api http.Handler) http.Handler {
	e := echo.New()
	e.GET("/echo/page", echo.WrapHandler(http.HandlerFunc(page)))
	e.Any("/echo/v1/*", echo.WrapHandler(http.StripPrefix("/echo/v1", api)))
	return e
}

func page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "Something else, at", r.URL.Path)
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	flag.Parse()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("mount: listening on http://%s", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := middleware.Serve(ctx, middleware.Server(newMux(), nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
