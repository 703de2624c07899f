package query

import (
	"cmp"
	"slices"
)

// Select answers q from items: those that match the filter, in the order asked for, behind the position, up to the
// limit. It makes a store out of a slice. Field gives an item's fields by JSON name, as [FieldOf] does.
//
// Items with equal keys stay in the order they have in items, and with no keys at all items is the order. A position
// that has not one value for each key of the sort selects nothing. Token and Fields are not looked at. The result is a
// new slice; items is not changed.
func Select[E any](q Query, items []E, field func(e *E, name string) any) []E {
	if q.After != nil && len(q.After) != len(q.Sort) {
		return nil
	}
	var item *E // one closure for all items
	value := func(name string) any { return field(item, name) }
	page := newPage(q)
	for i := range items {
		item = &items[i]
		if comesTo(q.Filter, true, value) && !page.offer(i, value) {
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

// page collects the rows of one answer. Where a limit is given it never holds more than twice as many: when it is
// full it drops the later half, and from then on refuses what would have fallen into that half.
type page struct {
	sort    []Order
	after   []any
	limit   int // zero or less: none
	rows    []row
	cut     bool  // rows[limit-1] is the last row with a chance
	scratch []any // the keys of the item offered
}

// row is an item by its index, which is also its last sort key and makes the sort stable.
type row struct {
	keys  []any
	index int
}

func newPage(q Query) *page {
	return &page{sort: q.Sort, after: q.After, limit: q.Limit, scratch: make([]any, len(q.Sort))}
}

// offer considers an item that matches. It returns false when no later item can have a place.
func (p *page) offer(index int, value func(string) any) bool {
	for i, key := range p.sort {
		p.scratch[i] = scalar(value(key.Field))
	}
	candidate := row{p.scratch, index}
	if p.after != nil && compareKeys(p.sort, p.scratch, p.after) <= 0 {
		return true
	}
	if p.cut && p.compare(candidate, p.rows[p.limit-1]) > 0 {
		return true
	}
	// Only now, when it has a chance, are its keys worth a copy.
	candidate.keys = slices.Clone(p.scratch)
	p.rows = append(p.rows, candidate)
	if p.limit <= 0 {
		return true
	}
	if len(p.sort) == 0 {
		return len(p.rows) < p.limit
	}
	// Sorting each time this many have come costs as little per item as a heap would; divided rather than multiplied,
	// because a limit may be as large as an int.
	if len(p.rows)/2 >= p.limit {
		p.trim()
		p.cut = true
	}
	return true
}

// close gives the rows in order.
func (p *page) close() []row {
	p.trim()
	return p.rows
}

// trim sorts the rows and drops those beyond the limit.
func (p *page) trim() {
	if len(p.sort) > 0 {
		slices.SortFunc(p.rows, p.compare)
	}
	if p.limit > 0 && len(p.rows) > p.limit {
		clear(p.rows[p.limit:]) // lets go of their keys
		p.rows = p.rows[:p.limit]
	}
}

// compare is total: no two rows have one index.
func (p *page) compare(a, b row) int {
	return cmp.Or(compareKeys(p.sort, a.keys, b.keys), cmp.Compare(a.index, b.index))
}

// compareKeys compares two positions by the first key in which they differ. Descending is the exact reverse, so null,
// the first of all, comes last there.
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
