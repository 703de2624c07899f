package main

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

// The handlers of one contract: its catalog over REST and, at /graphql, over GraphQL. A strategy
// that selects the contract selects both.
type doors struct {
	catalog *resource.Catalog
	rest    *rest.Handler
	graphql *graphql.Handler
}

var (
	_ version.Reserver = (*doors)(nil)
	_ version.Opaque   = (*doors)(nil)
)

// newDoors returns the handlers of each catalog.
func newDoors(c *collections, catalogs map[string]*resource.Catalog) map[string]*doors {
	open := map[string]*doors{}
	socket := graphql.Socket{Connect: c.connect, Wait: c.patience}
	if !c.auth {
		socket.PerPrincipal = 10_000 // all callers share one principal
	}
	for name, catalog := range catalogs {
		open[name] = &doors{
			catalog: catalog,
			rest:    rest.New(catalog, c.restOptions()),
			graphql: graphql.New(catalog, &graphql.Options{
				Title: "The shop, " + name,
				Description: "Orders, users and places: the reference application of Stoa, in its contract " +
					name + ".",
				Timeout:   cmp.Or(c.patience, graphqlTime),
				Challenge: middleware.Challenge(realm),
				Socket:    socket,
			}),
		}
	}
	return open
}

// shutdown ends the GraphQL operations of all contracts and waits for them. Clients of
// subscriptions reconnect to another server.
func shutdown(ctx context.Context, contracts map[string]*doors) error {
	errs := make(chan error)
	for _, d := range contracts {
		go func() { errs <- d.graphql.Shutdown(ctx) }()
	}
	var all error
	for range contracts {
		all = errors.Join(all, <-errs)
	}
	return all
}

// ServeHTTP routes /graphql and the paths below it to GraphQL, and everything else to REST.
func (d *doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path := r.URL.Path; path == graphqlPath || strings.HasPrefix(path, graphqlPath+"/") {
		r.Pattern = graphqlPath // for the log, as in the catalog
		d.graphql.ServeHTTP(w, r)
		return
	}
	d.rest.ServeHTTP(w, r)
}

// Reserve returns an error if REST or GraphQL uses the name already, so that it cannot select the
// version.
func (d *doors) Reserve(member, parameter string) error {
	return errors.Join(d.rest.Reserve(member, parameter), d.graphql.Reserve(member, parameter))
}

// Opaque reports whether the request body is the content of a file.
func (d *doors) Opaque(r *http.Request) bool { return d.rest.Opaque(r) }

// report returns the start-up report of the contract.
func (d *doors) report() string { return d.catalog.Report() + d.handlersReport() }

// briefReport returns the report without details, together with text, the report of the shop.
func (d *doors) briefReport(text string) string {
	return d.catalog.BriefReport(text, d.handlersReport())
}

func (d *doors) handlersReport() string {
	return d.rest.Report() + strings.Replace(d.graphql.Report(), "GraphQL", graphqlPath, 1)
}

// asksGraphQL reports whether r is a GraphQL request, with or without the path of a contract. Its
// method is always POST, so only the document shows whether it writes.
func asksGraphQL(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.EscapedPath(), graphqlPath)
}
