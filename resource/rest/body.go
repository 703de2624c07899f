package rest

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// checkContent checks what the content claims to be, before any of it is read: its type, its coding and its length.
func (x *call) checkContent(accepted ...string) (string, error) {
	media, err := x.checkContentType(accepted...)
	if err == nil && httpbody.Length(x.r) > x.h.limits.Body {
		err = httpbody.TooLarge(x.h.limits.Body)
	}
	return media, err
}

// checkContentType is mediaType for content of any length.
func (x *call) checkContentType(accepted ...string) (string, error) {
	if len(x.r.Header["Content-Range"]) > 0 {
		return "", problem.New(problem.BadRequest, "A part of an item cannot be stored: Content-Range is not understood here.")
	}
	media := accepted[0]
	if lines := x.r.Header["Content-Type"]; len(lines) != 1 || lines[0] != media { // not the ordinary case
		if len(lines) == 0 && x.r.ContentLength == 0 {
			return "", problem.New(problem.MalformedJSON, "Content is wanted, and there is none.")
		}
		mt, err := header.ParseMediaType(strings.Join(lines, ","))
		if err != nil || !mt.UTF8() {
			return "", x.unsupported(accepted)
		}
		switch {
		case slices.Contains(accepted, mt.Type):
			media = mt.Type
		case !x.understands(accepted):
			return "", x.unsupported(accepted)
		}
	}
	return media, httpbody.Check(x.r, -1)
}

// unsupported says what would have been accepted, in the field that belongs to the method (RFC 9110 section 15.5.16,
// RFC 5789 section 2.2).
func (x *call) unsupported(accepted []string) error {
	if accepted[0] == mediaJSON {
		accepted = x.forms(accepted)
	}
	return httpbody.UnsupportedType(x.r, "Content of this type is not understood here.", accepted...)
}

// content appends the body, decompressed, to buf.
func (x *call) content(buf *[]byte) (err error) {
	*buf, err = httpbody.Append(*buf, x.r, x.h.limits.Body)
	return err
}
