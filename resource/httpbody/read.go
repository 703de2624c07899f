package httpbody

// Request bodies: their media type, coding and size, with the problem for each mistake.

import (
	"bufio"
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

// MediaType returns the media type of the Content-Type of r, in lower case and without parameters.
// ok is false if the field is absent, repeated or invalid, or has a charset other than UTF-8.
func MediaType(r *http.Request) (mediaType string, ok bool) {
	mt, err := header.ParseMediaType(strings.Join(r.Header["Content-Type"], ","))
	return mt.Type, err == nil && mt.UTF8()
}

// UnsupportedType returns the problem for an unsupported Content-Type (415). It lists the media
// types accepted in Accept-Patch for PATCH (RFC 5789 section 2.2), and otherwise in Accept (RFC
// 9110 section 15.5.16). For POST it adds Accept-Post, and for QUERY Accept-Query (RFC 10008 section 3),
// in which types must not have parameters.
func UnsupportedType(r *http.Request, detail string, accepted ...string) *problem.Details {
	d := problem.New(problem.UnsupportedMediaType, detail)
	list := []string{strings.Join(accepted, ", ")}
	d.Header = http.Header{"Accept": list}
	switch r.Method {
	case http.MethodPatch:
		d.Header = http.Header{"Accept-Patch": list}
	case http.MethodPost:
		d.Header["Accept-Post"] = list
	case "QUERY":
		d.Header["Accept-Query"] = list
	}
	return d
}

// Length returns the declared length of the body in bytes, or -1 if it is unknown.
//
// It is r.ContentLength unless that is negative, and otherwise the value of the Content-Length
// field. A version.Negotiator that removes a member from the body sets r.ContentLength to -1 and
// keeps the field.
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

// Gzipped reports whether Content-Encoding is gzip or its synonym x-gzip (RFC 9110 section
// 8.4.1.3).
func Gzipped(r *http.Request) bool {
	lines := r.Header["Content-Encoding"]
	return len(lines) == 1 && (strings.EqualFold(lines[0], "gzip") || strings.EqualFold(lines[0], "x-gzip"))
}

// Check checks the header fields of a body before [Append] reads it. A Content-Encoding other than
// gzip and identity is 415, and a declared length of more than limit bytes is 413. A negative limit
// means no limit.
func Check(r *http.Request, limit int64) error {
	lines := r.Header["Content-Encoding"]
	if len(lines) > 0 && !Gzipped(r) && (len(lines) > 1 || !strings.EqualFold(lines[0], "identity")) {
		d := problem.New(problem.UnsupportedMediaType, "Content-Encoding must be gzip or identity.")
		d.Header = http.Header{"Accept-Encoding": {"gzip, identity"}}
		return d
	}
	return checkLength(r, limit)
}

// CheckIdentity is like [Check] for a body that is stored without decoding. A Content-Encoding
// other than identity is 415 (RFC 9110 section 8.4).
func CheckIdentity(r *http.Request, limit int64) error {
	for _, line := range r.Header["Content-Encoding"] {
		if line != "" && !strings.EqualFold(strings.TrimSpace(line), "identity") {
			d := problem.New(problem.UnsupportedMediaType,
				"Content-Encoding must be identity.")
			d.Header = http.Header{"Accept-Encoding": {"identity"}}
			return d
		}
	}
	return checkLength(r, limit)
}

// checkLength checks the declared length of the body.
func checkLength(r *http.Request, limit int64) error {
	if limit >= 0 && Length(r) > limit {
		return TooLarge(limit)
	}
	return nil
}

// RequireLength returns the problem of a request that has neither content nor Content-Length: 411 (RFC 9110
// section 15.5.12).
func RequireLength(r *http.Request) error {
	if r.ContentLength != 0 || r.Header["Content-Length"] != nil {
		return nil
	}
	d := problem.New(problem.BadRequest,
		"The request has neither content nor Content-Length. For empty content send Content-Length: 0.")
	d.Status = http.StatusLengthRequired
	d.Errors = []problem.Violation{{Header: "Content-Length", Code: "required", Detail: "is required"}}
	return d
}

// TooLarge returns the problem for a body of more than limit bytes (413). The limit is an extension
// member.
func TooLarge(limit int64) *problem.Details {
	d := problem.New(problem.TooLarge,
		"The request body is larger than the limit of "+strconv.FormatInt(limit, 10)+" bytes.")
	d.Extensions = map[string]any{"limit": limit}
	return d
}

// Append appends the body of r to dst and returns the extended slice, even if there is an error. It
// decompresses the body if [Gzipped] returns true. A body of more than limit bytes is 413, and
// Append reads at most one byte more. The limit applies to the compressed and to the decompressed
// size. A negative limit means no limit but that of [NewGzipReader]. Other errors are those of
// [ReadError].
func Append(dst []byte, r *http.Request, limit int64) ([]byte, error) {
	if limit < 0 || limit == math.MaxInt64 {
		limit = math.MaxInt64 - 1
	}
	if !Gzipped(r) {
		return appendAll(dst, r.Body, false, limit)
	}
	raw := &io.LimitedReader{R: r.Body, N: limit + 1}
	zr, err := NewGzipReader(raw)
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

// appendAll appends all bytes of from to dst, and reads at most one byte more than limit.
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

// A few bytes of gzip can be a thousand times as many. freeExpansion is the size up to which content is
// accepted whatever its compressed size is, and maxExpansion the largest ratio of a longer content.
const (
	freeExpansion = 1 << 20
	maxExpansion  = 100
)

// NewGzipReader returns a reader of the decompressed content of from. After the first MiB, content of more
// than 100 times its compressed bytes is a 413 problem. Up to 1 MiB of zeros after a stream are ignored, as
// by gzip itself: writers of blocks fill the last one. Other errors are those of from and of package gzip;
// [ReadError] converts them.
func NewGzipReader(from io.Reader) (io.Reader, error) {
	packed := &countingReader{from: from}
	e := &expanding{packed: packed, in: bufio.NewReader(packed)}
	var err error
	if e.zr, err = gzip.NewReader(e.in); err != nil {
		return nil, err
	}
	e.zr.Multistream(false)
	return e, nil
}

// expanding is the reader of NewGzipReader.
type expanding struct {
	packed *countingReader
	in     *bufio.Reader
	zr     *gzip.Reader
	n      int64 // decompressed bytes
}

// Read implements [io.Reader].
func (e *expanding) Read(p []byte) (n int, err error) {
	for {
		n, err = e.zr.Read(p)
		if n > 0 || err != io.EOF {
			break
		}
		if err = e.nextStream(); err != nil {
			break
		}
	}
	e.n += int64(n)
	if n > 0 && err == io.EOF { // of this stream; the next Read looks for another one
		err = nil
	}
	if e.n > freeExpansion && e.n/maxExpansion > e.packed.n {
		return 0, problem.New(problem.TooLarge, "The request body is more than "+strconv.Itoa(maxExpansion)+
			" times as large as its compressed form. Send it uncompressed or in parts.")
	}
	return n, err
}

// nextStream begins the stream that follows the one that was read. The error is [io.EOF] if there is none.
func (e *expanding) nextStream() error {
	for range freeExpansion {
		c, err := e.in.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			_ = e.in.UnreadByte() // after ReadByte it cannot fail
			err = e.zr.Reset(e.in)
			e.zr.Multistream(false)
			return err
		}
	}
	return gzip.ErrHeader
}

// countingReader counts the bytes that were read.
type countingReader struct {
	from io.Reader
	n    int64
}

// Read implements [io.Reader].
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// ReadError converts an error of reading a body into an error for the client: 400, or 413 for an
// [http.MaxBytesError] of an outer handler, with the smaller of its limit and limit. If err is or
// wraps a *problem.Details, ReadError returns it unchanged, because an outer handler may have
// replaced the body. gzipped means that err may be an error of package gzip.
func ReadError(err error, gzipped bool, limit int64) error {
	var outer *http.MaxBytesError
	switch {
	case gzipped && isGzipError(err):
		return problem.New(problem.BadRequest,
			"The request body is not valid gzip, but Content-Encoding is gzip.")
	case errors.As(err, &outer):
		if limit < 0 || outer.Limit < limit {
			limit = outer.Limit
		}
		return TooLarge(limit)
	case errors.As(err, new(*problem.Details)):
		return err
	}
	return errors.Join(problem.New(problem.BadRequest, "The request body could not be read."), err)
}

// isGzipError reports whether err means that a stream is not gzip or is truncated.
func isGzipError(err error) bool {
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.As(err, new(flate.CorruptInputError))
}
