// Package etag writes and matches the entity tags of items. A tag is "<revision>.<variant>" or, for
// a part of a representation or one that includes related items, "<revision>.<variant>.<suffix>".
// The variant identifies everything that makes two representations of one revision differ:
// projection, media type, content coding, and the code that writes them (RFC 9110 section 8.8.1).
//
// Package header parses the fields that have entity tags.
package etag

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/schema"
)

// rendering is part of every variant. A change of what is written for the same value must change
// it.
const rendering = "1"

// Variants are the variants of one projection in JSON, by content coding: identity and gzip.
type Variants [2]string

// NewVariants returns the variants of items of a type, shown by the projection with this name.
func NewVariants(projection string, typ *schema.Type, mediaType string) (v Variants) {
	for i, coding := range []string{"", "gzip"} {
		v[i] = hash(rendering, projection, describe(typ, 0), mediaType, coding)
	}
	return v
}

// Of returns the variant of one content coding.
func (v *Variants) Of(compressed bool) string {
	if compressed {
		return v[1]
	}
	return v[0]
}

// TypeHash returns a short hash of a type, which differs from that of another type if their JSON could
// differ for the same value.
func TypeHash(typ *schema.Type) string { return hash(describe(typ, 0)) }

// describe writes down what the JSON of a type depends on.
func describe(t *schema.Type, depth int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v%s%d(", t.Kind, t.Format, t.Bits)
	if depth < 8 { // a recursive type has repeated itself by then
		for _, f := range t.Fields {
			fmt.Fprintf(&b, "%q:%s%v%v%v%v,",
				f.Name, describe(f.Type, depth+1), f.Nullable, f.OmitZero, f.OmitEmpty,
				f.WriteOnly)
		}
		if t.Elem != nil {
			b.WriteString(describe(t.Elem, depth+1))
		}
	}
	b.WriteByte(')')
	return b.String()
}

// hash returns 48 bits of a hash in eight characters, enough for the few variants of one resource.
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:6])
}

// ContentRev returns a revision for content of a store without revisions.
func ContentRev(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Append appends the strong entity tag of a representation. An empty suffix is left out.
func Append(dst []byte, rev, variant, suffix string) []byte {
	dst = append(dst, '"')
	dst = AppendRev(dst, rev)
	dst = append(dst, '.')
	dst = append(dst, variant...)
	if suffix != "" {
		dst = append(append(dst, '.'), suffix...)
	}
	return append(dst, '"')
}

// AppendRev appends a revision as entity tags have it: unchanged if it consists of letters, digits,
// - and _, otherwise in base64 after a tilde, which cannot begin an unchanged one.
func AppendRev(dst []byte, rev string) []byte {
	for i := range len(rev) {
		switch c := rev[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return base64.RawURLEncoding.AppendEncode(append(dst, '~'), []byte(rev))
		}
	}
	return append(dst, rev...)
}

// Variant returns the variant of an opaque tag, and "" if it has none.
func Variant(opaque string) string {
	_, rest, _ := strings.Cut(opaque, ".")
	variant, _, _ := strings.Cut(rest, ".")
	return variant
}

// Cut returns the variant of an opaque tag of revision rev. It reports false if the tag is not of
// that revision, and for an empty rev.
func Cut(opaque, rev string) (variant string, ok bool) {
	got, _, ok := strings.Cut(opaque, ".")
	var buf [64]byte
	if !ok || rev == "" || got != string(AppendRev(buf[:0], rev)) {
		return "", false
	}
	return Variant(opaque), true
}
