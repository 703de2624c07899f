package serve

// One version of an API: REST and GraphQL of the same catalog. Called by Handler, directly or through
// a version.Negotiator.

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// graphqlPath is the path of GraphQL in each contract.
const graphqlPath = "/graphql"

// Contract serves a catalog over REST and, at /graphql, over GraphQL. It is the handler of a
// [version.Contract]. Both protocols share the authorization, the events and the idempotency keys of
// the catalog. Create it with [NewContract]. It is safe for concurrent use.
type Contract struct {
	opts    *Options
	catalog *resource.Catalog
	rest    *rest.Handler    // nil if left out
	graphql *graphql.Handler // nil if left out
}

var (
	_ version.Reserver       = (*Contract)(nil)
	_ version.Opaque         = (*Contract)(nil)
	_ version.PatchVersioner = (*Contract)(nil)
)

// NewContract returns the handler of one version of an API. It uses the options about REST, GraphQL
// and OpenAPI, and Authorize for the page and the schema of GraphQL. opts may be nil. It panics if c
// is nil, and if REST or GraphQL rejects its options.
func NewContract(c *resource.Catalog, opts *Options) *Contract {
	if c == nil {
		panic("serve: the catalog is nil; pass the catalog to serve")
	}
	out := &Contract{opts: opts.orDefaults(), catalog: c}
	o := out.opts
	if !o.NoREST {
		r := *cmp.Or(o.REST, &rest.Options{})
		r.Challenge = o.Challenge
		out.rest = rest.New(c, &r)
	}
	if !o.NoGraphQL {
		g := *cmp.Or(o.GraphQL, &graphql.Options{})
		g.Challenge = o.Challenge
		if g.Title == "" {
			g.Title = o.Title
		}
		if g.Description == "" {
			g.Description = o.Description
		}
		out.graphql = graphql.New(c, &g)
	}
	return out
}

// ServeHTTP passes /graphql and the paths below it to GraphQL, and everything else to REST.
func (c *Contract) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	switch {
	case c.graphql != nil && (path == graphqlPath || strings.HasPrefix(path, graphqlPath+"/")):
		defer func() { r.Pattern = graphqlPath }() // the route in observations has that of the mux
		if !isGraphQLDocument(path, r) || authorize(c.opts, w, r) {
			c.graphql.ServeHTTP(w, r)
		}
	case c.rest != nil:
		c.rest.ServeHTTP(w, r)
	default:
		problem.Write(w, r, problem.New(problem.NotFound, "There is no resource at this path."))
	}
}

// graphqlOffers are the media types of GraphQL. The page is the last, so it is selected only if a client
// prefers it, as in package graphql.
var graphqlOffers = []string{
	"application/json", "application/graphql-response+json", "text/event-stream", "text/html",
}

// isGraphQLDocument reports whether a request to GraphQL is for the page, one of its files or the
// schema, and not an operation.
func isGraphQLDocument(path string, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if path != graphqlPath {
		return true
	}
	i, ok := header.Accept(r.Header["Accept"], graphqlOffers)
	return ok && graphqlOffers[i] == "text/html"
}

// Reserve returns an error if REST or GraphQL has a member or a parameter with this name. It
// implements [version.Reserver].
func (c *Contract) Reserve(member, parameter string) error {
	var errs [2]error
	if c.rest != nil {
		errs[0] = c.rest.Reserve(member, parameter)
	}
	if c.graphql != nil {
		errs[1] = c.graphql.Reserve(member, parameter)
	}
	return errors.Join(errs[:]...)
}

// Opaque reports whether the body of a request is the content of a file. It implements
// [version.Opaque].
func (c *Contract) Opaque(r *http.Request) bool { return c.rest != nil && c.rest.Opaque(r) }

// VersionInPatch implements [version.PatchVersioner] with rest.ResourceOptions.VersionInPatch.
func (c *Contract) VersionInPatch(r *http.Request) bool {
	return c.rest != nil && c.rest.VersionInPatch(r)
}

// shutdown ends the operations of GraphQL.
func (c *Contract) shutdown(ctx context.Context) error {
	if c.graphql == nil {
		return nil
	}
	return c.graphql.Shutdown(ctx)
}

// report returns the reports of the handlers.
func (c *Contract) report() string {
	text := ""
	if c.rest != nil {
		text += c.rest.Report()
	}
	if c.graphql != nil {
		text += strings.Replace(c.graphql.Report(), "GraphQL", graphqlPath, 1)
	}
	return text
}
