package resource

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/httpbody"
)

// A chunk is what an import holds in memory, and what it commits, at a time: so many lines, of so many bytes together or
// a single one that is longer.
const (
	chunkLines = 500
	chunkBytes = 4 << 20
)

// importLine is a line with an item in it.
type importLine struct {
	n   int // counted from 1
	doc []byte
	id  string // empty: none
	v   any    // of the core, if it can be a new item
	bad error  // why it cannot

	offered bool // v was given to hooks, which may have changed it
}

func (l *importLine) setNew(n newItem) { l.id, l.v, l.bad = n.id, n.value, n.invalid }

// lineReader reads lines of any number.
type lineReader struct {
	in     *bufio.Reader
	zipped bool
	limit  int64 // of a line, in bytes without its end
	n      int   // of the line that was read last
}

// openLines returns a reader of the lines in content. most bounds what comes out of gzip, in bytes; zero does not. Reading
// ends with ctx: few bytes in gzip are many empty lines, which nothing else would interrupt.
func openLines(ctx context.Context, content io.Reader, zipped bool, limit, most int64) (*lineReader, error) {
	if zipped {
		zr, err := gzip.NewReader(content)
		if err != nil {
			return nil, httpbody.ReadError(err, true, limit)
		}
		content = zr
	}
	content = &bounded{ctx: ctx, from: content, most: most}
	return &lineReader{in: bufio.NewReaderSize(content, 64<<10), zipped: zipped, limit: limit}, nil
}

// bounded is content that ends with a context, and where there is too much of it.
type bounded struct {
	ctx     context.Context
	from    io.Reader
	n, most int64
}

// Read reads on. The error of the context is told as it is.
func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, &overError{err}
	}
	n, err := b.from.Read(p)
	if b.n += int64(n); b.most > 0 && b.n > b.most {
		return 0, &overError{httpbody.TooLarge(b.most)}
	}
	return n, err
}

// overError is why content was not read to its end though it could have been.
type overError struct{ error }

func (e *overError) Unwrap() error { return e.error }

// errLongLine is that of a line which has been passed over.
var errLongLine = errors.New("the line is too long")

// next appends the next line to dst, without its end. The last one need not have an end. The error is [io.EOF] behind the
// last line.
func (l *lineReader) next(dst []byte) ([]byte, error) {
	start, long := len(dst), false
	for first := true; ; first = false {
		part, err := l.in.ReadSlice('\n')
		if first && (len(part) > 0 || err == nil) {
			l.n++
		}
		if long = long || int64(len(dst)-start+len(bytes.TrimRight(part, "\r\n"))) > l.limit; !long {
			dst = append(dst, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && first && len(part) == 0:
			return dst, io.EOF
		case errors.As(err, new(*overError)):
			return dst, err
		case err != nil && err != io.EOF && l.zipped:
			return dst, httpbody.ReadError(err, true, l.limit)
		case err != nil && err != io.EOF:
			return dst, httpbody.ReadError(err, false, l.limit)
		case long:
			return dst[:start], errLongLine
		}
		return dst[:start+len(bytes.TrimRight(dst[start:], "\r\n"))], nil
	}
}

// chunkReader makes chunks of lines. The memory of one is used again for the next.
type chunkReader struct {
	*lineReader
	r       *Resource
	opts    *WriteOptions
	lines   []importLine
	text    []byte
	ids     map[string]bool
	pending *importLine // is the first of the next chunk
}

// read returns the next lines. No id is there twice, so that their order does not matter. The error is [io.EOF] behind the
// last line; with any other the lines before it are lost.
func (c *chunkReader) read() ([]importLine, error) {
	c.lines, c.text = c.lines[:0], c.text[:0]
	clear(c.ids)
	if c.pending != nil {
		c.add(*c.pending)
		c.pending = nil
	}
	for len(c.lines) < chunkLines && len(c.text) < chunkBytes {
		line, err := c.line()
		switch {
		case err == io.EOF && len(c.lines) > 0:
			return c.lines, nil
		case err != nil:
			return nil, err
		case c.ids[line.id]:
			line.doc = bytes.Clone(line.doc)
			c.pending = &line
			return c.lines, nil
		}
		c.add(line)
	}
	return c.lines, nil
}

func (c *chunkReader) add(line importLine) {
	c.lines = append(c.lines, line)
	if line.id != "" {
		c.ids[line.id] = true
	}
}

// line reads the next line that is not empty, into c.text.
func (c *chunkReader) line() (importLine, error) {
	for {
		start := len(c.text)
		text, err := c.next(c.text)
		line := importLine{n: c.n}
		switch {
		case err == errLongLine:
			line.bad = httpbody.TooLarge(c.limit)
			return line, nil
		case err != nil:
			return line, err
		}
		line.doc = text[start:len(text):len(text)]
		if len(bytes.TrimLeft(line.doc, " \t\r")) == 0 {
			continue
		}
		c.text = text // where the doc of earlier lines is, too, or was: those keep what they have
		line.setNew(c.r.readNew(line.doc, c.opts))
		if line.bad != nil { // it may be good all the same for an item that is there
			line.id = c.idOf(line.doc)
		}
		return line, nil
	}
}

// idOf finds the id in a document that is no new item; empty if there is none.
func (c *chunkReader) idOf(doc []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(doc))
	if d.PeekKind() != '{' {
		return ""
	}
	if _, err := d.ReadToken(); err != nil {
		return ""
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return ""
		}
		if name.String() != c.r.ID() {
			if d.SkipValue() != nil {
				return ""
			}
			continue
		}
		value, err := d.ReadToken()
		if k := value.Kind(); err != nil || k != '"' && k != '0' || !c.r.core.canonical(value.String()) {
			return ""
		}
		return value.String()
	}
	return ""
}
