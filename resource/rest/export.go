package rest

// The whole list as NDJSON, one item in each line, or as CSV. Called by getList if the client accepts
// one of them. It calls Resource.Pages. csv.go has the rows of CSV.

import (
	"io"
	"net/http"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/schema"
)

// exportFormat encodes the items of an export.
type exportFormat interface {
	contentType() []string
	// begin appends what precedes the first item.
	begin(dst []byte) []byte
	// append appends the entry with the index i of its page and its related items.
	append(dst []byte, e *resource.Entry, i int, rel []related) ([]byte, error)
}

// lineFormat is NDJSON.
type lineFormat struct {
	typ       *schema.Type
	selection *selection
}

func (lineFormat) contentType() []string   { return typeNDJSON }
func (lineFormat) begin(dst []byte) []byte { return dst }

func (f lineFormat) append(dst []byte, e *resource.Entry, i int, rel []related) ([]byte, error) {
	dst, err := f.selection.append(dst, f.typ, e, i, rel)
	return append(dst, '\n'), err
}

// export sends the whole list as media. It needs constant memory for any length: each page is written
// before the next one is read.
func (c *call) export(a *listRequest, media string, d csv.Dialect, enc header.Encodings) error {
	var format exportFormat = lineFormat{c.route.resource.Type(), &a.selection}
	pages := c.route.resource.Raw().PagesJSON
	if media == mediaCSV || len(a.selection.links) > 0 { // cells and relations need the values
		pages = c.route.resource.Pages
	}
	if media == mediaCSV {
		var err error
		if format, err = c.newRowFormat(&a.selection, d); err != nil {
			return err
		}
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	*buf = format.begin(*buf)
	// out is nil until the first page has been read. An error before that becomes a status code.
	// Pages yields at least one page or an error, so out is not nil after the loop.
	var out io.WriteCloser
	for entries, err := range pages(c.r.Context(), a.q, a.position) {
		if err == nil {
			*buf, err = c.appendEntries(*buf, a, format, entries)
		}
		if err != nil {
			if out == nil {
				return cursorParameter(err, a.position)
			}
			return err // abort, so that the client does not treat a partial list as complete
		}
		if out == nil {
			if err := c.checkListMatch(); err != nil {
				return err
			}
			out = c.beginExport(format, enc)
		}
		// One page shows that the list can be read. HEAD has the same header as GET and no need for
		// more.
		if c.r.Method == http.MethodHead {
			return nil
		}
		if _, err := out.Write(*buf); err != nil {
			return err
		}
		c.rec.AddItems(len(entries))
		*buf = (*buf)[:0]
	}
	return out.Close()
}

// appendEntries appends the items of a page with their relations.
func (c *call) appendEntries(
	dst []byte, a *listRequest, format exportFormat, entries []resource.Entry,
) ([]byte, error) {
	// Related items are read for one page at a time, so their memory is limited, too.
	rel, err := a.selection.follow(c, entries)
	defer release(rel)
	for i := range entries {
		if err != nil {
			break
		}
		dst, err = format.append(dst, &entries[i], i, rel)
	}
	return dst, err
}

// beginExport sends the header of an export and returns the writer of its content. After it an error
// can only end the response.
func (c *call) beginExport(format exportFormat, enc header.Encodings) io.WriteCloser {
	h := c.w.Header()
	c.listHeaders(h)
	h["Content-Type"] = format.contentType()
	h["X-Content-Type-Options"] = nosniff
	var out io.WriteCloser = plainWriter{c.w}
	// The size is not known, so the threshold of other responses does not apply. There is no entity
	// tag: the list is sent while it is read, and a tag would have to precede it.
	if enc.Gzip {
		h["Content-Encoding"] = gzipValue
		out = httpbody.NewGzipWriter(c.w)
	}
	c.started = true
	c.w.WriteHeader(http.StatusOK)
	return out
}

// plainWriter gives a ResponseWriter the method Close of a gzip writer.
type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }
