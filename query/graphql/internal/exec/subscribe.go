package exec

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/problem"
)

// Message is what a subscription says of one change.
type Message struct {
	// JSON is a whole execution result: {"data":{...}}, with errors in front if there are any. It is shared with all who have
	// asked for the same: nobody changes it, and it is not kept beyond the next message. Nil is a bookmark: nothing happened,
	// and only Cursor is news.
	JSON []byte
	// Cursor is the place behind the change, for doors that have a way of their own to go on, such as Last-Event-ID.
	Cursor feed.Cursor
}

// Subscribe begins to listen for a plan of the kind "subscription". The errors say why it is not executed; then nobody was
// asked for anything. last is the text of the Cursor from which a client goes on, empty for none; it goes before the
// argument after.
//
// Without last and after it tells what happens from now on, not from when it is first asked for a message. What it
// returns is for one use, and runs in the goroutine of the caller, until ctx ends: that ends it without an error.
// What is wrong with a field is told in the message, which need not be the last. An error is the last it yields, and either a
// [*gqlerror.Error], which is for the client, among them CURSOR_EXPIRED, after which it has to list anew, and
// UNAUTHENTICATED; or [feed.ErrClosed], which says that the process goes down, and the client is to go on elsewhere.
func (e *Engine) Subscribe(ctx context.Context, p *Plan, variables map[string]jsontext.Value,
	last string) (iter.Seq2[Message, error], []*gqlerror.Error) {
	s, errs := e.newSubscription(p, variables, last)
	if errs != nil {
		return nil, errs
	}
	s.watching.Begin(ctx)
	return func(yield func(Message, error) bool) { s.listen(ctx, yield) }, nil
}

// subscription is an operation that somebody listens to. As long as nothing happens, this is all that is held for it.
type subscription struct {
	e         *Engine
	plan      *Plan
	field     *field // of the root
	variables map[string]any
	watching  *fetch.Watching
	// a sharing: under which all who ask for the same find a message; nil if it is for this one alone
	key any
}

// newSubscription coerces variables and reads the arguments. The errors say what is wrong with them.
func (e *Engine) newSubscription(p *Plan, variables map[string]jsontext.Value,
	last string) (*subscription, []*gqlerror.Error) {
	r := e.begin(p)
	defer r.end()
	if errs := r.prepare(variables); errs != nil {
		return nil, errs
	}
	s := &subscription{e: e, plan: p, variables: r.variables}
	for i := range p.root.ops {
		if st := &p.root.ops[i]; st.write == changed && r.on[st.when] {
			s.field = st.field
		}
	}
	if s.field == nil { // validation has seen to it that there is one
		return nil, []*gqlerror.Error{unresolvable("The operation subscribes to nothing.")}
	}
	args, err := r.args(s.field)
	if err == nil {
		s.watching, err = e.fetch.Watching(s.field.def, args, last)
	}
	if err != nil {
		told, _ := clientErrorOf(err)
		return nil, []*gqlerror.Error{s.located(told)}
	}
	if r.alike() {
		s.key = r.shareKey()
	}
	return s, nil
}

// located says that an error is one of the field at the root.
func (s *subscription) located(e *gqlerror.Error) *gqlerror.Error {
	out := *e
	out.Places, out.Path = s.field.places, []any{s.field.key}
	return &out
}

// listen yields messages until something ends that.
func (s *subscription) listen(ctx context.Context, yield func(Message, error) bool) {
	telling := false // it is the caller's code that runs, and its panics are its own
	defer func() {
		if telling {
			return
		}
		if v := recover(); v != nil {
			yield(Message{}, s.located(s.e.panicked(ctx, v)))
		}
	}()
	for change, err := range s.watching.Changes(ctx) {
		if err != nil {
			telling = true
			yield(Message{}, s.end(ctx, err))
			return
		}
		var json []byte
		if change.Kind != feed.Bookmark {
			json = s.message(ctx, change)
		}
		// What was given up half-way is not told: the client would take it for what there was, and go on behind it.
		if ctx.Err() != nil {
			return
		}
		telling = true
		if !yield(Message{json, change.Cursor}, nil) {
			return
		}
		telling = false
	}
}

// end returns with which error the messages end.
func (s *subscription) end(ctx context.Context, err error) error {
	if errors.Is(err, feed.ErrClosed) {
		return feed.ErrClosed
	}
	told := gqlerror.Of(err)
	if told.Problem != nil && told.Problem.Kind == problem.Internal {
		s.e.log(ctx, "stoa: internal error", "instance", told.Problem.Instance, "field", s.field.def.Name,
			"error", gqlerror.Cut(err.Error()))
	}
	return s.located(told)
}

// message returns what is told of a change. Those who ask for the same, about a change that is the same for them, share it.
func (s *subscription) message(ctx context.Context, change *feed.Change[resource.Entry]) []byte {
	if s.key == nil {
		return s.write(ctx, change)
	}
	// Whoever is the first may leave at any time, and what it writes is for all.
	var own []byte
	kept := change.Memo(s.key, func() any {
		own = s.write(context.WithoutCancel(ctx), change)
		return s.e.messages.keep(own)
	}).(*keptMessage)
	if json := kept.json.Load(); json != nil {
		return *json
	}
	if own == nil { // it had to make room for others meanwhile
		own = s.write(ctx, change)
	}
	return own
}

// write makes a message.
func (s *subscription) write(ctx context.Context, change *feed.Change[resource.Entry]) []byte {
	r := s.e.begin(s.plan)
	defer r.end()
	r.variables, r.change = s.variables, change
	r.evalConditions() // it did not fail with these variables, and nothing else is in it
	r.coerceArguments()
	if s.key == nil && s.e.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.e.cfg.Timeout)
		defer cancel()
	}
	r.loadRoot(ctx)
	json, _ := r.answer(ctx, nil)
	return json
}

// alike reports whether a message depends on nothing but the change: no field below the item is asked of anybody, who might
// give one client what it does not give another.
func (r *run) alike() bool {
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

// messageKey identifies the messages about one change that are alike. It does not refer to the plan, because changes are
// kept longer than subscriptions last.
type messageKey struct {
	engine *Engine // several may tell the changes of one resource
	plan   uint64
	on     [sha256.Size]byte // the switches, if there are any
}

// shareKey returns the key under which other subscriptions to the same change find the message of this run.
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

// changeField appends a field of a change.
func (r *run) changeField(n *field) bool {
	c := r.change
	switch n.write {
	case changeKind:
		r.dst = append(append(append(r.dst, '"'), kindNames[c.Kind]...), '"')
	case changeCursor:
		r.appendFeedCursor(c.Cursor)
	case changeID:
		return r.finish(n, r.text(c.ID))
	case changeItem:
		return r.changedItem(n)
	}
	return true
}

// changedItem appends the item of a change, if it is still there.
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

// kindNames are the values of the enum ChangeKind.
var kindNames = [...]string{feed.Created: "CREATED", feed.Updated: "UPDATED", feed.Deleted: "DELETED"}

// appendFeedCursor appends a place in a feed.
func (r *run) appendFeedCursor(c feed.Cursor) {
	r.dst = append(c.AppendTo(append(r.dst, '"')), '"')
}
