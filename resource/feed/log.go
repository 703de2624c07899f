package feed

import (
	"context"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// PageBytes is the size of Before and After together, in bytes, at which Tail and Read of a [Log]
// may end a page early. It keeps pages of large items small.
const PageBytes = 4 << 20

// Log stores events in a fixed order. It is safe for concurrent use, by several processes if its
// database is.
type Log interface {
	// Append adds events. If ctx carries a transaction of the log's runner, the events become
	// visible when it commits; otherwise immediately. The cursors of the given events are ignored,
	// and the events are not modified.
	//
	// In a transaction the caller writes its data before it calls Append, so the database has
	// already assigned the transaction its number.
	Append(ctx context.Context, events ...*Event) error
	// Head returns the newest position before which no further event can appear. Tail can start
	// there. Head may wait for open transactions.
	Head(ctx context.Context) (Cursor, error)
	// Tail returns up to max events after a position, in order, and the position after the last of
	// them. If there are no new events it returns none, and after. It may return fewer events if
	// they reach [PageBytes]. It ends before the first position that an open transaction may still
	// fill, so a caller that continues from the returned position misses nothing. The error is
	// [ErrExpired] if after is not a position of the log, such as the zero Cursor.
	//
	// A Feed calls Tail repeatedly from one goroutine. Its result depends on the arguments only,
	// because several Feeds may read one log.
	Tail(ctx context.Context, after Cursor, max int) ([]*Event, Cursor, error)
	// Read returns up to max events after one position up to and including until, a position that
	// Tail or Head has returned. Subscribers that are older than the ring use it. Fewer than max
	// events are all of them, unless they reach [PageBytes]. The error is [ErrExpired] as in Tail,
	// also if after and until are equal: that call checks whether a cursor is valid.
	Read(ctx context.Context, after, until Cursor, max int) ([]*Event, error)
	// Purge removes at most max events, oldest first, and returns their number. It removes events
	// that were appended before the given time, and events beyond the newest keep. A zero time and
	// a keep below 1 disable the respective limit. An event with a time ahead of the clock is as old as
	// the next one without, because a clock was wrong. Purge never removes the newest event, nor events
	// after a position that an open transaction may still fill, because subscribers continue from
	// there.
	Purge(ctx context.Context, before time.Time, keep, max int) (int, error)
	// Wake returns a channel that receives a value when Tail may return new events. It is a hint:
	// values may be missing or spurious, and the Feed polls as well. It is nil if the log has no
	// such notification.
	Wake() <-chan struct{}
}

// Transactor is a [Log] that takes part in transactions. Events that are appended with a context of
// a transaction of its Runner commit or roll back with that transaction. If the Runner of a
// collection is equal, a change and its event are atomic.
type Transactor interface {
	// Transactions returns the Runner of the database that holds the events, always the same one,
	// or nil if there is none.
	Transactions() tx.Runner
}
