package memory

// The choice of an index for a query, and the part of it that can match. scan.go reads that part
// and applies the whole filter, so limits need not be exact.

import (
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
)

// plan determines how an index is read so that the results are in order.
type plan struct {
	index   int           // position in Store.indexes; 0 is by id
	desc    bool          // read backwards
	sortAll bool          // the order of the index does not help; sort the whole range
	order   []query.Order // the order within a run of equal values in the index
}

// choosePlan compares two plans: to scan the index of the first sort key until enough items match,
// or to read the range of the most selective index and sort it. The first is better for the newest
// 20 items of many, the second for the few items of one customer. Both return the same result.
//
// The caller holds the lock. The cost is one or two searches in each index of a filtered field.
func (w *scan) choosePlan() plan {
	n := len(w.store.records)
	narrowest, matching := 0, n
	for i, ix := range w.store.indexes {
		if l := limitsOf(w.q.Filter, ix.field.Name); l.hasLow || l.hasHigh {
			if count := ix.Live().Count(w.rangeOf(ix.Live(), i, l)); count < matching {
				narrowest, matching = i, count
			}
		}
	}
	// The length of the scan depends on the number of matches. It is estimated from the most
	// selective index, assuming an even distribution.
	along := w.store.indexOf(w.q.Sort[0].Field)
	steps := n
	if w.q.Limit > 0 && matching > 0 {
		steps = int(min(float64(n), float64(w.q.Limit)*float64(n)/float64(matching)))
	}
	if along >= 0 && (along == narrowest || matching >= steps) {
		return plan{index: along, desc: w.q.Sort[0].Desc, order: w.q.Sort[1:]}
	}
	return plan{index: narrowest, sortAll: true, order: w.q.Sort}
}

// limits are inclusive bounds of a field in the items that match a filter. They may include items
// that do not match, because the filter is applied to each item.
type limits struct {
	low, high       any
	hasLow, hasHigh bool
}

// limitsOf returns the range of a field's values that a filter can match.
func limitsOf(f query.Filter, field string) limits {
	var l limits
	l.narrow(f, field)
	return l
}

// narrow applies the conditions that all items must meet: comparisons, and those in an And.
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
		l.raiseLow(f.Value)
		l.lowerHigh(f.Value)
	case query.Gt, query.Gte, query.StartsWith: // strings with the prefix "ab" are not less than "ab"
		l.raiseLow(f.Value)
	case query.Lt, query.Lte:
		l.lowerHigh(f.Value)
	case query.In: // the range from the least to the greatest value
		if list, ok := f.Value.([]any); ok && len(list) > 0 {
			l.raiseLow(slices.MinFunc(list, query.Compare))
			l.lowerHigh(slices.MaxFunc(list, query.Compare))
		}
	case query.IsNull: // null sorts first, so an upper bound is enough
		if f.Value == true {
			l.lowerHigh(nil)
		}
	}
}

// raiseLow raises the lower end. The limits of several conditions are combined to the narrowest.
func (l *limits) raiseLow(v any) {
	if !l.hasLow || query.Compare(v, l.low) > 0 {
		l.low, l.hasLow = v, true
	}
}

func (l *limits) lowerHigh(v any) {
	if !l.hasHigh || query.Compare(v, l.high) < 0 {
		l.high, l.hasHigh = v, true
	}
}

// rangeOf returns the part of an index within the limits, as places of v. It is empty if the limits
// contradict each other.
func (w *scan) rangeOf(v sorted.View[*record], index int, l limits) (from, to sorted.Place) {
	to = v.End()
	if l.hasLow {
		from = v.Seek(func(r *record) bool { return query.Compare(r.keys[index], l.low) < 0 })
	}
	if l.hasHigh {
		to = v.Seek(func(r *record) bool { return query.Compare(r.keys[index], l.high) <= 0 })
	}
	return from, sorted.Max(from, to)
}
