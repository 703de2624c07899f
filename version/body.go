package version

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// Body names a contract by a member of the content, where that is a JSON object sent with POST or PUT. The value is a
// string, or a number of which the text counts: 1.10 is not 1.1. The handler sees the content without the member; if it
// wants to repeat it in its answer, [Selection.Member] has it.
//
// To find it the content is read before the handler is asked. What is not JSON names nothing, and is left for the handler to
// refuse. Content that is longer than Limit is 413 if nothing else has named the contract, since it might: what was meant
// for one contract is never read as another. Where something else has named the contract already and the client waits with
// Expect: 100-continue, it is read when the handler reads it: a disagreement is then an error of Read, a
// [*problem.Details].
type Body struct {
	// Name of the member; "version" if empty.
	Name string
	// Limit is how much content is read, in bytes, before and after decompression; 1 MiB if zero.
	Limit int64
}

// defaultMember is the name of the member, and of the query parameter.
const defaultMember = "version"

const defaultLimit = 1 << 20

func (b Body) name() string {
	if b.Name == "" {
		return defaultMember
	}
	return b.Name
}

// Source returns "the member" and its name.
func (b Body) Source() string { return "the member " + b.name() + " of the content" }

// Vary returns nil: a response that depends on content is not the answer to any other request.
func (Body) Vary() []string { return nil }

// Find finds nothing, since it does not read the content.
func (Body) Find(*http.Request) (name string, ok bool) { return "", false }

func (b Body) install(n *Negotiator) {
	once(n.body != nil, "Body")
	if b.Limit < 0 {
		panic("version: the Limit of Body is negative")
	}
	if b.Name = b.name(); b.Limit == 0 {
		b.Limit = defaultLimit
	}
	n.body, n.bodyPlace = &b, len(n.places)
	pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(b.Name)
	n.add(b, place{kind: inContent, pointer: pointer})
}

// read looks for the member, if the content can have it: at once, or when the handler reads it.
func (q *inquiry) read(wished bool) {
	b := q.n.body
	if !b.concerns(q.n, q.request) || q.opaque() {
		return
	}
	if q.request.ContentLength <= b.Limit { // else the handler, too, can see how long it is before it is sent
		if (wished || q.contract != nil || q.rank != fine) &&
			strings.EqualFold(q.request.Header.Get("Expect"), "100-continue") {
			q.lazy = true
			return
		}
		q.content = b.open(q.request, q.request.Body)
	}
	switch {
	case q.content == nil || q.content.long:
		if !wished && q.contract == nil {
			q.add(q.n.bodyPlace, &finding{kind: problem.TooLarge})
		}
	case q.content.member.found:
		q.named = true
		found := q.n.readMember(q.content.member, q.now)
		q.add(q.n.bodyPlace, &found)
	}
}

// opaque reports whether a handler says that the content is none of ours. Which contract's it will be is not known yet.
func (q *inquiry) opaque() bool {
	for _, c := range q.n.contracts {
		h, ok := c.Handler.(Opaque)
		if !ok {
			continue
		}
		r := *q.request // only to be looked at
		if q.raw.path != "" {
			plain := *r.URL
			stripMarker(&plain)
			r.URL = &plain
		}
		if h.Opaque(&r) {
			return true
		}
	}
	return false
}

// readMember returns what the member selects.
func (n *Negotiator) readMember(m member, now time.Time) finding {
	if !m.text {
		return finding{kind: malformed, raw: m.value}
	}
	return n.read(m.value, now)
}

// concerns reports whether the content of a request can have the member: a representation in JSON, of which all that is
// needed to read it is known.
func (b *Body) concerns(n *Negotiator, r *http.Request) bool {
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
	switch media {
	case mediaJSON:
		return true
	case "application/json-patch+json", "application/merge-patch+json":
		return false
	}
	if n.media != nil {
		if t, ours := n.media.parse(media); ours {
			return t.valid
		}
	}
	return strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// codingOf returns the coding of the content, "" for none; not ok if there are several.
func codingOf(r *http.Request) (coding string, ok bool) {
	lines := r.Header["Content-Encoding"]
	if len(lines) == 0 {
		return "", true
	}
	switch coding = strings.ToLower(strings.TrimSpace(lines[0])); coding {
	case "identity":
		coding = ""
	case "x-gzip": // its old name, RFC 9110 section 8.4.1.3
		coding = "gzip"
	}
	return coding, len(lines) == 1
}

// content is the content of a request that has been read, or the beginning of it.
type content struct {
	member member
	rest   []byte    // the content without the member, not coded
	whole  []byte    // as it came
	behind io.Reader // what has not been read; nil if everything has
	coded  bool
	long   bool // there is more of it than is looked at
	body   io.ReadCloser
}

// open reads the content and looks for the member.
func (b *Body) open(r *http.Request, body io.ReadCloser) *content {
	whole, err := readSome(body, b.Limit+1, r.ContentLength)
	c := &content{whole: whole, body: body}
	switch {
	case err != nil:
		c.behind = failing{err}
		return c
	case int64(len(whole)) > b.Limit:
		c.behind, c.long = body, true
		return c
	}
	plain := whole
	if coding, _ := codingOf(r); coding == "gzip" {
		c.coded = true
		if plain, err = unpack(whole, b.Limit); err != nil {
			c.long = errors.Is(err, errTooLong)
			return c
		}
	}
	c.member = findMember(plain, b.Name)
	if c.member.found && c.member.text {
		c.rest = c.member.cut(plain, c.coded)
	}
	return c
}

// maxHint bounds how much memory a client gets for saying that it will send something.
const maxHint = 64 << 10

// readSome reads no more than limit bytes. The length that the client says is a hint of how much there will be.
func readSome(r io.Reader, limit, length int64) ([]byte, error) {
	var buf bytes.Buffer
	if length > 0 {
		buf.Grow(int(min(length, limit, maxHint)) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(io.LimitReader(r, limit))
	return buf.Bytes(), err
}

// unpack decompresses content, of which a little may become a lot, and fails where it becomes more than limit bytes.
func unpack(packed []byte, limit int64) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	plain, err := readSome(zr, limit+1, int64(len(packed)))
	if err == nil && int64(len(plain)) > limit {
		err = errTooLong
	}
	return plain, err
}

var errTooLong = errors.New("there is more than is looked at")

// give puts the content into a request whose header is that of another one, too: it is copied before it is changed.
func (c *content) give(r *http.Request) {
	if c.rest == nil {
		r.Body = replayed{c.replay(), c.body}
		return
	}
	r.Body = replayed{bytes.NewReader(c.rest), c.body}
	r.ContentLength = int64(len(c.rest))
	r.TransferEncoding = nil
	r.Header = r.Header.Clone()
	r.Header["Content-Length"] = []string{strconv.Itoa(len(c.rest))}
	delete(r.Header, "Content-Encoding")
}

// replay returns the content as it came.
func (c *content) replay() io.Reader {
	if c.behind == nil {
		return bytes.NewReader(c.whole)
	}
	return io.MultiReader(bytes.NewReader(c.whole), c.behind)
}

// replayed reads what has been read before, and closes what it was read from.
type replayed struct {
	io.Reader
	io.Closer
}

// failing is an error where the content should go on.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// lazyBody is content that the client sends only when it is read (RFC 9110 section 10.1.1). Another place has named the
// contract, so what is in the content can only agree, or come too late for anything but an error.
type lazyBody struct {
	selection *Selection
	request   *http.Request
	body      io.ReadCloser
	said      string
	place     int
	reader    io.Reader // nil until it is read
}

// Read reads the content without the member.
func (l *lazyBody) Read(p []byte) (int, error) {
	if l.reader == nil {
		l.reader = l.open()
	}
	return l.reader.Read(p)
}

// Close closes the content.
func (l *lazyBody) Close() error { return l.body.Close() }

// open does late what [inquiry.read] does for others. What it finds out too late becomes an error in the place of the content.
func (l *lazyBody) open() io.Reader {
	s := l.selection
	c := s.n.body.open(l.request, l.body)
	if !c.member.found {
		return c.replay()
	}
	found := s.n.readMember(c.member, s.now)
	place := &s.n.places[s.n.bodyPlace]
	switch {
	case found.named() && found.contract == s.contract:
		s.member.Store(true)
	case found.named():
		return failing{s.n.withSupported(ambiguous(&s.n.places[l.place], l.said, place, found.raw), s.now)}
	default:
		d := s.n.refusal(&inquiry{n: s.n, request: l.request, now: s.now, worst: found,
			worstAt: s.n.bodyPlace})
		return failing{s.n.withSupported(d, s.now)}
	}
	if c.coded {
		return bytes.NewReader(httpbody.AppendGzip(nil, c.rest)) // the handler expects gzip
	}
	return bytes.NewReader(c.rest)
}
