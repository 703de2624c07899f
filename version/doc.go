// Package version serves several contracts of one API side by side, and finds out which of them a request speaks.
//
// A contract is one version of an API: a name such as 1.1.0 and the [http.Handler] that serves it. A strategy is a place
// in a request where clients may name a contract: the path, the host, the query, a header field, the media type, the
// content. A [Negotiator] asks every strategy about every request, lets disagreement pass nowhere, and hands the request to
// the handler of the contract, which finds what was selected with [From].
//
//	api := version.New(
//		[]version.Contract{
//			{Name: "1.0.0", Handler: first, Deprecated: june, Sunset: nextJune},
//			{Name: "2.0.0", Handler: second},
//		},
//		[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}, version.MediaType{Vendor: "shop"}},
//		&version.Options{Default: "2.0.0"},
//	)
//	mux.Handle("/", api)                  // GET /v1/orders, or /orders with API-Version: 1
//	mux.Handle("/versions", api.List())   // neutral: it speaks of all contracts
//
// # What a name promises
//
// Names are MAJOR.MINOR.PATCH. A request may leave out what it does not care about: 1 is the newest contract of major 1
// that is still served. So what may change with each part is a promise to those who leave it out:
//
//   - PATCH: nothing that a client can see, apart from mistakes that are mended.
//   - MINOR: more, and nothing else. New resources, operations, optional parameters and members of requests, new members
//     of responses and new problem types. Clients ignore what they do not know.
//   - MAJOR: anything. Members that go or mean something else, that are required now, or that have narrower values; other
//     defaults, other statuses, other order.
//
// # Which strategy
//
// For an API that is public, the path ([Path]): it is seen in logs and links, can be tried in a browser, and is part of
// every cache's key. Its price is that /v1/orders/5 and /v2/orders/5 are two resources to HTTP: a write to one does not
// make a cache forget the other (RFC 9111 section 4.4), so neither should have a freshness lifetime. The host ([Host])
// is the same with certificates and DNS added; it suits contracts that are operated apart.
//
// For an API between parties who have agreed on a contract, a header field ([Header]) or the media type ([MediaType]):
// one URI for one thing, whatever the contract, links that can be handed on, and caches that keep the variants apart by
// Vary. A header field is the simpler of the two; the media type is what HTTP means by negotiation (RFC 9110 section 12),
// and lets each item of a set say what it is.
//
// [Query] and [Body] are for clients that can set neither. Prefer the query: what stands in the content is found out only
// by reading it.
package version
