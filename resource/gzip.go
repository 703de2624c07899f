package resource

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"
)

// Compressed content is part of what an entity tag promises, so the level is fixed; to change it is to change the
// constant rendering.
const gzipLevel = gzip.BestSpeed

var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzipLevel)
	if err != nil {
		panic(err) // the level is a constant of that package
	}
	return w
}}

// respondGzip is respond with the content compressed.
func (x *exchange) respondGzip(status int, body []byte) error {
	buf := getBuffer()
	defer putBuffer(buf)
	out := bytes.NewBuffer(*buf)
	zw := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(zw)
	zw.Reset(out)
	if _, err := zw.Write(body); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return err
	}
	*buf = out.Bytes()
	x.w.Header()["Content-Encoding"] = gzipValue
	return x.respond(status, *buf)
}
