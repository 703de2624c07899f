package httpbody

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// MediaType returns type/subtype of the Content-Type of r, in lower case. It returns false if the
// field is absent, repeated or not valid, or names a charset other than UTF-8.
func MediaType(r *http.Request) (mediaType string, ok bool) {
	mt, err := header.ParseMediaType(strings.Join(r.Header["Content-Type"], ","))
	return mt.Type, err == nil && mt.UTF8()
}

// UnsupportedType returns the problem for a Content-Type that is not accepted (415). The media
// types in accepted are listed in Accept-Patch for PATCH (RFC 5789 section 2.2), and otherwise in
// Accept (RFC 9110 section 15.5.16), with POST in Accept-Post, too.
func UnsupportedType(r *http.Request, detail string, accepted ...string) *problem.Details {
	d := problem.New(problem.UnsupportedMediaType, detail)
	list := []string{strings.Join(accepted, ", ")}
	d.Header = http.Header{"Accept": list}
	switch r.Method {
	case http.MethodPatch:
		d.Header = http.Header{"Accept-Patch": list}
	case http.MethodPost:
		d.Header["Accept-Post"] = list
	}
	return d
}

// Length returns the length of the body in bytes as the client declares it, or -1 if it does not.
//
// It is r.ContentLength if that is known. A version.Negotiator that removes a member from the body
// while the handler reads it sets r.ContentLength to -1. Then the Content-Length field is used.
func Length(r *http.Request) int64 {
	if r.ContentLength >= 0 {
		return r.ContentLength
	}
	declared, err := strconv.ParseInt(r.Header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return declared
}

// Gzipped reports whether Content-Encoding is gzip, also by its old name x-gzip (RFC 9110 section
// 8.4.1.3).
func Gzipped(r *http.Request) bool {
	lines := r.Header["Content-Encoding"]
	return len(lines) == 1 && (strings.EqualFold(lines[0], "gzip") || strings.EqualFold(lines[0], "x-gzip"))
}

// Check checks the header fields of a body that [Append] is to read, before any of it is read: a
// Content-Encoding other than gzip and identity is 415, and a declared length of more than limit
// bytes is 413. A negative limit means no limit.
func Check(r *http.Request, limit int64) error {
	lines := r.Header["Content-Encoding"]
	if len(lines) > 0 && !Gzipped(r) && (len(lines) > 1 || !strings.EqualFold(lines[0], "identity")) {
		d := problem.New(problem.UnsupportedMediaType, "Content is understood as it is or with gzip.")
		d.Header = http.Header{"Accept-Encoding": {"gzip, identity"}}
		return d
	}
	return checkLength(r, limit)
}

// CheckIdentity is [Check] for a body that is stored as it is, and so may not be compressed: a
// Content-Encoding other than identity is 415 (RFC 9110 section 8.4).
func CheckIdentity(r *http.Request, limit int64) error {
	for _, line := range r.Header["Content-Encoding"] {
		if line != "" && !strings.EqualFold(strings.TrimSpace(line), "identity") {
			d := problem.New(problem.UnsupportedMediaType, "Content is taken as it is, without a content coding.")
			d.Header = http.Header{"Accept-Encoding": {"identity"}}
			return d
		}
	}
	return checkLength(r, limit)
}

func checkLength(r *http.Request, limit int64) error {
	if limit >= 0 && Length(r) > limit {
		return TooLarge(limit)
	}
	return nil
}

// TooLarge returns the problem for a body of more than limit bytes (413).
func TooLarge(limit int64) *problem.Details {
	d := problem.New(problem.TooLarge, "The content is too large.")
	d.Extensions = map[string]any{"limit": limit}
	return d
}

// Append appends the body of r to dst, decompressed if [Gzipped], and returns the extended slice,
// also with an error. A body of more than limit bytes is 413, and at most one byte more is read.
// The limit applies to the bytes from the network and again to the decompressed bytes. A negative
// limit means no limit. Other errors are those of [ReadError].
func Append(dst []byte, r *http.Request, limit int64) ([]byte, error) {
	if limit < 0 || limit == math.MaxInt64 {
		limit = math.MaxInt64 - 1
	}
	if !Gzipped(r) {
		return appendAll(dst, r.Body, false, limit)
	}
	raw := &io.LimitedReader{R: r.Body, N: limit + 1}
	zr, err := gzip.NewReader(raw)
	if err == nil {
		dst, err = appendAll(dst, zr, true, limit)
	} else {
		err = ReadError(err, true, limit)
	}
	if raw.N == 0 {
		err = TooLarge(limit)
	}
	return dst, err
}

// appendAll appends all of from to dst, and at most one byte more than limit.
func appendAll(dst []byte, from io.Reader, gzipped bool, limit int64) ([]byte, error) {
	for start := len(dst); ; {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := from.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case int64(len(dst)-start) > limit:
			return dst, TooLarge(limit)
		case err == nil:
		case err == io.EOF:
			return dst, nil
		default:
			return dst, ReadError(err, gzipped, limit)
		}
	}
}

// ReadError returns the error for a client whose body could not be read because of err: 400, or 413
// for an [http.MaxBytesError]. A problem is returned as it is, because an outer handler may have
// replaced the body. gzipped means that err may come from package gzip.
func ReadError(err error, gzipped bool, limit int64) error {
	switch {
	case gzipped && isGzipError(err):
		return problem.New(problem.BadRequest, "The content is not gzip, though Content-Encoding says so.")
	case errors.As(err, new(*http.MaxBytesError)):
		return TooLarge(limit)
	case errors.As(err, new(*problem.Details)):
		return err
	}
	return errors.Join(problem.New(problem.BadRequest, "The content could not be read."), err)
}

// isGzipError reports whether err means that a stream is not gzip or is cut off.
func isGzipError(err error) bool {
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, new(flate.CorruptInputError))
}
