package rest

// The request body: media type, content coding and size. Called by all handlers that read one;
// calls package httpbody. checkContent runs before the body is read, so that a rejected request
// costs no transfer.

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/problem"
)

// checkContent checks the media type, the content coding and the length that the header declares.
// It returns the media type.
func (c *call) checkContent(accepted ...string) (string, error) {
	// 415 precedes 413: a client with the wrong type cannot correct the request by shortening it. A
	// chunked body declares no length, and readContent limits it.
	media, err := c.checkContentType(accepted...)
	if err == nil && httpbody.Length(c.r) > c.h.limits.Body {
		err = httpbody.TooLarge(c.h.limits.Body)
	}
	return media, err
}

// checkContentType is checkContent without a limit of the length, for imports.
func (c *call) checkContentType(accepted ...string) (string, error) {
	// To ignore the field would replace the item with a part of it. RFC 9110 section 14.5
	// recommends 400 if a server does not support a partial PUT.
	if len(c.r.Header["Content-Range"]) > 0 {
		return "", contentRangeError()
	}
	media := accepted[0]
	// Parse only if the value is not exactly the default type.
	if lines := c.r.Header["Content-Type"]; len(lines) != 1 || lines[0] != media {
		// No media type would make an empty body valid, so 415 would mislead.
		if len(lines) == 0 && c.r.ContentLength == 0 {
			return "", problem.New(problem.MalformedJSON, "The request body is empty.")
		}
		// Several field lines are joined to a list, which is not one media type. The first or last
		// line must not win, because a proxy may read the other one.
		mt, err := header.ParseMediaType(strings.Join(lines, ","))
		if err != nil || !mt.UTF8() {
			return "", c.unsupported(accepted)
		}
		switch {
		case slices.Contains(accepted, mt.Type):
			media = mt.Type
		// The Negotiator has checked the version in the type already.
		case !c.isVendorContent(accepted):
			return "", c.unsupported(accepted)
		}
	}
	// Only the content coding: imports have limits of their own, and checkContent adds one.
	return media, httpbody.Check(c.r, -1)
}

// unsupported returns the 415 error. The accepted types are in Accept-Post, Accept-Patch or Accept,
// depending on the method (RFC 9110 section 15.5.16, RFC 5789 section 2.2).
func (c *call) unsupported(accepted []string) error {
	// NDJSON and patches have no vendor type.
	if accepted[0] == mediaJSON {
		accepted = c.mediaTypes(accepted)
	}
	use := strings.Join(accepted, " or ")
	mt, err := header.ParseMediaType(strings.Join(c.r.Header["Content-Type"], ","))
	// JSON is UTF-8 (RFC 8259 section 8.1). The type may be an accepted one, so the charset has to
	// be named.
	if err == nil && !mt.UTF8() {
		use += " in UTF-8"
	}
	return httpbody.UnsupportedType(c.r, unsupportedType(c.r, use), accepted...)
}

// unsupportedType returns the detail of a 415 error. use is the list of accepted types.
func unsupportedType(r *http.Request, use string) string {
	lines := r.Header["Content-Type"]
	if len(lines) == 0 {
		return "Content-Type is required; use " + use + "."
	}
	return "Content-Type " + safe.Quote(strings.Join(lines, ", ")) + " is not supported; use " + use + "."
}

// contentRangeError returns the error of a request with Content-Range.
func contentRangeError() error {
	return problem.New(problem.BadRequest,
		"Content-Range is not supported in a request; send the whole representation.")
}

// readContent appends the decompressed request body to buf.
func (c *call) readContent(buf *[]byte) (err error) {
	*buf, err = httpbody.Append(*buf, c.r, c.h.limits.Body)
	return err
}
