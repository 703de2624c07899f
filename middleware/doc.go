// Package middleware is what a server wants around its handlers, as functions from an http.Handler to an http.Handler.
//
// They know nothing of resources, so they serve any handler, and every refusal of theirs is a problem document (RFC 9457),
// as those of the handlers behind them are. None hides what a ResponseWriter can do: behind each of them a handler flushes,
// hijacks, copies files and moves deadlines as it would without. Each takes options that may be nil, and is safe without.
//
// # Order
//
// [Chain] puts them together, the outermost first. This is the order that they are made for, of which any may be left out:
//
//	h := middleware.Chain(
//		middleware.ClientAddress(proxies, nil), // who is at the other end; all others believe it
//		middleware.RequestID(nil),              // names the request for all others
//		middleware.Log(nil),                    // sees what all others answered
//		middleware.Recover(nil),                // so that Log sees a 500
//		middleware.SecureHeaders(nil),          // on refusals, too
//		cors,                                   // before what would refuse a preflight
//		middleware.Limit(nil),                  // before anything is read or looked up
//		middleware.Timeout(nil),                // from here on work is done
//		middleware.CrossOrigin(nil),            // before a cookie counts
//		middleware.Authenticate(verify, nil),   // who is asking
//		middleware.RateLimit(rate, nil),        // how often, for each of those
//	)(api)
//	err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil)
//
// Idempotency keys are looked at behind all of these, where the request is known to be admitted. What matched the
// pattern of an http.ServeMux behind is handed out again to those outside, as it is to a tracer around them all.
//
// A RateLimit outside of Authenticate counts by address, and keeps guesses of tokens and passwords down. Both may be there.
//
// # Who is asking
//
// [Authenticate] finds out, and [Principal] tells it to everything behind.
//
//	auth := middleware.Authenticate(sessions.Verify, &middleware.AuthenticateOptions{
//		Realm:    "shop",
//		Required: func(r *http.Request) bool { return middleware.Writes(r) && r.URL.Path != "/auth/login" },
//	})
//	catalog := resource.NewCatalog(&resource.CatalogOptions{Principal: middleware.Principal}, orders, users)
//	api := rest.New(catalog, &rest.Options{Challenge: middleware.Challenge("shop")})
//
// Who may do what is not decided here but where the objects are known: by the Scope and Authorize of resources, which ask
// for the [Principal] of their context.
package middleware
