package resource

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// mediaType checks what the content claims to be, before any of it is read: its type, its coding and its length.
func (x *call) checkContent(accepted ...string) (string, error) {
	media, err := x.checkContentType(accepted...)
	if err == nil && x.length() > x.c.opts.Limits.Body {
		err = tooLarge(x.c.opts.Limits.Body)
	}
	return media, err
}

// contentType is mediaType for content of any length.
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
	return media, x.checkCoding()
}

// length is how long the content is said to be; negative if nothing is said. Of content in which a version.Negotiator will
// look for a member when it is read, the request does not know it, since it may become less, and only the field tells.
func (x *call) length() int64 {
	if x.r.ContentLength >= 0 {
		return x.r.ContentLength
	}
	said, err := strconv.ParseInt(x.r.Header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return said
}

// unsupported says what would have been accepted, in the field that belongs to the method (RFC 9110 section 15.5.16,
// RFC 5789 section 2.2).
func (x *call) unsupported(accepted []string) error {
	d := problem.New(problem.UnsupportedMediaType, "Content of this type is not understood here.")
	if accepted[0] == mediaJSON {
		accepted = x.forms(accepted)
	}
	list := []string{strings.Join(accepted, ", ")}
	d.Header = http.Header{"Accept": list}
	switch x.r.Method {
	case http.MethodPatch:
		d.Header = http.Header{"Accept-Patch": list}
	case http.MethodPost:
		d.Header["Accept-Post"] = list
	}
	return d
}

// checkCoding accepts gzip and nothing else.
func (x *call) checkCoding() error {
	lines := x.r.Header["Content-Encoding"]
	if len(lines) == 0 || x.gzipped() || len(lines) == 1 && strings.EqualFold(lines[0], "identity") {
		return nil
	}
	d := problem.New(problem.UnsupportedMediaType, "Content is understood as it is or with gzip.")
	d.Header = http.Header{"Accept-Encoding": {"gzip, identity"}}
	return d
}

func (x *call) gzipped() bool {
	lines := x.r.Header["Content-Encoding"]
	return len(lines) == 1 && (strings.EqualFold(lines[0], "gzip") || strings.EqualFold(lines[0], "x-gzip"))
}

func tooLarge(limit int64) error {
	d := problem.New(problem.TooLarge, "The content is too large.")
	d.Extensions = map[string]any{"limit": limit}
	return d
}

// content reads the content into buf, decompressed, and stops where it is too large.
func (x *call) content(buf *[]byte) error {
	limit := x.c.opts.Limits.Body
	if !x.gzipped() {
		return readAll(buf, x.r.Body, limit)
	}
	raw := &io.LimitedReader{R: x.r.Body, N: limit + 1}
	zr, err := gzip.NewReader(raw)
	if err == nil {
		err = readAll(buf, zr, limit)
	}
	if raw.N == 0 { // of the compressed content, too
		return tooLarge(limit)
	}
	return noGzip(err)
}

// noGzip makes of an error of gzip what to tell the client. Any other stays as it is.
func noGzip(err error) error {
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, io.EOF), errors.As(err, new(flate.CorruptInputError)):
		return problem.New(problem.BadRequest, "The content is not gzip, though Content-Encoding says so.")
	}
	return err
}

// readAll appends all of r to buf, and at most one byte more than limit.
func readAll(buf *[]byte, r io.Reader, limit int64) error {
	b := *buf
	defer func() { *buf = b }()
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return tooLarge(limit)
		case err == nil:
		case err == io.EOF:
			return nil
		default:
			return unreadable(err, limit)
		}
	}
}

// unreadable is what to tell a client of whose content no more can be read.
func unreadable(err error, limit int64) error {
	switch {
	case errors.As(err, new(*http.MaxBytesError)): // of somebody outside
		return tooLarge(limit)
	case errors.As(err, new(*problem.Details)): // of somebody who has read it before
		return err
	}
	return errors.Join(problem.New(problem.BadRequest, "The content could not be read."), err)
}
