package exec

// Subscriptions: one run of the plan for each change. Called by package graphql for WebSocket and
// SSE; the changes come from package fetch.

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"maps"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/problem"
)

// Message is the message of a subscription about one change.
type Message struct {
	// JSON is an execution result. It is shared with other subscriptions, so the caller must not
	// modify it or keep it beyond the next message. It is nil for a bookmark, which only carries a
	// Cursor.
	JSON []byte
	// Cursor is the position after the change, for protocols that resume by other means than the
	// argument after, such as Last-Event-ID.
	Cursor feed.Cursor
	// Time is when the event was appended to the log; zero if it is not known.
	Time time.Time
}

// Subscribe starts a subscription for a plan of the kind "subscription". The errors are request
// errors; nothing has been executed then. last is a cursor to resume from. It takes precedence over
// the argument after and may be empty.
//
// Without a cursor the subscription starts at the time of the call. The iterator can be used once.
// It runs in the goroutine of the caller and ends without an error when ctx is done.
//
// Field errors are part of a message and do not end the subscription. An error is the last element:
// a [*gqlerror.Error] for the client, such as CURSOR_EXPIRED or UNAUTHENTICATED, or
// [feed.ErrClosed] during a shutdown.
func (e *Engine) Subscribe(ctx context.Context, p *Plan, variables map[string]jsontext.Value,
	last string) (iter.Seq2[Message, error], []*gqlerror.Error) {
	s, errs := e.newSubscription(p, variables, last)
	if errs != nil {
		return nil, errs
	}
	if err := s.watching.Begin(ctx); err != nil {
		return nil, []*gqlerror.Error{s.located(gqlerror.Of(err))}
	}
	return func(yield func(Message, error) bool) { s.listen(ctx, yield) }, nil
}

// subscription is a running subscription. It is the only memory held while there are no changes.
// Its variables and switches do not change, so all messages have the same fields.
type subscription struct {
	e         *Engine
	plan      *Plan
	field     *field // the root field
	variables map[string]any
	watching  *fetch.Watching
	// key is a messageKey if messages are shared, and nil otherwise.
	key any
}

// newSubscription coerces variables and arguments. It returns request errors.
func (e *Engine) newSubscription(p *Plan, variables map[string]jsontext.Value,
	last string) (*subscription, []*gqlerror.Error) {
	r := e.begin(p)
	defer r.end()
	if errs := r.prepare(variables); errs != nil {
		return nil, errs
	}
	s := &subscription{e: e, plan: p, variables: make(map[string]any, len(r.variables))}
	maps.Copy(s.variables, r.variables) // the map of the run may have the size of that of another plan
	for i := range p.root.ops {
		if st := &p.root.ops[i]; st.write == changed && r.on[st.when] {
			s.field = st.field
		}
	}
	if s.field == nil { // validation ensures that there is one
		return nil, []*gqlerror.Error{unresolvable("The operation selects no subscription field.")}
	}
	args, err := r.args(s.field)
	if err == nil {
		s.watching, err = e.fetch.Watching(s.field.def, args, last)
	}
	if err != nil {
		reply, _ := clientErrorOf(err)
		return nil, []*gqlerror.Error{s.located(reply)}
	}
	if r.sharable() {
		s.key = r.shareKey()
	}
	return s, nil
}

// located adds the path and locations of the root field to an error.
func (s *subscription) located(e *gqlerror.Error) *gqlerror.Error {
	out := *e
	out.Locations, out.Path = s.field.locations, []any{s.field.key}
	return &out
}

// listen yields messages until an error or the end of the context.
func (s *subscription) listen(ctx context.Context, yield func(Message, error) bool) {
	inCaller := false // code of the caller is running; its panics are not recovered
	defer func() {
		if inCaller {
			return
		}
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			panic(v)
		default:
			yield(Message{}, s.located(s.e.panicked(ctx, v)))
		}
	}()
	for change, err := range s.watching.Changes(ctx) {
		if err != nil {
			inCaller = true
			yield(Message{}, s.end(ctx, err))
			return
		}
		var json []byte
		if change.Kind != feed.Bookmark {
			json = s.message(ctx, change)
		}
		// An incomplete message is not sent, because the client would resume after it.
		if ctx.Err() != nil {
			return
		}
		inCaller = true
		if !yield(Message{json, change.Cursor, change.Time}, nil) {
			return
		}
		inCaller = false
	}
}

// end returns the last error of the subscription. A closed feed is not an error of the request: the
// client can resume with another process.
func (s *subscription) end(ctx context.Context, err error) error {
	if errors.Is(err, feed.ErrClosed) {
		return feed.ErrClosed
	}
	reply := gqlerror.Of(err)
	if reply.Problem != nil && reply.Problem.Kind == problem.Internal {
		s.e.log(ctx, "stoa: internal error", "instance", reply.Problem.Instance, "field", s.field.def.Name,
			"error", gqlerror.Truncate(err.Error()))
	}
	return s.located(reply)
}

// message returns the message for a change. Subscriptions with the same key share it.
func (s *subscription) message(ctx context.Context, change *feed.Change[resource.Entry]) []byte {
	if s.key == nil {
		return s.write(ctx, change)
	}
	// The context of the first subscription may end while it writes the message for all.
	var own []byte
	kept := change.Memo(s.key, func() any {
		own = s.write(context.WithoutCancel(ctx), change)
		return s.e.messages.keep(own)
	}).(*keptMessage)
	if json := kept.json.Load(); json != nil {
		return *json
	}
	if own == nil { // it has been evicted
		own = s.write(ctx, change)
	}
	return own
}

// write returns a new message.
func (s *subscription) write(ctx context.Context, change *feed.Change[resource.Entry]) []byte {
	// Runs are pooled, so an idle subscription holds no buffers.
	r := s.e.begin(s.plan)
	defer r.end()
	r.variables, r.change = s.variables, change
	r.evalConditions() // cannot fail: it succeeded for these variables in prepare
	r.coerceArguments()
	if s.key == nil && s.e.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.e.cfg.Timeout)
		defer cancel()
	}
	json, _ := r.execute(ctx, nil)
	return json
}

// sharable reports whether the message depends on the change only. This is the case if no field below
// the item is fetched, because a fetch may return different results to different clients.
func (r *run) sharable() bool {
	for i := range r.plan.root.fetches {
		item := &r.plan.root.fetches[i]
		if !r.active(item) {
			continue
		}
		for j := range item.sub.fetches {
			if r.active(&item.sub.fetches[j]) {
				return false
			}
		}
	}
	return true
}

// messageKey identifies equal messages about a change. It does not refer to the plan, because
// changes are kept longer than subscriptions. Variables are not part of it: they only affect the
// filter, and the conditions that the switches represent.
type messageKey struct {
	engine *Engine // several engines may use one resource
	plan   uint64
	on     [sha256.Size]byte // hash of the switches; zero if there are none
}

// shareKey returns the key of this run's messages.
func (r *run) shareKey() messageKey {
	key := messageKey{engine: r.e, plan: r.plan.id}
	if len(r.plan.choices) > 0 {
		bits := make([]byte, len(r.on))
		for i, on := range r.on {
			if on {
				bits[i] = 1
			}
		}
		key.on = sha256.Sum256(bits)
	}
	return key
}

// changeField appends a field of a change. All values except the item are part of the change
// itself.
func (r *run) changeField(n *field) bool {
	c := r.change
	switch n.write {
	case changeKind:
		r.dst = append(append(append(r.dst, '"'), kindNames[c.Kind]...), '"')
	case changeCursor:
		r.appendFeedCursor(c.Cursor)
	case changeID:
		if of := n.def.Resource; of != nil {
			r.globalID(of, c.ID)
			return true
		}
		return r.finish(n, r.text(c.ID))
	case changeItem:
		return r.changedItem(n)
	}
	return true
}

// changedItem appends the item of a change, or null if it was deleted.
func (r *run) changedItem(n *field) bool {
	l := &r.loaded[n.fetchIndex]
	if l.err != nil {
		return r.failAt(n, l.err)
	}
	if !l.found {
		return false
	}
	r.path = append(r.path, segment{key: n.key})
	ok := r.item(n, l.item[:], 0)
	r.path = r.path[:len(r.path)-1]
	return ok
}

// kindNames has the values of the enum ChangeKind.
var kindNames = [...]string{feed.Created: "CREATED", feed.Updated: "UPDATED", feed.Deleted: "DELETED"}

// appendFeedCursor appends a cursor of the feed as a string.
func (r *run) appendFeedCursor(c feed.Cursor) {
	r.dst = append(c.AppendTo(append(r.dst, '"')), '"')
}
