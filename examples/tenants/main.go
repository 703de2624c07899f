// Command tenants serves the projects of several tenants from one table. A caller sees and changes
// the projects of the own tenant only, over REST, GraphQL and event streams.
//
//	go run -C examples ./tenants
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/serve"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Project is an item of a tenant. A name is unique in its tenant.
type Project struct {
	ID     string `json:"id" format:"uuid" readOnly:"true"`
	Tenant string `json:"tenant" readOnly:"true"`
	Name   string `json:"name" required:"true" minLength:"1" maxLength:"100" unique:"tenant"`
}

// tokens maps tokens to sessions. The claims are the tenant, which is also in the principal, because a user
// may belong to several. A service reads sessions from a database, or verifies JSON Web Tokens: see ../jwt.
var tokens = map[string]middleware.Session[string]{
	"ann-token": {Principal: "acme/ann", Claims: "acme"},
	"bob-token": {Principal: "bolt/bob", Claims: "bolt"},
}

func session(_ *http.Request, token string) (middleware.Session[string], error) {
	if s, ok := tokens[token]; ok {
		return s, nil
	}
	return middleware.Session[string]{}, middleware.ErrToken
}

// tenantOf returns the tenant of the caller, over every protocol.
func tenantOf(ctx context.Context) (string, error) {
	if tenant, ok := middleware.Claims[string](ctx); ok {
		return tenant, nil
	}
	return "", resource.ErrUnauthenticated
}

// policy separates the tenants. Before sets the tenant of a new project. Scope restricts everything
// else: lists, single items, counts, writes and events.
var policy = resource.Options[Project]{
	Query: query.Support{
		Filter: map[string][]query.Op{"name": {query.Eq, query.StartsWith}}, Sort: []string{"name"},
	},
	Before: func(ctx context.Context, _ resource.Op, before, after *Project) (err error) {
		if before == nil {
			after.Tenant, err = tenantOf(ctx)
		}
		return err
	},
	Scope: func(ctx context.Context) (query.Filter, error) {
		tenant, err := tenantOf(ctx)
		return query.Where("tenant", query.Eq, tenant), err
	},
}

// newHandler serves the projects in the database of a SQLite file.
func newHandler(ctx context.Context, file string) (http.Handler, error) {
	pool, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	db := sqltx.New(sqltx.SQLite, pool, nil)
	projects := sqltable.New[Project](db, "projects", &sqltable.Options{Index: []string{"tenant"}})
	events := sqlfeed.New(db, nil)
	if err := errors.Join(projects.CreateTable(ctx), events.CreateTable(ctx)); err != nil {
		return nil, err
	}
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Principal: middleware.Principal, Feed: feed.New(events, nil),
	}, projects.Ops().Resource("projects", &policy))
	authenticate := middleware.Authenticate(session, &middleware.AuthenticateOptions{Realm: "projects"})
	return authenticate(serve.New(catalog,
		&serve.Options{Title: "Projects", Challenge: middleware.Challenge("projects")})), nil
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "tenants")
	if err != nil {
		log.Fatal(err)
	}
	h, err := newHandler(ctx, filepath.Join(dir, "projects.db"))
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("tenants: listening on http://%s", listener.Addr())
	if err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
