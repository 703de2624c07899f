package resource

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/schema"
)

// Report describes the catalog in plain text, for a person to read when the program starts: what is served, what each
// collection can do, and what is weaker than it could be.
func (c *Catalog) Report() string {
	var b strings.Builder
	for _, p := range c.parts {
		b.WriteString(p.Report)
		if p.Keyed && c.opts.Idempotency != nil {
			reportKeys(&b, &p.guarantee)
		}
		r := p.resource()
		if r == nil {
			continue
		}
		if c.opts.Feed != nil {
			fmt.Fprintf(&b, "    feed: %s\n", r.core.eventDelivery())
		}
		for _, warning := range r.weaknesses() {
			fmt.Fprintf(&b, "    weak: %s\n", warning)
		}
	}
	switch {
	case c.opts.Idempotency == nil && slices.ContainsFunc(c.parts, func(p *catalogPart) bool { return p.Keyed }):
		b.WriteString("keys: none are kept, so an Idempotency-Key means nothing\n")
	case c.opts.Idempotency != nil && c.opts.Principal == nil:
		b.WriteString("weak: nobody is known, so every Idempotency-Key is refused: give CatalogOptions.Principal\n")
	}
	return b.String()
}

// reportKeys writes the guarantee of a key.
func reportKeys(b *strings.Builder, g *idempotency.Guarantee) {
	level := g.Others.String()
	if g.Create != g.Others {
		level = g.Create.String() + ", or " + level
	}
	fmt.Fprintf(b, "    keys: %s: %s\n", level, g.Reason)
}

// summary returns the lines of the resource that do not depend on the catalog.
func (r *Resource) summary() string {
	var b strings.Builder
	list, item := r.methods()
	fmt.Fprintf(&b, "/%s  %s\n/%s/{id}  %s\n    store: %s\n", r.Name(), list, r.Name(), item, r.abilities())
	if r.batches() {
		fmt.Fprintf(&b, "    batches: POST of %s\n", "application/vnd.stoa.batch+json")
	}
	if r.projection.down != nil {
		fmt.Fprintf(&b, "    view: %s\n", r.narrowness())
	}
	return b.String()
}

func (r *Resource) abilities() string {
	ops := &r.core.ops
	var can []string
	for _, a := range []struct {
		name string
		has  bool
	}{
		{"Creator", ops.create != nil}, {"Inserter", ops.insert != nil}, {"Replacer", ops.replace != nil},
		{"Deleter", ops.delete != nil}, {"Tombstoner", ops.deleted != nil}, {"Counter", ops.count != nil},
		{"MultiGetter", ops.getMany != nil}, {"MultiInserter", ops.insertMany != nil}, {"BatchLister", ops.listByKeys != nil}, {"Transactor", ops.runner != nil},
		{"Watcher", ops.watch != nil},
	} {
		if a.has {
			can = append(can, a.name)
		}
	}
	if can == nil {
		return "read only"
	}
	return strings.Join(can, " ")
}

// eventDelivery says how writes become events.
func (h *core) eventDelivery() string {
	o := h.publisher.Load()
	switch {
	case h.ops.watch != nil:
		return "the collection's own"
	case o == nil:
		return "none, as Options.NoEvents says"
	case o.runner != nil:
		return "in the transaction of each write"
	case h.ops.runner == nil:
		return "behind each write, and a crash between loses it: the collection has no transactions"
	case o.feed.Transactions() == nil:
		return "behind each write, and a crash between loses it: the log has no transactions"
	}
	return "behind each write, and a crash between loses it: the log is in another database"
}

// unwritten names the Go fields of items that JSON for clients does not have, so that they are not in events either.
func (h *core) unwritten() (names []string) {
	for _, sf := range reflect.VisibleFields(h.typ.GoType) {
		at := slices.IndexFunc(h.typ.Fields, func(f *schema.Field) bool { return slices.Equal(f.Index, sf.Index) })
		switch {
		case at >= 0 && !h.typ.Fields[at].WriteOnly, sf.Name == "_":
		case at < 0 && h.embeds(sf.Index):
		default:
			names = append(names, sf.Name)
		}
	}
	return names
}

// embeds reports whether at an index there is a struct whose fields are members.
func (h *core) embeds(index []int) bool {
	return slices.ContainsFunc(h.typ.Fields, func(f *schema.Field) bool {
		return len(f.Index) > len(index) && slices.Equal(f.Index[:len(index)], index)
	})
}

// narrowness names a view, and what the collection can be asked and the view cannot.
func (r *Resource) narrowness() string {
	var filters, sorts []string
	for _, field := range slices.Sorted(maps.Keys(r.core.query.Filter)) {
		if r.projection.fieldOf(field) == "" {
			filters = append(filters, field)
		}
	}
	for _, field := range r.core.query.Sort {
		if r.projection.fieldOf(field) == "" {
			sorts = append(sorts, field)
		}
	}
	text := r.projection.name
	if filters != nil {
		text += ", without filters by " + strings.Join(filters, " ")
	}
	if sorts != nil {
		text += ", without sorting by " + strings.Join(sorts, " ")
	}
	return text
}

// weaknesses are settings that someone may not have meant.
func (r *Resource) weaknesses() []string {
	h := r.core
	var weak []string
	if h.ops.authorize == nil && h.scope == nil && !h.public {
		weak = append(weak, "everybody may do everything: give Authorize or Scope, or say Public")
	}
	if h.ops.authorize != nil && h.scope == nil {
		weak = append(weak, "Authorize hides items one by one: without a Scope lists read what they hide, and have no totals")
	}
	if h.ops.delete != nil && h.ops.deleted == nil {
		weak = append(weak, "what was deleted is forgotten, so deleting it again is 404 and not 410: see resource.Ops.WithTombstones")
	}
	if h.hideGone && h.ops.deleted != nil {
		weak = append(weak, "what was deleted is 404 for everybody, not 410: AuthorizeGone can say who may know")
	}
	if lost := h.unwritten(); lost != nil && h.publisher.Load() != nil && (h.ops.authorize != nil || h.scope != nil) {
		weak = append(weak, "events do not have "+strings.Join(lost, " ")+
			", which are no part of what clients see: for Authorize they are zero there, and nobody can listen where Scope names one")
	}
	return weak
}

// methods returns the HTTP methods of the list and of its items, for people who know them better than capabilities.
func (r *Resource) methods() (list, item string) {
	list, item = "GET, HEAD", "GET, HEAD"
	for _, m := range []struct {
		op     Op
		to     *string
		method string
	}{{OpCreate, &list, "POST"}, {OpReplace, &item, "PUT"}, {OpPatch, &item, "PATCH"}, {OpDelete, &item, "DELETE"}} {
		if r.Can(m.op) {
			*m.to += ", " + m.method
		}
	}
	return list + ", OPTIONS", item + ", OPTIONS"
}
