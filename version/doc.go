// Package version serves several versions of one API side by side. For each request it determines
// which version the client asks for.
//
// A [Contract] is one version of an API: a name such as 1.1.0 and the [http.Handler] that serves
// it. A [Strategy] is a part of the request in which clients may name a contract: the path, the
// host, the query, a header field, the media type or the request body. A [Negotiator] applies every
// strategy to every request. It rejects a request that names two different contracts. It passes
// every other request to the handler of the selected contract, which reads the result with
// [contract.From]. A contract may also be on another server, see [Contract.At].
//
//	api := version.New(
//		[]version.Contract{
//			{Name: "1.0.0", Handler: first, Deprecated: june, Sunset: nextJune},
//			{Name: "2.0.0", Handler: second},
//		},
//		[]version.Strategy{
//			version.Path{},
//			version.Header{Name: "API-Version"},
//			version.MediaType{Vendor: "shop"},
//		},
//		&version.Options{Default: "2.0.0"},
//	)
//	mux.Handle("/", api)                  // GET /v1/orders, or /orders with API-Version: 1
//	mux.Handle("/versions", api.List())   // lists all contracts; needs no version itself
//
// # Version names
//
// Contract names are MAJOR.MINOR.PATCH. A request may omit the patch, or the minor and the patch: 1
// selects the newest contract of major version 1 that is still served. Each part limits what may
// change:
//
//   - PATCH: nothing that a client can observe, except bug fixes.
//   - MINOR: additions only. New resources, operations, optional parameters, request members,
//     response members and problem types. Clients ignore what they do not know.
//   - MAJOR: anything. Members may be removed, change their meaning, become required or accept
//     fewer values. Defaults, status codes and sort orders may change.
//
// # Choosing a strategy
//
// Use [Path] for a public API. The path is visible in logs and links, works in a browser and is
// part of every cache key. The drawback is that /v1/orders/5 and /v2/orders/5 are different
// resources in HTTP: a write to one does not invalidate cached responses of the other (RFC 9111
// section 4.4), so neither should have a freshness lifetime. [Host] has the same properties and
// also needs certificates and DNS records. It suits contracts that are deployed separately.
//
// Use [Header] or [MediaType] if the clients of an API have agreed on a contract. Each resource
// keeps one URI, links can be shared between clients, and caches distinguish the variants by Vary.
// A header field is simpler. The media type is content negotiation in the sense of RFC 9110 section
// 12, and each representation carries its version.
//
// [Query] and [Body] are for clients that can set neither a path nor a header field. Prefer the
// query, because the body must be read to find the version.
//
// [contract.From]: https://pkg.go.dev/github.com/stoa-go/stoa/resource/contract#From
package version
