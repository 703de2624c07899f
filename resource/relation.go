package resource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
)

// relation is a [Relation] with its type erased.
type relation struct {
	Name, Target, By string
	Many             bool
	Limit            int

	// What the keys are read from. Without both it is the id of the item.
	field *keyReader
	keys  func(v any) []string
}

func eraseRelation[T any](h *core, rel Relation[T]) *relation {
	out := &relation{Name: rel.Name, Target: rel.Target, By: rel.By, Many: rel.Many || rel.By != "", Limit: rel.Limit}
	switch {
	case !out.Many:
		out.Limit = 1
	case out.Limit == 0:
		out.Limit = 20
	}
	if rel.Keys != nil {
		out.keys = func(v any) []string { return rel.Keys(v.(*T)) }
	}
	if rel.Field != "" {
		out.field = newKeyReader(h.typ.Field(rel.Field))
	}
	return out
}

// link is a relation whose target has been found in a catalog.
type link struct {
	*relation
	target *Resource
	by     *keyReader // of the field By; nil without
}

// Follow returns what a relation of r, one of the catalog's resources, leads to, for all of from at once: one call of the
// target's collection if that is a [MultiGetter] or, for Relation.By, a [BatchLister], and else one for each key. from are
// entries that r gave out; one may be there several times. columns are the JSON names of the fields of the target that
// will be looked at, a hint as query.Query.Fields is; nil means all.
//
// Entries of the page are what was found and the caller may see, each once, in no order to rely upon; [Page.Ends] says
// which of them follow from which item. There are no neighbouring pages. An unknown relation is an error.
func (c *Catalog) Follow(ctx context.Context, r *Resource, relation string, from []Entry, columns []string) (Page, error) {
	l := c.links[r][relation]
	if l == nil {
		return Page{}, fmt.Errorf("resource: %s has no relation %q in this catalog", r.Name(), relation)
	}
	return l.follow(ctx, from, columns)
}

func (l *link) follow(ctx context.Context, from []Entry, columns []string) (Page, error) {
	g := gather(l, from)
	if len(g.ask) == 0 {
		g.join(l)
		return Page{ends: g}, nil
	}
	p := Page{buffer: l.target.core.ops.newBuffer(), ends: g}
	var err error
	if l.By == "" {
		p.Entries, err = l.fetchByID(ctx, g, p.buffer)
	} else {
		p.Entries, err = l.fetchBy(ctx, g, columns, p.buffer)
	}
	if err != nil {
		op, ids := OpList, ""
		if l.By == "" {
			op, ids = OpGet, strings.Join(g.ask, ",")
		}
		p.Release()
		return Page{}, l.target.wrap(op, ids, err)
	}
	g.join(l)
	return p, nil
}

// fetchByID reads the items that keys are ids of, and keeps those that the caller may see.
func (l *link) fetchByID(ctx context.Context, g *gathered, b buffer) ([]Entry, error) {
	r := l.target
	if err := r.core.fetchMany(ctx, g.ask, b); err != nil {
		return nil, err
	}
	scope, err := r.core.scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	rows := b.entries()
	kept := rows[:0]
	for i := range rows {
		slot, ok := g.find(rows[i].ID)
		if !ok || !g.hasRoom(slot, 1) {
			continue // the store was not asked for it
		}
		err := r.core.visible(ctx, &rows[i], &scope)
		if err == nil {
			err = r.projection.show(&rows[i])
		}
		switch {
		case err == nil:
			g.keep(slot)
			kept = also(kept, rows, i)
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
	}
	return kept, nil
}

// fetchBy reads the items whose field By holds one of the keys.
func (l *link) fetchBy(ctx context.Context, g *gathered, columns []string, b buffer) ([]Entry, error) {
	r := l.target
	w, err := r.newPageQuery(ctx, query.Query{Limit: l.Limit, Fields: columns})
	if err != nil {
		return nil, err
	}
	if w.q.Fields != nil && !slices.Contains(w.q.Fields, l.By) {
		w.q.Fields = append(w.q.Fields, l.By)
	}
	if err := r.core.fetchBy(ctx, l.By, g.ask, w.q, b); err != nil {
		return nil, err
	}
	rows, err := r.showAll(ctx, b.entries())
	if err != nil {
		return nil, err
	}
	kept := rows[:0]
	for i := range rows {
		if slot, ok := l.by.slot(g, rows[i].stored); ok && g.hasRoom(slot, l.Limit) {
			g.keep(slot)
			kept = also(kept, rows, i)
		}
	}
	return kept, nil
}

// also keeps rows[i] behind those of rows that are kept already. Mostly that is all of them, and then nothing is moved.
func also(kept, rows []Entry, i int) []Entry {
	if len(kept) == i {
		return rows[:i+1]
	}
	return append(kept, rows[i])
}
