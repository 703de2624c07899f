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
// in Accept, and in Content-Type of POST and PUT: application/vnd.shop.1.1.order+json. A type without version, and the
// basic type application/vnd.<vendor>+json, name nothing but can be asked for. In Accept the types that are liked best
// decide; ranges that are malformed or not served are passed over, and 406 if there is nothing else. In Content-Type
// they are 415. Patches have types of their own and name nothing.
//
// The numbers after the vendor are the version, and the rest is the name. A name that looks like a version, as in
// application/vnd.shop.v1.order, is malformed.
type MediaType struct {
	// Vendor is required: one facet of letters, digits and -, without dots.
	Vendor string
}

// Source returns "the media type".
func (MediaType) Source() string { return "the media type" }

// Vary returns Accept. Content-Type decides only about requests that no cache answers.
func (MediaType) Vary() []string { return []string{"Accept"} }

// Find returns the version in the type of the content, or else in the first range of Accept that has one.
func (m MediaType) Find(r *http.Request) (name string, ok bool) {
	media := newMedia(m.Vendor)
	if typ, ok := media.content(r); ok && typ.valid && typ.version != "" {
		return typ.version, true
	}
	for c := (ranges{lines: r.Header["Accept"]}); c.next(); {
		if typ, _ := media.parse(c.typ); typ.valid && typ.version != "" && c.quality > 0 {
			return typ.version, true
		}
	}
	return "", false
}

func (m MediaType) install(n *Negotiator) {
	once(n.media != nil, "MediaType")
	if m.Vendor == "" || strings.ContainsFunc(m.Vendor, func(c rune) bool {
		return c != '-' && !isAlphanumeric(c)
	}) {
		panic(fmt.Sprintf("version: a MediaType needs a Vendor of letters, digits and -, which %q is not",
			m.Vendor))
	}
	n.media = newMedia(m.Vendor)
	n.add(m, place{locator: contentType{n.media}, kind: inType, label: "the Content-Type",
		header: "Content-Type",
		status: http.StatusUnsupportedMediaType})
	n.add(m, place{locator: accept{n.media}, label: "the Accept field", header: "Accept", kind: inAccept,
		status: http.StatusNotAcceptable})
}

// media knows the types of a vendor.
type media struct {
	prefix string // application/vnd.shop, in lower case
}

// newMedia returns what knows the types of a vendor, without the vendor having been checked.
func newMedia(vendor string) *media {
	return &media{prefix: "application/vnd." + strings.ToLower(vendor)}
}

// vendorType is one media type of the vendor.
type vendorType struct {
	valid   bool
	basic   bool   // it has neither version nor name
	suffix  bool   // it ends in +json
	version string // as it stands; "" if there is none
	number  name
	name    string
}

// maxSubtype is how long the name of a subtype may be (RFC 6838 section 4.2).
const maxSubtype = 127

// parse reads a media type, in lower case and without parameters. ours says that it is one of the vendor, and valid in what
// is returned that it is well-formed.
func (m *media) parse(typ string) (t vendorType, ours bool) {
	rest, ours := strings.CutPrefix(typ, m.prefix)
	if !ours || rest != "" && rest[0] != '.' && rest[0] != '+' {
		return t, false // vnd.shopping is another vendor
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
	return t.facets(rest[1:]), true
}

// facets reads what stands between the vendor and the suffix: as many numbers as a version can have, and the name.
func (t vendorType) facets(s string) vendorType {
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
		t.number, ok = parseNumbers(t.version, '.')
		t.valid = t.valid && ok
	}
	return t
}

// isMediaName reports whether s can be the name of a representation. One that looks like a version, as the v1 of another
// habit, is not taken for the name of something: the version that was meant would be passed over.
func isMediaName(s string) bool {
	first, _, _ := strings.Cut(s, ".")
	return first != "" && !isDigit(first[0]) && !looksLikeName(first) &&
		!strings.ContainsFunc(s, func(c rune) bool {
			return !isAlphanumeric(c) && !strings.ContainsRune("!#$&-^_.", c)
		})
}

// meant returns the name in a type that is malformed; "" if it is not to be found.
func (t *vendorType) meant() string {
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

// content returns the type of the content, if it is one of the vendor; that it is said twice is left to the handler to
// refuse.
func (m *media) content(r *http.Request) (t vendorType, ours bool) {
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

// contentType is the place of a MediaType that says what the content is.
type contentType struct{ *media }

// locate looks at the type of a representation; for other content it is not asked.
func (m contentType) locate(n *Negotiator, r *http.Request, now time.Time) finding {
	t, ours := m.content(r)
	switch {
	case !ours || t.valid && t.version == "":
		return finding{}
	case !t.valid:
		return finding{kind: problem.MalformedVersion, raw: r.Header["Content-Type"][0], media: t.meant()}
	}
	found := n.find(t.version, t.number, now)
	found.media = t.name
	return found
}

// mentionsVendor reports whether a field can name the type of any vendor. It is the way out for nearly all requests.
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

// isAlphanumeric reports whether c is one of the characters that any registry of names takes.
func isAlphanumeric(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
