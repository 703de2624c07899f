// Package gqlgenserver serves the shop with gqlgen. To write the generated code anew:
//
//	cd examples/bench/internal/gqlgenserver && go tool gqlgen generate
package gqlgenserver

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// Schema is the schema of the shop without subscriptions.
//
//go:embed schema.graphql
var Schema string

// Handler returns a server as gqlgen's own getting-started makes it: POST, introspection, and documents kept once parsed; with
// subscriptions over WebSocket, which is not compressed, and events.
func Handler(s *shop.Shop) http.Handler {
	h := handler.New(NewExecutableSchema(Config{Resolvers: &Resolver{Shop: s}}))
	h.AddTransport(transport.Websocket{InitTimeout: 3 * time.Second, PingPongInterval: 30 * time.Second})
	h.AddTransport(transport.SSE{KeepAlivePingInterval: 15 * time.Second})
	h.AddTransport(transport.POST{})
	h.SetQueryCache(lru.New[*ast.QueryDocument](1000))
	h.Use(extension.Introspection{})
	return h
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}
