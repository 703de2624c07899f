// Package middleware provides the middleware of an HTTP server: functions from an [http.Handler] to
// an [http.Handler].
//
// They work with any handler. Every error response is a problem document (RFC 9457). Middleware
// that wraps the ResponseWriter keeps its features: the handler can flush, hijack, use
// io.ReaderFrom and set deadlines. Options may be nil, and the zero value is the safe default.
//
// # Order
//
// [Chain] combines middleware, the outermost first. This order is recommended; any of them may be
// omitted:
//
//	h := middleware.Chain(
//		middleware.ClientAddress(proxies, nil), // the client's address, for all others
//		middleware.RequestID(nil),              // the request id, for all others
//		middleware.Log(nil),                    // logs the responses of all others
//		middleware.Recover(nil),                // inside Log, so that Log records a 500
//		middleware.SecureHeaders(nil),          // also for error responses
//		cors,                                   // before anything that rejects preflights
//		middleware.Limit(nil),                  // before the body is read
//		middleware.Timeout(nil),                // before work is done
//		middleware.CrossOrigin(nil),            // before cookies are used
//		middleware.Authenticate(verify, nil),   // sets the principal
//		middleware.RateLimit(rate, nil),        // per principal
//	)(api)
//	err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil)
//
// A handler that supports idempotency keys is inside all of these, so that only admitted requests
// are recorded. If an inner [http.ServeMux] sets Request.Pattern, each middleware copies it to the
// outer request for loggers and tracers.
//
// A RateLimit outside Authenticate counts by client address and limits attempts to guess tokens.
// Both can be used together.
//
// # Authentication
//
// [Authenticate] verifies the bearer token. [Principal] returns the name of the caller to all inner
// handlers, and [Claims] what else verify returned, such as roles and a tenant.
//
//	verify := func(r *http.Request, token string) (middleware.Session[MyClaims], error) { ... }
//	auth := middleware.Authenticate(verify, &middleware.AuthenticateOptions{
//		Realm: "shop",
//		Required: func(r *http.Request) bool {
//			return middleware.Writes(r) && r.URL.Path != "/auth/login"
//		},
//	})
//	catalog := resource.NewCatalog(
//		&resource.CatalogOptions{Principal: middleware.Principal}, orders, users)
//	api := serve.New(catalog, &serve.Options{Challenge: middleware.Challenge("shop")})
//
// If tokens can be revoked and there are event streams or WebSockets, use [NewSessions]: streams end
// with their tokens, and [Sessions.Current] returns the user for policies. [NewAttempts] limits
// logins.
//
// Authorization needs the objects, so it is not part of this package. The Scope and Authorize
// functions of resources decide it, using the [Claims] of their context. [Connect] authenticates
// WebSockets.
package middleware
