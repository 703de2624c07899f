package feed

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// ErrExpired says that the events behind a cursor are not all there (any more): they were purged, or the cursor is of
// another log, or of a future that a restored backup has lost. The listener has to list anew.
var ErrExpired = errors.New("feed: the events behind the cursor are not there any more")

// ErrCursor says that a text is no cursor.
var ErrCursor = errors.New("feed: that is no cursor")

// Cursor is a place in a log: right behind one of its events, or before the first. It is comparable, and the zero value is
// no place.
//
// Epoch is drawn once for each log, so that the cursors of two are told apart. Mark is drawn for each event and kept with
// it: Seq is the place of another event if a backup was restored and the log went on from there, and then the mark differs.
type Cursor struct {
	Epoch, Seq, Mark uint64
}

// Of the text: epoch, sequence number and mark, of which the number is as short as it can be.
const (
	cursorBytes = 8 + binary.MaxVarintLen64 + 8
	cursorText  = (cursorBytes*8 + 5) / 6
)

// ParseCursor reads what String wrote, and nothing else: a cursor has one text. The error matches [ErrCursor].
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
	// The decoder is lenient with line feeds and with the last bits, and a number can be written longer than it is.
	if c.String() != text {
		return Cursor{}, ErrCursor
	}
	return c, nil
}

// String returns the cursor as clients get it: at most 35 characters of the URL-safe alphabet of base 64, "" for the zero
// value. Its content is nobody's business but the log's.
func (c Cursor) String() string {
	var text [cursorText]byte
	return string(c.AppendTo(text[:0]))
}

// AppendTo appends what String returns, and returns the extended slice.
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

// IsZero reports whether c is no place.
func (c Cursor) IsZero() bool { return c == Cursor{} }
