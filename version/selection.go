package version

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Selection is the result of the negotiation for one request. It is safe for concurrent use. All
// methods work on a nil Selection, which [From] returns outside a Negotiator; they return zero
// values.
type Selection struct {
	n        *Negotiator
	contract *contract
	request  *http.Request // the original request; only header and URL are read
	now      time.Time
	place    int // index of the place that named the contract; -1 is the default
	spelled  spelling
	member   atomic.Bool // the body named the contract; set when it is read
	private  bool        // depends on DefaultFor, which caches do not know
}

// contextKey is the context key of the Selection.
type contextKey struct{}

// From returns the Selection of the request with this context; nil if no [Negotiator] handled the
// request.
func From(ctx context.Context) *Selection {
	s, _ := ctx.Value(contextKey{}).(*Selection)
	return s
}

// Contract returns the full name of the contract, such as 1.1.0; "" if s is nil.
func (s *Selection) Contract() string {
	if s == nil {
		return ""
	}
	return s.contract.Name
}

// Source returns the [Strategy.Source] that named the contract; "" if the default applies. If
// several strategies named it, the first one in the order given to [New] is returned.
func (s *Selection) Source() string {
	if s == nil || s.place < 0 {
		return ""
	}
	return s.n.places[s.place].source
}

// URL returns the reference that a client must use to reach ref in the same contract. ref is a path
// with an optional query, as the handler sees it. /orders becomes /v1/orders if the path named the
// contract, and /orders?version=1 if the query did. Otherwise it is returned unchanged. URL does
// not add a prefix that [http.StripPrefix] has removed.
func (s *Selection) URL(ref string) string {
	if s == nil {
		return ref
	}
	if marker := s.spelled.path; marker != "" {
		ref = "/" + marker + ref
	}
	if query := s.Query(); query != "" {
		ref = addQuery(ref, query)
	}
	return ref
}

// Query returns the query parameter that named the contract, such as version=1; "" if the query did
// not. It is for handlers that build their URLs themselves.
func (s *Selection) Query() string {
	if s == nil || s.spelled.query == "" {
		return ""
	}
	return s.n.pair(s.spelled.query)
}

// MediaType returns the full media type of the representation called name in this contract, such as
// application/vnd.shop.1.1.0.order+json; "" if [MediaType] is not among the strategies.
func (s *Selection) MediaType(name string) string {
	if s == nil || s.contract.mediaPrefix == "" {
		return ""
	}
	return s.contract.mediaPrefix + name + "+json"
}

// Range returns the media type in Accept that matches the representation called name in this
// contract, in lower case and without parameters, such as application/vnd.shop.1.order+json. If
// several match, it returns the one with the greatest quality. It returns "" if none matches or its
// quality is zero. A handler can offer the type to its own content negotiation.
func (s *Selection) Range(name string) string {
	if s == nil || s.n.media == nil || !mentionsVendor(s.request.Header["Accept"]) {
		return ""
	}
	best, most := "", 0
	for c := (ranges{lines: s.request.Header["Accept"]}); c.next(); {
		if c.quality <= most {
			continue
		}
		if t, ours := s.n.media.parse(c.typ); ours && s.represents(t, name) {
			best, most = c.typ, c.quality
		}
	}
	return best
}

// ContentType returns the media type of the response. It is MediaType if Range is not empty, or if
// Accept allows anything and the request body has such a type. It has no +json suffix if the client
// used none. In all other cases it is application/json.
func (s *Selection) ContentType(name string) string {
	if s == nil || s.n.media == nil {
		return mediaJSON
	}
	typ := s.Range(name)
	if typ != "" {
		t, _ := s.n.media.parse(typ)
		return s.responseType(t, name)
	}
	if t, ours := s.content(name); ours && s.acceptsAnything() {
		return s.responseType(t, name)
	}
	return mediaJSON
}

const mediaJSON = "application/json"

// responseType returns the type of a response to a client that used t.
func (s *Selection) responseType(t vendorType, name string) string {
	if t.suffix {
		return s.MediaType(name)
	}
	return s.contract.mediaPrefix + name
}

// Content reports whether the Content-Type of the request matches the representation called name in
// this contract. The type application/vnd.VENDOR+json matches every name. Content returns false
// unless the method is POST or PUT.
func (s *Selection) Content(name string) bool {
	_, ours := s.content(name)
	return ours
}

func (s *Selection) content(name string) (t vendorType, ours bool) {
	if s == nil || s.n.media == nil || !hasRepresentation(s.request) {
		return t, false
	}
	t, ours = s.n.media.ofContent(s.request)
	return t, ours && s.represents(t, name)
}

// represents reports whether t matches the representation called name in this contract.
func (s *Selection) represents(t vendorType, name string) bool {
	return (t.basic || strings.EqualFold(t.name, name)) && t.matches(s.n, s.contract, s.now)
}

// acceptsAnything reports whether Accept is absent, empty or */*.
func (s *Selection) acceptsAnything() bool {
	for c := (ranges{lines: s.request.Header["Accept"]}); c.next(); {
		if c.typ != "*/*" {
			return false
		}
	}
	return true
}

// Member returns the name of the body member that named the contract, and MAJOR.MINOR of the contract
// to repeat in the response. ok is false if the body named none.
func (s *Selection) Member() (name, contract string, ok bool) {
	if s == nil || !s.member.Load() {
		return "", "", false
	}
	contract = s.contract.Name
	return s.n.body.Name, contract[:strings.LastIndexByte(contract, '.')], true
}
