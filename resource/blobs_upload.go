package resource

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"
	"io"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// maxKept is how much content is kept for a second attempt: what is longer is read once.
const maxKept = 64 << 10

// upload is content on its way into a store. What is wrong with it, that it is too long or not what its digests say, comes
// out of Read in the place of io.EOF, so that a store which keeps its word keeps nothing of it.
type upload struct {
	from  io.Reader
	max   int64
	sums  []sum
	n     int64  // how much has been read
	err   error  // what it ended with; io.EOF if all is well
	kept  []byte // all that has been read, unless it is more than maxKept
	again int    // of kept, how much has been given out
}

// sum is a digest that came with the content.
type sum struct {
	hash.Hash
	want  []byte
	field string
}

// newUpload reads the fields that say what the content must be. A Content-Digest is that of the message content, a
// Repr-Digest that of the representation (RFC 9530 sections 2 and 3); without content coding and without Content-Range the
// two are one.
func (x *call) newUpload(limit int64) (*upload, error) {
	u := &upload{from: x.r.Body, max: limit}
	for _, field := range []string{"Content-Digest", "Repr-Digest"} {
		digests, err := header.ParseDigests(x.r.Header[field])
		if err != nil {
			d := problem.New(problem.InvalidHeader, field+" is not a list of digests.")
			d.Errors = []problem.Violation{{Header: field, Code: "syntax", Detail: err.Error()}}
			return nil, d
		}
		for _, d := range digests {
			s := sum{Hash: sha256.New(), want: d.Sum, field: field}
			if d.Algorithm == "sha-512" {
				s.Hash = sha512.New()
			}
			u.sums = append(u.sums, s)
		}
	}
	return u, nil
}

// Read gives the content, what has been kept of it first.
func (u *upload) Read(p []byte) (int, error) {
	if u.again < len(u.kept) {
		n := copy(p, u.kept[u.again:])
		u.again += n
		return n, nil
	}
	if u.err != nil || len(p) == 0 {
		return 0, u.err
	}
	if left := u.max - u.n; int64(len(p)) > left {
		p = p[:left+1] // one more than there may be tells that there is more
	}
	n, err := u.from.Read(p)
	u.take(p[:n])
	switch {
	case u.n > u.max:
		u.err = tooLarge(u.max)
	case err == io.EOF:
		u.err = u.whole()
	case err != nil:
		u.err = unreadable(err, u.max)
	}
	return n, u.err
}

// take notes what has been read.
func (u *upload) take(b []byte) {
	for _, s := range u.sums {
		s.Write(b)
	}
	if u.n+int64(len(b)) > maxKept {
		u.kept = nil
	} else if u.n == int64(len(u.kept)) {
		u.kept = append(u.kept, b...)
	}
	u.n += int64(len(b))
	u.again = len(u.kept)
}

// whole returns io.EOF, or the error of content that is not the one whose digest was sent. That is 400, as in the problem
// types that the IETF's HTTPAPI group has for RFC 9530: it is the message that is broken, not what it says, so that the same
// request may well succeed when it is sent again.
func (u *upload) whole() error {
	for _, s := range u.sums {
		if got := s.Sum(nil); subtle.ConstantTimeCompare(got, s.want) == 0 {
			d := problem.New(problem.DigestMismatch, "The content is not the one whose digest was sent; nothing has been stored.")
			d.Errors = []problem.Violation{{Header: s.field, Code: "mismatch", Detail: "this is not the digest of the content"}}
			return d
		}
	}
	return io.EOF
}

// rewind lets the content be read once more from its beginning. It is false if it has not been kept.
func (u *upload) rewind() bool {
	if u.n != int64(len(u.kept)) {
		return false
	}
	u.again = 0
	return true
}

// blame returns what a store's Put came to. An error of the content is the cause whatever the store made of it, and a store
// that has not asked for the end cannot have stored all.
func (u *upload) blame(b *Blob, err error) error {
	switch {
	case u.err != nil && u.err != io.EOF:
		if err == nil {
			return storeFault("stored content that could not be read: %v", u.err)
		}
		return u.err
	case err != nil:
		return err
	case b == nil || b.Rev == "":
		return storeFault("gave no revision of what it stored")
	case u.err == nil:
		return storeFault("stored content without reading it to its end")
	}
	return nil
}

// declared checks what the header says of the content, before any of it is read: its type, coding and length.
func (x *call) declared() (mediaType string, err error) {
	b := x.route.blobs
	if len(x.r.Header["Content-Range"]) > 0 { // RFC 9110 section 14.5
		return "", problem.New(problem.BadRequest, "A part cannot be stored: Content-Range is not understood here.")
	}
	mediaType, ok := b.declared(x.r.Header["Content-Type"])
	if !ok {
		d := problem.New(problem.UnsupportedMediaType, "Content of this type is not taken here.")
		d.Header = http.Header{"Accept": {b.accepted()}}
		if x.r.Method == http.MethodPost {
			d.Header["Accept-Post"] = d.Header["Accept"]
		}
		return "", d
	}
	if !x.uncoded() { // what it is without the coding would be for us to find out, or for every reader
		d := problem.New(problem.UnsupportedMediaType, "Content is taken as it is, without a content coding.")
		d.Header = http.Header{"Accept-Encoding": {"identity"}}
		return "", d
	}
	if limit := b.Options().MaxSize; x.length() > limit {
		return "", tooLarge(limit)
	}
	return mediaType, nil
}

// uncoded reports whether Content-Encoding names nothing, RFC 9110 section 8.4.
func (x *call) uncoded() bool {
	for _, line := range x.r.Header["Content-Encoding"] {
		if line != "" && !strings.EqualFold(strings.TrimSpace(line), "identity") {
			return false
		}
	}
	return true
}
