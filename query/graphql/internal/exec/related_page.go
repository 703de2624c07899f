package exec

// Pages of related items. Called by run_fetch.go and write.go. The pages of all parents are fetched
// together, and share one page of package resource.

import (
	"context"

	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
)

// relatedPart is the page of the parent that is being written.
type relatedPart struct {
	parent int
	ends   []int32 // the indexes of its items among all entries
	next   bool    // more items follow
}

// loadPages fetches the pages of a field with Source RelatedPage for all parents.
func (r *run) loadPages(
	ctx context.Context, n *field, l *loaded, from source, args map[string]any,
) (source, error) {
	selected := fetch.Selected{Columns: n.sub.columns, EventCursor: r.selectsEventCursor(n.sub)}
	for i := range n.sub.ops {
		switch st := &n.sub.ops[i]; {
		case !r.on[st.when]:
		case st.write == connectionTotal:
			selected.Total = true
		case st.write == connectionNodes, st.write == connectionEdges, st.write == connectionPage:
			selected.Items = true
		}
	}
	var err error
	if l.conn, err = r.e.fetch.RelatedPage(ctx, n.def, args, from.of, from.list, selected); err != nil {
		return source{}, err
	}
	next := source{of: n.sub.typ.Resource, conn: l.conn, via: n.def}
	if !l.conn.Empty {
		next.list = l.conn.Page.Entries
	}
	return next, nil
}

// toPage appends the page of one parent.
func (r *run) toPage(n *field, p *parent) bool {
	l := &r.loaded[n.fetchIndex]
	if l.err != nil {
		return r.failAt(n, l.err)
	}
	l.part.parent = p.i
	l.part.ends, l.part.next = l.conn.Of(p.i)
	r.path = append(r.path, segment{key: n.key})
	ok := r.object(n.sub, parent{list: l})
	r.path = r.path[:len(r.path)-1]
	return ok
}

// insidePart appends the objects of a connection with the page of one parent.
func (r *run) insidePart(n *field, p *parent) bool {
	entries, ends := p.list.conn.Page.Entries, p.list.part.ends
	switch n.write {
	case connectionNodes:
		return r.wholeList(n.sub, entries, ends) || r.each(n.def.Type.Elem, len(ends),
			func(i int) bool { return r.item(n, entries, int(ends[i])) })
	case connectionEdges:
		return r.each(n.def.Type.Elem, len(ends),
			func(i int) bool { return r.object(n.sub, parent{list: p.list, i: int(ends[i])}) })
	case edgeNode:
		return r.item(n, entries, p.i)
	}
	return r.object(n.sub, parent{list: p.list})
}

// total returns the total of a list, or that of one parent.
func (r *run) total(n *field, p *parent) int {
	if p.list.conn.Related {
		return p.list.conn.Page.TotalOf(p.list.part.parent)
	}
	return r.loaded[n.fetchIndex].total
}
