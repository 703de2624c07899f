// Package header parses and formats the HTTP field values that a resource API uses.
//
// Each file covers one field or one family of fields: Accept and Accept-Encoding, entity tags,
// media types, Prefer, Link, byte ranges, digests, and the Structured Field string of
// Idempotency-Key. The parsers take the field lines in the form in which net/http stores them, such
// as r.Header["Accept"], and combine them into one list (RFC 9110 section 5.3). They distinguish an
// absent field (no lines) from an empty one if the RFC does.
//
//	i, ok := header.Accept(r.Header["Accept"], offers)         // RFC 9110 section 12.5.1
//	enc := header.AcceptEncoding(r.Header["Accept-Encoding"])  // section 12.5.3
//	tags, err := header.ParseTags(r.Header["If-Match"])        // section 13.1.1
//	prefer := header.ParsePrefer(r.Header["Prefer"])           // RFC 7240
//	key, _, err := header.String(r.Header["Idempotency-Key"])  // RFC 9651 section 3.3.3
//	span, ok, err := header.Range(r.Header["Range"], size)     // RFC 9110 section 14.2
//	sums, err := header.ParseDigests(r.Header["Repr-Digest"])  // RFC 9530
//
// The parsers of preferences (Accept, Accept-Encoding, Prefer) ignore list members with invalid
// syntax. The parsers of fields that decide whether data is read or written (entity tags, media
// types, digests, keys) return an error instead. The text of the error contains nothing
// confidential, and servers may send it to the client.
//
// The package depends on net/http only. All functions are safe for concurrent use, and the usual
// field values are parsed without allocations.
package header
