package validate

import (
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// measures say how large a selection is, with the fragments in it spread out.
type measures struct {
	known  bool
	depth  int // levels of fields, those below __schema and __type not counted
	whole  int // levels of fields, all counted
	hidden int // the most levels below a __schema or __type
	roots  int // fields at the first level
	fields int // fields at all levels
}

// measure applies the limits to every operation. Each fragment is measured once, however often it is spread, so that the
// time does not grow with the numbers that come out.
func (v *validator) measure() {
	for _, op := range v.operations {
		m := v.measured(op.set)
		v.atMost(op, m.depth, v.limits.Depth, "nests fields %d levels deep; at most %d are accepted.")
		v.atMost(op, m.hidden, 2*v.limits.Depth,
			"nests fields of introspection %d levels deep; at most %d are accepted.")
		v.atMost(op, m.roots, v.limits.RootFields, "selects %d fields at its root; at most %d are accepted.")
		v.atMost(op, m.fields, v.limits.Fields, "selects %d fields; at most %d are accepted.")
	}
}

// atMost reports an operation that is over a limit, with both numbers, so that one knows how far off it is.
func (v *validator) atMost(op *operation, got, limit int, format string) {
	if got > limit {
		v.report("Limits", title(op)+" "+fmt.Sprintf(format, got, limit), op.node.Loc)
	}
}

// title is how messages call an operation.
func title(op *operation) string {
	if op.node.Name == nil {
		return "The operation"
	}
	return `The operation "` + op.node.Name.Value + `"`
}

// measured sums up what stands in a selection set.
func (v *validator) measured(set *parser.SelectionSet) measures {
	var total measures
	if set == nil {
		return total
	}
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *parser.Field:
			if s.SelectionSet == nil { // most are so, and documents full of them are not worth more than this
				total.depth, total.whole = max(total.depth, 1), max(total.whole, 1)
				total.roots++
				total.fields++
				continue
			}
			m := v.measuredField(s)
			total.add(&m)
		case *parser.InlineFragment:
			m := v.measured(s.SelectionSet)
			total.add(&m)
		case *parser.FragmentSpread:
			if f := v.byName[s.Name.Value]; f != nil {
				if !f.size.known {
					f.size = v.measured(f.set)
					f.size.known = true
				}
				total.add(&f.size)
			}
		}
	}
	return total
}

// measuredField is one level around what is below it. Below introspection, levels count apart from there on.
func (v *validator) measuredField(f *parser.Field) measures {
	inner := v.measured(f.SelectionSet)
	m := measures{depth: inner.depth + 1, whole: inner.whole + 1, hidden: inner.hidden, roots: 1,
		fields: inner.fields + 1}
	if name := f.Name.Value; name == "__schema" || name == "__type" {
		m.depth, m.hidden = 1, inner.whole
	}
	return m
}

// add counts what stands beside what was counted. Sums stop where no limit is any more, before they overflow.
func (m *measures) add(other *measures) {
	const most = 1 << 30
	m.depth = max(m.depth, other.depth)
	m.whole = max(m.whole, other.whole)
	m.hidden = max(m.hidden, other.hidden)
	m.roots = min(m.roots+other.roots, most)
	m.fields = min(m.fields+other.fields, most)
}
