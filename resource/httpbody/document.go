package httpbody

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/stoa-go/stoa/resource/header"
)

// Document is content that does not change and is served many times, such as a page or a schema. It
// is safe for concurrent use. Create it with [NewDocument].
type Document struct {
	content []byte
	zipped  func() []byte
	sum     [sha256.Size]byte
}

// NewDocument returns a document with this content, which must not be changed afterwards. It is
// compressed at the best level, once, when a client first asks for that. The entity tags depend on
// the content and on also, which are values of header fields that the handler sends with it.
func NewDocument(content []byte, also ...string) *Document {
	sum := sha256.New()
	for _, s := range also {
		io.WriteString(sum, s)
	}
	sum.Write(content)
	return &Document{
		content: content,
		zipped:  sync.OnceValue(func() []byte { return compressBest(content) }),
		sum:     [sha256.Size]byte(sum.Sum(nil)),
	}
}

func compressBest(content []byte) []byte {
	var zipped bytes.Buffer
	zw, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // the level is valid
	zw.Write(content)                                           // to memory, so it cannot fail
	zw.Close()
	return zipped.Bytes()
}

var varyEncoding = []string{"Accept-Encoding"}

// Serve answers a GET or HEAD request with the document, which has the media type contentType, as
// [Serve] does. It is compressed if [ShouldGzip] returns true. Each content coding and media type
// has an entity tag of its own. Serve adds Accept-Encoding to Vary.
//
// It sends the document uncompressed to a client that accepts neither gzip nor identity.
func (d *Document) Serve(w http.ResponseWriter, r *http.Request, contentType string) {
	header.AddVary(w.Header(), varyEncoding)
	body, suffix := d.content, `"`
	if ShouldGzip(header.AcceptEncoding(r.Header["Accept-Encoding"]), len(body)) {
		body, suffix = d.zipped(), `-gzip"`
		w.Header().Set("Content-Encoding", "gzip")
	}
	sum := sha256.Sum256(append(d.sum[:], contentType...))
	Serve(w, r, contentType, `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+suffix, body)
}

// Serve answers a GET or HEAD request with 200 and body, which has the media type contentType and
// the entity tag etag, quotation marks included. If If-None-Match names the tag, the answer is 304
// (RFC 9110 section 13.1.2). An If-None-Match that is not valid is ignored; a handler that refuses
// it checks it before.
//
// The header of w may have fields already: Content-Encoding for a body that is compressed, which is
// removed for 304, and others such as Vary and Cache-Control, which stay.
func Serve(w http.ResponseWriter, r *http.Request, contentType, etag string, body []byte) {
	h := w.Header()
	h.Set("Etag", etag)
	if match, _ := header.MatchTag(r.Header["If-None-Match"], etag, true); match {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		w.Write(body) // an error means that the client is gone
	}
}
