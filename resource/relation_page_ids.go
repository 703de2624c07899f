package resource

// Pages of related items with known ids: those of a relation by ids, and of one with
// Relation.Through. Called by relation_page.go. It calls relation.go for the keys, and read.go.

import (
	"context"
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/keys"
	"github.com/stoa-go/stoa/resource/problem"
)

// pagesByID fills in the pages of a relation by ids. It reads all related items, and evaluates the filter
// and the order as package query defines them.
func (l *link) pagesByID(ctx context.Context, from []Entry, q *RelatedQuery, p *Page) error {
	ids, err := l.relatedIDs(ctx, from)
	if err != nil {
		return err
	}
	positions := map[string]int32{} // of each id in ask
	var ask []string
	for _, of := range ids {
		for _, id := range of {
			if _, known := positions[id]; !known {
				positions[id] = int32(len(ask))
				ask = append(ask, id)
			}
		}
	}
	single := l.target.core.ops.getMany == nil
	switch {
	case len(ask) == 0:
		return nil
	case len(ask) > maxAllLinks:
		return l.tooManyLinks("The items have", len(ask), maxAllLinks)
	case single && len(ask) > maxSingleReads:
		return l.tooMany(len(ask), "read")
	}
	rows, err := l.matching(ctx, ask, positions, p)
	if err != nil {
		return err
	}
	l.assign(ids, positions, rows, q, p)
	return nil
}

// tooManyLinks returns the error for relations with more items than are read.
func (l *link) tooManyLinks(subject string, n, most int) error {
	return problem.New(problem.InvalidParameter, fmt.Sprintf("%s %d %s or more, and at most %d can be "+
		"read to select a page of them.", subject, n, l.Name, most))
}

// relatedIDs returns the ids of the related items of each entry, each once.
func (l *link) relatedIDs(ctx context.Context, from []Entry) ([][]string, error) {
	ids := make([][]string, len(from))
	if l.through != nil {
		return ids, l.through.relatedIDs(ctx, l, from, ids)
	}
	j, _ := l.gather(from, maxLinks+1)
	defer j.Release()
	for i := range ids {
		for _, slot := range j.Slots(i) {
			if name := j.Name(slot); l.target.core.validID(name) {
				ids[i] = append(ids[i], name)
			}
		}
		if len(ids[i]) > maxLinks {
			return nil, l.tooManyLinks("An item has", len(ids[i]), maxLinks)
		}
	}
	return ids, nil
}

// relatedIDs sets the ids of the targets to which the items of Through lead from each entry. It is one list
// of that resource.
func (t *through) relatedIDs(ctx context.Context, l *link, from []Entry, ids [][]string) error {
	join := t.join.target
	j, ask := t.join.gather(from, maxLinks)
	defer j.Release()
	if len(ask) == 0 {
		return nil
	}
	if join.core.ops.listByKeys == nil && len(ask) > maxSingleReads {
		return t.join.tooMany(len(ask), "list")
	}
	b := join.core.ops.newBuffer()
	defer b.release()
	var rows []Entry
	err := join.core.limited(ctx, func(ctx context.Context) error {
		fields := []string{t.to.field.Field.Name, l.By}
		w, err := join.newPageQuery(ctx, query.Query{Limit: maxLinks + 1, Fields: fields})
		if err == nil {
			err = join.core.fetchBy(ctx, l.By, ask, w.q, b)
		}
		if err == nil {
			err = l.checkLinks(t.join, j, b.entries())
		}
		if err == nil {
			rows, err = join.showAll(ctx, b.entries())
		}
		return err
	})
	if err != nil {
		return &Error{Op: OpList, Resource: join.core.name, Err: err}
	}
	to, _ := t.to.gather(rows, 1)
	defer to.Release()
	bySlot := make([][]string, j.Len())
	for i := range rows {
		slot, ok := t.join.by.Find(j, rows[i].stored)
		if !ok {
			continue
		}
		for _, end := range to.Slots(i) {
			if id := to.Name(end); t.to.target.core.validID(id) {
				bySlot[slot] = append(bySlot[slot], id)
			}
		}
	}
	for i := range ids {
		seen := map[string]bool{}
		for _, slot := range j.Slots(i) {
			for _, id := range bySlot[slot] {
				if !seen[id] {
					seen[id] = true
					ids[i] = append(ids[i], id)
				}
			}
		}
	}
	return nil
}

// checkLinks returns an error if one key has more links than are read.
func (l *link) checkLinks(join *link, j *keys.Join, rows []Entry) error {
	read := make([]int, j.Len())
	for i := range rows {
		if slot, ok := join.by.Find(j, rows[i].stored); ok {
			if read[slot]++; read[slot] > maxLinks {
				return l.tooManyLinks("An item has", read[slot], maxLinks)
			}
		}
	}
	return nil
}

// matching reads the items with these ids, keeps those that the filter selects and the caller may see, and
// returns their indexes in the page, in the order of the query. It replaces the positions of the ids by
// those in the result, and removes the other ids.
func (l *link) matching(
	ctx context.Context, ask []string, positions map[string]int32, p *Page,
) ([]int32, error) {
	r, w := l.target, p.query
	p.buffer = r.core.ops.newBuffer()
	var filter query.Filter
	err := r.core.limited(ctx, func(ctx context.Context) (err error) {
		filter, err = l.fetchMatching(ctx, ask, w.q, p.buffer)
		return err
	})
	if err != nil {
		return nil, err
	}
	rows := p.buffer.entries()
	kept := rows[:0]
	var sorted [][]any // the sort keys of kept
	for i := range rows {
		_, asked := positions[rows[i].ID]
		if !asked || !query.Match(filter, r.core.values(rows[i].stored)) {
			continue
		}
		shown, err := r.showAll(ctx, rows[i:i+1])
		if err != nil {
			return nil, err
		}
		if len(shown) == 1 {
			values, err := w.sortValues(&shown[0])
			if err != nil {
				return nil, err
			}
			kept, sorted = append(kept, shown[0]), append(sorted, values)
		}
	}
	p.Entries = kept
	order := make([]int32, len(kept))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return compareKeys(w.q.Sort, sorted[a], sorted[b]) })
	clear(positions)
	for place, i := range order {
		positions[kept[i].ID] = int32(place)
	}
	return order, nil
}

// fetchMatching reads the items with these ids. The store evaluates a filter with joins, and an order by
// fields of related items; other filters are returned as left, and the caller evaluates them.
func (l *link) fetchMatching(
	ctx context.Context, ask []string, q query.Query, b buffer,
) (left query.Filter, err error) {
	c, f := l.target.core, q.Filter
	sort := slices.DeleteFunc(slices.Clone(q.Sort), func(o query.Order) bool { return !isComputed(o) })
	switch {
	case !hasRelation(f) && len(sort) == 0:
		return f, c.fetchMany(ctx, ask, b)
	case c.id.Key != nil:
		return f, problem.New(problem.InvalidParameter, fmt.Sprintf("%s cannot be filtered or sorted "+
			"through relations, because the ids of %s are composite.", l.Name, l.target.Name()))
	case c.ops.listByKeys == nil && len(ask) > maxSingleReads:
		return f, l.tooMany(len(ask), "read")
	}
	return query.Filter{}, c.fetchBy(ctx, c.id.Name, ask, query.Query{Filter: f, Sort: sort, Limit: 1}, b)
}

// compareKeys compares the sort keys of two items.
func compareKeys(sort []query.Order, a, b []any) int {
	for i, o := range sort {
		if c := query.Compare(a[i], b[i]); c != 0 {
			if o.Desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// assign gives each entry the first of its items after the position of the query. order has the indexes of
// the items in their order, and places the place of each id in it.
func (l *link) assign(ids [][]string, places map[string]int32, order []int32, q *RelatedQuery, p *Page) {
	w := p.query
	var own []int32
	for i := range ids {
		own = own[:0]
		for _, id := range ids[i] {
			if place, ok := places[id]; ok {
				own = append(own, place)
			}
		}
		if q.Total {
			p.related.totals[i] = len(own)
		}
		if q.NoItems {
			continue
		}
		slices.Sort(own)
		for _, place := range own {
			index := order[place]
			if w.q.After != nil {
				values, err := w.sortValues(&p.Entries[index])
				if err != nil || compareKeys(w.q.Sort, values, w.q.After) <= 0 {
					continue
				}
			}
			if len(p.lists[i]) == w.q.Limit {
				p.related.more[i] = true
				break
			}
			p.lists[i] = append(p.lists[i], index)
		}
	}
}
