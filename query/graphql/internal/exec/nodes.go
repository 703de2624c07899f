package exec

// The fields node and nodes, of which each item may have another type. Called by run_fetch.go and
// write.go.

import (
	"context"

	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/resource"
)

// nodeRef is the position of a requested item: its type, and its index among the ids of this type.
type nodeRef struct {
	part *field
	at   int
	err  error // the id is not valid
}

// loadNodes fetches the items of a field with Source ByID or ByIDs, in one call for each type, and
// then their subfields. Only a type that occurs is read. An error of a type is one of each of its items,
// because an error of the field would leave the client without the others.
func (r *run) loadNodes(ctx context.Context, n *field, l *loaded, args map[string]any) error {
	ids, err := fetch.NodeIDs(n.def, args)
	if err != nil {
		return err
	}
	l.nodes = make([]nodeRef, len(ids))
	for i := range ids {
		l.nodes[i].err = ids[i].Err
	}
	for _, part := range n.parts {
		var own []string
		for i := range ids {
			if ids[i].Type == part.sub.typ {
				l.nodes[i] = nodeRef{part: part, at: len(own)}
				own = append(own, ids[i].ID)
			}
		}
		if own == nil {
			continue
		}
		items := &r.loaded[part.fetchIndex]
		if items.page, err = part.sub.typ.Resource.GetMany(ctx, own); err != nil {
			items.err = contextError(ctx, err)
			continue
		}
		r.rec.AddItems(len(items.page.Entries))
		if list := items.page.Entries; len(list) > 0 {
			r.loadBelow(ctx, part, part.sub, source{of: part.sub.typ.Resource, list: list})
		}
	}
	return nil
}

// node appends the item with index i of a field's ids. A missing or hidden item is null without an
// error.
func (r *run) node(n *field, l *loaded, i int) bool {
	ref := l.nodes[i]
	if ref.err != nil {
		return r.fail(n, ref.err)
	}
	items := &r.loaded[ref.part.fetchIndex]
	if items.err != nil {
		return r.fail(n, items.err)
	}
	ends := items.page.Ends(ref.at)
	return len(ends) > 0 && r.item(ref.part, items.page.Entries, int(ends[0]))
}

// globalID appends the global id of an item as a string.
func (r *run) globalID(of *resource.Resource, id string) {
	r.dst = append(fetch.AppendGlobalID(append(r.dst, '"'), of, id), '"')
}

// nodesCost returns the cost of a field with Source ByID or ByIDs. The types are not known before
// the ids are decoded, so each item counts as the most expensive one.
func (r *run) nodesCost(n *field) int {
	count, most := 1, 0
	args, _ := r.args(n) // an error is reported by the field, which then has no items
	if ids, ok := args["ids"].([]any); ok {
		count = len(ids)
	}
	for _, part := range n.parts {
		most = max(most, r.times(1, part.sub))
	}
	return min(count*most, maxCost)
}
