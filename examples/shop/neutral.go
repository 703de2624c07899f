package main

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

// neutral is what has no version, by path. A path that ends in a slash is that of everything below it.
type neutral map[string]http.Handler

// newNeutral makes it. The documents tell the listen address, if that has a port. ping finds out whether the shop can serve.
func newNeutral(n *version.Negotiator, catalogs map[string]*resource.Catalog, rested *rest.Options, s settings,
	ping func(context.Context) error) neutral {
	docs := newDocs(n)
	at := neutral{
		"/":         readOnly(newPage()),
		"/health":   readOnly(middleware.Health(map[string]func(context.Context) error{"database": ping}, nil)),
		"/openapi":  n.List(),
		"/openapi/": http.HandlerFunc(serveNothing),
		"/docs":     readOnly(docs.page),
		"/docs/":    readOnly(docs.assets),
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
			Secured:     secured,
			RateLimit:   s.rate.Quota > 0,
			REST:        rested,
		})
	}
	return at
}

// security is how one says who one is, for the documents.
func security(auth bool) []openapi.SecurityScheme {
	if !auth {
		return nil
	}
	return []openapi.SecurityScheme{{Name: "token", Type: "http", Scheme: "bearer",
		Description: "`POST /auth/login` returns one."}}
}

// secured says what needs it: what changes something, and to see orders and jobs.
func secured(name string, op resource.Op) bool {
	reads := op == resource.OpGet || op == resource.OpList
	return name != "auth/login" && (!reads || name == "orders" || name == "jobs")
}

// servers are where the shop is, for its documents: wherever they were found, and for those who name a contract by host, on
// this machine. A port that is not chosen yet is not told.
func servers(addr string) []string {
	list := []string{"/"}
	if _, port, err := net.SplitHostPort(addr); err == nil && port != "0" {
		list = append(list, "http://"+net.JoinHostPort(versionDomain, port))
	}
	return list
}

// before serves what has no version, and leaves the rest to the contracts. It is no [http.ServeMux], which would answer
// some requests itself, with redirects and in plain text.
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

// handler returns what is at a path; nil if it has to do with versions.
func (at neutral) handler(path string) http.Handler {
	if h := at[path]; h != nil {
		return h
	}
	for _, folder := range []string{"/docs/", "/openapi/"} {
		if strings.HasPrefix(path, folder) {
			return at[folder]
		}
	}
	return nil
}

func serveNothing(w http.ResponseWriter, r *http.Request) {
	problem.Write(w, r, problem.New(problem.NotFound, "There is nothing here."))
}

// readOnly serves what can only be looked at.
func readOnly(next http.Handler) http.Handler {
	const allow = "GET, HEAD, OPTIONS"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			next.ServeHTTP(w, r)
		case http.MethodOptions:
			w.Header().Set("Allow", allow)
			w.WriteHeader(http.StatusNoContent)
		case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodTrace:
			d := problem.New(problem.MethodNotAllowed, "This can only be looked at.")
			d.Header = http.Header{"Allow": {allow}}
			problem.Write(w, r, d)
		default: // RFC 9110 section 9.1
			problem.Write(w, r, problem.New(problem.NotImplemented, "There is no such method."))
		}
	})
}
