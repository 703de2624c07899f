package exec

// Items that occur several times in the result of a relation. run_fetch.go calls share, and
// write.go calls related for each occurrence.

import "slices"

// span is the position of an item in the response. An item may occur several times, such as a
// customer with several orders. It is fetched once. If it has no errors it is also written once,
// and then copied from the response. Errors prevent the copy because their paths differ.
type span struct {
	from, to int
	failures int // run.failures at the time of writing, plus one
}

// share prepares for entries that occur several times: there are fewer entries than parents.
func (l *loaded) share(parents int) {
	if n := len(l.page.Entries); n > 0 && n < parents {
		l.spans = slices.Grow(l.spans[:0], n)[:n]
		clear(l.spans)
	}
}

// related appends an item of a relation. It needs the path of the relation, for errors.
func (r *run) related(n *field, l *loaded, i int) bool {
	if r.relatedWhole(n, l, i) {
		return true
	}
	if len(r.dst) > r.most {
		r.long = true
		return false
	}
	from, failures := len(r.dst), r.failures
	if !r.object(n.sub, parent{value: l.page.Entries[i].Value, entries: l.page.Entries, i: i}) {
		return false
	}
	if len(l.spans) > 0 {
		l.spans[i] = span{from, len(r.dst), failures + 1} // not used if there were errors inside
	}
	return true
}

// relatedWhole is related for items that need no path: copies of an earlier occurrence, and those with
// a joined form. Otherwise it appends nothing and returns false.
func (r *run) relatedWhole(n *field, l *loaded, i int) bool {
	if len(l.spans) == 0 {
		return r.whole(n.sub, l.page.Entries[i].Value)
	}
	s, from := &l.spans[i], len(r.dst)
	// After an error, the response may have been truncated, and the span is invalid.
	if s.failures == r.failures+1 {
		if from > r.most { // object checks this otherwise
			return false
		}
		r.dst = append(r.dst, r.dst[s.from:s.to]...)
		return true
	}
	if !r.whole(n.sub, l.page.Entries[i].Value) {
		return false
	}
	*s = span{from, len(r.dst), r.failures + 1}
	return true
}
