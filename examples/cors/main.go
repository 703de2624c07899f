// Command cors serves notes to a page of another origin: https://app.example.com may ask, with every field that a client of
// the API sends, and read every field that it needs. No other page may.
//
//	go run -C examples ./cors
//	curl -i -X OPTIONS localhost:8080/notes/1 -H 'Origin: https://app.example.com' -H 'Access-Control-Request-Method: PATCH' \
//		-H 'Access-Control-Request-Headers: content-type,idempotency-key,if-match'
package main

import (
	"context"
	"log"
	"net/http"

	"github.com/rs/cors"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// app is the origin whose pages may ask.
const app = "https://app.example.com"

// Note is what is served.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true" maxLength:"500"`
}

func main() {
	server := middleware.Server(newHandler(), nil)
	server.Addr = "localhost:8080"
	log.Print("cors: listening on http://localhost:8080")
	log.Fatal(server.ListenAndServe())
}

// newHandler serves notes to whoever has a token. What a browser asks before it asks has none, so it is answered before
// anybody wants one, and before the limits, whose refusals a page should be able to read.
func newHandler() http.Handler {
	db := memory.NewDB()
	notes := resource.New("notes", memory.New(&memory.Options[Note]{DB: db}), &resource.Options[Note]{Public: true})
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Principal:   middleware.Principal,
		Idempotency: idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil),
	}, notes)
	crossOrigin := cors.New(cors.Options{
		AllowedOrigins: []string{app},
		AllowedMethods: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"},
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
		middleware.Authenticate(verify, &middleware.AuthenticateOptions{Realm: "notes", Required: middleware.Writes}),
	)(rest.New(catalog, &rest.Options{Challenge: middleware.Challenge("notes")}))
}

// verify knows one token. One of yours would ask where tokens are kept.
func verify(_ context.Context, token string) (principal string, err error) {
	if token != "open-sesame" {
		return "", middleware.ErrToken
	}
	return "ann", nil
}
