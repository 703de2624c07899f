package csv

// Reading rows: cells and quotation marks (RFC 4180 section 2), with a limit for each row. Called by
// decode.go.

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong reports a row over DecoderOptions.MaxRow. The row has been skipped.
var ErrTooLong = errors.New("csv: the row is too long")

// SyntaxError reports a row that is not valid CSV. The row has been skipped up to the end of the line in
// which the error was found. Servers respond with 400.
//
// Code is one of:
//   - "syntax": a quotation mark or a carriage return at a place that RFC 4180 does not permit.
//   - "columns": the number of cells is not that of the columns.
//   - "encoding": a cell is not valid UTF-8.
type SyntaxError struct {
	Pointer string // JSON Pointer (RFC 6901) of the member of the column; empty: the whole row
	Code    string // one of the codes above
	Detail  string // a description in English for developers of the client
}

// Error returns the detail.
func (e *SyntaxError) Error() string { return "csv: " + e.Detail }

var (
	errBareQuote  = syntaxError("a cell with a quotation mark must be quoted, and the mark doubled")
	errAfterQuote = syntaxError("there is text after the quotation mark that ends a cell; " +
		"a mark in a cell must be doubled")
	errOpenQuote = syntaxError("the quotation mark that begins a cell is not closed, " +
		"so the rest of the content is part of the row")
	errBareReturn = syntaxError("a cell with a carriage return must be quoted; rows end with CRLF or LF")
)

func syntaxError(detail string) error { return &SyntaxError{Code: "syntax", Detail: detail} }

// cell is the position of a cell in the text of its row.
type cell struct {
	from, to int
	quoted   bool
}

// rowReader reads one row at a time and reuses the memory of the one before.
type rowReader struct {
	in        *bufio.Reader
	delimiter byte
	max       int64

	most  int    // cells of a row that are stored; the others are counted
	text  []byte // the cells of the row, one after the other
	cells []cell
	count int // of the cells
	line  int // at which the row begins, counted from 1
	lines int // that have been read
	state state
	bad   error // the first error of the row
	from  int   // of the current cell in text
}

// state is the place in a row.
type state uint8

const (
	atStart state = iota // of a cell
	inPlain              // in a cell without quotation marks
	inQuotes
	afterQuote  // which ends a cell, unless another one follows
	afterReturn // outside quotation marks
	inError     // the rest of the line is skipped, because the marks after the error decide nothing
	atEnd       // of the row
)

// skipBOM skips a byte order mark at the beginning of the content.
func (r *rowReader) skipBOM() error {
	mark, err := r.in.Peek(len(bom))
	if err != nil && err != io.EOF {
		return err
	}
	if string(mark) == bom {
		_, err := r.in.Discard(len(bom))
		return err
	}
	return nil
}

// blank reports whether the row is an empty line.
func (r *rowReader) blank() bool {
	return r.count == 1 && r.cells[0] == cell{}
}

// next reads the next row into text and cells. The error is io.EOF after the last row.
func (r *rowReader) next() error {
	r.text, r.cells = r.text[:0], r.cells[:0]
	r.state, r.bad, r.from, r.count = atStart, nil, 0, 0
	r.line = r.lines + 1
	size, whole := int64(0), true // whether the next part begins a line
	for r.state != atEnd {
		part, err := r.in.ReadSlice('\n')
		if whole && len(part) > 0 {
			r.lines++
		}
		whole = err == nil
		if size += int64(len(part)); size > r.max && r.bad == nil {
			r.bad = ErrTooLong
		}
		r.scan(part)
		switch {
		case err == nil || err == bufio.ErrBufferFull:
		case err != io.EOF:
			return err
		case size == 0:
			return io.EOF
		default:
			r.finish()
		}
	}
	return r.bad
}

// finish ends the last row, which may lack its line end.
func (r *rowReader) finish() {
	switch r.state {
	case inQuotes:
		r.bad = errOpenQuote // also if the row is too long, because the mark is the cause
	case afterReturn:
		r.fail(errBareReturn)
	case inError:
	default:
		r.endCell()
	}
	r.state = atEnd
}

// fail sets the error of the row, unless it has one.
func (r *rowReader) fail(err error) {
	if r.bad == nil {
		r.bad = err
	}
	r.state = inError
}

// add appends to the current cell. Cells of a row that has an error are not stored.
func (r *rowReader) add(text []byte) {
	if r.bad == nil && len(r.cells) < r.most {
		r.text = append(r.text, text...)
	}
}

// endCell ends the current cell.
func (r *rowReader) endCell() {
	r.count++
	if r.bad == nil && len(r.cells) < r.most {
		r.cells = append(r.cells, cell{r.from, len(r.text), r.state == afterQuote})
	}
	r.from, r.state = len(r.text), atStart
}

// scan reads a part of the content, which ends at a line end at the latest.
func (r *rowReader) scan(part []byte) {
	for len(part) > 0 && r.state != atEnd {
		switch c := part[0]; r.state {
		case atStart:
			if c == '"' {
				r.state, part = inQuotes, part[1:]
			} else {
				r.state = inPlain
			}
		case inPlain:
			n := 0
			for n < len(part) && !r.endsPlain(part[n]) {
				n++
			}
			r.add(part[:n])
			if part = part[n:]; len(part) > 0 {
				r.separator(part[0], errBareQuote)
				part = part[1:]
			}
		case inQuotes:
			n := bytes.IndexByte(part, '"')
			if n < 0 {
				r.add(part)
				return
			}
			r.add(part[:n])
			r.state, part = afterQuote, part[n+1:]
		case afterQuote:
			if part = part[1:]; c == '"' {
				r.add([]byte{'"'})
				r.state = inQuotes
			} else {
				r.separator(c, errAfterQuote)
			}
		case afterReturn:
			if part = part[1:]; c == '\n' {
				r.state = atEnd
			} else {
				r.fail(errBareReturn)
			}
		case inError:
			// The line may have several parts.
			if part[len(part)-1] == '\n' {
				r.state = atEnd
			}
			return
		}
	}
}

// endsPlain reports whether a cell without quotation marks ends at c.
func (r *rowReader) endsPlain(c byte) bool {
	return c == r.delimiter || c == '"' || c == '\r' || c == '\n'
}

// separator reads the byte after a cell. otherwise is the error for a byte that does not end a cell.
func (r *rowReader) separator(c byte, otherwise error) {
	switch c {
	case r.delimiter:
		r.endCell()
	case '\n':
		r.endCell()
		r.state = atEnd
	case '\r':
		r.endCell()
		r.state = afterReturn
	default:
		r.fail(otherwise)
	}
}
