// Command jwt serves the tasks of tenants to callers with tokens of an OpenID Connect issuer. policy.go
// has the policy, and dev.go an issuer for development.
//
//	go run -C examples ./jwt
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/serve"
)

// verifier checks signature, issuer, audience and expiry. It reads the keys of the issuer at the first
// token and at each one with an unknown key, so the issuer can rotate its keys.
type verifier struct{ *oidc.IDTokenVerifier }

// session verifies a token for middleware.Authenticate.
func (v verifier) session(r *http.Request, token string) (s middleware.Session[Claims], err error) {
	verified, err := v.Verify(r.Context(), token)
	if err != nil && strings.HasPrefix(err.Error(), "failed to verify signature: fetching keys") {
		return s, err // 503, because the token may be valid; the library has no type for this error
	}
	if err != nil || verified.Claims(&s.Claims) != nil || s.Claims.Tenant == "" ||
		verified.Subject == "" {
		return s, middleware.ErrToken
	}
	// A user may belong to several tenants. The name of the caller owns idempotency keys, quotas and rate
	// limits, which are those of one tenant.
	s.Principal, s.Expires = s.Claims.Tenant+"/"+verified.Subject, verified.Expiry
	return s, nil
}

// newHandler serves tasks over REST, GraphQL and WebSocket, with documents that every caller may read.
// keys sends the requests to the issuer.
func newHandler(ctx context.Context, keys http.RoundTripper, issuer, audience string) (http.Handler, error) {
	ctx = oidc.ClientContext(ctx, &http.Client{Transport: keys, Timeout: 10 * time.Second})
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return nil, err
	}
	v := verifier{provider.Verifier(&oidc.Config{ClientID: audience})}
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Principal: middleware.Principal, Feed: feed.New(feed.NewMemory(nil), nil),
	}, resource.New("tasks", memory.New[Task](nil), &policy))
	api := serve.New(catalog, &serve.Options{
		Title: "Tasks", Challenge: middleware.Challenge("tasks"),
		GraphQL: &graphql.Options{Socket: graphql.Socket{Connect: middleware.Connect}},
	})
	return middleware.Authenticate(v.session, &middleware.AuthenticateOptions{Realm: "tasks"})(api), nil
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	issuer := flag.String("issuer", "", "`URL` of the OpenID Connect issuer; default one for development")
	audience := flag.String("audience", "tasks", "audience of the tokens")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	mux := http.NewServeMux()
	if *issuer == "" {
		dev, err := startDevIssuer(*addr, *audience)
		if err != nil {
			log.Fatal(err)
		}
		*issuer = dev.url
		mux.HandleFunc("POST /dev/token", dev.token)
		log.Print("jwt: POST /dev/token issues tokens to every caller; use -issuer in production")
	}
	h, err := newHandler(ctx, &keyRequests{now: time.Now}, *issuer, *audience)
	if err != nil {
		log.Fatal(err)
	}
	mux.Handle("/", h)
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("jwt: listening on http://%s", listener.Addr())
	if err := middleware.Serve(ctx, middleware.Server(mux, nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
