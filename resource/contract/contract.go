// Package contract has the contract of a request: the version of the API that the client has selected,
// and the part of the request that named it. Package version selects the contract and puts it into the
// context of the request. The core, protocols and handlers of applications read it by [From]:
//
//	selected := contract.From(r.Context())
//	selected.Name()                 // 1.1.0
//	selected.URL("/orders?limit=5") // /v1/orders?limit=5 if the path named the contract
//
// They do not import package version for this, so a program that serves a single contract by rest or
// graphql does not link it. The same code serves a program without contracts: Name is then empty, and URL
// returns its argument.
package contract

import "context"

// Selection is the contract of a request, and the part of the request that named it. It is safe for
// concurrent use. Package version implements it. Methods may be added.
type Selection interface {
	// Name returns the full name of the contract, such as 1.1.0; "" without a contract.
	Name() string
	// Source describes the part of the request that named the contract, such as "the path"; "" if the
	// default applies. If several parts named it, the strategy that was given first decides.
	Source() string
	// URL returns the reference that a client must use to reach ref in the same contract. ref is a path
	// with an optional query, as the handler receives it. /orders becomes /v1/orders if the path named
	// the contract, and /orders?version=1 if the query did. Otherwise it is returned unchanged. URL does
	// not add a prefix that [net/http.StripPrefix] has removed.
	URL(ref string) string
	// Query returns the query parameter that named the contract, such as version=1; "" if the query did
	// not. It is for handlers that build their URLs themselves.
	Query() string
	// Member returns the name of the body member that named the contract, and MAJOR.MINOR of the
	// contract to repeat in the response. ok is false if the body named none, or was not read yet.
	Member() (name, contract string, ok bool)
	// MediaType returns the full media type of the representation called name in this contract, such as
	// application/vnd.shop.1.1.0.order+json; "" if media types do not name contracts.
	MediaType(name string) string
	// Range returns the media type in Accept that matches the representation called name in this
	// contract, in lower case and without parameters, such as application/vnd.shop.1.order+json. If
	// several match, it returns the one with the greatest quality. It returns "" if none matches or its
	// quality is zero. A handler can offer the type to its own content negotiation.
	Range(name string) string
	// ContentType returns the media type of the response. It is MediaType if Range is not empty, or if
	// Accept allows anything and the request body has such a type. It has no +json suffix if the client
	// used none. In all other cases it is application/json.
	ContentType(name string) string
	// Content reports whether the Content-Type of the request matches the representation called name in
	// this contract. The type application/vnd.VENDOR+json matches every name. Content returns false
	// unless the method is POST or PUT.
	Content(name string) bool
}

// Key is the context key of the [Selection]. Only code that selects the contract of a request needs it.
type Key struct{}

// From returns the Selection of the request with this context. It is never nil. Without a contract, URL
// returns its argument, ContentType returns application/json, and the other methods return zero values.
func From(ctx context.Context) Selection {
	if s, ok := ctx.Value(Key{}).(Selection); ok {
		return s
	}
	return none{}
}

// none is the Selection of a request without a contract.
type none struct{}

func (none) Name() string                   { return "" }
func (none) Source() string                 { return "" }
func (none) URL(ref string) string          { return ref }
func (none) Query() string                  { return "" }
func (none) Member() (_, _ string, ok bool) { return "", "", false }
func (none) MediaType(string) string        { return "" }
func (none) Range(string) string            { return "" }
func (none) ContentType(string) string      { return "application/json" }
func (none) Content(string) bool            { return false }
