// Package ndjson reads newline-delimited content of any length in constant memory: line by line,
// with limits, compressed or not, and from a temporary file if it has to be read more than once.
// NewContent and TempFile also read content of other types.
package ndjson

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// Options adjust [NewContent].
type Options struct {
	// Gzip reads compressed content.
	Gzip bool
	// MaxContent limits the decompressed content, in bytes. 0 means no limit.
	MaxContent int64
}

// limit returns the limit of the content for problems, negative if there is none. Lines have another one.
func (o Options) limit() int64 { return cmp.Or(o.MaxContent, -1) }

// Reader reads lines. It is not safe for concurrent use.
type Reader struct {
	in      *bufio.Reader
	maxLine int64
	line    int
}

// NewReader returns a reader of the lines in content, as [NewContent] returns it. maxLine limits a line, in
// bytes without its end.
func NewReader(content io.Reader, maxLine int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(content, readBlock), maxLine: maxLine}
}

// NewContent returns content without its compression. Reading ends when ctx is done: a few bytes of
// gzip can be many empty lines, which nothing else would interrupt. The errors of content are those
// of [httpbody.ReadError] and [httpbody.NewGzipReader].
//
// Content is read in blocks. net/http notices that a client has disconnected only after it has read the
// whole body: a short one, although it may become many lines, is read to its end before the first line.
func NewContent(ctx context.Context, content io.Reader, o Options) (io.Reader, error) {
	content = blocks{content}
	if o.Gzip {
		zr, err := httpbody.NewGzipReader(bufio.NewReaderSize(content, gzipBlock))
		if err != nil {
			return nil, httpbody.ReadError(err, true, o.limit())
		}
		content = zr
	}
	// Limits apply to the decompressed content, because a small body can expand a thousand times.
	return &limited{ctx: ctx, from: content, o: o}, nil
}

// CheckUTF8 returns content unless it begins as UTF-16, which is a 400 problem: with a byte order mark, or as
// ASCII. Tools write files of all types in it. Other errors are those of content.
func CheckUTF8(content io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(content, readBlock)
	b, err := in.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	mark := string(b[:min(2, len(b))])
	if mark == "\xff\xfe" || mark == "\xfe\xff" || len(b) == 4 &&
		(b[0]|b[2] == 0 && b[1] != 0 || b[1]|b[3] == 0 && b[0] != 0) {
		return nil, problem.New(problem.BadRequest, "The content is UTF-16, but must be UTF-8.")
	}
	return in, nil
}

// readBlock is how many bytes of content are read at a time.
const readBlock = 64 << 10

// gzipBlock is how many bytes of compressed content are read at a time.
const gzipBlock = 256 << 10

// blocks fills the buffer of each Read, unless the content ends or fails.
type blocks struct{ from io.Reader }

// Read implements [io.Reader].
func (b blocks) Read(p []byte) (n int, err error) {
	for more := 1; n < len(p) && err == nil && more > 0; n += more {
		more, err = b.from.Read(p[n:])
	}
	return n, err
}

// limited is content that ends when a context is done, or after too many bytes.
type limited struct {
	ctx  context.Context
	from io.Reader
	o    Options
	n    int64
}

// Read implements [io.Reader]. The limit counts bytes of the body, whether or not they form lines.
func (l *limited) Read(p []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := l.from.Read(p)
	if l.n += int64(n); l.o.MaxContent > 0 && l.n > l.o.MaxContent {
		return 0, httpbody.TooLarge(l.o.MaxContent)
	}
	if err != nil && err != io.EOF {
		err = httpbody.ReadError(err, l.o.Gzip, l.o.limit())
	}
	return n, err
}

// ErrTooLong reports a line that is longer than the limit of the Reader. The line has been skipped.
var ErrTooLong = errors.New("the line is too long")

const bom = "\ufeff"

// Append appends the next line to dst, without its end, which the last line may lack. The error
// after the last line is [io.EOF]. After [ErrTooLong] the next line can be read. Line ends may be
// LF or CRLF; white space at the end of a JSON value has no meaning. A byte order mark before the first
// line is skipped.
func (r *Reader) Append(dst []byte) ([]byte, error) {
	if r.line == 0 {
		if mark, _ := r.in.Peek(len(bom)); string(mark) == bom { // ReadSlice returns the error
			_, _ = r.in.Discard(len(bom)) // it is in the buffer
		}
	}
	start, long := len(dst), false
	for first := true; ; first = false {
		part, err := r.in.ReadSlice('\n')
		if first && (len(part) > 0 || err == nil) {
			r.line++
		}
		// A line that is too long is read to its end, but no longer stored.
		if long = long || int64(len(dst)-start+len(bytes.TrimRight(part, "\r\n"))) > r.maxLine; !long {
			dst = append(dst, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && first && len(part) == 0:
			return dst, io.EOF
		case err != nil && err != io.EOF:
			return dst, err
		case long:
			return dst[:start], ErrTooLong
		}
		return dst[:start+len(bytes.TrimRight(dst[start:], "\r\n"))], nil
	}
}

// Line returns the number of the line that was read last, counted from 1.
func (r *Reader) Line() int { return r.line }

// TempFile is content in a temporary file: it can be read several times, without waiting for the
// client. Each attempt of a transaction reads it from its beginning.
type TempFile struct{ file *os.File }

// NewTempFile copies content to a temporary file. Content of more than max bytes is rejected with
// [httpbody.TooLarge]. The caller calls Remove.
func NewTempFile(content io.Reader, max int64) (*TempFile, error) {
	file, err := os.CreateTemp("", "stoa-import-")
	if err != nil {
		return nil, err
	}
	temp := &TempFile{file}
	// One byte more than the limit shows that there is more content.
	n, err := io.Copy(file, io.LimitReader(content, max+1))
	switch {
	case err != nil:
		err = httpbody.ReadError(err, false, max)
	case n > max:
		err = httpbody.TooLarge(max)
	}
	if err != nil {
		temp.Remove()
		return nil, err
	}
	return temp, nil
}

// Rewind returns the file for reading from its beginning.
func (t *TempFile) Rewind() (io.Reader, error) {
	_, err := t.file.Seek(0, io.SeekStart)
	return t.file, err
}

// Remove closes and deletes the file.
func (t *TempFile) Remove() {
	t.file.Close()
	os.Remove(t.file.Name())
}
