package memory

import (
	"context"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
)

// walk answers one query. It holds the lock only while it takes a snapshot of the index that the plan wants; the
// records it then looks at never change.
type walk[T any] struct {
	store *Store[T]
	ctx   context.Context
	q     query.Query
	emit  func(*record[T]) bool // receives the answer, and returns false to have no more

	plan
	view    sorted.View[*record[T]]
	left    int // items still wanted; without a limit, zero or less
	stopped bool
	err     error

	current *record[T]
	value   func(field string) any // of current
}

// run answers the query.
func (w *walk[T]) run() error {
	if !w.prepare() {
		return w.ctx.Err()
	}
	if err := w.take(w.choosePlan); err != nil {
		return err
	}
	w.walk()
	return w.err
}

// prepare brings the query into the form the rest relies on: an order is given, and nothing is left behind the id,
// which decides every tie. It returns false for a position that cannot be one.
func (w *walk[T]) prepare() bool {
	id := w.store.id.Name
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
	w.value = func(field string) any { return w.store.value(w.current, field) }
	return true
}

// take fixes the plan and the moment that is looked at.
func (w *walk[T]) take(choose func() plan) error {
	if err := w.store.db.startRead(w.ctx); err != nil {
		return err
	}
	w.plan = choose()
	w.view = w.store.indexes[w.index].Snapshot()
	w.store.db.mu.RUnlock()
	return nil
}

// walk follows the plan: from one end of what the filter leaves of the index to the other, or from the position on. The
// run in which the position lies is the only one of which a part is wanted; all behind it are emitted whole.
func (w *walk[T]) walk() {
	w.left = w.q.Limit
	// The same limits as when the plan was made, but places are good for one View only.
	from, to := w.within(w.view, w.index, limitsOf(w.q.Filter, w.store.indexes[w.index].field.Name))
	if w.whole { // the position is one in the run, since w.rest is the whole order
		w.emitRun(from, to, w.q.After)
		return
	}
	if len(w.q.After) > 0 {
		value := w.q.After[0]
		first, behind := w.within(w.view, w.index, limits{value, value, true, true})
		if len(w.rest) > 0 && !w.emitRun(sorted.Max(from, first), sorted.Min(to, behind), w.q.After[1:]) {
			return
		}
		if w.desc { // then what comes behind the position is before its run
			to = sorted.Min(to, first)
		} else {
			from = sorted.Max(from, behind)
		}
	}
	if len(w.rest) == 0 || w.byID() && w.rest[0].Desc == w.desc {
		w.emitBetween(from, to, w.desc) // the order of the index itself
		return
	}
	w.emitRuns(from, to)
}

// byID reports whether a run is wanted in the order of the ids, forwards or backwards. An index has it in that order, so
// that nothing needs to be sorted and a limit ends the walk in time. It is the usual case: the library makes the id the
// last key of every order.
func (w *walk[T]) byID() bool { return len(w.rest) > 0 && w.rest[0].Field == w.store.id.Name }

// emitRuns emits run after run, in an order that the index alone does not have: backwards by the field and forwards by
// id, say, or by further fields within equal values of the first.
func (w *walk[T]) emitRuns(from, to sorted.Place) {
	for from.Before(to) {
		first, behind := from, to
		if w.desc {
			first = sorted.Max(from, w.runStart(to))
			to = first
		} else {
			behind = sorted.Min(to, w.runEnd(from))
			from = behind
		}
		if !w.emitRun(first, behind, nil) {
			return
		}
	}
}

// runStart returns the place of the first record of the run before to. Most runs of most fields are one record long,
// which a look at its neighbour shows; others are worth a search.
func (w *walk[T]) runStart(to sorted.Place) sorted.Place {
	p := w.view.Prev(to)
	key := w.key(p)
	if p == (sorted.Place{}) || query.Compare(w.key(w.view.Prev(p)), key) != 0 {
		return p
	}
	return w.view.Seek(func(r *record[T]) bool { return query.Compare(r.keys[w.index], key) < 0 })
}

// runEnd returns the place behind the last record of the run that begins at from.
func (w *walk[T]) runEnd(from sorted.Place) sorted.Place {
	p := w.view.Next(from)
	key := w.key(from)
	if p == w.view.End() || query.Compare(w.key(p), key) != 0 {
		return p
	}
	return w.view.Seek(func(r *record[T]) bool { return query.Compare(r.keys[w.index], key) <= 0 })
}

func (w *walk[T]) key(p sorted.Place) any { return w.view.At(p).keys[w.index] }

// emitRun emits the records from a place up to another in the order of w.rest, beginning behind a position, if there
// is one. It returns false if nothing more is wanted.
func (w *walk[T]) emitRun(from, to sorted.Place, after []any) bool {
	if !from.Before(to) {
		return true
	}
	if len(w.rest) == 0 {
		return w.emitBetween(from, to, w.desc)
	}
	key := w.key(from)
	// All of one value? A plan that takes what the filter leaves as one run may have caught several.
	if w.byID() && query.Compare(key, w.key(w.view.Prev(to))) == 0 {
		if len(after) > 0 {
			from, to = w.behind(from, to, key, after[0])
		}
		return w.emitBetween(from, to, w.rest[0].Desc)
	}
	// There is no way around looking at all of them; but pointers to them are all that is kept.
	var run []*record[T]
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

// behind narrows a run of records that all have this key to those which come after an id.
func (w *walk[T]) behind(from, to sorted.Place, key, id any) (sorted.Place, sorted.Place) {
	desc := w.rest[0].Desc
	p := w.view.Seek(func(r *record[T]) bool {
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

// emitBetween emits the records which are in order already.
func (w *walk[T]) emitBetween(from, to sorted.Place, backwards bool) bool {
	for r := range w.view.Between(from, to, backwards) {
		if w.matches(r) && !w.give(r) || w.err != nil {
			return false
		}
	}
	return true
}

// emitSorted emits matching records, which are in the order of the ids, in the order of w.rest.
func (w *walk[T]) emitSorted(run []*record[T], after []any) bool {
	q := query.Query{Sort: w.rest, After: after, Limit: w.left}
	field := func(r **record[T], name string) any { return w.store.value(*r, name) }
	for _, r := range query.Select(q, run, field) {
		if w.err = w.ctx.Err(); w.err != nil || !w.give(r) {
			return false
		}
	}
	return true
}

// matches reports whether the filter lets a record pass. It is also where a long walk notices that nobody waits for
// its end any more.
func (w *walk[T]) matches(r *record[T]) bool {
	if w.err = w.ctx.Err(); w.err != nil {
		return false
	}
	if w.q.Filter.IsZero() {
		return true
	}
	w.current = r // so that one closure serves all records
	return query.Match(w.q.Filter, w.value)
}

// give emits a record, and returns false if no more are wanted.
func (w *walk[T]) give(r *record[T]) bool {
	if !w.emit(r) {
		w.stopped = true
		return false
	}
	w.left-- // without a limit it goes down from 0 and is never there again
	return w.left != 0
}

// value returns a field of a record. The values of indexed fields are at hand; others are read from the item.
func (s *Store[T]) value(r *record[T], field string) any {
	for i, ix := range s.indexes {
		if ix.field.Name == field {
			return r.keys[i]
		}
	}
	if f := s.typ.Field(field); f != nil {
		return f.Get(&r.item.Value)
	}
	return nil
}
