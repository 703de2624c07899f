package version

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// MediaType names a contract by media types of the form
//
//	application/vnd.<vendor>[.<version>].<name>[+json]
//
// such as application/vnd.shop.1.1.order+json. They are read from Accept, and from Content-Type of
// POST and PUT. The numbers after the vendor are the version, and the rest is the name of the
// representation. A type without version, and the basic type application/vnd.<vendor>+json, name no
// contract but can be requested.
//
// In Accept, the type with the greatest quality decides. Malformed and unsupported ranges are
// skipped; 406 is returned if there is nothing else. In Content-Type, such types are 415. Patch
// documents have types of their own and name no contract.
//
// A representation name that looks like a version, as in application/vnd.shop.v1.order, is
// malformed.
type MediaType struct {
	// Vendor is the vendor in the types: letters, digits and hyphens, without dots. It is required.
	Vendor string
}

// Source returns "the media type".
func (MediaType) Source() string { return "the media type" }

// Vary returns Accept. Content-Type matters only for methods with uncacheable responses.
func (MediaType) Vary() []string { return []string{"Accept"} }

// Find returns the version in Content-Type, or otherwise in the first range of Accept that has one.
func (m MediaType) Find(r *http.Request) (name string, ok bool) {
	media := newMedia(m.Vendor)
	if typ, ok := media.ofContent(r); ok && typ.valid && typ.version != "" {
		return typ.version, true
	}
	for c := (ranges{lines: r.Header["Accept"]}); c.next(); {
		if typ, _ := media.parse(c.typ); typ.valid && typ.version != "" && c.quality > 0 {
			return typ.version, true
		}
	}
	return "", false
}

// install adds the strategy to n: the Content-Type of requests and the Accept field.
func (m MediaType) install(n *Negotiator) {
	rejectTwice(n.media != nil, "MediaType")
	if m.Vendor == "" || strings.ContainsFunc(m.Vendor, func(c rune) bool {
		return c != '-' && !isAlphanumeric(c)
	}) {
		panic(fmt.Sprintf("version: MediaType.Vendor %q is invalid; use letters, digits and hyphens",
			m.Vendor))
	}
	n.media = newMedia(m.Vendor)
	n.add(m, place{locator: contentType{n.media}, kind: inType, label: "the Content-Type",
		header: "Content-Type",
		status: http.StatusUnsupportedMediaType})
	n.add(m, place{locator: acceptField{n.media}, label: "the Accept field", header: "Accept", kind: inAccept,
		status: http.StatusNotAcceptable})
}

// media parses the types of a vendor.
type media struct {
	prefix string // lower case, such as application/vnd.shop
}

// newMedia returns the parser for a vendor, which is not validated.
func newMedia(vendor string) *media {
	return &media{prefix: "application/vnd." + strings.ToLower(vendor)}
}

// vendorType is a parsed media type of the vendor.
type vendorType struct {
	valid   bool
	basic   bool   // has neither version nor name
	suffix  bool   // ends in +json
	version string // as spelled; "" if there is none
	number  versionName
	name    string
}

// maxSubtype is the maximum length of a subtype (RFC 6838 section 4.2).
const maxSubtype = 127

// parse parses a media type in lower case without parameters. ours reports whether it belongs to
// the vendor. t.valid reports whether it is well-formed.
func (m *media) parse(typ string) (t vendorType, ours bool) {
	rest, ours := strings.CutPrefix(typ, m.prefix)
	if !ours || rest != "" && rest[0] != '.' && rest[0] != '+' {
		return t, false // application/vnd.shopping is another vendor
	}
	if len(typ)-len("application/") > maxSubtype {
		return t, true
	}
	rest, t.suffix = strings.CutSuffix(rest, "+json")
	if rest == "" {
		t.valid, t.basic = t.suffix, t.suffix
		return t, true
	}
	if rest[0] != '.' {
		return t, true
	}
	return t.parseFacets(rest[1:]), true
}

// parseFacets parses the part between the vendor and the suffix: up to three numbers, then the
// name.
func (t vendorType) parseFacets(s string) vendorType {
	end := 0
	for parts := 0; parts < fullParts; parts++ {
		facet, _, more := strings.Cut(s[end:], ".")
		if !more || !isNumber(facet) {
			break
		}
		end += len(facet) + 1
	}
	t.name = s[end:]
	t.valid = isMediaName(t.name)
	if end > 0 {
		var ok bool
		t.version = s[:end-1]
		t.number, ok = parseParts(t.version, '.')
		t.valid = t.valid && ok
	}
	return t
}

// isMediaName reports whether s is valid as the name of a representation. A name such as v1 is not
// valid: a client that uses it means a version, which would be ignored.
func isMediaName(s string) bool {
	first, _, _ := strings.Cut(s, ".")
	return first != "" && !isDigit(first[0]) && !looksLikeName(first) &&
		!strings.ContainsFunc(s, func(c rune) bool {
			return !isAlphanumeric(c) && !strings.ContainsRune("!#$&-^_.", c)
		})
}

// guessName returns the representation name of a malformed type; "" if it is unclear.
func (t *vendorType) guessName() string {
	rest := t.name
	for {
		facet, after, _ := strings.Cut(rest, ".")
		if !isNumber(facet) {
			break
		}
		rest = after
	}
	if !isMediaName(rest) {
		return ""
	}
	return rest
}

// ofContent returns the type of the request body if it belongs to the vendor. Duplicate fields are
// ignored here; the handler rejects them.
func (m *media) ofContent(r *http.Request) (t vendorType, ours bool) {
	lines := r.Header["Content-Type"]
	if len(lines) != 1 || !mentionsVendor(lines) {
		return t, false
	}
	parsed, err := header.ParseMediaType(lines[0])
	if err != nil {
		return t, false
	}
	return m.parse(parsed.Type)
}

// contentType reads the Content-Type field.
type contentType struct{ *media }

// locate returns the match of the Content-Type. It is called for representations only.
func (m contentType) locate(n *Negotiator, r *http.Request, now time.Time) match {
	t, ours := m.ofContent(r)
	switch {
	case !ours || t.valid && t.version == "":
		return match{}
	case !t.valid:
		return match{kind: problem.MalformedVersion, raw: r.Header["Content-Type"][0], media: t.guessName()}
	}
	found := n.matchVersion(t.version, t.number, now)
	found.media = t.name
	return found
}

// mentionsVendor reports whether a field can contain a vendor type. Most requests contain none, and
// nothing else is parsed for them.
func mentionsVendor(lines []string) bool {
	for _, line := range lines {
		for from := 0; ; {
			dot := strings.IndexByte(line[from:], '.')
			if dot < 0 {
				break
			}
			if at := from + dot; at >= 3 && strings.EqualFold(line[at-3:at], "vnd") {
				return true
			}
			from += dot + 1
		}
	}
	return false
}

// isAlphanumeric reports whether c is an ASCII letter or digit.
func isAlphanumeric(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
