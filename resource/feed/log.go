package feed

import (
	"context"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// PageBytes is how large events of a [Log] are together, in Before and After, when Tail and Read may return them though there
// are more: so items of a megabyte do not come by the hundred.
const PageBytes = 4 << 20

// Log keeps events in an order that never changes. It is safe for concurrent use, also by several processes where the
// store behind it is.
type Log interface {
	// Append adds events. With a context that carries a transaction of the log's runner they are there if it is committed,
	// else at once. Cursors that they come with do not count.
	//
	// The caller has written its data in the transaction before, so that the transaction is known to the database.
	Append(ctx context.Context, events ...*Event) error
	// Head returns the newest place before which no event can turn up any more, so that Tail goes on from there. It may wait
	// for transactions that are not over.
	Head(ctx context.Context) (Cursor, error)
	// Tail returns events behind a place, in order, at most max, and the place behind the last: none, and after itself, if
	// there is nothing new. It may return fewer once they are as large as [PageBytes]. It ends before the first place at
	// which an event may still turn up, as the transaction that has taken it is not over: whoever goes on from the last
	// place misses nothing. [ErrExpired] if after is none of its places.
	//
	// A Feed calls it again and again, from one goroutine. What Tail has to remember between two calls is in the Log, and
	// what it returns depends on the place alone, as there may be several Feeds.
	Tail(ctx context.Context, after Cursor, max int) ([]*Event, Cursor, error)
	// Read is for those who come later: events behind after up to and with until, which Tail or Head has returned, at most
	// max. Less than max are all, unless they are as large as PageBytes, where a page may end. [ErrExpired] as in Tail,
	// also where after and until are the same: so it is asked whether something is a place.
	Read(ctx context.Context, after, until Cursor, max int) ([]*Event, error)
	// Purge removes at most max events, oldest first, and returns how many: those appended before a time, the zero time being
	// before all, and those that are not among the newest keep; below 1 no number is too large. The newest of all stays, and
	// so does what is behind a place at which an event may still turn up, as whoever has come there has to go on.
	Purge(ctx context.Context, before time.Time, keep, max int) (int, error)
	// Wake returns a channel which gets a value when there may be something new for Tail: a hint, which may be lost or wrong,
	// so whoever tails looks by itself too. Nil if the log has none to give.
	Wake() <-chan struct{}
}

// Transactor is a Log that takes part in transactions: what is appended with a context that carries one of its Runner is
// there if that is committed. Where the collection has an equal one, a change and its event stand or fall together.
type Transactor interface {
	// Transactions returns the Runner of the database that holds the events, the same each time; nil if there is none.
	Transactions() tx.Runner
}
