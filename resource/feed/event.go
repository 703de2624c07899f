package feed

import "time"

// Kind is what happened to an item.
type Kind uint8

// The kinds.
const (
	Bookmark Kind = iota // nothing: it says how far the listener has come, so that its cursor does not grow old
	Created
	Updated
	Deleted
)

// Event is one change to one item. It is shared by all who listen, so nobody changes what it refers to.
type Event struct {
	Kind Kind
	// Collection is the name of the resource whose item it is: the newest shape's, not that of a view.
	Collection string
	// ID is that of the item, and Rev the revision that the change left; of what was deleted, the last that it had.
	ID, Rev string
	// Before and After are the item as it was and as it is, in JSON as the collection holds it, so that policy and filters can
	// judge the change: Before is nil for what was created, and After for what was deleted.
	Before, After []byte
	// Time is when the event was appended, by the clock of who appended it.
	Time time.Time
	// Cursor is the place right behind the event. The log sets it.
	Cursor Cursor
}

// Memo returns what made returned when Memo was called first with this key: what many listeners need of an event is so made
// once for all of them, such as the item decoded or a frame encoded. Keys are compared with ==. It is safe for concurrent
// use, and what waits for the first does so until made returns.
func (e *Event) Memo(key any, made func() any) any { panic("not written yet") }
