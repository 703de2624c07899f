package openapi

// Response header fields, which are components. responses.go refers to them by name.

import "slices"

// fields describes the response header fields. They are not marked as required, because a proxy may
// remove some and validators would then reject the response. Fields of every message, such as
// Content-Length, are omitted. Content-Type is part of the content in OpenAPI. The map is never
// iterated, so its order does not matter.
var fields = map[string]headerText{
	"ETag": {"The entity tag of this representation. For a list it is weak and only usable in If-None-Match.",
		`"5.Gk2Vq9bU"`},
	"Last-Modified":    {"The time of the last modification.", "Sat, 21 Nov 2026 06:00:00 GMT"},
	"Location":         {"The path of the new item, or that of a GET equal to a QUERY.", "/items/5"},
	"Content-Location": {"The path of the representation in this response.", "/items/5"},
	"Link": {"Links (RFC 8288): the pages next, prev, first and last, and for the contract service-desc, " +
		"deprecation, sunset and successor-version.", `</items?after=Zm9v>; rel="next"`},
	"Event-Cursor": {"The cursor of the feed before the response was read; a feed that resumes after it " +
		"misses no change. " +
		"For a list of several pages, use the cursor of the first page.", cursorText},
	"Allow":       {"The methods of this path.", "GET, HEAD, OPTIONS"},
	"Accept":      {"The media types that are accepted.", "application/json"},
	"Accept-Post": {"The media types that are accepted with POST.", "application/json"},
	"Accept-Patch": {"The media types that are accepted with PATCH.",
		"application/merge-patch+json, application/json-patch+json, application/json"},
	"Accept-Query": {"The media types that are accepted with QUERY (RFC 10008).",
		"application/json, application/x-www-form-urlencoded"},
	"Accept-Encoding":    {"The content codings that are accepted.", "gzip, identity"},
	"Preference-Applied": {"The preferences that were applied (RFC 7240).", "return=minimal"},
	"Cache-Control":      {"Whether and how long the response may be cached.", "private, no-cache"},
	"Accept-Ranges":      {"The range units that are supported.", "bytes"},
	"Content-Range": {"The range of this part and the total size (RFC 9110 section 14.4).",
		"bytes 0-1023/146515"},
	"Repr-Digest": {"The hash of the whole content (RFC 9530), also for a part.",
		"sha-256=:uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=:"},
	"Content-Security-Policy": {"Prevents browsers from executing the content.",
		"default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox"},
	"Vary": {"The request header fields that the response depends on.",
		"Accept, Accept-Encoding"},
	"Retry-After":      {"The number of seconds, or the time, after which to retry.", "1"},
	"WWW-Authenticate": {"The authentication scheme to use.", "Bearer"},
	"Deprecation": {"The time from which the contract is deprecated (RFC 9745).",
		"@1780272000"},
	"Sunset": {"The time from which requests to the contract are rejected with 410 (RFC 8594).",
		"Wed, 30 Jun 2027 00:00:00 GMT"},
	"Idempotency-Replayed": {"The response is a replay of that to the first request with the key.", "true"},
	"Idempotency-Result": {"`reference`: the first response was too large to store, so this is the current " +
		"item.",
		"reference"},
	"RateLimit":        {"The remaining quota, and the seconds until it is restored.", `"default";r=50;t=30`},
	"RateLimit-Policy": {"The quota.", `"default";q=100;w=60`},
}

// headerText is the description of a field and an example. The example is the field value as sent.
// Its schema is always a string, also for dates and numbers.
type headerText struct{ description, example string }

// addHeader adds a component unless it exists. The first definition is kept: those of headers are
// equal, and versionHeaders runs before them.
func (b *builder) addHeader(name string, h *headerObject) {
	if !b.doc.Components.Headers.has(name) {
		b.doc.Components.Headers.add(name, h)
	}
}

// headers returns references to the given fields and to those of every response. A name without an
// entry in fields is that of a [version.Header], which versionHeaders has defined. A name that is
// given twice is written once.
func (b *builder) headers(list ...string) ordered[*headerObject] {
	var out ordered[*headerObject]
	for _, name := range slices.Concat(list, b.commonHeaders) {
		if out.has(name) {
			continue
		}
		if f, ok := fields[name]; ok {
			b.addHeader(name, &headerObject{Description: f.description, Schema: text(),
				Example: quote(f.example)})
		}
		out.add(name, &headerObject{Ref: "#/components/headers/" + name})
	}
	return out
}
