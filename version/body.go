package version

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// Body names a contract by a member of the JSON object in the body of a POST or PUT, or of a PATCH
// if the handler is a [PatchVersioner]. The value is a string, or a number that is read as it is
// spelled: 1.10 differs from 1.1. The member is removed from the body that the handler reads.
// Member of contract.Selection returns it for handlers that repeat it in the response.
//
// The body is read before the handler is called. A body that is not valid JSON names no contract
// and is passed on for the handler to reject. A body longer than Limit is rejected with 413 if
// nothing else in the request names a contract, because the member could be in the part that is not
// read.
//
// If another strategy has already selected a contract and the client sent Expect: 100-continue, the
// body is read when the handler reads it. In that case Read returns a [*problem.Details] as its
// error if the body names a different contract.
type Body struct {
	// Name is the name of the member. Default "version".
	Name string
	// Limit is the maximum length of the body in bytes, compressed and decompressed. Default 1 MiB.
	Limit int64
}

// defaultName is the default name of the body member and of the query parameter.
const defaultName = "version"

const defaultLimit = 1 << 20

func (b Body) memberName() string {
	if b.Name == "" {
		return defaultName
	}
	return b.Name
}

// Source returns "the member NAME of the content".
func (b Body) Source() string { return "the member " + b.memberName() + " of the content" }

// Vary returns nil. A response that depends on a request body is not reused for other requests.
func (Body) Vary() []string { return nil }

// Find always returns false, because a Strategy must not read the body.
func (Body) Find(*http.Request) (name string, ok bool) { return "", false }

// install adds the strategy to n. It panics if the options are not valid.
func (b Body) install(n *Negotiator) {
	rejectTwice(n.body != nil, "Body")
	if b.Limit < 0 {
		panic("version: Body.Limit is negative; use a positive number of bytes, or 0 for 1 MiB")
	}
	if b.Name = b.memberName(); b.Limit == 0 {
		b.Limit = defaultLimit
	}
	n.body, n.bodyPlace = &b, len(n.places)
	pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(b.Name)
	n.add(b, place{kind: inContent, pointer: pointer})
}

// readBody looks for the member if the body can contain it. With Expect: 100-continue it may leave
// this to [lazyBody].
func (q *negotiation) readBody(acceptPlace bool) {
	b := q.n.body
	if !b.concerns(q) || q.isOpaque() {
		return
	}
	// A body with a Content-Length over the limit is rejected without sending 100 (Continue).
	if q.request.ContentLength <= b.Limit {
		if (acceptPlace || q.contract != nil || q.rank != rankNone) &&
			strings.EqualFold(q.request.Header.Get("Expect"), "100-continue") {
			q.lazyBody = true
			return
		}
		q.body = b.open(q.request, q.request.Body)
	}
	switch {
	case q.body == nil || q.body.tooLong:
		if !acceptPlace && q.contract == nil {
			q.add(q.n.bodyPlace, &match{kind: problem.TooLarge})
		}
	case q.body.member.found:
		q.inBody = true
		found := q.n.matchMember(q.body.member, q.now)
		q.add(q.n.bodyPlace, &found)
	}
}

// isOpaque reports whether any handler treats the body as opaque.
func (q *negotiation) isOpaque() bool {
	return q.anyHandler(func(h http.Handler, r *http.Request) bool {
		o, ok := h.(Opaque)
		return ok && o.Opaque(r)
	})
}

// namesInPatch reports whether any handler accepts the member in the patch.
func (q *negotiation) namesInPatch() bool {
	return q.anyHandler(func(h http.Handler, r *http.Request) bool {
		p, ok := h.(PatchVersioner)
		return ok && p.VersionInPatch(r)
	})
}

// anyHandler reports whether is returns true for the handler of any contract. The contract is not
// known yet, so all handlers are asked. The request has the URL that they will see.
func (q *negotiation) anyHandler(is func(h http.Handler, r *http.Request) bool) bool {
	r := *q.request // a shallow copy
	if q.spelled.path != "" {
		plain := *r.URL
		stripMarker(&plain)
		r.URL = &plain
	}
	for _, c := range q.n.contracts {
		if c.Handler != nil && is(c.Handler, &r) {
			return true
		}
	}
	return false
}

// matchMember returns the match of the member's value.
func (n *Negotiator) matchMember(m member, now time.Time) match {
	if !m.text {
		return match{kind: malformed, raw: m.value}
	}
	return n.matchName(m.value, now)
}

// concerns reports whether the body can contain the member: a JSON representation with a coding
// that this package can decode. A JSON Patch is not a representation. Any other JSON in a PATCH is
// one in part, such as a JSON Merge Patch, and may have the member if a handler accepts it.
func (b *Body) concerns(q *negotiation) bool {
	n, r := q.n, q.request
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return false
	}
	if coding, ok := codingOf(r); !ok || coding != "" && coding != "gzip" {
		return false
	}
	media, ok := httpbody.MediaType(r)
	if !ok {
		return false
	}
	switch {
	case media == "application/json-patch+json":
		return false
	case r.Method == http.MethodPatch:
		return (media == mediaJSON || strings.HasSuffix(media, "+json")) && q.namesInPatch()
	case media == mediaJSON:
		return true
	case media == "application/merge-patch+json":
		return false
	}
	if n.media != nil {
		if t, ours := n.media.parse(media); ours {
			return t.valid
		}
	}
	return strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// codingOf returns the content coding of the body, "" without one. ok is false if there are several
// field lines.
func codingOf(r *http.Request) (coding string, ok bool) {
	lines := r.Header["Content-Encoding"]
	if len(lines) == 0 {
		return "", true
	}
	switch coding = strings.ToLower(strings.TrimSpace(lines[0])); coding {
	case "identity":
		coding = ""
	case "x-gzip": // alias, RFC 9110 section 8.4.1.3
		coding = "gzip"
	}
	return coding, len(lines) == 1
}

// requestBody is a request body that has been read completely, or its beginning.
type requestBody struct {
	member   member
	stripped []byte    // the body without the member, decompressed; nil if unchanged
	raw      []byte    // as received
	unread   io.Reader // the part that has not been read; nil if there is none
	gzipped  bool
	tooLong  bool // longer than Limit
	body     io.ReadCloser
}

// open reads the body and looks for the member.
func (b *Body) open(r *http.Request, body io.ReadCloser) *requestBody {
	whole, err := readLimited(body, b.Limit+1, r.ContentLength)
	c := &requestBody{raw: whole, body: body}
	switch {
	case err != nil:
		c.unread = errReader{err}
		return c
	case int64(len(whole)) > b.Limit:
		c.unread, c.tooLong = body, true
		return c
	}
	plain := whole
	if coding, _ := codingOf(r); coding == "gzip" {
		c.gzipped = true
		if plain, err = unpack(whole, b.Limit); err != nil {
			c.tooLong = errors.Is(err, errTooLong)
			return c
		}
	}
	c.member = findMember(plain, b.Name)
	if c.member.found && c.member.text {
		c.stripped = c.member.removeFrom(plain, c.gzipped)
	}
	return c
}

// maxHint limits the buffer that is allocated because of Content-Length alone, before any data
// arrives.
const maxHint = 64 << 10

// readLimited reads at most limit bytes from r. length is the expected length, negative if unknown.
func readLimited(r io.Reader, limit, length int64) ([]byte, error) {
	var buf bytes.Buffer
	if length > 0 {
		buf.Grow(int(min(length, limit, maxHint)) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(io.LimitReader(r, limit))
	return buf.Bytes(), err
}

// unpack decompresses a gzip body. It returns errTooLong if the result exceeds limit bytes.
func unpack(packed []byte, limit int64) ([]byte, error) {
	zr, err := httpbody.NewGzipReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	plain, err := readLimited(zr, limit+1, int64(len(packed)))
	if err == nil && int64(len(plain)) > limit {
		err = errTooLong
	}
	return plain, err
}

var errTooLong = errors.New("version: request body exceeds the limit")

// setOn makes c the body of r. The header of r is shared with the original request, so it is cloned
// before it is changed.
func (c *requestBody) setOn(r *http.Request) {
	if c.stripped == nil {
		r.Body = readCloser{c.reader(), c.body}
		return
	}
	r.Body = readCloser{bytes.NewReader(c.stripped), c.body}
	r.ContentLength = int64(len(c.stripped))
	r.TransferEncoding = nil
	r.Header = r.Header.Clone()
	r.Header["Content-Length"] = []string{strconv.Itoa(len(c.stripped))}
	delete(r.Header, "Content-Encoding")
}

// reader returns the body as received.
func (c *requestBody) reader() io.Reader {
	if c.unread == nil {
		return bytes.NewReader(c.raw)
	}
	return io.MultiReader(bytes.NewReader(c.raw), c.unread)
}

// readCloser reads the buffered body and closes the original one.
type readCloser struct {
	io.Reader
	io.Closer
}

// errReader returns err at the position where the body cannot be read further.
type errReader struct{ err error }

func (f errReader) Read([]byte) (int, error) { return 0, f.err }

// lazyBody is a request body that is read when the handler reads it, because reading it sends 100
// (Continue) (RFC 9110 section 10.1.1). Another strategy has selected the contract. A member that
// names a different one becomes an error of Read.
type lazyBody struct {
	selection *selection
	request   *http.Request
	body      io.ReadCloser
	raw       string
	place     int
	reader    io.Reader // nil before the first Read
}

// Read reads the body without the member.
func (l *lazyBody) Read(p []byte) (int, error) {
	if l.reader == nil {
		l.reader = l.open()
	}
	return l.reader.Read(p)
}

// Close closes the original body.
func (l *lazyBody) Close() error { return l.body.Close() }

// open reads the body and checks its member as [negotiation.readBody] does. The returned reader
// fails if the member names another contract or none.
func (l *lazyBody) open() io.Reader {
	s := l.selection
	c := s.n.body.open(l.request, l.body)
	if !c.member.found {
		return c.reader()
	}
	found := s.n.matchMember(c.member, s.now)
	place := &s.n.places[s.n.bodyPlace]
	switch {
	case found.selects() && found.contract == s.contract:
		s.member.Store(true)
	case found.selects():
		return errReader{s.n.withSupported(ambiguousProblem(&s.n.places[l.place], l.raw, place, found.raw),
			s.now)}
	default:
		d := s.n.failureProblem(&negotiation{n: s.n, request: l.request, now: s.now, failure: found,
			failedPlace: s.n.bodyPlace})
		return errReader{s.n.withSupported(d, s.now)}
	}
	if s.contract.remote != nil {
		return c.reader() // see setBody
	}
	if c.gzipped {
		return bytes.NewReader(httpbody.AppendGzip(nil, c.stripped)) // Content-Encoding is still gzip
	}
	return bytes.NewReader(c.stripped)
}
