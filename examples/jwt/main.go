// Command jwt serves the tasks of tenants to callers with tokens of an OpenID Connect issuer.
package main

import (
	"cmp"
	"context"
	"flag"
	"log"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// Task is an item of a tenant. The tenant is that of the token.
type Task struct {
	ID     int64  `json:"id" readOnly:"true"`
	Tenant string `json:"tenant" readOnly:"true"`
	Text   string `json:"text" required:"true" minLength:"1" maxLength:"500"`
	Done   bool   `json:"done"`
}

// Claims are the members of a token that the policies below need, in addition to the standard ones.
type Claims struct {
	Tenant string   `json:"tenant"`
	Roles  []string `json:"roles"` // viewer, editor or admin
}

// verifier checks signature, issuer, audience and expiry. It reads the keys of the issuer at the first
// token and at each one with an unknown key, so the issuer can rotate its keys.
type verifier struct{ *oidc.IDTokenVerifier }

// session verifies a token for middleware.Authenticate.
func (v verifier) session(r *http.Request, token string) (s middleware.Session[Claims], err error) {
	verified, err := v.Verify(r.Context(), token)
	if err != nil && strings.HasPrefix(err.Error(), "failed to verify signature: fetching keys") {
		return s, err // 503, because the token may be valid; the library has no type for this error
	}
	if err != nil || verified.Claims(&s.Claims) != nil || s.Claims.Tenant == "" {
		return s, middleware.ErrToken
	}
	s.Principal, s.Expires = verified.Subject, verified.Expiry
	return s, nil
}

// caller returns the claims of a request, over every protocol.
func caller(ctx context.Context) (Claims, error) {
	if claims, ok := middleware.Claims[Claims](ctx); ok {
		return claims, nil
	}
	return Claims{}, resource.ErrUnauthenticated
}

// allowed are the operations of each role.
var allowed = map[string][]resource.Op{
	"viewer": {resource.OpGet},
	"editor": {resource.OpGet, resource.OpCreate, resource.OpReplace, resource.OpPatch},
	"admin":  {resource.OpGet, resource.OpCreate, resource.OpReplace, resource.OpPatch, resource.OpDelete},
}

// policy restricts callers to the tasks of their tenant and to the operations of their roles.
var policy = resource.Options[Task]{
	Before: func(ctx context.Context, op resource.Op, before, after *Task) error {
		claims, err := caller(ctx)
		if before == nil {
			after.Tenant = claims.Tenant
		}
		return err
	},
	Scope: func(ctx context.Context) (query.Filter, error) {
		claims, err := caller(ctx)
		return query.Where("tenant", query.Eq, claims.Tenant), err
	},
	Authorize: func(ctx context.Context, op resource.Op, _, _ *Task) error {
		claims, err := caller(ctx)
		if slices.ContainsFunc(claims.Roles, func(r string) bool { return slices.Contains(allowed[r], op) }) {
			return nil
		}
		return cmp.Or(err, resource.ErrForbidden)
	},
}

// newHandler serves tasks over REST, GraphQL and WebSocket.
func newHandler(ctx context.Context, issuer, audience string) (http.Handler, error) {
	ctx = oidc.ClientContext(ctx, &http.Client{Timeout: 10 * time.Second})
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return nil, err
	}
	v := verifier{provider.Verifier(&oidc.Config{ClientID: audience})}
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Principal: middleware.Principal, Feed: feed.New(feed.NewMemory(nil), nil),
	}, resource.New("tasks", memory.New[Task](nil), &policy))
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(catalog, &rest.Options{Challenge: middleware.Challenge("tasks")}))
	mux.Handle("/graphql", graphql.New(catalog,
		&graphql.Options{Socket: graphql.Socket{Connect: middleware.Connect}}))
	return middleware.Authenticate(v.session, &middleware.AuthenticateOptions{Realm: "tasks"})(mux), nil
}

func main() {
	issuer := flag.String("issuer", "http://localhost:8180/realms/tasks", "URL of the OpenID Connect issuer")
	audience := flag.String("audience", "tasks", "audience of the tokens")
	flag.Parse()
	h, err := newHandler(context.Background(), *issuer, *audience)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", h)) // for time limits, use middleware.Server
}
