package version

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	// Renamed, because contract is a type of this package.
	requested "github.com/stoa-go/stoa/resource/contract"
)

// selection is the result of the negotiation for one request. Its exported methods are documented in
// package contract.
type selection struct {
	n        *Negotiator
	contract *contract
	request  *http.Request // the original request; only header and URL are read
	now      time.Time
	place    int // index of the place that named the contract; -1 is the default
	spelled  spelling
	member   atomic.Bool // the body named the contract; set when it is read
	private  bool        // depends on DefaultFor, which caches do not know
}

var _ requested.Selection = (*selection)(nil)

// contextKey is the context key of the selection.
type contextKey = requested.Key

func (s *selection) Name() string { return s.contract.Name }

func (s *selection) Source() string {
	if s.place < 0 {
		return ""
	}
	return s.n.places[s.place].source
}

func (s *selection) URL(ref string) string {
	if marker := s.spelled.path; marker != "" {
		ref = "/" + marker + ref
	}
	if query := s.Query(); query != "" {
		ref = addQuery(ref, query)
	}
	return ref
}

func (s *selection) Query() string {
	if s.spelled.query == "" {
		return ""
	}
	return s.n.pair(s.spelled.query)
}

func (s *selection) MediaType(name string) string {
	if s.contract.mediaPrefix == "" {
		return ""
	}
	return s.contract.mediaPrefix + name + "+json"
}

func (s *selection) Range(name string) string {
	if s.n.media == nil || !mentionsVendor(s.request.Header["Accept"]) {
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

func (s *selection) ContentType(name string) string {
	if s.n.media == nil {
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
func (s *selection) responseType(t vendorType, name string) string {
	if t.suffix {
		return s.MediaType(name)
	}
	return s.contract.mediaPrefix + name
}

func (s *selection) Content(name string) bool {
	_, ours := s.content(name)
	return ours
}

func (s *selection) content(name string) (t vendorType, ours bool) {
	if s.n.media == nil || !hasRepresentation(s.request) {
		return t, false
	}
	t, ours = s.n.media.ofContent(s.request)
	return t, ours && s.represents(t, name)
}

// represents reports whether t matches the representation called name in this contract.
func (s *selection) represents(t vendorType, name string) bool {
	return (t.basic || strings.EqualFold(t.name, name)) && t.matches(s.n, s.contract, s.now)
}

// acceptsAnything reports whether Accept is absent, empty or */*.
func (s *selection) acceptsAnything() bool {
	for c := (ranges{lines: s.request.Header["Accept"]}); c.next(); {
		if c.typ != "*/*" {
			return false
		}
	}
	return true
}

func (s *selection) Member() (name, contract string, ok bool) {
	if !s.member.Load() {
		return "", "", false
	}
	contract = s.contract.Name
	return s.n.body.Name, contract[:strings.LastIndexByte(contract, '.')], true
}
