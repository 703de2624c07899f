package rest

// The whole list as NDJSON: one item in each line. Called by getList if the client accepts
// application/x-ndjson. It calls Resource.Pages.

import (
	"io"
	"net/http"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
)

// export sends the whole list. It needs constant memory for any length: each page is written before
// the next one is read.
func (x *call) export(a *listRequest, enc header.Encodings) error {
	buf := buffers.Get()
	defer buffers.Put(buf)
	var out io.WriteCloser
	for entries, err := range x.route.resource.Pages(x.r.Context(), a.q, a.position) {
		if err == nil {
			*buf, err = x.appendLines((*buf)[:0], a, entries)
		}
		if err != nil {
			if out == nil {
				return cursorParameter(err, a.position)
			}
			return err // abort, so that the client does not treat a partial list as complete
		}
		if out == nil {
			out = x.beginExport(enc)
		}
		if x.r.Method == http.MethodHead {
			return nil
		}
		if _, err := out.Write(*buf); err != nil {
			return err
		}
	}
	return out.Close()
}

// appendLines appends the items of a page with their relations, one in each line.
func (x *call) appendLines(dst []byte, a *listRequest, entries []resource.Entry) ([]byte, error) {
	rel, err := a.selection.follow(x, entries)
	defer release(rel)
	for i := range entries {
		if err != nil {
			break
		}
		dst, err = a.selection.append(dst, x.route.resource.Type(), &entries[i], i, rel)
		dst = append(dst, '\n')
	}
	return dst, err
}

func (x *call) beginExport(enc header.Encodings) io.WriteCloser {
	h := x.w.Header()
	x.listHeaders(h)
	h["Content-Type"] = typeNDJSON
	h["X-Content-Type-Options"] = nosniff
	var out io.WriteCloser = plainWriter{x.w}
	if enc.Gzip {
		h["Content-Encoding"] = gzipValue
		out = httpbody.NewGzipWriter(x.w)
	}
	x.started = true
	x.w.WriteHeader(http.StatusOK)
	return out
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }
