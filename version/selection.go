package version

import "context"

// Selection is what a [Negotiator] found out about one request. It does not change and is safe for concurrent use. The
// nil Selection, which [From] returns where no Negotiator is, can be asked as well: it selects nothing.
type Selection struct {
	todo int
}

// From returns what was selected for the request with this context; nil if no [Negotiator] has seen it.
func From(ctx context.Context) *Selection { return nil }

// Contract returns the full name of the contract, such as 1.1.0; "" for nil.
func (s *Selection) Contract() string { return "" }

// Source says where the request named the contract, in the words of [Strategy.Source]; "" if it is the default. If
// several places did, it is the first of the strategies.
func (s *Selection) Source() string { return "" }

// URL returns ref, a path and perhaps a query as the handler sees them, as a client has to write them to stay in the
// contract in the way that it came in: /orders becomes /v1/orders where the path named the contract, /orders?version=1
// where the query did, and stays as it is in all other cases. It adds nothing that an [http.StripPrefix] took off.
func (s *Selection) URL(ref string) string { return ref }

// Query returns the query parameter that named the contract, as version=1; "" if none did. It is the half of URL for
// handlers that know what stands before their path.
func (s *Selection) Query() string { return "" }

// MediaType returns the full media type of a representation called name in this contract, such as
// application/vnd.shop.1.1.0.order+json; "" where no [MediaType] is among the strategies.
func (s *Selection) MediaType(name string) string { return "" }

// Range returns the media type in the request's Accept that stands for a representation called name in this contract, in
// lower case and without parameters, so that it can be offered to a negotiation by quality: application/vnd.shop.1.order+json.
// It is "" if there is none, or if its quality is zero. Of several it is the one that is liked best.
func (s *Selection) Range(name string) string { return "" }

// ContentType returns the media type to answer with where Range was chosen, or where nothing was asked for and the
// content of the request was of such a type: MediaType, without +json if the client left that out. Else it is
// application/json.
func (s *Selection) ContentType(name string) string { return "application/json" }

// Content reports whether the content of the request claims to be a representation called name in this contract, by its
// Content-Type. The basic type claims to be any.
func (s *Selection) Content(name string) bool { return false }

// Member returns the name of the member that named the contract in the content of the request, and the full name of the
// contract to repeat in the answer. ok is false if the content named none.
func (s *Selection) Member() (name, contract string, ok bool) { return "", "", false }
