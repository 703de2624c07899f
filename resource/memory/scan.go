package memory

// The plan of one list: an index with bounds, or a scan with a sort.

import (
	"context"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
	"github.com/stoa-go/stoa/resource/schema"
)

// scan executes one query. It holds the lock only while it takes a snapshot of the index that the
// plan uses; records are immutable.
type scan struct {
	store *store
	ctx   context.Context
	q     query.Query
	emit  func(*record) bool // receives each result and returns false to stop

	plan
	view    sorted.View[*record]
	left    int // remaining items; not positive if there is no limit
	stopped bool
	err     error

	current *record
	value   func(field string) any // field of current, for query.Match
	// joined has the sort keys that are fields of related items, and the conditions on related items by the
	// names that join has given them.
	joined computed
}

// run executes the query.
func (w *scan) run() error {
	if !w.normalize() {
		return w.ctx.Err()
	}
	if err := w.snapshot(w.choosePlan); err != nil {
		return err
	}
	w.execute()
	return w.err
}

// normalize adds a default sort order and removes everything after the id, which has no ties. It
// returns false if the position does not fit the order.
func (w *scan) normalize() bool {
	id := w.store.id.Name
	if key := w.store.id.Key; key != nil {
		return w.normalizeKey(key)
	}
	if len(w.q.Sort) == 0 {
		w.q.Sort = []query.Order{{Field: id}}
	}
	if w.q.After != nil && len(w.q.After) != len(w.q.Sort) {
		return false
	}
	if i := slices.IndexFunc(w.q.Sort, func(o query.Order) bool { return o.Field == id }); i >= 0 {
		w.q.Sort = w.q.Sort[:i+1]
		w.q.After = w.q.After[:min(i+1, len(w.q.After))]
	}
	w.value = w.field
	return true
}

// normalizeKey is normalize for a composite id. Its order is that of the fields of its key.
func (w *scan) normalizeKey(key []*schema.Field) bool {
	w.value = w.field
	var order []query.Order
	for _, o := range w.q.Sort {
		if o.Field != w.store.id.Name {
			order = append(order, o)
			continue
		}
		for _, f := range key {
			order = append(order, query.Order{Field: f.Name, Desc: o.Desc})
		}
	}
	if len(order) == 0 {
		for _, f := range key {
			order = append(order, query.Order{Field: f.Name})
		}
	}
	w.q.Sort = order
	return w.q.After == nil || len(w.q.After) == len(order)
}

// snapshot chooses the plan and takes the snapshot of its index.
func (w *scan) snapshot(choose func() plan) error {
	if err := w.join(); err != nil {
		return err
	}
	if err := w.store.db.startRead(w.ctx); err != nil {
		return err
	}
	w.plan = choose()
	w.view = w.store.indexes[w.index].Snapshot()
	w.store.db.mu.RUnlock()
	return nil
}

// execute follows the plan from one end of the filtered part of the index, or from the position, to
// the other. Only the run that contains the position is emitted in part.
func (w *scan) execute() {
	w.left = w.q.Limit
	// rangeOf again, because places are valid for one View only.
	from, to := w.rangeOf(w.view, w.index, limitsOf(w.q.Filter, w.store.indexes[w.index].field.Name))
	if w.sortAll { // the position is inside the only run
		w.emitRun(from, to, w.q.After)
		return
	}
	if len(w.q.After) > 0 {
		value := w.q.After[0]
		first, after := w.rangeOf(w.view, w.index, limits{value, value, true, true})
		if len(w.order) > 0 && !w.emitRun(sorted.Max(from, first), sorted.Min(to, after), w.q.After[1:]) {
			return
		}
		if w.desc { // backwards, results after the position precede its run
			to = sorted.Min(to, first)
		} else {
			from = sorted.Max(from, after)
		}
	}
	if len(w.order) == 0 || w.byID() && w.order[0].Desc == w.desc {
		w.emitBetween(from, to, w.desc) // in the order of the index itself
		return
	}
	w.emitRuns(from, to)
}

// byID reports whether runs are sorted by id, in either direction. The index has that order, so
// nothing is sorted and the limit ends the scan early. This is the common case, because package
// resource adds the id as the last sort key.
func (w *scan) byID() bool { return len(w.order) > 0 && w.order[0].Field == w.store.id.Name }

// emitRuns emits one run after another, in an order that the index does not have: for example
// descending by the field and ascending by id, or with further fields.
func (w *scan) emitRuns(from, to sorted.Place) {
	for from.Before(to) {
		first, after := from, to
		if w.desc {
			first = sorted.Max(from, w.runStart(to))
			to = first
		} else {
			after = sorted.Min(to, w.runEnd(from))
			from = after
		}
		if !w.emitRun(first, after, nil) {
			return
		}
	}
}

// runStart returns the place of the first record of the run before to. Most runs have one record,
// so it checks the neighbor before it searches.
func (w *scan) runStart(to sorted.Place) sorted.Place {
	p := w.view.Prev(to)
	key := w.key(p)
	if p == (sorted.Place{}) || query.Compare(w.key(w.view.Prev(p)), key) != 0 {
		return p
	}
	return w.view.Seek(func(r *record) bool { return query.Compare(r.keys[w.index], key) < 0 })
}

// runEnd returns the place after the last record of the run that begins at from.
func (w *scan) runEnd(from sorted.Place) sorted.Place {
	p := w.view.Next(from)
	key := w.key(from)
	if p == w.view.End() || query.Compare(w.key(p), key) != 0 {
		return p
	}
	return w.view.Seek(func(r *record) bool { return query.Compare(r.keys[w.index], key) <= 0 })
}

func (w *scan) key(p sorted.Place) any { return w.view.At(p).keys[w.index] }

// emitRun emits the records between two places in the order of w.order, after a position if one is
// given. It returns false to stop.
func (w *scan) emitRun(from, to sorted.Place, after []any) bool {
	if !from.Before(to) {
		return true
	}
	if len(w.order) == 0 {
		return w.emitBetween(from, to, w.desc)
	}
	key := w.key(from)
	// With sortAll, the range may contain several values of the field.
	if w.byID() && query.Compare(key, w.key(w.view.Prev(to))) == 0 {
		if len(after) > 0 {
			from, to = w.afterID(from, to, key, after[0])
		}
		return w.emitBetween(from, to, w.order[0].Desc)
	}
	// All records must be read and sorted. Only pointers are kept.
	var run []*record
	for r := range w.view.Between(from, to, false) {
		if w.matches(r) {
			run = append(run, r)
		}
		if w.err != nil {
			return false
		}
	}
	return w.emitSorted(run, after)
}

// afterID narrows a run of records with the same key to those that follow an id.
func (w *scan) afterID(from, to sorted.Place, key, id any) (sorted.Place, sorted.Place) {
	desc := w.order[0].Desc
	p := w.view.Seek(func(r *record) bool {
		if c := query.Compare(r.keys[w.index], key); c != 0 {
			return c < 0
		}
		c := query.Compare(r.keys[0], id)
		return c < 0 || c == 0 && !desc
	})
	if desc {
		return from, sorted.Min(to, p)
	}
	return sorted.Max(from, p), to
}

// emitBetween emits the records in the order of the index.
func (w *scan) emitBetween(from, to sorted.Place, backwards bool) bool {
	for r := range w.view.Between(from, to, backwards) {
		if w.matches(r) && !w.emitOne(r) || w.err != nil {
			return false
		}
	}
	return true
}

// emitSorted sorts matching records by w.order and emits them. It holds the whole run in memory,
// unlike emitBetween.
func (w *scan) emitSorted(run []*record, after []any) bool {
	q := query.Query{Sort: w.order, After: after, Limit: w.left}
	field := func(r **record, name string) any { return w.joined.of(w.store, *r, name) }
	for _, r := range query.Select(q, run, field) {
		if w.err = w.ctx.Err(); w.err != nil || !w.emitOne(r) {
			return false
		}
	}
	return true
}

// matches reports whether the record matches the filter. It also checks the context, so that a long
// scan ends with it.
func (w *scan) matches(r *record) bool {
	if w.err = w.ctx.Err(); w.err != nil {
		return false
	}
	if w.q.Filter.IsZero() {
		return true
	}
	w.current = r // one closure serves all records
	return query.Match(w.q.Filter, w.value)
}

// emitOne emits a record and returns false to stop.
func (w *scan) emitOne(r *record) bool {
	if !w.emit(r) {
		w.stopped = true
		return false
	}
	w.left-- // without a limit, it starts at 0 and becomes negative
	return w.left != 0
}

// value returns a field of a record, from the keys if the field is indexed. The number of indexes
// is small, so a linear search is faster than a map.
func (s *store) value(r *record, field string) any {
	for i, ix := range s.indexes {
		if ix.field.Name == field {
			return r.keys[i]
		}
	}
	if f := s.typ.Field(field); f != nil {
		return f.Get(r.value)
	}
	return nil
}
