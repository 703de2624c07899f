package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/header"
)

// Fingerprint returns a hash of the parts that determine the meaning of a request. Each part is
// hashed with its length, so different lists have different hashes.
func Fingerprint(parts ...[]byte) [32]byte {
	h := sha256.New()
	var length [binary.MaxVarintLen64]byte
	for _, part := range parts {
		h.Write(length[:binary.PutUvarint(length[:], uint64(len(part)))])
		h.Write(part)
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}

// MediaTypeEssence returns the type and subtype of a Content-Type in lower case, without
// parameters. It returns an invalid value unchanged.
func MediaTypeEssence(contentType string) string {
	m, err := header.ParseMediaType(contentType)
	if err != nil {
		return contentType
	}
	return m.Type
}

// CanonicalContent returns content in the form that a [Fingerprint] uses. For JSON, white space,
// member order and string escapes are normalized. Numbers keep their spelling, because 1 and 1.0
// differ for some applications. Content that is not JSON by its type, or is not well-formed, is
// returned unchanged. content is not modified.
func CanonicalContent(contentType string, content []byte) []byte {
	essence := MediaTypeEssence(contentType)
	if essence != "application/json" && !strings.HasSuffix(essence, "+json") {
		return content
	}
	canonical, err := jsontext.AppendFormat(nil, content, jsontext.ReorderRawObjects(true),
		jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return content
	}
	return canonical
}
