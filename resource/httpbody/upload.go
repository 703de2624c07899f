package httpbody

// Bodies that are stored while they are read. They can be too large for memory.

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"
	"io"
	"net/http"
	"strconv"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// maxBuffered is the maximum size of a body that [Upload.Rewind] supports.
const maxBuffered = 64 << 10

// Upload is a request body that a store reads as a stream, without decompression.
//
// If the body is longer than the limit or does not match its digests (RFC 9530), Read returns an
// error instead of [io.EOF]. A store must discard the content after such an error. An Upload is not
// safe for concurrent use.
type Upload struct {
	from  io.Reader
	limit int64
	sums  []digest
	n     int64  // number of bytes read
	err   error  // sticky error of Read: io.EOF if the body is complete and valid
	buf   []byte // all bytes read, or nil if there are more than maxBuffered
	next  int    // index in buf of the next byte that Read returns
}

// digest is a digest that the client has declared for the body.
type digest struct {
	hash.Hash
	want  []byte // the declared value
	field string // the header field
}

// NewUpload returns the body of r with a maximum size of limit bytes, and the digests that r
// declares in Content-Digest and Repr-Digest. The former applies to the message content, the latter
// to the representation (RFC 9530 sections 2 and 3); without Content-Encoding and Content-Range
// they are equal. If one of the fields is invalid, the error is a 400 problem.
func NewUpload(r *http.Request, limit int64) (*Upload, error) {
	u := &Upload{from: r.Body, limit: limit}
	for _, field := range []string{"Content-Digest", "Repr-Digest"} {
		digests, err := header.ParseDigests(r.Header[field])
		if err != nil {
			d := problem.New(problem.InvalidHeader,
				field+" must be a list of digests such as sha-256=:BASE64:.")
			d.Errors = []problem.Violation{{Header: field, Code: "syntax", Detail: err.Error()}}
			return nil, d
		}
		for _, d := range digests {
			s := digest{Hash: sha256.New(), want: d.Sum, field: field}
			if d.Algorithm == "sha-512" {
				s.Hash = sha512.New()
			}
			u.sums = append(u.sums, s)
		}
	}
	return u, nil
}

// NewPart returns a part of a body, such as a file of a form, as an Upload with a maximum size of
// limit bytes and without digests.
func NewPart(part io.Reader, limit int64) *Upload { return &Upload{from: part, limit: limit} }

// Read implements [io.Reader]. After [Upload.Rewind] it reads from the beginning of the body.
func (u *Upload) Read(p []byte) (int, error) {
	if u.next < len(u.buf) {
		n := copy(p, u.buf[u.next:])
		u.next += n
		return n, nil
	}
	if u.err != nil || len(p) == 0 {
		return 0, u.err
	}
	if left := u.limit - u.n; int64(len(p)) > left {
		p = p[:left+1] // one byte more, to detect a body that is too long
	}
	n, err := u.from.Read(p)
	u.record(p[:n])
	switch {
	case u.n > u.limit:
		u.err = TooLarge(u.limit)
	case err == io.EOF:
		u.err = u.verify()
	case err != nil:
		u.err = ReadError(err, false, u.limit)
	}
	return n, u.err
}

// record adds b to the digests, and to the buffer for Rewind.
func (u *Upload) record(b []byte) {
	for _, s := range u.sums {
		s.Write(b)
	}
	if u.n+int64(len(b)) > maxBuffered {
		u.buf = nil
	} else if u.n == int64(len(u.buf)) {
		u.buf = append(u.buf, b...)
	}
	u.n += int64(len(b))
	u.next = len(u.buf)
}

// verify returns io.EOF if the body matches its digests, and otherwise a 400 problem. The problem
// types of the IETF HTTPAPI group for RFC 9530 use 400 too: the message was corrupted in transit,
// so a retry of the same request may succeed.
func (u *Upload) verify() error {
	for _, s := range u.sums {
		if got := s.Sum(nil); subtle.ConstantTimeCompare(got, s.want) == 0 {
			d := problem.New(problem.DigestMismatch,
				"The request body does not match "+s.field+". Nothing was stored.")
			d.Errors = []problem.Violation{{Header: s.field, Code: "mismatch",
				Detail: "does not match the request body"}}
			return d
		}
	}
	return io.EOF
}

// Rewind makes Read start at the beginning of the body again. It returns false if that is not
// possible, because more than 64 KiB have been read.
func (u *Upload) Rewind() bool {
	if u.n != int64(len(u.buf)) {
		return false
	}
	u.next = 0
	return true
}

// Err returns the reason why the body is not valid: it is too long, does not match its digests, or
// cannot be read. It returns nil if Read has returned no error except io.EOF. If it is not nil, it
// is the cause of any error that a store returns for this body.
func (u *Upload) Err() error {
	if u.err == io.EOF {
		return nil
	}
	return u.err
}

// Complete reports whether the body has been read to its end and is valid. If it returns false, the
// store has not stored the whole body.
func (u *Upload) Complete() bool { return u.err == io.EOF }

// HasDigest reports whether the client has declared a digest with a supported algorithm.
func (u *Upload) HasDigest() bool { return len(u.sums) > 0 }

// Fingerprint returns an identifier of the content, for comparing requests with the same
// Idempotency-Key. It is the digest that the client has declared, which the body must match.
// Without a digest, Fingerprint reads the body into memory; if it is longer than limit bytes, the
// error is a 413 problem. Call Fingerprint before Read.
func (u *Upload) Fingerprint(limit int64) ([]byte, error) {
	for _, s := range u.sums {
		if s.Size() == sha256.Size {
			return append([]byte("sha-256:"), s.want...), nil
		}
	}
	if len(u.sums) > 0 {
		return append([]byte("sha-512:"), u.sums[0].want...), nil
	}
	content, err := io.ReadAll(io.LimitReader(u.from, limit+1))
	switch {
	case err != nil:
		return nil, ReadError(err, false, u.limit)
	case int64(len(content)) > limit:
		d := problem.New(problem.TooLarge, "With an Idempotency-Key, a request body of more than "+
			strconv.FormatInt(limit, 10)+" bytes needs a Content-Digest.")
		d.Extensions = map[string]any{"limit": limit}
		return nil, d
	}
	u.from = bytes.NewReader(content)
	sum := sha256.Sum256(content)
	return append([]byte("sha-256:"), sum[:]...), nil
}
