//go:build gqlgen

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

// The build fails here with "no matching files found" if the code is not generated yet:
// go generate ./internal/gqlgenserver
//
//go:embed generated.go
var _ string

// Available reports whether this program was built with the tag gqlgen.
const Available = true

// Handler returns a server as in gqlgen's getting-started guide: POST, introspection, a cache of
// parsed documents, and subscriptions over server-sent events and over WebSocket without
// compression.
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
