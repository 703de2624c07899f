package resource

// Decoding an event, and converting it to a projection, once for all subscribers. Called by
// watch.go. It calls projection.go and watch_unpublishable.go.

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/schema"
)

// Decoded values are stored with the event and shared: the items for all projections, and the
// changes for all subscribers of a projection. A subscriber allocates nothing for an event that is
// decoded already.

// decodedEvent is an event with its items as stored values.
type decodedEvent struct {
	before, after *snapshot // nil if the item did not exist
	err           error
}

// snapshot is an item before or after an event. Subscribers share it.
type snapshot struct {
	Entry // only stored is used, and Rev if it is not that of the event

	core *core
	// known has the names of the fields that the writer of the event had; nil if it had all. The
	// others have the values of the item after the event, or their zero values.
	known map[string]bool
	// exact: the others have the values that they had before the event, because the item after it is
	// not newer.
	exact  bool
	once   sync.Once
	fields map[string]any
}

// field returns a field by name, for [query.Match]. The first call reads all fields with one value.
// Lists are read again for each subscriber that compares them, because most do not.
func (m *snapshot) field(name string) any {
	m.once.Do(m.read)
	v, ok := m.fields[name]
	if f := m.core.typ.Field(name); !ok && f != nil {
		return f.Get(m.stored)
	}
	return v
}

// read fills in the fields with one value that filters compare.
func (m *snapshot) read() {
	m.fields = make(map[string]any, len(m.core.typ.Fields))
	for _, f := range m.core.typ.Fields {
		if f.Comparable() {
			m.fields[f.Name] = f.Get(m.stored)
		}
	}
}

// decode returns the decoded items of an event. Events of a [feed.Watcher] have them already.
func (c *core) decode(e *feed.Event) *decodedEvent {
	return e.Memo(c, func() any {
		p := &decodedEvent{}
		err := safe.Call(func() (err error) {
			if p.before, err = c.decodeItem(e.Before); err == nil {
				p.after, err = c.decodeItem(e.After)
			}
			return err
		})
		if err != nil {
			p.err = c.reportUnpublishable(e.Cursor, nil, err)
		}
		return p
	}).(*decodedEvent)
}

// decodeItem decodes an item of an event. The log outlives a deployment, so the item may violate
// the current schema.
func (c *core) decodeItem(doc []byte) (*snapshot, error) {
	if doc == nil {
		return nil, nil
	}
	v, err := c.typ.Decode(doc, &schema.DecodeOptions{Mode: schema.Stored})
	if err != nil {
		return nil, err
	}
	return c.newSnapshot(v), nil
}

func (c *core) newSnapshot(v any) *snapshot { return &snapshot{Entry: Entry{stored: v}, core: c} }

// checkFilter returns an error if a filter names a writeOnly field. Events do not have such fields,
// so the filter would match a zero value and could reveal items that the caller may not see.
func (c *core) checkFilter(f query.Filter) error {
	if f.IsZero() || c.ops.watch != nil { // events of a Watcher have complete items
		return nil
	}
	for _, field := range c.typ.Fields {
		if field.WriteOnly && mentions(f, field.Name) {
			return fmt.Errorf(
				"filter names field %s, which events do not have because it is writeOnly", field.Name)
		}
	}
	return nil
}

// mentions reports whether f compares this field.
func mentions(f query.Filter, field string) bool {
	for _, part := range f.Filters {
		if mentions(part, field) {
			return true
		}
	}
	return f.Field == field
}

// projectedEvent is an event in one projection.
type projectedEvent struct {
	before, after             bool // the item exists in the projection
	unchanged                 bool // the projection hides what has changed
	created, updated, deleted feed.Change[Entry]
	err                       error // of down
}

// Forget drops cached encodings. The feed calls it when most subscribers have received the event.
func (g *projectedEvent) Forget() {
	g.created.Forget()
	g.updated.Forget()
	g.deleted.Forget()
}

// project returns the event in this projection, before policy and filters are applied.
func (p *projection) project(c *core, e *feed.Event, decoded *decodedEvent) *projectedEvent {
	return e.Memo(p, func() any {
		g := &projectedEvent{
			before: decoded.before != nil && !slices.ContainsFunc(p.where, decoded.before.excludedBy),
			after:  decoded.after != nil && !slices.ContainsFunc(p.where, decoded.after.excludedBy),
		}
		var was, is *Entry
		err := safe.Call(func() (err error) {
			if g.after {
				is, err = p.entryOf(e, decoded.after)
			}
			switch {
			case !g.before || err != nil:
			case decoded.before.known != nil: // down need not accept an item that never existed like this
				was = is
			default:
				was, err = p.entryOf(e, decoded.before)
			}
			if is != nil && err == nil {
				if is.Rev = cmp.Or(decoded.after.Rev, Rev(e.Rev)); is.Rev == "" {
					is.Rev = p.contentRev(is.Value)
				}
				p.conceal(is, false)
				g.unchanged = p.hides && was != nil && p.showsSame(e, decoded.before, was, is)
			}
			return err
		})
		if err != nil {
			g.err = c.reportUnpublishable(e.Cursor, p, err)
			return g
		}
		if is != nil {
			g.created.Rev, g.updated.Rev = string(is.Rev), string(is.Rev)
		}
		g.created.After, g.updated.Before, g.updated.After = is, was, is
		for i, to := range [...]*feed.Change[Entry]{&g.created, &g.updated, &g.deleted} {
			to.Kind, to.ID, to.Time, to.Cursor = feed.Created+feed.Kind(i), e.ID, e.Time, e.Cursor
		}
		return g
	}).(*projectedEvent)
}

// showsSame reports whether the projection shows the item before an event, which is was if all fields of
// before are known, as is. It is false if that cannot be decided.
func (p *projection) showsSame(e *feed.Event, before *snapshot, was, is *Entry) bool {
	if before.known != nil {
		if !before.exact {
			return false
		}
		if safe.Call(func() (err error) { was, err = p.entryOf(e, before); return err }) != nil {
			return false
		}
	}
	return is.Rev != "" && p.contentRev(was.Value) == is.Rev
}

// entryOf converts an item to this projection.
func (p *projection) entryOf(e *feed.Event, m *snapshot) (*Entry, error) {
	shown, err := p.fromStored(m.stored)
	return &Entry{ID: e.ID, Value: shown, stored: m.stored}, err
}

// change returns the change for a subscriber that could see the item before the event, after it, or
// both; nil if neither.
func (g *projectedEvent) change(was, is bool) (*feed.Change[Entry], error) {
	switch {
	case !was && !is, was && is && g.unchanged:
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
