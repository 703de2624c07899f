// Package middleware is what a server wants around its handlers, as functions from an http.Handler to an http.Handler.
//
// They know nothing of resources, so they serve any handler, and every refusal of theirs is a problem document (RFC 9457),
// as those of the handlers behind them are. There is one so far: [Authenticate] finds out who is asking, and [Principal]
// tells it to everything behind.
//
//	auth := middleware.Authenticate(sessions.Verify, &middleware.AuthenticateOptions{
//		Realm:    "shop",
//		Required: func(r *http.Request) bool { return middleware.Writes(r) && r.URL.Path != "/auth/login" },
//	})
//	api := resource.NewCatalog(&resource.CatalogOptions{
//		Principal: middleware.Principal,
//		Challenge: middleware.Challenge("shop"),
//	}, orders, users)
//	http.ListenAndServe("localhost:8080", auth(api))
//
// Who may do what is not decided here but where the objects are known: by the Scope and Authorize of resources, which ask
// for the [Principal] of their context.
package middleware
