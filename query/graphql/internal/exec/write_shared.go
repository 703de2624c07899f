package exec

import "slices"

// A hundred orders may be of ten customers. Each of these is fetched once, and what is shown of it is the same wherever it
// stands in the answer, unless there are errors, which have paths. So it is written once, too, and then copied from where
// it stands in the answer already.

// span is where an item stands in the answer.
type span struct {
	from, to int
	failures int // that there had been by then, from 1
}

// share prepares for items that are there several times, if there are any: those that so many others lead to.
func (l *loaded) share(parents int) {
	if n := len(l.page.Entries); n > 0 && n < parents {
		l.spans = slices.Grow(l.spans[:0], n)[:n]
		clear(l.spans)
	}
}

// related appends an item that a relation leads to.
func (r *run) related(n *field, l *loaded, i int) bool {
	if len(l.spans) == 0 {
		return r.item(n, l.page.Entries, i)
	}
	s := &l.spans[i]
	// After an error, something may have been cut off the answer, and other things stand there now.
	if s.failures == r.failures+1 {
		if len(r.dst) > r.most { // which otherwise every object looks at itself
			r.long = true
			return false
		}
		r.dst = append(r.dst, r.dst[s.from:s.to]...)
		return true
	}
	from, failures := len(r.dst), r.failures
	if !r.item(n, l.page.Entries, i) {
		return false
	}
	*s = span{from, len(r.dst), failures + 1} // of no use if there were errors inside
	return true
}
