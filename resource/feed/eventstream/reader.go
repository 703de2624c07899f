package eventstream

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"strconv"
	"time"
)

// ErrTooLong says that an event is longer than the Reader takes.
var ErrTooLong = errors.New("eventstream: the event is too long")

// ReaderOptions adjust a Reader. The zero value is meaningful.
type ReaderOptions struct {
	// Max is how many bytes a line may have, and the data of an event; 16 MiB if zero.
	Max int
	// Comment is called with each comment, unless it is nil: that is how tests see heartbeats.
	Comment func(text string)
}

// Reader reads a stream, as WHATWG HTML section 9.2.6 says. It is for one goroutine.
type Reader struct {
	lines   *bufio.Reader
	max     int
	comment func(string)

	begun, afterCR bool
	line           []byte
	id             string // the one in force
	nextID         string // the one from the end of the block on
	name           string
	data           []byte // with a line feed behind each line
	retry          time.Duration
	err            error
}

// NewReader returns a Reader of a stream. opts may be nil.
func NewReader(r io.Reader, opts *ReaderOptions) *Reader {
	if opts == nil {
		opts = &ReaderOptions{}
	}
	return &Reader{lines: bufio.NewReader(r), max: cmp.Or(max(opts.Max, 0), 16<<20), comment: opts.Comment}
}

// LastID is what goes into Last-Event-ID to go on from here: the id that was last in force, "" if there was none.
func (r *Reader) LastID() string { return r.id }

// Retry is how long the stream wants its reader to wait before it comes back; zero if it has not said so.
func (r *Reader) Retry() time.Duration { return r.retry }

// Next returns the next event. Its ID is the one in force, which may have come with an event before. Data is never nil, and
// the caller's.
//
// At the end of the stream the error is [io.EOF], also within an event, which is lost then: it was not complete. An event
// that is longer than the Reader takes is [ErrTooLong]. All calls after an error return the same.
func (r *Reader) Next() (Event, error) {
	for r.err == nil {
		var line []byte
		if line, r.err = r.readLine(); r.err != nil {
			break
		}
		if len(line) > 0 {
			r.err = r.field(line)
			continue
		}
		if e, ok := r.dispatch(); ok {
			return e, nil
		}
	}
	return Event{}, r.err
}

// dispatch ends a block. It is an event if there was a data field, even an empty one.
func (r *Reader) dispatch() (Event, bool) {
	r.id = r.nextID
	e := Event{ID: r.id, Name: r.name}
	r.name = ""
	if len(r.data) == 0 {
		return Event{}, false
	}
	e.Data = r.data[:len(r.data)-1] // but for the line feed of the last line
	r.data = nil
	return e, true
}

// field reads one line.
func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(name) == 0 && r.comment != nil {
		r.comment(string(bytes.TrimPrefix(value, []byte(" "))))
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		r.name = string(value)
	case "data":
		if len(r.data)+len(value) > r.max {
			return ErrTooLong
		}
		r.data = append(append(r.data, value...), '\n')
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.nextID = string(value)
		}
	case "retry":
		r.setRetry(value)
	}
	return nil
}

// setRetry passes over what is not made of digits only.
func (r *Reader) setRetry(value []byte) {
	for _, c := range value {
		if c < '0' || c > '9' {
			return
		}
	}
	const most = math.MaxInt64 / int64(time.Millisecond)
	if ms, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		r.retry = time.Duration(min(ms, most)) * time.Millisecond
	}
}

// skipBOM skips a byte order mark, and waits for no more than the stream has if there is none.
func (r *Reader) skipBOM() {
	const bom = "\ufeff"
	if first, _ := r.lines.Peek(1); len(first) == 0 || first[0] != bom[0] {
		return
	}
	if start, _ := r.lines.Peek(len(bom)); string(start) == bom {
		r.lines.Discard(len(bom))
	}
}

// readLine returns a line without its end, which is CR LF, LF or CR. After CR it does not wait for what comes next.
func (r *Reader) readLine() ([]byte, error) {
	if !r.begun {
		r.begun = true
		r.skipBOM()
	}
	r.line = r.line[:0]
	for {
		c, err := r.lines.ReadByte()
		if err != nil {
			return nil, err
		}
		afterCR := r.afterCR
		r.afterCR = c == '\r'
		switch {
		case c == '\n' && afterCR: // the second half of a line end
		case c == '\n' || c == '\r':
			return r.line, nil
		case len(r.line) >= r.max:
			return nil, ErrTooLong
		default:
			r.line = append(r.line, c)
		}
	}
}
