package main

// Paths that belong to no contract: the start page, health, documents and documentation.

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// neutral holds the handlers of the paths that have no version. A path that ends in a slash matches
// everything below it.
type neutral map[string]http.Handler

// newNeutral returns the handlers. The OpenAPI documents name the listen address if its port is
// known. ready is the health check of the database.
func newNeutral(
	n *version.Negotiator,
	catalogs map[string]*resource.Catalog,
	restOptions *rest.Options,
	s settings,
	ready func(context.Context) error,
) neutral {
	at := neutral{
		"/": readOnly(newPage()),
		// A load balancer stops sending requests if the database does not respond or cannot be written.
		"/health": readOnly(middleware.Health(
			map[string]func(context.Context) error{"database": ready}, nil)),
		"/openapi":  n.List(),
		changesPage: n.Changelog(),
		"/openapi/": http.HandlerFunc(serveNotFound),
		"/admin":    readOnly(http.RedirectHandler("/admin/", http.StatusPermanentRedirect)),
		"/admin/":   newAdmin(catalogs[defaultContract]),
		"/docs":     newDocs(n),
		"/docs/":    readOnly(http.HandlerFunc(docsFolder)),
	}
	policy := secured
	if !s.auth {
		policy = nil // that of the parts with Authorize
	}
	for name, catalog := range catalogs {
		at[documentPath(name)] = openapi.New(catalog, &openapi.Options{
			Title:       "The shop",
			Description: "Orders, users and places: the reference application of Stoa.",
			License:     &openapi.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
			Contract:    name,
			Negotiator:  n,
			Servers:     servers(s.addr),
			Security:    security(s.auth),
			Secured:     policy,
			RateLimit:   s.rate.Quota > 0,
			REST:        restOptions,
		})
	}
	return at
}

// security returns the security schemes of the OpenAPI documents.
func security(auth bool) []openapi.SecurityScheme {
	if !auth {
		return nil
	}
	return []openapi.SecurityScheme{{Name: "token", Type: "http", Scheme: "bearer",
		Description: "`POST /auth/login` returns one."}}
}

// secured reports whether an operation requires a token: every write except login, and reads of
// everything but places and files.
func secured(name string, op resource.Op) bool {
	reads := op == resource.OpGet || op == resource.OpList
	return name != "auth/login" && (!reads || name != "places" && name != "files")
}

// servers returns the server URLs of the OpenAPI documents: the origin of the document, and
// localhost for clients that select a contract by host. Port 0 is left out because the actual port
// is not known yet.
func servers(addr string) []string {
	list := []string{"/"}
	if _, port, err := net.SplitHostPort(addr); err == nil && port != "0" {
		list = append(list, "http://"+net.JoinHostPort(versionDomain, port))
	}
	return list
}

// before serves the paths without a version, and passes everything else to contracts. It does not
// use [http.ServeMux], which would answer some requests itself with redirects or plain text.
func (at neutral) before(contracts http.Handler, addr string) http.Handler {
	own := ownHosts(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at.handler(r.URL.Path).ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at.handler(r.URL.Path) == nil {
			contracts.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	})
}

// handler returns the handler of a path, or nil if the path belongs to the contracts.
func (at neutral) handler(path string) http.Handler {
	if h := at[path]; h != nil {
		return h
	}
	for _, folder := range []string{"/admin/", "/docs/", "/openapi/"} {
		if strings.HasPrefix(path, folder) {
			return at[folder]
		}
	}
	return nil
}

// serveNotFound responds with 404 to paths below a neutral prefix.
func serveNotFound(w http.ResponseWriter, r *http.Request) {
	problem.Write(w, r, problem.New(problem.NotFound, "There is nothing here."))
}

// readOnly rejects methods other than GET, HEAD and OPTIONS. It distinguishes methods that are
// known but not allowed (405) from unknown ones (501).
func readOnly(next http.Handler) http.Handler {
	const allow = "GET, HEAD, OPTIONS"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			next.ServeHTTP(w, r)
		case http.MethodOptions:
			w.Header().Set("Allow", allow)
			w.WriteHeader(http.StatusNoContent)
		case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect,
			http.MethodTrace:
			d := problem.New(problem.MethodNotAllowed, "Only GET, HEAD and OPTIONS are allowed here.")
			d.Header = http.Header{"Allow": {allow}}
			problem.Write(w, r, d)
		default: // RFC 9110 section 9.1
			problem.Write(w, r, problem.New(problem.NotImplemented, "The method is not supported."))
		}
	})
}
