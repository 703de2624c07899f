package httpbody

// Compression of responses, with writers from a pool.

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"

	"github.com/stoa-go/stoa/resource/header"
)

// gzipLevel is constant, because a strong entity tag identifies the compressed bytes too. If it
// changes, the entity tags of REST and GraphQL must change.
const gzipLevel = gzip.BestSpeed

// gzipWriters is a pool of writers with gzipLevel.
var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzipLevel)
	if err != nil {
		panic(err) // the level is a constant of package gzip
	}
	return w
}}

// minGzip is the minimum size of a compressed body. Compression of smaller ones saves little.
const minGzip = 1024

// ShouldGzip reports whether a response body of size bytes should be compressed for a client that
// accepts enc: the client prefers gzip and the body has at least 1,024 bytes, or the client rejects
// identity.
func ShouldGzip(enc header.Encodings, size int) bool {
	return enc.Gzip && (size >= minGzip || !enc.Identity)
}

// AppendGzip appends the gzip encoding of body to dst and returns the extended slice. Equal bodies
// have equal encodings, so that a strong entity tag can be computed from body.
func AppendGzip(dst, body []byte) []byte {
	out := bytes.NewBuffer(dst)
	zw := gzipWriters.Get().(*gzip.Writer)
	zw.Reset(out)
	zw.Write(body) // a write to memory cannot fail
	zw.Close()
	gzipWriters.Put(zw)
	return out.Bytes()
}

// NewGzipWriter returns a writer that compresses to w with gzip, at the level of [AppendGzip].
// Close writes the end of the stream and returns the memory of the writer to a pool; it does not
// close w. The writer is not safe for concurrent use.
func NewGzipWriter(w io.Writer) io.WriteCloser {
	zw := gzipWriters.Get().(*gzip.Writer)
	zw.Reset(w)
	return &gzipWriter{zw}
}

// gzipWriter is a writer of the pool gzipWriters.
type gzipWriter struct {
	zw *gzip.Writer // nil after Close
}

func (g *gzipWriter) Write(p []byte) (int, error) {
	if g.zw == nil {
		return 0, io.ErrClosedPipe
	}
	return g.zw.Write(p)
}

// Close implements [io.Closer]. The compressor returns to the pool, so Close works once.
func (g *gzipWriter) Close() error {
	if g.zw == nil {
		return nil
	}
	err := g.zw.Close()
	gzipWriters.Put(g.zw)
	g.zw = nil
	return err
}
