package query

import (
	"cmp"
	"slices"
)

// Select evaluates q over items: it returns those that match the filter and the search, in order, after the
// position, up to the limit. field returns a field of an item by JSON name, as [FieldOf] does.
//
// Items with equal keys keep their order, and without sort keys the order of items is used. If
// After does not have one value per sort key, nothing is selected. Token and Fields are ignored.
// The result is a new slice; items is not modified.
func Select[E any](q Query, items []E, field func(e *E, name string) any) []E {
	if q.After != nil && len(q.After) != len(q.Sort) {
		return nil
	}
	var item *E // one closure for all items
	var rank float64
	var found bool
	value := func(name string) any { return field(item, name) }
	key := value
	if !q.Search.IsZero() {
		key = func(name string) any {
			if name == Rank {
				return rank
			}
			return field(item, name)
		}
	}
	page := newPage(q)
	for i := range items {
		item = &items[i]
		if !evaluatesTo(q.Filter, true, value) {
			continue
		}
		if rank, found = q.Search.Match(value); found && !page.offer(i, key) {
			break
		}
	}
	rows := page.close()
	if len(rows) == 0 {
		return nil
	}
	selected := make([]E, len(rows))
	for i, row := range rows {
		selected[i] = items[row.index]
	}
	return selected
}

// page collects the rows of a result. With a limit it holds at most twice as many rows: when it is
// full it drops the second half, and from then on rejects rows that would sort there.
type page struct {
	sort    []Order
	after   []any
	limit   int // zero or less means no limit
	rows    []row
	cut     bool  // rows[limit-1] is the last row that can be in the result
	scratch []any // the keys of the offered item
}

// row is the index of an item and its sort keys. The index is the last key, so the sort is stable.
type row struct {
	keys  []any
	index int
}

func newPage(q Query) *page {
	return &page{sort: q.Sort, after: q.After, limit: q.Limit, scratch: make([]any, len(q.Sort))}
}

// offer adds an item that matches. It returns false if no later item can be in the result.
func (p *page) offer(index int, value func(string) any) bool {
	for i, key := range p.sort {
		p.scratch[i] = scalar(value(key.Field))
	}
	candidate := row{p.scratch, index}
	if p.after != nil && compareKeys(p.sort, p.scratch, p.after) <= 0 {
		return true
	}
	if p.cut && p.compareRows(candidate, p.rows[p.limit-1]) > 0 {
		return true
	}
	// Copy the keys only if the item can be in the result.
	candidate.keys = slices.Clone(p.scratch)
	p.rows = append(p.rows, candidate)
	if p.limit <= 0 {
		return true
	}
	if len(p.sort) == 0 {
		return len(p.rows) < p.limit
	}
	// Sorting once per limit items is as cheap as a heap. The division avoids an overflow with a
	// large limit.
	if len(p.rows)/2 >= p.limit {
		p.trim()
		p.cut = true
	}
	return true
}

// close returns the rows in order.
func (p *page) close() []row {
	p.trim()
	return p.rows
}

// trim sorts the rows and drops those beyond the limit.
func (p *page) trim() {
	if len(p.sort) > 0 {
		slices.SortFunc(p.rows, p.compareRows)
	}
	if p.limit > 0 && len(p.rows) > p.limit {
		clear(p.rows[p.limit:]) // release their keys
		p.rows = p.rows[:p.limit]
	}
}

// compareRows is a total order, because indexes are unique.
func (p *page) compareRows(a, b row) int {
	return cmp.Or(compareKeys(p.sort, a.keys, b.keys), cmp.Compare(a.index, b.index))
}

// compareKeys compares two positions by the first key that differs. Descending is the exact
// reverse, so null is last.
func compareKeys(sort []Order, a, b []any) int {
	for i, key := range sort {
		c := Compare(a[i], b[i])
		if c == 0 {
			continue
		}
		if key.Desc {
			return -c
		}
		return c
	}
	return 0
}
