package eventstream

// The parser of streams, for clients and tests.

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

// ErrTooLong reports that a line or an event exceeds [ReaderOptions.Max].
var ErrTooLong = errors.New("eventstream: event too long")

// ReaderOptions configures a Reader. The zero value selects the defaults.
type ReaderOptions struct {
	// Max limits a line, and the data of an event, in bytes. Default 16 MiB.
	Max int
	// Comment, if not nil, is called with the text of each comment, such as a heartbeat.
	Comment func(text string)
	// Positions makes Next also return blocks that only set the ID, as events with nil Data. A
	// browser does not dispatch these, and sends the ID when it reconnects.
	Positions bool
}

// Reader parses a stream as specified in WHATWG HTML section 9.2.6. It is not safe for concurrent
// use.
type Reader struct {
	lines   *bufio.Reader
	max     int
	comment func(string)

	positions bool

	begun, afterCR bool
	line           []byte
	id             string // the last event ID
	nextID         string // the last event ID after the current block
	name           string
	data           []byte // with a line feed after each line
	retry          time.Duration
	err            error
}

// NewReader returns a Reader of r. A nil opts selects the defaults.
func NewReader(r io.Reader, opts *ReaderOptions) *Reader {
	if opts == nil {
		opts = &ReaderOptions{}
	}
	return &Reader{lines: bufio.NewReader(r), max: cmp.Or(max(opts.Max, 0), 16<<20), comment: opts.Comment,
		positions: opts.Positions}
}

// LastID returns the last event ID, the value of Last-Event-ID to continue from here. It is empty
// if there was none.
func (r *Reader) LastID() string { return r.id }

// Retry returns the reconnection time that the server has requested, or zero if it has not.
func (r *Reader) Retry() time.Duration { return r.retry }

// Next returns the next event. Its ID is the last event ID, which an earlier event may have set.
// Data belongs to the caller. It is nil only with [ReaderOptions.Positions].
//
// At the end of the stream the error is [io.EOF]; an incomplete event is discarded. An event that
// is too long is [ErrTooLong]. After an error each call returns the same error.
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

// dispatch ends a block. The block is an event if it had a data field.
func (r *Reader) dispatch() (Event, bool) {
	moved := r.id != r.nextID
	r.id = r.nextID
	e := Event{ID: r.id, Name: r.name}
	r.name = ""
	if len(r.data) == 0 {
		return Event{ID: r.id}, moved && r.positions
	}
	e.Data = r.data[:len(r.data)-1] // without the line feed of the last line
	r.data = nil
	return e, true
}

// field parses one line.
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

// setRetry sets the reconnection time. Values that are not decimal digits are ignored.
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

// skipBOM skips a byte order mark. It does not block for more bytes than the mark needs.
func (r *Reader) skipBOM() {
	const bom = "\ufeff"
	if first, _ := r.lines.Peek(1); len(first) == 0 || first[0] != bom[0] {
		return
	}
	if start, _ := r.lines.Peek(len(bom)); string(start) == bom {
		r.lines.Discard(len(bom))
	}
}

// readLine returns a line without its end, which is CR LF, LF or CR. It returns after a CR without
// waiting for the next byte.
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
		case c == '\n' && afterCR: // the LF of a CR LF
		case c == '\n' || c == '\r':
			return r.line, nil
		case len(r.line) >= r.max:
			return nil, ErrTooLong
		default:
			r.line = append(r.line, c)
		}
	}
}
