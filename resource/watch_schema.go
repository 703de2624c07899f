package resource

// Events of programs with another type of the items, such as an earlier release during a rolling
// deployment. Called by watch.go. It calls the store.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
)

// The documents of such an event lack the fields that its writer did not have, and to decode them
// would set those to zero. So the item after the event is read from the collection. It may be newer
// than the event: then subscribers receive the newer item now, and again with its own event. In the
// end their view is that of the last event.
//
// The item before the event cannot be read any more. A filter excludes it only by fields that the
// writer had. A subscriber that may have the item receives a deletion, which does no harm if it has
// not. Policy gets the unknown fields from the item after the event, because a writer does not change
// fields that it does not have. If that item is newer than the event, or there is none, policy cannot
// decide. A subscriber that may see the item now receives it as created, because the change must not
// show the item before. The stream of any other subscriber ends with [feed.ErrExpired].

// decodeOrRead returns the items of an event, and reads those of another schema from the collection.
func (c *core) decodeOrRead(ctx context.Context, e *feed.Event) (*decodedEvent, error) {
	if !c.foreign(e.Schema) || c.ops.watch != nil {
		item := c.decode(e)
		return item, item.err
	}
	f := e.Memo(c, func() any { return &foreignEvent{} }).(*foreignEvent)
	f.mu.Lock() // one subscriber reads, and an error is only its own: its ctx may be done
	defer f.mu.Unlock()
	if f.item == nil {
		item, err := c.readForeign(ctx, e)
		if err != nil {
			return nil, err
		}
		f.item = item
	}
	return f.item, nil
}

// foreignEvent has the items of an event of another schema once they have been read.
type foreignEvent struct {
	mu   sync.Mutex
	item *decodedEvent
}

// readForeign returns the items of an event of another schema.
func (c *core) readForeign(ctx context.Context, e *feed.Event) (*decodedEvent, error) {
	item := &decodedEvent{}
	if e.Kind != feed.Deleted {
		now, err := c.ops.get(ctx, e.ID, nil)
		switch {
		case err == nil:
			item.after = &snapshot{Entry: *now, core: c}
		case !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone):
			return nil, err
		}
	}
	if e.Before != nil {
		item.before = c.decodeKnown(e, item.after)
	}
	return item, nil
}

// decodeKnown decodes the item before an event of another schema. If it cannot be decoded, no field is
// known.
func (c *core) decodeKnown(e *feed.Event, after *snapshot) *snapshot {
	m := &snapshot{core: c, known: map[string]bool{}}
	decoded, err := c.decodeItem(e.Before)
	var members map[string]jsontext.Value
	if err != nil || json.Unmarshal(e.Before, &members) != nil {
		m.stored = c.typ.New()
		if after != nil {
			m.stored = after.stored
		}
		return m
	}
	m.stored = decoded.stored
	m.exact = after != nil && string(after.Rev) == e.Rev
	complete := true
	for _, f := range c.typ.Fields {
		if members[f.Name] != nil {
			m.known[f.Name] = true
			continue
		}
		complete = complete && f.WriteOnly
		if after != nil {
			to, from := reflect.ValueOf(m.stored).Elem(), reflect.ValueOf(after.stored).Elem()
			to.FieldByIndex(f.Index).Set(from.FieldByIndex(f.Index))
		}
	}
	if complete {
		m.known = nil
	}
	return m
}

// knownField returns a field by name, for [query.Excludes].
func (m *snapshot) knownField(name string) (v any, known bool) {
	if m.known != nil && !m.known[name] {
		return nil, false
	}
	return m.field(name), true
}

// mayMatch reports whether an item matches f, as far as its fields are known.
func (m *snapshot) mayMatch(f query.Filter) bool {
	if m.known == nil {
		return query.Match(f, m.field)
	}
	return !query.Excludes(f, m.knownField)
}

func (m *snapshot) excludedBy(f query.Filter) bool { return !m.mayMatch(f) }

// wasVisible reports whether policy allows the caller to see the item before the event; nil if there
// was none that the subscriber may have. If policy cannot decide, decided is false.
func (w *watcher) wasVisible(before *snapshot, scope *query.Filter) (visible, decided bool, err error) {
	c := w.r.core
	if before == nil || before.known == nil || before.exact {
		visible, err = w.visible(before, scope)
		return visible, true, err
	}
	switch {
	case query.Excludes(*scope, before.knownField):
		return false, true, nil
	case c.ops.authorize == nil && (scope.IsZero() || query.Excludes(query.Not(*scope), before.knownField)):
		return true, true, nil
	}
	return false, false, nil
}

// errUndecided ends a stream if policy cannot decide whether the subscriber has an item.
var errUndecided = fmt.Errorf("%w: policy may need fields that the writer of the event did not have",
	feed.ErrExpired)
