// Package header reads and writes the HTTP field values that a resource API speaks.
//
// Each field has a file: Accept and Accept-Encoding, entity tags, media types, Prefer, Link, ranges of bytes,
// digests, and the Structured Field string of Idempotency-Key. Readers take the field lines as net/http keeps them (r.Header["Accept"]), read them as one
// list (RFC 9110 section 5.3), and tell an absent field from an empty one where that matters:
//
//	i, ok := header.Accept(r.Header["Accept"], offers)         // RFC 9110 section 12.5.1
//	enc := header.AcceptEncoding(r.Header["Accept-Encoding"])  // section 12.5.3
//	tags, err := header.ParseTags(r.Header["If-Match"])        // section 13.1.1
//	prefer := header.ParsePrefer(r.Header["Prefer"])           // RFC 7240
//	key, _, err := header.String(r.Header["Idempotency-Key"])  // RFC 9651 section 3.3.3
//	span, ok, err := header.Range(r.Header["Range"], size)     // RFC 9110 section 14.2
//	sums, err := header.ParseDigests(r.Header["Repr-Digest"])  // RFC 9530
//
// Two attitudes: what a client merely wishes (Accept, Accept-Encoding, Prefer) is read member by member, and a member
// that cannot be read is as if it were not there; what decides about its data (tags, media types, keys) is read
// entirely or is an error, whose text may be shown to the client.
//
// Nothing here knows resources or versions; nothing allocates on the ordinary path.
package header
