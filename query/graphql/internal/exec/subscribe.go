package exec

import (
	"context"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/fault"
	"github.com/stoa-go/stoa/resource/feed"
)

// Message is what a subscription says of one change.
type Message struct {
	// JSON is a whole execution result: {"data":{...}}, with errors in front if there are any. It is shared with all who have
	// asked for the same: it is neither kept beyond the next message nor changed.
	JSON []byte
	// Cursor is the place behind the change, for doors that have a way of their own to go on, such as Last-Event-ID.
	Cursor feed.Cursor
}

// Subscribe begins to listen for a plan of the kind "subscription". The errors say why it is not executed; then nobody was
// asked for anything. last is the text of the Cursor from which a client goes on, empty for none; it goes before the
// argument after.
//
// What it returns is for one use, and runs in the goroutine of the caller, until ctx ends: that ends it without an error.
// What is wrong with a field is told in the message, which need not be the last. An error is the last it yields, and either a
// [*fault.Error], which is for the client, among them CURSOR_EXPIRED, after which it has to list anew, and
// UNAUTHENTICATED; or [feed.ErrClosed], which says that the process goes down, and the client is to go on elsewhere.
func (e *Engine) Subscribe(ctx context.Context, p *Plan, variables map[string]jsontext.Value, last string) (iter.Seq2[Message, error], []*fault.Error) {
	return nil, []*fault.Error{unresolvable("Nothing is subscribed to yet.")}
}
