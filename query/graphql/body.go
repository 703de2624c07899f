package graphql

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// claimed checks what the content claims to be, before any of it is read: its type, its coding and its length.
func (x *exchange) claimed() error {
	// Every other type could come from a form of another site, without the browser asking anybody.
	if lines := x.r.Header["Content-Type"]; len(lines) != 1 || lines[0] != mediaJSON { // not the ordinary case
		mt, err := header.ParseMediaType(strings.Join(lines, ","))
		if err != nil || !mt.UTF8() || mt.Type != mediaJSON && !version.From(x.r.Context()).Content(mediaName) {
			d := problem.New(problem.UnsupportedMediaType, "A request of GraphQL is "+mediaJSON+" in UTF-8.")
			d.Header = http.Header{"Accept": acceptPost, "Accept-Post": acceptPost}
			return d
		}
	}
	lines := x.r.Header["Content-Encoding"]
	if len(lines) > 0 && !x.gzipped() && !(len(lines) == 1 && strings.EqualFold(lines[0], "identity")) {
		d := problem.New(problem.UnsupportedMediaType, "Content is understood as it is or with gzip.")
		d.Header = http.Header{"Accept-Encoding": {"gzip, identity"}}
		return d
	}
	if x.length() > x.h.opts.Limits.Body {
		return tooLarge(x.h.opts.Limits.Body)
	}
	return nil
}

// length is how long the content is said to be; negative if nothing is said. The request itself does not know it where a
// version.Negotiator will take a member out of the content when it is read.
func (x *exchange) length() int64 {
	if x.r.ContentLength >= 0 {
		return x.r.ContentLength
	}
	said, err := strconv.ParseInt(x.r.Header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return said
}

func (x *exchange) gzipped() bool {
	lines := x.r.Header["Content-Encoding"]
	return len(lines) == 1 && (strings.EqualFold(lines[0], "gzip") || strings.EqualFold(lines[0], "x-gzip"))
}

// content reads the content into buf, decompressed, and stops where it is too large: before decompression, since that is
// what comes over the wire, and after, since that is what memory is needed for.
func (x *exchange) content(buf *[]byte) error {
	limit := x.h.opts.Limits.Body
	if !x.gzipped() {
		return readAll(buf, x.r.Body, limit)
	}
	raw := &io.LimitedReader{R: x.r.Body, N: limit + 1}
	zr, err := gzip.NewReader(raw)
	if err == nil {
		err = readAll(buf, zr, limit)
	}
	switch {
	case raw.N == 0: // of the compressed content, too
		return tooLarge(limit)
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

func tooLarge(limit int64) error {
	d := problem.New(problem.TooLarge, "The content is too large.")
	d.Extensions = map[string]any{"limit": limit}
	return d
}
