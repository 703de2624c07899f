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
	// out is nil until the first page has been read. An error before that becomes a status code.
	// Pages yields at least one page or an error, so out is not nil after the loop.
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
			if err := x.checkListMatch(); err != nil {
				return err
			}
			out = x.beginExport(enc)
		}
		// One page shows that the list can be read. HEAD has the same header as GET and no need for
		// more.
		if x.r.Method == http.MethodHead {
			return nil
		}
		if _, err := out.Write(*buf); err != nil {
			return err
		}
		x.rec.AddItems(len(entries))
	}
	return out.Close()
}

// appendLines appends the items of a page with their relations, one in each line.
func (x *call) appendLines(dst []byte, a *listRequest, entries []resource.Entry) ([]byte, error) {
	// Related items are read for one page at a time, so their memory is limited, too.
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

// beginExport sends the header of an export and returns the writer of its lines. After it an error
// can only end the response.
func (x *call) beginExport(enc header.Encodings) io.WriteCloser {
	h := x.w.Header()
	x.listHeaders(h)
	h["Content-Type"] = typeNDJSON
	h["X-Content-Type-Options"] = nosniff
	var out io.WriteCloser = plainWriter{x.w}
	// The size is not known, so the threshold of other responses does not apply. There is no entity
	// tag: the list is sent while it is read, and a tag would have to precede it.
	if enc.Gzip {
		h["Content-Encoding"] = gzipValue
		out = httpbody.NewGzipWriter(x.w)
	}
	x.started = true
	x.w.WriteHeader(http.StatusOK)
	return out
}

// plainWriter gives a ResponseWriter the method Close of a gzip writer.
type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }
