package feed

import "errors"

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

// ParseCursor reads what String wrote. The error matches [ErrCursor].
func ParseCursor(text string) (Cursor, error) { panic("not written yet") }

// String returns the cursor as clients get it: at most 35 characters of the URL-safe alphabet of base 64, "" for the zero
// value. Its content is nobody's business but the log's.
func (c Cursor) String() string { panic("not written yet") }

// IsZero reports whether c is no place.
func (c Cursor) IsZero() bool { return c == Cursor{} }
