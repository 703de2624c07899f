package main

// One handler for each contract, which serves REST and GraphQL over the same catalog. Both share
// authorization, events and idempotency keys, because these belong to the catalog.

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// graphqlPath is the path of the GraphQL endpoint in each contract. The schema is served below it.
const graphqlPath = "/graphql"

// graphqlTime limits the execution of a GraphQL request. It is shorter than answerTime, so that a
// timeout error still reaches the client.
const graphqlTime = 30 * time.Second

// contractHandler serves the catalog of one contract: over REST and, at /graphql, over GraphQL. A
// strategy that selects the contract selects both.
type contractHandler struct {
	// The start-up report needs the catalog; requests use the two handlers.
	catalog *resource.Catalog
	rest    *rest.Handler
	graphql *graphql.Handler
}

var (
	_ version.Reserver = (*contractHandler)(nil)
	_ version.Opaque   = (*contractHandler)(nil)
)

// newContractHandlers returns a handler for each catalog. GraphQL and REST of one contract have the
// same resources, so a policy or a limit of one cannot be avoided by the other.
func newContractHandlers(c *collections, catalogs map[string]*resource.Catalog) map[string]*contractHandler {
	handlers := map[string]*contractHandler{}
	socket := graphql.Socket{Wait: c.patience}
	// A socket counts for its principal. Without -auth that is guest for all clients.
	if c.auth {
		socket.Connect = c.sessions.Connect
	} else {
		socket.PerPrincipal = 10_000 // all callers share one principal
	}
	for name, catalog := range catalogs {
		handlers[name] = &contractHandler{
			catalog: catalog,
			rest:    rest.New(catalog, c.restOptions()),
			graphql: graphql.New(catalog, &graphql.Options{
				Title: "The shop, " + name,
				Description: "Orders, users and places: the reference application of Stoa, in its contract " +
					name + ".",
				// Fields that are not resolved in time become errors; the rest of the response is
				// sent.
				Timeout: cmp.Or(c.patience, graphqlTime),
				// the same challenge as over REST, so that a client can handle both alike
				Challenge: middleware.Challenge(realm),
				Socket:    socket,
			}),
		}
	}
	return handlers
}

// shutdown ends the GraphQL operations of all contracts and waits for them. Clients of
// subscriptions reconnect to another server. It shuts down all contracts concurrently, because they
// share the remaining time.
func shutdown(ctx context.Context, contracts map[string]*contractHandler) error {
	errs := make(chan error)
	for _, h := range contracts {
		go func() { errs <- h.graphql.Shutdown(ctx) }()
	}
	var all error
	for range contracts {
		all = errors.Join(all, <-errs)
	}
	return all
}

// ServeHTTP routes /graphql and the paths below it to GraphQL, and everything else to REST.
func (h *contractHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path := r.URL.Path; path == graphqlPath || strings.HasPrefix(path, graphqlPath+"/") {
		r.Pattern = graphqlPath // for the log, as in the catalog
		h.graphql.ServeHTTP(w, r)
		return
	}
	h.rest.ServeHTTP(w, r)
}

// Reserve returns an error if REST or GraphQL uses the name already, so that it cannot select the
// version. It implements [version.Reserver]; without it, a body member "version" could be a field
// of an item and a contract at the same time.
func (h *contractHandler) Reserve(member, parameter string) error {
	return errors.Join(h.rest.Reserve(member, parameter), h.graphql.Reserve(member, parameter))
}

// Opaque reports whether the request body is the content of a file, in which the negotiator must
// not search for a version. It implements [version.Opaque].
func (h *contractHandler) Opaque(r *http.Request) bool { return h.rest.Opaque(r) }

// VersionInPatch reports whether a merge patch may name the contract. It implements
// [version.PatchVersioner].
func (h *contractHandler) VersionInPatch(r *http.Request) bool { return h.rest.VersionInPatch(r) }

// report returns the start-up report of the contract.
func (h *contractHandler) report() string { return h.catalog.Report() + h.handlersReport() }

// briefReport returns the report without details, together with text, the report of the shop.
func (h *contractHandler) briefReport(text string) string {
	return h.catalog.BriefReport(text, h.handlersReport())
}

// handlersReport returns the limits and routes of both handlers, with the path in place of the name
// GraphQL.
func (h *contractHandler) handlersReport() string {
	return h.rest.Report() + strings.Replace(h.graphql.Report(), "GraphQL", graphqlPath, 1)
}

// asksGraphQL reports whether r is a GraphQL request, with or without the path of a contract. Its
// method is always POST, so only the document shows whether it writes.
func asksGraphQL(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.EscapedPath(), graphqlPath)
}
