package feed

// Positions in a log, and their text form.

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// ErrExpired reports that events after a cursor are missing: they were purged, or the cursor
// belongs to another log or to a position that a restored backup has lost. The subscriber has to
// list the collection again.
var ErrExpired = errors.New("feed: cursor expired")

// ErrCursor reports that a text is not a cursor.
var ErrCursor = errors.New("feed: invalid cursor")

// Cursor is a position in a log: after one of its events, or before the first. It is comparable
// with ==. The zero value is not a position; most functions take it as "now".
//
// Epoch is a random number of the log, so cursors of different logs differ. Seq is the number of
// the event. Mark is a random number of the event: if a restored log assigns the same Seq to
// another event, the marks differ.
type Cursor struct {
	Epoch, Seq, Mark uint64
}

// The binary form has the epoch, the sequence number as a varint, and the mark.
const (
	cursorBytes = 8 + binary.MaxVarintLen64 + 8
	cursorText  = (cursorBytes*8 + 5) / 6
)

// ParseCursor parses the text of [Cursor.String]. Each cursor has exactly one valid text. For any
// other text, and "", the error is [ErrCursor].
func ParseCursor(text string) (Cursor, error) {
	if len(text) > cursorText {
		return Cursor{}, ErrCursor
	}
	var raw [cursorBytes]byte
	n, err := base64.RawURLEncoding.Decode(raw[:], []byte(text))
	if err != nil || n <= 16 {
		return Cursor{}, ErrCursor
	}
	seq, size := binary.Uvarint(raw[8 : n-8])
	if size != n-16 {
		return Cursor{}, ErrCursor
	}
	c := Cursor{binary.BigEndian.Uint64(raw[:]), seq, binary.BigEndian.Uint64(raw[n-8:])}
	// The decoder accepts line feeds, nonzero trailing bits and varints that are longer than
	// needed.
	if c.String() != text {
		return Cursor{}, ErrCursor
	}
	return c, nil
}

// String returns the text that clients receive: at most 35 characters of URL-safe base64, or "" for
// the zero value. Only the log interprets it.
func (c Cursor) String() string {
	var text [cursorText]byte
	return string(c.AppendTo(text[:0]))
}

// AppendTo appends the text of [Cursor.String] to text and returns the extended slice.
func (c Cursor) AppendTo(text []byte) []byte {
	if c.IsZero() {
		return text
	}
	var raw [cursorBytes]byte
	b := binary.BigEndian.AppendUint64(raw[:0], c.Epoch)
	b = binary.AppendUvarint(b, c.Seq)
	b = binary.BigEndian.AppendUint64(b, c.Mark)
	return base64.RawURLEncoding.AppendEncode(text, b)
}

// IsZero reports whether c is the zero value.
func (c Cursor) IsZero() bool { return c == Cursor{} }
