// Command cors serves notes to pages of another origin. Pages of https://app.example.com may send
// every header field that clients of the API use and read every field of the response that they
// need. Other pages may not.
//
//	go run -C examples ./cors
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/cors"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// app is the origin of the pages with access.
const app = "https://app.example.com"

// Note is the resource of the example.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true" maxLength:"500"`
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	flag.Parse()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("cors: listening on http://%s", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := middleware.Serve(ctx, middleware.Server(newHandler(), nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}

// newHandler serves notes to callers with a token. The CORS middleware is outside of authentication
// because a preflight request has no token. It is outside of the limits, too, so that a page can
// read their error responses.
func newHandler() http.Handler {
	db := memory.NewDB()
	notes := resource.New("notes", memory.New(&memory.Options[Note]{DB: db}),
		&resource.Options[Note]{Public: true})
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Principal:   middleware.Principal,
		Idempotency: idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil),
	}, notes)
	crossOrigin := cors.New(cors.Options{
		AllowedOrigins: []string{app},
		AllowedMethods: []string{"GET", "HEAD", "QUERY", "POST", "PUT", "PATCH", "DELETE"},
		AllowedHeaders: middleware.AllowedHeaders(),
		ExposedHeaders: middleware.ExposedHeaders(),
		MaxAge:         600,
	})
	return middleware.Chain(
		middleware.RequestID(nil),
		middleware.Log(nil),
		middleware.Recover(nil),
		middleware.SecureHeaders(nil),
		crossOrigin.Handler,
		middleware.Limit(nil),
		middleware.Timeout(nil),
		middleware.CrossOrigin(&middleware.CrossOriginOptions{Trusted: []string{app}}),
		middleware.Authenticate(verify,
			&middleware.AuthenticateOptions{Realm: "notes", Required: middleware.Writes}),
	)(rest.New(catalog, &rest.Options{Challenge: middleware.Challenge("notes"), Origins: []string{app}}))
}

// verify accepts one token. A real program would read a store of tokens.
func verify(_ *http.Request, token string) (s middleware.Session[struct{}], err error) {
	if token != "open-sesame" {
		return s, middleware.ErrToken
	}
	s.Principal = "ann"
	return s, nil
}
