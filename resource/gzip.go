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

// compress writes body, compressed, into buf and returns what is there.
func compress(buf *[]byte, body []byte) []byte {
	out := bytes.NewBuffer((*buf)[:0])
	zw := gzipWriters.Get().(*gzip.Writer)
	zw.Reset(out)
	zw.Write(body) // to memory, so that it cannot fail
	zw.Close()
	gzipWriters.Put(zw)
	*buf = out.Bytes()
	return *buf
}
