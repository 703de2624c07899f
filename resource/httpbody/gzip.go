package httpbody

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"

	"github.com/stoa-go/stoa/resource/header"
)

// gzipLevel is fixed because a strong entity tag promises the compressed octets, too. A change of
// it must change the entity tags of REST and GraphQL.
const gzipLevel = gzip.BestSpeed

var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzipLevel)
	if err != nil {
		panic(err) // the level is a constant of package gzip
	}
	return w
}}

// minGzip is the size from which compression is worth its header and its time.
const minGzip = 1024

// ShouldGzip reports whether a response body of size bytes is to be compressed for a client that
// accepts enc: if it prefers gzip and the body has at least 1024 bytes, or if it refuses identity.
func ShouldGzip(enc header.Encodings, size int) bool {
	return enc.Gzip && (size >= minGzip || !enc.Identity)
}

// AppendGzip appends body, compressed with gzip, to dst and returns the extended slice. The same
// body always gives the same octets, so that a strong entity tag can be made from the body alone.
func AppendGzip(dst, body []byte) []byte {
	out := bytes.NewBuffer(dst)
	zw := gzipWriters.Get().(*gzip.Writer)
	zw.Reset(out)
	zw.Write(body) // to memory, so it cannot fail
	zw.Close()
	gzipWriters.Put(zw)
	return out.Bytes()
}

// NewGzipWriter returns a writer that compresses to w with gzip, at the level of [AppendGzip].
// Close writes the end of the stream and releases the memory of the writer for others; it does not
// close w. A writer that is not closed is left to the garbage collector.
func NewGzipWriter(w io.Writer) io.WriteCloser {
	zw := gzipWriters.Get().(*gzip.Writer)
	zw.Reset(w)
	return &gzipWriter{zw}
}

type gzipWriter struct{ zw *gzip.Writer } // nil after Close

func (g *gzipWriter) Write(p []byte) (int, error) {
	if g.zw == nil {
		return 0, io.ErrClosedPipe
	}
	return g.zw.Write(p)
}

func (g *gzipWriter) Close() error {
	if g.zw == nil {
		return nil
	}
	err := g.zw.Close()
	gzipWriters.Put(g.zw)
	g.zw = nil
	return err
}
