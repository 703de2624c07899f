package version

import "net/http"

// Strategy is one place in a request where a client may name a contract. The ones in this package are [Path], [Host],
// [Query], [Header], [MediaType] and [Body]; an application can have its own, such as a claim of a token.
//
// A name is [v]MAJOR[.MINOR[.PATCH]]: 1, v1, 1.1, 1.1.0. What the strategy finds is taken as the client wrote it: a
// malformed name and one that selects nothing are answered with 400, and one that selects another contract than a second
// source of the same request is, too.
//
// A Strategy is called from many goroutines at once.
type Strategy interface {
	// Source says where the name stands, as problem details tell it to a client: "the query parameter version".
	Source() string
	// Vary returns the names of the request header fields that decide; nil where it is the URL or the content, which
	// caches know of by themselves.
	Vary() []string
	// Find returns the name that r holds, and false if it holds none. It changes nothing about r and does not read its
	// content.
	Find(r *http.Request) (name string, ok bool)
}

// Path names a contract by the first segment of the path: /v1/orders or /1/orders. A segment that is not spelled like a
// version is part of the resource and names nothing; one that is spelled like it and selects nothing is 404, since path
// and resource are one (RFC 3986 section 3.3). The handler sees the path without the marker.
type Path struct{}

// Host names a contract by a label before a domain: api-v1.example.com, and for a minor api-v1-1.example.com. A label
// that selects nothing is 404. Case, a port and a trailing dot do not matter (RFC 9110 section 4.2.3).
type Host struct {
	// Prefix is what the label begins with, before the number; "api-v" if empty.
	Prefix string
	// Domains are what follows the label: example.com. The bare domain is served and names nothing.
	Domains []string
	// Others are further hosts that are served and name nothing, such as 127.0.0.1 or [::1]. A request for any host that
	// is neither of these, nor has to do with one of the Domains, is 421 (RFC 9110 section 15.5.20). A request
	// without a host, in HTTP/1.0, names nothing.
	Others []string
}

// Query names a contract by a query parameter. The handler sees the query without it.
type Query struct {
	// Name of the parameter; "version" if empty.
	Name string
}

// Header names a contract by a header field. The contract that was selected is told in the same field of every response,
// however it was named.
type Header struct {
	// Name of the field, such as API-Version. It is required, and none of the registered names that mean something else:
	// Version, Accept-Version.
	Name string
}

// MediaType names a contract by media types of the form
//
//	application/vnd.<vendor>[.<version>].<name>[+json]
//
// in Accept, and in Content-Type of POST and PUT: application/vnd.shop.1.1.order+json. A type without version, and the
// basic type application/vnd.<vendor>+json, name nothing but can be asked for. In Accept the types that are liked best
// decide; ranges that are malformed or not served are passed over, and 406 if there is nothing else. In Content-Type
// they are 415. Patches have types of their own and name nothing.
type MediaType struct {
	// Vendor is required: one facet of letters, digits and -, without dots.
	Vendor string
}

// Body names a contract by a member of the content, where that is a JSON object sent with POST or PUT. The value is a
// string, or a number of which the text counts: 1.10 is not 1.1. The handler sees the content without the member; if it
// wants to repeat it in its answer, [Selection.Member] has it.
//
// To find it the content is read before the handler is asked, apart from content that is longer than Limit or not JSON,
// which is left for the handler to refuse. Where something else has named the contract already and the client waits with
// Expect: 100-continue, it is read when the handler reads it: a disagreement is then an error of Read, a
// [*problem.Details].
type Body struct {
	// Name of the member; "version" if empty.
	Name string
	// Limit is how much content is read, in bytes, before and after decompression; 1 MiB if zero.
	Limit int64
}
