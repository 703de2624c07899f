package resource

import (
	"fmt"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/schema"
)

// What is made of an event is made once for all who listen, and kept with it: the values of the core for all of its shapes,
// and the changes for all who listen in one shape. So a listener that hears of an event allocates nothing.

// decodedEvent is an event with its items as the core has them.
type decodedEvent struct {
	before, after *snapshot // nil where there was none, or is none
	err           error
}

// snapshot is an item at one time. All who listen share it.
type snapshot struct {
	Entry // its core is the *T; nothing else of it is used

	core   *core
	once   sync.Once
	fields map[string]any
}

// field gives [query.Match] a field by name. All of them are read when the first is asked for.
func (m *snapshot) field(name string) any {
	m.once.Do(m.read)
	return m.fields[name]
}

func (m *snapshot) read() {
	m.fields = make(map[string]any, len(m.core.typ.Fields))
	for _, f := range m.core.typ.Fields {
		if f.Comparable() {
			m.fields[f.Name] = f.Get(m.stored)
		}
	}
}

// decode returns what an event was about. A [feed.Watcher] has said so already.
func (h *core) decode(e *feed.Event) *decodedEvent {
	return e.Memo(h, func() any {
		p := &decodedEvent{}
		err := safe.Call(func() (err error) {
			if p.before, err = h.decodeItem(e.Before); err == nil {
				p.after, err = h.decodeItem(e.After)
			}
			return err
		})
		if err != nil {
			p.err = h.reportUnpublishable(e.Cursor, nil, err)
		}
		return p
	}).(*decodedEvent)
}

// decodeItem reads an item as an event has it. The log outlives a deployment, so it may be one that the collection could not hold
// any more. Whoever listens is not left without it: the list has what became of it.
func (h *core) decodeItem(doc []byte) (*snapshot, error) {
	if doc == nil {
		return nil, nil
	}
	v, err := h.typ.Decode(doc, &schema.DecodeOptions{Mode: schema.Stored})
	if err != nil {
		return nil, err
	}
	return h.newSnapshot(v), nil
}

func (h *core) newSnapshot(v any) *snapshot { return &snapshot{Entry: Entry{stored: v}, core: h} }

// checkFilter returns an error if a filter names a field that events do not have, as it is writeOnly: what is not there would pass
// for a value, and be told to somebody who may not see it.
func (h *core) checkFilter(f query.Filter) error {
	if f.IsZero() || h.ops.watch != nil { // which tells of whole items
		return nil
	}
	for _, field := range h.typ.Fields {
		if field.WriteOnly && mentions(f, field.Name) {
			return fmt.Errorf("a filter names %s, which is writeOnly, so that events do not have it", field.Name)
		}
	}
	return nil
}

func mentions(f query.Filter, field string) bool {
	for _, part := range f.Filters {
		if mentions(part, field) {
			return true
		}
	}
	return f.Field == field
}

// projectedEvent is a past through a shape.
type projectedEvent struct {
	before, after             bool // the item is one that the shape expresses
	created, updated, deleted feed.Change[Entry]
	err                       error // of down
}

// Forget is called by the feed when most have heard of the event.
func (g *projectedEvent) Forget() {
	g.created.Forget()
	g.updated.Forget()
	g.deleted.Forget()
}

// project returns what an event is to those who listen in a shape, policy apart.
func (s *projection) project(h *core, e *feed.Event, p *decodedEvent) *projectedEvent {
	return e.Memo(s, func() any {
		g := &projectedEvent{before: p.before != nil && s.holds(p.before.field), after: p.after != nil && s.holds(p.after.field)}
		var was, is *Entry
		err := safe.Call(func() (err error) {
			if g.before {
				was, err = s.entryOf(e, p.before)
			}
			if g.after && err == nil {
				is, err = s.entryOf(e, p.after)
			}
			return err
		})
		if err != nil {
			g.err = h.reportUnpublishable(e.Cursor, s, err)
			return g
		}
		if is != nil {
			is.Rev = Rev(e.Rev)
			if is.Rev == "" {
				is.Rev = s.contentRev(is.Value)
			}
			g.created.Rev, g.updated.Rev = string(is.Rev), string(is.Rev)
		}
		g.created.After, g.updated.Before, g.updated.After = is, was, is
		for i, c := range [...]*feed.Change[Entry]{&g.created, &g.updated, &g.deleted} {
			c.Kind, c.ID, c.Time, c.Cursor = feed.Created+feed.Kind(i), e.ID, e.Time, e.Cursor
		}
		return g
	}).(*projectedEvent)
}

// entryOf makes an entry of the shape.
func (s *projection) entryOf(e *feed.Event, m *snapshot) (*Entry, error) {
	shown, err := s.fromStored(m.stored)
	return &Entry{ID: e.ID, Value: shown, stored: m.stored}, err
}

// change returns what the event is to somebody who saw the item before it, or sees it after it; nil if neither.
func (g *projectedEvent) change(was, is bool) (*feed.Change[Entry], error) {
	switch {
	case !was && !is:
		return nil, nil
	case !is:
		return &g.deleted, nil
	case g.err != nil:
		return nil, g.err
	case was:
		return &g.updated, nil
	}
	return &g.created, nil
}
