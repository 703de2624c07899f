package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/header"
)

// Fingerprint is the hash of what a request means: its parts, each with its length, so that no two lists are alike.
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

// MediaTypeEssence returns the type and subtype of a Content-Type in lower case, without parameters; what cannot be read is
// returned as it is.
func MediaTypeEssence(contentType string) string {
	m, err := header.ParseMediaType(contentType)
	if err != nil {
		return contentType
	}
	return m.Type
}

// CanonicalContent returns content in the form in which it goes into a [Fingerprint]. JSON, told by its type, loses its white space,
// the order of its members and the spelling of its strings; numbers stay as they are written, since 1 and 1.0 are not the
// same to everybody, and no two of them must be taken for one. What is no JSON, or not well-formed, stays as it is.
// content is not changed.
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
