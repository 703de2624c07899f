package resource

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/schema"
)

// An entity tag is "<revision>.<variant>", and for a part of the representation or one with related items in it
// "<revision>.<variant>.<which>". The variant names all that makes two representations of one revision differ: shape,
// media type, coding, and the code that writes them (RFC 9110 section 8.8.1).

// rendering is part of every variant. Whoever changes what is written for the same value must change it.
const rendering = "1"

const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
)

// coding is a content coding.
type coding uint8

const (
	identity coding = iota
	gzipped
)

// variants are the variants of one shape, by coding.
type variants [2]string

func (s *projection) setVariants() {
	for c, coding := range []string{"", "gzip"} {
		s.variants[c] = shortHash(rendering, s.name, fingerprint(s.typ, 0), mediaJSON, coding)
	}
}

// fingerprint tells apart types whose JSON could differ for the same value.
func fingerprint(t *schema.Type, depth int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v%s%d(", t.Kind, t.Format, t.Bits)
	if depth < 8 { // a recursive type has said it all by then
		for _, f := range t.Fields {
			fmt.Fprintf(&b, "%q:%s%v%v%v%v,", f.Name, fingerprint(f.Type, depth+1), f.Nullable, f.OmitZero, f.OmitEmpty,
				f.WriteOnly)
		}
		if t.Elem != nil {
			b.WriteString(fingerprint(t.Elem, depth+1))
		}
	}
	b.WriteByte(')')
	return b.String()
}

// shortHash is 48 bits of a hash in eight characters: enough to tell apart the few variants of one resource.
func shortHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:6])
}

// contentRev is the revision of an item whose store keeps none: a hash of what this shape shows of it, and of nothing
// else, since a hash can be guessed at.
func (s *projection) contentRev(v any) Rev {
	b, err := s.typ.Append(nil, v)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return Rev(base64.RawURLEncoding.EncodeToString(sum[:12]))
}

// ETag returns the entity tag of an item that r returned: that of the whole item as JSON if no contract is named, as If-Match
// takes it. If the store keeps no revisions it is a hash of the content, and empty if the item cannot be encoded.
func (r *Resource) ETag(e *Entry) string {
	rev := e.Rev
	if rev == "" {
		rev = r.projection.contentRev(e.Value)
	}
	if rev == "" {
		return ""
	}
	var room [96]byte
	return string(r.AppendETag(room[:0], rev, false, ""))
}

// AppendETag appends the strong entity tag of a representation of revision rev: "<rev>.<variant>". The variant depends on the
// projection and on whether the content is compressed; suffix, if not empty, on what else the protocol selects of the item.
func (r *Resource) AppendETag(dst []byte, rev Rev, compressed bool, suffix string) []byte {
	variant := r.projection.variants[identity]
	if compressed {
		variant = r.projection.variants[gzipped]
	}
	return appendTag(dst, rev, variant, suffix)
}

func appendTag(dst []byte, rev Rev, variant, which string) []byte {
	dst = append(dst, '"')
	dst = appendRev(dst, rev)
	dst = append(dst, '.')
	dst = append(dst, variant...)
	if which != "" {
		dst = append(append(dst, '.'), which...)
	}
	return append(dst, '"')
}

// appendRev appends rev as it stands in a tag: as it is if it is made of letters, digits, - and _, else encoded behind a
// mark that cannot begin a plain one.
func appendRev(dst []byte, rev Rev) []byte {
	for i := range len(rev) {
		switch c := rev[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return base64.RawURLEncoding.AppendEncode(append(dst, '~'), []byte(rev))
		}
	}
	return append(dst, rev...)
}

// matches reports whether an opaque tag names revision rev in any variant that the resource is served in now.
func (h *core) matches(opaque string, rev Rev) bool {
	got, rest, ok := strings.Cut(opaque, ".")
	var room [64]byte
	if !ok || rev == "" || got != string(appendRev(room[:0], rev)) {
		return false
	}
	variant, _, _ := strings.Cut(rest, ".")
	for _, s := range h.projections {
		if variant == s.variants[identity] || variant == s.variants[gzipped] {
			return true
		}
	}
	return false
}

func (h *core) wantsIfMatch() bool { return h.requireIfMatch }

// anyMatches reports whether one of the tags names revision rev; weak tags count only for a weak comparison.
func (h *core) anyMatches(tags header.Tags, rev Rev, weak bool) bool {
	for _, t := range tags.List {
		if (weak || !t.Weak) && h.matches(t.Opaque, rev) {
			return true
		}
	}
	return false
}
