package middleware_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
)

// A catalog with everything around it, as in README.md of this folder.
func ExampleServe_catalog() {
	var proxies []netip.Prefix
	cors := func(next http.Handler) http.Handler { return next }
	verify := func(r *http.Request, token string) (s middleware.Session[string], err error) {
		return s, middleware.ErrToken
	}
	rate, err := middleware.ParseRate("100/1m")
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	catalog := resource.NewCatalog(nil)
	cancel() // in a program: signal.NotifyContext

	serve := func() error {
		h := middleware.Chain(
			middleware.ClientAddress(proxies, nil), // forwarded fields of trusted proxies; without proxies they are ignored
			middleware.RequestID(nil),
			middleware.Log(nil),           // one line for each request, without tokens, keys and bodies
			middleware.Recover(nil),       // a panic is a 500
			middleware.SecureHeaders(nil), // on errors, too
			cors,                          // github.com/rs/cors with middleware.ExposedHeaders(): examples/cors
			middleware.Limit(nil),         // size of body, target and header; optionally concurrent requests
			middleware.Timeout(nil),       // deadlines for reading, handling and writing
			middleware.CrossOrigin(nil),   // rejects writes from pages of other origins
			middleware.Authenticate(verify, nil),
			middleware.RateLimit(rate, nil), // such as 100/1m for each caller, with RateLimit fields and 429
		)(rest.New(catalog, nil))
		err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil) // drains when ctx is done
		return err
	}
	fmt.Println(serve())
	// Output: <nil>
}
