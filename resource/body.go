package resource

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// mediaType checks what the content claims to be, before any of it is read: its type, its coding and its length.
func (x *exchange) mediaType(accepted ...string) (string, error) {
	if len(x.r.Header["Content-Range"]) > 0 {
		return "", problem.New(problem.BadRequest, "A part of an item cannot be stored: Content-Range is not understood here.")
	}
	if x.r.ContentLength > x.c.opts.Limits.Body {
		return "", tooLarge(x.c.opts.Limits.Body)
	}
	lines := x.r.Header["Content-Type"]
	if len(lines) == 1 && lines[0] == accepted[0] { // the ordinary case
		return accepted[0], x.checkCoding()
	}
	if len(lines) == 0 && x.r.ContentLength == 0 {
		return "", problem.New(problem.MalformedJSON, "Content is wanted, and there is none.")
	}
	mt, err := header.ParseMediaType(strings.Join(lines, ","))
	if err != nil || !slices.Contains(accepted, mt.Type) || !mt.UTF8() {
		return "", x.unsupported(accepted)
	}
	return mt.Type, x.checkCoding()
}

// unsupported says what would have been accepted, in the field that belongs to the method (RFC 9110 section 15.5.16,
// RFC 5789 section 2.2).
func (x *exchange) unsupported(accepted []string) error {
	d := problem.New(problem.UnsupportedMediaType, "Content of this type is not understood here.")
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
func (x *exchange) checkCoding() error {
	lines := x.r.Header["Content-Encoding"]
	if len(lines) == 0 || x.gzipped() || len(lines) == 1 && strings.EqualFold(lines[0], "identity") {
		return nil
	}
	d := problem.New(problem.UnsupportedMediaType, "Content is understood as it is or with gzip.")
	d.Header = http.Header{"Accept-Encoding": {"gzip, identity"}}
	return d
}

func (x *exchange) gzipped() bool {
	lines := x.r.Header["Content-Encoding"]
	return len(lines) == 1 && (strings.EqualFold(lines[0], "gzip") || strings.EqualFold(lines[0], "x-gzip"))
}

func tooLarge(limit int64) error {
	d := problem.New(problem.TooLarge, "The content is too large.")
	d.Extensions = map[string]any{"limit": limit}
	return d
}

// content reads the content into buf, decompressed, and refuses what is too large before it is all there.
func (x *exchange) content(buf *[]byte) error {
	limit := x.c.opts.Limits.Body
	body := http.MaxBytesReader(x.w, x.r.Body, limit)
	if !x.gzipped() {
		return x.readAll(buf, body, limit)
	}
	zr, err := gzip.NewReader(body)
	if err == nil {
		err = x.readAll(buf, zr, limit)
	}
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		return problem.New(problem.BadRequest, "The content is not gzip, though Content-Encoding says so.")
	}
	return err
}

func (x *exchange) readAll(buf *[]byte, r io.Reader, limit int64) error {
	if n := x.r.ContentLength; n > int64(cap(*buf)) {
		*buf = make([]byte, 0, min(n, limit)+1)
	}
	out := bytes.NewBuffer(*buf)
	n, err := out.ReadFrom(io.LimitReader(r, limit+1))
	*buf = out.Bytes()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large) || n > limit:
		return tooLarge(limit)
	case err != nil:
		return badRead(err)
	}
	return nil
}

// badRead keeps what the client did wrong apart from errors that [exchange.content] looks at itself.
func badRead(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return errors.Join(problem.New(problem.BadRequest, "The content could not be read."), err)
}
