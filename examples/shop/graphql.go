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

// graphqlPath is the other door to a contract. The schema is below it.
const graphqlPath = "/graphql"

// graphqlTime is how long an answer in GraphQL may be worked on. What a client is told then has to reach it before the
// server gives up writing; see answerTime.
const graphqlTime = 30 * time.Second

// doors serve one contract: its catalog and, at /graphql, the same catalog in GraphQL. Whatever selects the contract selects
// both.
type doors struct {
	catalog *resource.Catalog
	rest    *rest.Handler
	graphql *graphql.Handler
}

var (
	_ version.Reserver = (*doors)(nil)
	_ version.Opaque   = (*doors)(nil)
)

// newDoors opens both for each catalog.
func newDoors(c *collections, catalogs map[string]*resource.Catalog) map[string]*doors {
	open := map[string]*doors{}
	socket := graphql.Socket{Connect: c.connect, Wait: c.patience}
	if !c.auth {
		socket.PerPrincipal = 10_000 // everybody is one and the same
	}
	for name, catalog := range catalogs {
		open[name] = &doors{catalog: catalog, rest: rest.New(catalog, c.restOptions()), graphql: graphql.New(catalog, &graphql.Options{
			Title:       "The shop, " + name,
			Description: "Orders, users and places: the reference application of Stoa, in its contract " + name + ".",
			Timeout:     cmp.Or(c.patience, graphqlTime),
			Challenge:   middleware.Challenge(realm),
			Socket:      socket,
		})}
	}
	return open
}

// shutdown ends what goes on by GraphQL at all doors, so that clients come back elsewhere, and waits for it.
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

// ServeHTTP serves what is at and below /graphql there, and everything else from the catalog.
func (d *doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path := r.URL.Path; path == graphqlPath || strings.HasPrefix(path, graphqlPath+"/") {
		r.Pattern = graphqlPath // for the log, as the catalog does it
		d.graphql.ServeHTTP(w, r)
		return
	}
	d.rest.ServeHTTP(w, r)
}

// Reserve tells whether a name can mean the version at both doors.
func (d *doors) Reserve(member, parameter string) error {
	return errors.Join(d.rest.Reserve(member, parameter), d.graphql.Reserve(member, parameter))
}

// Opaque reports whether the content is somebody's file.
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

// asksGraphQL reports whether a request asks something in GraphQL, with or without the path of a contract in front: then
// only what it asks tells whether it writes.
func asksGraphQL(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.EscapedPath(), graphqlPath)
}
