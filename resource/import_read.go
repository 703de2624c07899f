package resource

// Reading the lines of an import in chunks of bounded size. Called by import.go and import_run.go.
// It calls package ndjson or csv.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/internal/ndjson"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// A chunk is the part of an import that is in memory, and committed, at a time: up to chunkLines
// lines or chunkBytes bytes, or a single longer line.
const (
	chunkLines = 500
	chunkBytes = 4 << 20
)

// importLine is a line with an item in it.
type importLine struct {
	n    int // counted from 1
	more int // lines after it that are part of the same row of CSV
	doc  []byte
	id   string // empty: none
	v    any    // of the core, if it can be a new item
	bad  error  // why it cannot

	offered bool  // v was given to hooks, which may have changed it
	err     error // why it was refused
	decided bool  // stored, rejected, or to be tried again
}

// size returns about the memory of a line that is tried again.
func (l *importLine) size() int { return len(l.doc) + lineOverhead }

func (l *importLine) setNew(n newItem) { l.id, l.v, l.bad = n.id, n.value, n.invalid }

// chunkReader reads chunks of lines. It reuses the memory of the previous chunk.
type chunkReader struct {
	lineReader
	maxLine  int64
	maxLines int
	r        *Resource
	opts     *WriteOptions
	lines    []importLine
	text     []byte
	ids      map[string]bool
	pending  *importLine // is the first of the next chunk
}

// lineReader reads the documents of an import: an [ndjson.Reader] or a [csv.Decoder].
type lineReader interface {
	Append(dst []byte) ([]byte, error)
	Line() int
}

// begin starts to read content. With CSV it reads the header row.
func (c *chunkReader) begin(from io.Reader, o *ImportOptions) error {
	content, err := ndjson.CheckUTF8(from)
	if err != nil {
		return err
	}
	if o.CSV == nil {
		c.lineReader = ndjson.NewReader(content, o.MaxLine)
		return nil
	}
	rows, err := csv.NewDecoder(content, c.r.Type(), &csv.DecoderOptions{Dialect: *o.CSV,
		Columns: o.Columns, MaxRow: o.MaxLine, AllowUnknown: o.Lenient})
	if err == csv.ErrTooLong {
		err = overLimit("The header row is larger than the limit of %d bytes.", o.MaxLine)
	}
	c.lineReader = rows
	return err
}

// read returns the next lines. No id occurs twice, so the order of the lines does not matter. The
// error is [io.EOF] after the last line; with any other error the lines before it are lost.
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
		text, err := c.Append(c.text)
		line := importLine{n: c.Line()}
		if rows, ok := c.lineReader.(*csv.Decoder); ok {
			line.more = rows.LastLine() - line.n
		}
		switch {
		case line.n > c.maxLines:
			return line, overLimit("The import has more than the limit of %d lines.", int64(c.maxLines))
		case err == ndjson.ErrTooLong || err == csv.ErrTooLong:
			line.bad = overLimit("The line is larger than the limit of %d bytes.", c.maxLine)
			return line, nil
		case errors.As(err, new(*csv.SyntaxError)), errors.As(err, new(schema.Violations)):
			line.bad = err // concerns this row only
			return line, nil
		case err != nil:
			return line, err
		}
		line.doc = text[start:len(text):len(text)]
		if len(bytes.TrimLeft(line.doc, " \t\r")) == 0 {
			continue
		}
		c.text = text // may be a larger array; earlier lines keep their doc in the previous one
		line.setNew(c.r.readNew(line.doc, c.opts))
		if line.bad != nil { // it may be good all the same for an item that is there
			line.id = c.idOf(line.doc)
		}
		return line, nil
	}
}

// overLimit returns the problem of a line or of an import over a limit (413). detail has a place for it.
func overLimit(detail string, limit int64) error {
	d := problem.New(problem.TooLarge, fmt.Sprintf(detail, limit))
	d.Extensions = map[string]any{"limit": limit}
	return d
}

// idOf finds the id in a document that is no new item; empty if there is none. A composite id is the
// member id, or that of the fields of its key if the document has all of them.
func (c *chunkReader) idOf(doc []byte) string {
	id, parts := c.r.idField(), 0
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
		text := name.String() // before the next token
		isPart := func(f *schema.Field) bool { return f.Name == text }
		if text != id.Name {
			if d.SkipValue() != nil {
				return ""
			}
			if slices.ContainsFunc(id.Key, isPart) {
				parts++
			}
			continue
		}
		value, err := d.ReadToken()
		if k := value.Kind(); err != nil || k != '"' && k != '0' || !c.r.core.id.Canonical(value.String()) {
			return ""
		}
		return value.String()
	}
	if id.Key == nil || parts < len(id.Key) {
		return ""
	}
	v, err := c.r.Type().Decode(doc, &schema.DecodeOptions{Mode: schema.Stored})
	if err != nil {
		return ""
	}
	return id.Text(v)
}
