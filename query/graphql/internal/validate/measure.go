package validate

// Size limits of operations. The sizes of a fragment are computed once, however often it is spread.
// Called by validate.go after the check for cycles, because measured recurses into fragments.

import (
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// measures is the size of a selection set with all fragments expanded. Later checks and the
// compiler of package exec do work for each field with fragments expanded, so these limits bound
// them.
type measures struct {
	known  bool
	depth  int // levels of fields, not counting those below __schema and __type
	whole  int // levels of all fields
	hidden int // maximum levels below a __schema or __type field
	roots  int // fields at the first level
	fields int // fields at all levels
}

// measure checks the limits for each operation. The time is proportional to the document, not to
// the expanded size, because each fragment is measured once. Introspection gets twice the depth,
// because its queries nest ofType once for each list and non-null wrapper.
func (v *validator) measure() {
	for _, op := range v.operations {
		m := v.measured(op.set)
		v.checkLimit(op, m.depth, v.limits.Depth, "nests fields %d levels deep; at most %d are allowed.")
		v.checkLimit(op, m.hidden, 2*v.limits.Depth,
			"nests fields of introspection %d levels deep; at most %d are allowed.")
		v.checkLimit(op, m.roots, v.limits.RootFields, "selects %d fields at its root; at most %d "+
			"are allowed.")
		v.checkLimit(op, m.fields, v.limits.Fields, "selects %d fields; at most %d are allowed.")
	}
}

// checkLimit reports op if got exceeds limit. The message contains both numbers. The rule "Limits"
// is not part of the specification.
func (v *validator) checkLimit(op *operation, got, limit int, format string) {
	if got > limit {
		v.report("Limits", title(op)+" "+fmt.Sprintf(format, got, limit), op.node.Loc)
	}
}

// title returns an operation as error messages show it.
func title(op *operation) string {
	if op.node.Name == nil {
		return "The operation"
	}
	return `The operation "` + op.node.Name.Value + `"`
}

// measured returns the size of a selection set. A fragment that does not exist has no size;
// fragmentSpread reports it. Inline fragments add no level.
func (v *validator) measured(set *parser.SelectionSet) measures {
	var total measures
	if set == nil {
		return total
	}
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *parser.Field:
			if s.SelectionSet == nil { // the most frequent case, inlined
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
				// This recursion ends, because cycles has rejected documents in which a fragment
				// reaches itself.
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

// measuredField returns the size of a field with its subfields. Levels below introspection fields
// count separately.
func (v *validator) measuredField(f *parser.Field) measures {
	inner := v.measured(f.SelectionSet)
	m := measures{depth: inner.depth + 1, whole: inner.whole + 1, hidden: inner.hidden, roots: 1,
		fields: inner.fields + 1}
	// Introspection nests deeper than data does, and is cheap to execute.
	if name := f.Name.Value; name == "__schema" || name == "__type" {
		m.depth, m.hidden = 1, inner.whole
	}
	return m
}

// add adds the size of a sibling. Sums are capped far above all limits, to prevent overflow. A
// chain of fragments that each spread the next one twice doubles the sum with every fragment.
func (m *measures) add(other *measures) {
	const most = 1 << 30
	m.depth = max(m.depth, other.depth)
	m.whole = max(m.whole, other.whole)
	m.hidden = max(m.hidden, other.hidden)
	m.roots = min(m.roots+other.roots, most)
	m.fields = min(m.fields+other.fields, most)
}
