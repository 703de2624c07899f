package httpbody

// Static documents: compressed once, with validators, and answered 304 where they match.

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

// Document is static content that is served many times, such as a page or a schema. It is safe for
// concurrent use. Create it with [NewDocument].
type Document struct {
	content []byte
	zipped  func() []byte
	sum     [sha256.Size]byte
}

// NewDocument returns a document with the content, which the caller must not modify afterward. The
// content is compressed at the best level on the first request that accepts gzip. The entity tags
// depend on the content and on also, the values of header fields that the handler sends with it.
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

// compressBest compresses the content at the best level.
func compressBest(content []byte) []byte {
	var zipped bytes.Buffer
	zw, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // the level is valid
	zw.Write(content)                                           // a write to memory cannot fail
	zw.Close()
	return zipped.Bytes()
}

// varyEncoding is the Vary field of a response that depends on Accept-Encoding.
var varyEncoding = []string{"Accept-Encoding"}

// Serve writes the document, with the media type contentType, as the response to a GET or HEAD
// request, in the same way as the function [Serve]. It compresses the content if [ShouldGzip]
// returns true, and sends it uncompressed to a client that accepts neither gzip nor identity. Each
// content coding and media type has a separate entity tag. Serve adds Accept-Encoding to Vary.
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

// Serve writes body as the response to a GET or HEAD request with status 200, the media type
// contentType and the entity tag etag, which includes quotation marks. If If-None-Match matches the
// tag, the response is 304 (RFC 9110 section 13.1.2). Serve ignores an invalid If-None-Match; a
// handler that rejects it must check it first.
//
// The header of w may contain other fields, such as Vary and Cache-Control, which Serve keeps. If
// body is compressed, the caller must set Content-Encoding, which Serve removes for 304.
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
		w.Write(body) // an error means that the client has disconnected
	}
}
