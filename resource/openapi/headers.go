package openapi

import "slices"

// fields describes the response header fields. They are not marked as required, because a proxy may
// remove some and validators would then reject the response. Fields of every message, such as
// Content-Length, are omitted.
var fields = map[string]headerText{
	"ETag": {"Names this revision in this representation. For a list it is weak, and good for If-None-Match only.",
		`"5.Gk2Vq9bU"`},
	"Last-Modified":    {"When the item was modified last.", "Sat, 21 Nov 2026 06:00:00 GMT"},
	"Location":         {"Where the new item is.", "/items/5"},
	"Content-Location": {"Where the content of this answer can be read again.", "/items/5"},
	"Link": {"Links (RFC 8288): the neighbours of a page (next, prev, first, last), and of the contract service-desc, " +
		"deprecation, sunset and successor-version.", `</items?after=Zm9v>; rel="next"`},
	"Event-Cursor": {"Where the feed was before this was read: whoever listens from there on misses nothing. " +
		"Of a list that is read page by page, that of the first page counts.", cursorText},
	"Allow":       {"The methods that are served here.", "GET, HEAD, OPTIONS"},
	"Accept":      {"The media types that are understood.", "application/json"},
	"Accept-Post": {"The media types that can be sent with POST.", "application/json"},
	"Accept-Patch": {"The media types of patches.",
		"application/merge-patch+json, application/json-patch+json"},
	"Accept-Encoding":    {"The codings that are understood.", "gzip, identity"},
	"Preference-Applied": {"The preferences that were followed (RFC 7240).", "return=minimal"},
	"Cache-Control":      {"How long the answer may be kept.", "private, no-cache"},
	"Accept-Ranges":      {"The units in which parts can be asked for.", "bytes"},
	"Content-Range": {"Which part this is, and of how many bytes (RFC 9110 section 14.4).",
		"bytes 0-1023/146515"},
	"Repr-Digest": {"The hash of the whole (RFC 9530), whatever part this is.",
		"sha-256=:uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=:"},
	"Content-Security-Policy": {"Keeps browsers from running anything in it.", "default-src 'none'; sandbox"},
	"Vary": {"The request header fields that decide what is answered.",
		"Accept, Accept-Encoding"},
	"Retry-After":      {"After how many seconds, or when, to try again.", "1"},
	"WWW-Authenticate": {"How to say who one is.", "Bearer"},
	"Deprecation": {"Since when, or from when on, the contract is deprecated (RFC 9745).",
		"@1780272000"},
	"Sunset": {"From when on the contract is answered with 410 (RFC 8594).",
		"Wed, 30 Jun 2027 00:00:00 GMT"},
	"Idempotency-Replayed": {"This is what was answered to the first request with the key.", "true"},
	"Idempotency-Result": {"`reference`: the first answer was too large to be kept, so this is the item as it is now.",
		"reference"},
	"RateLimit":        {"What is left of the quota, and for how long.", `"default";r=50;t=30`},
	"RateLimit-Policy": {"The quota.", `"default";q=100;w=60`},
}

// headerText is the description of a field and an example.
type headerText struct{ description, example string }

// addHeader adds a component unless it exists.
func (b *builder) addHeader(name string, h *headerObject) {
	if !b.doc.Components.Headers.has(name) {
		b.doc.Components.Headers.add(name, h)
	}
}

// headers returns references to the given fields and to those of every response.
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
