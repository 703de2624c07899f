package resource

import (
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/schema"
)

// What is made of an event is made once for all who listen, and kept with it: the values of the hub for all of its shapes,
// and the changes for all who listen in one shape. So a listener that hears of an event allocates nothing.

// past is an event with its items as the hub has them.
type past struct {
	before, after *moment // nil where there was none, or is none
	err           error
}

// moment is an item at one time. All who listen share it.
type moment struct {
	Entry // its hub is the *T; nothing else of it is used

	h      *hub
	once   sync.Once
	fields map[string]any
}

// field gives [query.Match] a field by name. All of them are read when the first is asked for.
func (m *moment) field(name string) any {
	m.once.Do(m.read)
	return m.fields[name]
}

func (m *moment) read() {
	m.fields = make(map[string]any, len(m.h.typ.Fields))
	for _, f := range m.h.typ.Fields {
		if f.Comparable() {
			m.fields[f.Name] = f.Get(m.hub)
		}
	}
}

// recall returns what an event was about. A [feed.Watcher] has said so already.
func (h *hub) recall(e *feed.Event) *past {
	return e.Memo(h, func() any {
		p := &past{}
		p.before, p.err = h.read(e, e.Before)
		if p.err == nil {
			p.after, p.err = h.read(e, e.After)
		}
		return p
	}).(*past)
}

// read reads an item as an event has it. The log outlives a deployment, so it may be one that the collection could not hold
// any more. Whoever listens is not left without it: the list has what became of it.
func (h *hub) read(e *feed.Event, doc []byte) (*moment, error) {
	if doc == nil {
		return nil, nil
	}
	var v any
	err := h.surviving(func() (err error) {
		v, err = h.typ.Decode(doc, &schema.DecodeOptions{Mode: schema.Stored})
		return err
	})
	if err != nil {
		return nil, h.unreadable(e.Cursor, err)
	}
	return h.moment(v), nil
}

func (h *hub) moment(v any) *moment { return &moment{Entry: Entry{hub: v}, h: h} }

// judges returns an error if a filter names a field that events do not have, as it is writeOnly: what is not there would pass
// for a value, and be told to somebody who may not see it.
func (h *hub) judges(f query.Filter) error {
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

// unreadable is the error of an event that cannot be told. It is logged here, once for all who would have been told, as
// to them it is no more than an end.
func (h *hub) unreadable(at feed.Cursor, err error) error {
	h.logger().Error("resource: an event cannot be told, so those who listen have to list anew",
		"resource", h.name, "cursor", at.String(), "error", err)
	return fmt.Errorf("%w: an event cannot be told: %v", feed.ErrExpired, err) // err would be taken for a fault of the client's
}

// surviving makes an error of a panic in what the types and views of a program do. Whoever was cut off by one would come back
// to the same event, and be cut off again, for as long as the log has it.
func (h *hub) surviving(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			h.logger().Error("resource: panic", "resource", h.name, "error", cut(err.Error()), "stack", string(debug.Stack()))
		}
	}()
	return do()
}

// glance is a past through a shape.
type glance struct {
	before, after             bool // the item is one that the shape expresses
	created, updated, deleted feed.Change[Entry]
	err                       error // of down
}

// Forget is called by the feed when most have heard of the event.
func (g *glance) Forget() {
	g.created.Forget()
	g.updated.Forget()
	g.deleted.Forget()
}

// recall returns what an event is to those who listen in a shape, policy apart.
func (s *shape) recall(h *hub, e *feed.Event, p *past) *glance {
	return e.Memo(s, func() any {
		g := &glance{before: p.before != nil && s.holds(p.before.field), after: p.after != nil && s.holds(p.after.field)}
		var was, is *Entry
		if g.before {
			was = g.lower(h, s, e.ID, p.before.hub)
		}
		if g.after {
			is = g.lower(h, s, e.ID, p.after.hub)
		}
		if g.err != nil {
			g.err = h.unreadable(e.Cursor, g.err)
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
	}).(*glance)
}

// lower makes an entry of the shape.
func (g *glance) lower(h *hub, s *shape, id string, v any) *Entry {
	e := &Entry{ID: id, hub: v}
	err := h.surviving(func() (err error) {
		e.Value, err = s.lower(v)
		return err
	})
	if err != nil {
		g.err = err
	}
	return e
}

// change returns what the event is to somebody who saw the item before it, or sees it after it; nil if neither.
func (g *glance) change(was, is bool) (*feed.Change[Entry], error) {
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
