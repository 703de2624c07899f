package memory

import (
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
)

// plan says how to read an index so that the answer to a query comes out in order.
type plan struct {
	index int           // which one; 0 is by id
	desc  bool          // backwards
	whole bool          // the index does not help with the order: take all there is to look at as one run
	rest  []query.Order // the order within a run, which is all that have the same value in the index
}

// choosePlan weighs two ways against each other: to walk along the index of the first sort key until enough items have
// matched, or to take everything that the filter leaves of some index and sort it. The first is better for the newest
// twenty of very many, the second for the few that one customer has. Either gives the same answer.
//
// It is called with the lock held, and costs a search or two in each index that the filter speaks of.
func (w *walk[T]) choosePlan() plan {
	n := len(w.store.records)
	narrowest, matching := 0, n
	for i, ix := range w.store.indexes {
		if l := limitsOf(w.q.Filter, ix.field.Name); l.hasLow || l.hasHigh {
			if count := ix.Live().Count(w.within(ix.Live(), i, l)); count < matching {
				narrowest, matching = i, count
			}
		}
	}
	// How far the walk goes depends on how many match. For lack of better knowledge: as many as match in the narrowest
	// index, spread evenly.
	along := w.store.indexOf(w.q.Sort[0].Field)
	steps := n
	if w.q.Limit > 0 && matching > 0 {
		steps = int(min(float64(n), float64(w.q.Limit)*float64(n)/float64(matching)))
	}
	if along >= 0 && (along == narrowest || matching >= steps) {
		return plan{index: along, desc: w.q.Sort[0].Desc, rest: w.q.Sort[1:]}
	}
	return plan{index: narrowest, whole: true, rest: w.q.Sort}
}

// limits are bounds, both inclusive, of what one field can be in items that match a filter. They may leave in more
// than matches, as every item is matched in the end.
type limits struct {
	low, high       any
	hasLow, hasHigh bool
}

func limitsOf(f query.Filter, field string) limits {
	var l limits
	l.narrow(f, field)
	return l
}

// narrow looks only at what must hold of every item: comparisons, and parts of an And.
func (l *limits) narrow(f query.Filter, field string) {
	if f.Op == query.AndOp {
		for _, part := range f.Filters {
			l.narrow(part, field)
		}
	}
	if f.Field != field {
		return
	}
	switch f.Op {
	case query.Eq:
		l.raise(f.Value)
		l.lower(f.Value)
	case query.Gt, query.Gte, query.StartsWith: // what starts with "ab" does not come before "ab"
		l.raise(f.Value)
	case query.Lt, query.Lte:
		l.lower(f.Value)
	case query.In: // what lies between the values is left in
		if list, ok := f.Value.([]any); ok && len(list) > 0 {
			l.raise(slices.MinFunc(list, query.Compare))
			l.lower(slices.MaxFunc(list, query.Compare))
		}
	case query.IsNull: // null comes first, so an upper limit is enough
		if f.Value == true {
			l.lower(nil)
		}
	}
}

func (l *limits) raise(v any) {
	if !l.hasLow || query.Compare(v, l.low) > 0 {
		l.low, l.hasLow = v, true
	}
}

func (l *limits) lower(v any) {
	if !l.hasHigh || query.Compare(v, l.high) < 0 {
		l.high, l.hasHigh = v, true
	}
}

// within returns the part of an index, seen in v, that is inside the limits. Where they contradict each other it is
// empty.
func (w *walk[T]) within(v sorted.View[*record[T]], index int, l limits) (from, to sorted.Place) {
	to = v.End()
	if l.hasLow {
		from = v.Seek(func(r *record[T]) bool { return query.Compare(r.keys[index], l.low) < 0 })
	}
	if l.hasHigh {
		to = v.Seek(func(r *record[T]) bool { return query.Compare(r.keys[index], l.high) <= 0 })
	}
	return from, sorted.Max(from, to)
}
