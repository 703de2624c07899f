package version

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Selection is what a [Negotiator] found out about one request. It does not change and is safe for concurrent use. The
// nil Selection, which [From] returns where no Negotiator is, can be asked as well: it selects nothing.
type Selection struct {
	n        *Negotiator
	contract *contract
	request  *http.Request // as it came, of which only the header and the URL are looked at
	now      time.Time
	place    int // which named the contract; -1 is the default
	raw      spelling
	member   atomic.Bool // the content named it, as far as it has been read
	private  bool        // nothing in the request that caches know of decided
}

// contextKey is where a context keeps the Selection.
type contextKey struct{}

// From returns what was selected for the request with this context; nil if no [Negotiator] has seen it.
func From(ctx context.Context) *Selection {
	s, _ := ctx.Value(contextKey{}).(*Selection)
	return s
}

// Contract returns the full name of the contract, such as 1.1.0; "" for nil.
func (s *Selection) Contract() string {
	if s == nil {
		return ""
	}
	return s.contract.Name
}

// Source says where the request named the contract, in the words of [Strategy.Source]; "" if it is the default. If
// several places did, it is the first of the strategies.
func (s *Selection) Source() string {
	if s == nil || s.place < 0 {
		return ""
	}
	return s.n.places[s.place].source
}

// URL returns ref, a path and perhaps a query as the handler sees them, as a client has to write them to stay in the
// contract in the way that it came in: /orders becomes /v1/orders where the path named the contract, /orders?version=1
// where the query did, and stays as it is in all other cases. It adds nothing that an [http.StripPrefix] took off.
func (s *Selection) URL(ref string) string {
	if s == nil {
		return ref
	}
	if marker := s.raw.path; marker != "" {
		ref = "/" + marker + ref
	}
	if query := s.Query(); query != "" {
		ref = addQuery(ref, query)
	}
	return ref
}

// Query returns the query parameter that named the contract, as version=1; "" if none did. It is the half of URL for
// handlers that know what stands before their path.
func (s *Selection) Query() string {
	if s == nil || s.raw.query == "" {
		return ""
	}
	return s.n.pair(s.raw.query)
}

// MediaType returns the full media type of a representation called name in this contract, such as
// application/vnd.shop.1.1.0.order+json; "" where no [MediaType] is among the strategies.
func (s *Selection) MediaType(name string) string {
	if s == nil || s.contract.media == "" {
		return ""
	}
	return s.contract.media + name + "+json"
}

// Range returns the media type in the request's Accept that stands for a representation called name in this contract, in
// lower case and without parameters, so that it can be offered to a negotiation by quality: application/vnd.shop.1.order+json.
// It is "" if there is none, or if its quality is zero. Of several it is the one that is liked best.
func (s *Selection) Range(name string) string {
	if s == nil || s.n.media == nil || !mentionsVendor(s.request.Header["Accept"]) {
		return ""
	}
	best, most := "", 0
	for c := (ranges{lines: s.request.Header["Accept"]}); c.next(); {
		if c.quality <= most {
			continue
		}
		if t, ours := s.n.media.parse(c.typ); ours && s.is(t, name) {
			best, most = c.typ, c.quality
		}
	}
	return best
}

// ContentType returns the media type to answer with where Range was chosen, or where nothing was asked for and the
// content of the request was of such a type: MediaType, without +json if the client left that out. Else it is
// application/json.
func (s *Selection) ContentType(name string) string {
	if s == nil || s.n.media == nil {
		return mediaJSON
	}
	typ := s.Range(name)
	if typ != "" {
		t, _ := s.n.media.parse(typ)
		return s.answer(t, name)
	}
	if t, ours := s.content(name); ours && s.indifferent() {
		return s.answer(t, name)
	}
	return mediaJSON
}

const mediaJSON = "application/json"

// answer returns the type to answer with to somebody who has used the type t.
func (s *Selection) answer(t vendorType, name string) string {
	if t.suffix {
		return s.MediaType(name)
	}
	return s.contract.media + name
}

// Content reports whether the content of the request claims to be a representation called name in this contract, by its
// Content-Type. The basic type claims to be any. Content has a meaning with POST and PUT only.
func (s *Selection) Content(name string) bool {
	_, ours := s.content(name)
	return ours
}

func (s *Selection) content(name string) (t vendorType, ours bool) {
	if s == nil || s.n.media == nil || !hasRepresentation(s.request) {
		return t, false
	}
	t, ours = s.n.media.content(s.request)
	return t, ours && s.is(t, name)
}

// is reports whether a type stands for a representation called name in this contract.
func (s *Selection) is(t vendorType, name string) bool {
	return (t.basic || strings.EqualFold(t.name, name)) && t.fits(s.n, s.contract, s.now)
}

// indifferent reports whether Accept is absent, empty, or asks for anything.
func (s *Selection) indifferent() bool {
	for c := (ranges{lines: s.request.Header["Accept"]}); c.next(); {
		if c.typ != "*/*" {
			return false
		}
	}
	return true
}

// Member returns the name of the member that named the contract in the content of the request, and the full name of the
// contract to repeat in the answer. ok is false if the content named none.
func (s *Selection) Member() (name, contract string, ok bool) {
	if s == nil || !s.member.Load() {
		return "", "", false
	}
	return s.n.body.Name, s.contract.Name, true
}
