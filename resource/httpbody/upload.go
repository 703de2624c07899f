package httpbody

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

// maxKept is how many bytes are kept for a second attempt. A longer body is read once.
const maxKept = 64 << 10

// Upload is a request body that a store reads as a stream, without decompression.
//
// Read returns an error instead of [io.EOF] if the body is longer than the limit or does not match
// its digests (RFC 9530), so a store that discards content after such an error keeps no part of
// it. Not safe for concurrent use.
type Upload struct {
	from  io.Reader
	limit int64
	sums  []digest
	n     int64  // bytes that have been read
	err   error  // the end of the body: io.EOF if it is complete and valid
	kept  []byte // all bytes that have been read, unless they are more than maxKept
	next  int    // of kept, the first byte that Read returns next
}

// digest is one that the client has sent for the body.
type digest struct {
	hash.Hash
	want  []byte
	field string
}

// NewUpload returns the body of r, of at most limit bytes, with the digests that r declares in
// Content-Digest and Repr-Digest. The first is that of the message content, the second that of the
// representation (RFC 9530 sections 2 and 3); without Content-Encoding and Content-Range they are
// the same. A field that is not valid is 400.
func NewUpload(r *http.Request, limit int64) (*Upload, error) {
	u := &Upload{from: r.Body, limit: limit}
	for _, field := range []string{"Content-Digest", "Repr-Digest"} {
		digests, err := header.ParseDigests(r.Header[field])
		if err != nil {
			d := problem.New(problem.InvalidHeader, field+" is not a list of digests.")
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

// Read reads from the body, after [Upload.Rewind] from its beginning.
func (u *Upload) Read(p []byte) (int, error) {
	if u.next < len(u.kept) {
		n := copy(p, u.kept[u.next:])
		u.next += n
		return n, nil
	}
	if u.err != nil || len(p) == 0 {
		return 0, u.err
	}
	if left := u.limit - u.n; int64(len(p)) > left {
		p = p[:left+1] // one byte more, to notice a body that is too long
	}
	n, err := u.from.Read(p)
	u.take(p[:n])
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

// take adds b to the digests and keeps it for Rewind.
func (u *Upload) take(b []byte) {
	for _, s := range u.sums {
		s.Write(b)
	}
	if u.n+int64(len(b)) > maxKept {
		u.kept = nil
	} else if u.n == int64(len(u.kept)) {
		u.kept = append(u.kept, b...)
	}
	u.n += int64(len(b))
	u.next = len(u.kept)
}

// verify returns io.EOF if the body matches its digests. A mismatch is 400, as in the problem types
// of the IETF HTTPAPI group for RFC 9530: the message was damaged on its way, so the same request
// may succeed when it is sent again.
func (u *Upload) verify() error {
	for _, s := range u.sums {
		if got := s.Sum(nil); subtle.ConstantTimeCompare(got, s.want) == 0 {
			d := problem.New(problem.DigestMismatch, "The content is not the one whose digest was sent; nothing has been stored.")
			d.Errors = []problem.Violation{{Header: s.field, Code: "mismatch", Detail: "this is not the digest of the content"}}
			return d
		}
	}
	return io.EOF
}

// Rewind makes Read start at the beginning again. It returns false if that is not possible because
// more than 64 KiB have been read.
func (u *Upload) Rewind() bool {
	if u.n != int64(len(u.kept)) {
		return false
	}
	u.next = 0
	return true
}

// Err returns why the body is not valid: it is too long, does not match its digests, or cannot be
// read. It is nil as long as Read has found no such reason. If it is not nil, it is the cause of any
// error that a store returns for this body.
func (u *Upload) Err() error {
	if u.err == io.EOF {
		return nil
	}
	return u.err
}

// Complete reports whether the body has been read to its end and is valid. A store that returns
// without that cannot have stored all of it.
func (u *Upload) Complete() bool { return u.err == io.EOF }

// HasDigest reports whether the client has sent a digest of the body that counts.
func (u *Upload) HasDigest() bool { return len(u.sums) > 0 }

// Fingerprint identifies the content, for the comparison of requests with the same Idempotency-Key.
// It is made from the digest that the client has sent, which the body must then match. Without one
// the body is read into memory, and if it is longer than limit bytes, the error is 413. Call it
// before Read.
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
		d := problem.New(problem.TooLarge, "Content of more than "+strconv.FormatInt(limit, 10)+
			" bytes can have an Idempotency-Key if it has a Content-Digest, too.")
		d.Extensions = map[string]any{"limit": limit}
		return nil, d
	}
	u.from = bytes.NewReader(content)
	sum := sha256.Sum256(content)
	return append([]byte("sha-256:"), sum[:]...), nil
}
