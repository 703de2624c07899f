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
func (x *call) checkContent(accepted ...string) (string, error) {
	media, err := x.checkContentType(accepted...)
	if err == nil && httpbody.Length(x.r) > x.h.limits.Body {
		err = httpbody.TooLarge(x.h.limits.Body)
	}
	return media, err
}

// checkContentType is checkContent without a limit of the length, for imports.
func (x *call) checkContentType(accepted ...string) (string, error) {
	if len(x.r.Header["Content-Range"]) > 0 {
		return "", contentRangeError()
	}
	media := accepted[0]
	// Parse only if the value is not exactly the default type.
	if lines := x.r.Header["Content-Type"]; len(lines) != 1 || lines[0] != media {
		if len(lines) == 0 && x.r.ContentLength == 0 {
			return "", problem.New(problem.MalformedJSON, "The request body is empty.")
		}
		mt, err := header.ParseMediaType(strings.Join(lines, ","))
		if err != nil || !mt.UTF8() {
			return "", x.unsupported(accepted)
		}
		switch {
		case slices.Contains(accepted, mt.Type):
			media = mt.Type
		case !x.isVendorContent(accepted):
			return "", x.unsupported(accepted)
		}
	}
	return media, httpbody.Check(x.r, -1)
}

// unsupported returns the 415 error. The accepted types are in Accept-Post, Accept-Patch or Accept,
// depending on the method (RFC 9110 section 15.5.16, RFC 5789 section 2.2).
func (x *call) unsupported(accepted []string) error {
	if accepted[0] == mediaJSON {
		accepted = x.mediaTypes(accepted)
	}
	use := strings.Join(accepted, " or ")
	mt, err := header.ParseMediaType(strings.Join(x.r.Header["Content-Type"], ","))
	if err == nil && !mt.UTF8() {
		use += " in UTF-8"
	}
	return httpbody.UnsupportedType(x.r, unsupportedType(x.r, use), accepted...)
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
func (x *call) readContent(buf *[]byte) (err error) {
	*buf, err = httpbody.Append(*buf, x.r, x.h.limits.Body)
	return err
}
