// Package header reads and writes the HTTP field values that a resource API speaks.
//
// Each field has a file: Accept and Accept-Encoding, entity tags, media types, Prefer, Link. Readers take the field
// lines as net/http keeps them (header["Accept"]), join them as RFC 9110 section 5.3 says, and tell an absent field
// from an empty one where that matters:
//
//	i, ok := header.Accept(r.Header["Accept"], offers)          // RFC 9110 section 12.5.1
//	enc, ok := header.AcceptEncoding(r.Header["Accept-Encoding"]) // section 12.5.3
//	tags, err := header.ParseTags(r.Header["If-Match"])          // section 13.1.1
//	prefer := header.ParsePrefer(r.Header["Prefer"])             // RFC 7240
//
// Nothing here knows resources or versions; nothing allocates on the ordinary path.
package header
