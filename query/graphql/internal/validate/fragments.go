package validate

// Names of definitions, and spreads of fragments: unknown names, cycles and unused fragments.
// Called by validate.go. variables.go uses reach to find the fragments of an operation.

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// spreads returns the fragments that a selection set spreads at any depth, each once, in the order
// of their first use. It does not enter the fragments themselves. A spread of an unknown fragment
// is left out; fragmentSpread reports it.
func (v *validator) spreads(set *parser.SelectionSet) []*fragment {
	var list []*fragment
	visit := v.nextVisit()
	v.eachSpread(set, func(s *parser.FragmentSpread) {
		if f := v.byName[s.Name.Value]; f != nil && f.visit != visit {
			f.visit = visit
			list = append(list, f)
		}
	})
	return list
}

// eachSpread calls fn for each spread in a selection set at any depth. It does not enter the
// fragments themselves. The recursion is as deep as the document nests, which lexer.Guard limits.
func (v *validator) eachSpread(set *parser.SelectionSet, fn func(*parser.FragmentSpread)) {
	if set == nil {
		return
	}
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *parser.FragmentSpread:
			fn(s)
		case *parser.Field:
			v.eachSpread(s.SelectionSet, fn)
		case *parser.InlineFragment:
			v.eachSpread(s.SelectionSet, fn)
		}
	}
}

// cycles reports fragments that spread themselves, directly or indirectly (section 5.5.2.2). It
// visits each fragment once. All traversals that follow spreads rely on it: without cycles they
// terminate.
func (v *validator) cycles() {
	c := cycleFinder{v: v}
	for _, f := range v.fragments {
		// Of several fragments with one name, only the last can be spread.
		if v.byName[f.node.Name.Value] == f {
			c.from(f)
		}
	}
}

// cycleFinder is a depth-first search for cycles. path holds the spreads from the start to the
// current fragment. path[f.entered] is the spread in f by which the search left f.
type cycleFinder struct {
	v    *validator
	path []*parser.FragmentSpread
}

// from searches from f. A spread of a fragment that is on the path is a cycle. A fragment is
// searched once, so the time is proportional to the number of spreads in all fragments.
func (c *cycleFinder) from(f *fragment) {
	if f.searched || c.v.enough() {
		return
	}
	f.searched, f.entered = true, len(c.path)
	c.v.eachSpread(f.set, func(s *parser.FragmentSpread) {
		target := c.v.byName[s.Name.Value]
		if target == nil {
			return
		}
		c.path = append(c.path, s)
		// The path from the first visit of the target to here is the cycle.
		if target.entered >= 0 {
			c.report(s.Name.Value, c.path[target.entered:])
		} else {
			c.from(target)
		}
		c.path = c.path[:len(c.path)-1]
	})
	// f is no longer on the path. It remains searched, because a second search from it would only
	// find the same cycles.
	f.entered = -1
}

// report reports a cycle. The message and the locations show at most 20 spreads of it. A cycle may
// contain every fragment of the document, and each error is part of the response.
func (c *cycleFinder) report(name string, path []*parser.FragmentSpread) {
	const most = 20
	message := fmt.Sprintf("Cannot spread fragment %q within itself", name)
	var via []string
	for _, s := range path[:min(len(path)-1, most)] {
		via = append(via, `"`+s.Name.Value+`"`)
	}
	if len(path)-1 > most {
		via = append(via, fmt.Sprintf("%d more", len(path)-1-most))
	}
	if len(via) > 0 {
		message += " via " + strings.Join(via, ", ")
	}
	locations := make([]*parser.Location, 0, most)
	for _, s := range path[:min(len(path), most)] {
		locations = append(locations, s.Loc)
	}
	c.v.report("NoFragmentCycles", message+".", locations...)
}

// uniqueNames checks that names of operations and fragments are unique (sections 5.2.2.1, 5.2.3.1
// and 5.5.1.1). Operations and fragments have separate names: an operation may have the name of a
// fragment. Each repetition is an error of its own, with the location of the first use of the name.
func (v *validator) uniqueNames() {
	operations := map[string]*parser.Name{}
	for _, op := range v.operations {
		name := op.node.Name
		if name == nil {
			if len(v.operations) > 1 {
				v.report("LoneAnonymousOperation",
					"This anonymous operation must be the only defined operation.", op.node.Loc)
			}
			continue
		}
		if first := operations[name.Value]; first != nil {
			v.report("UniqueOperationNames", `There can be only one operation named "`+name.Value+`".`,
				first.Loc, name.Loc)
			continue
		}
		operations[name.Value] = name
	}
	// There are as many names as fragments, so none repeats.
	if len(v.byName) == len(v.fragments) {
		return
	}
	fragments := map[string]*parser.Name{}
	for _, f := range v.fragments {
		name := f.node.Name
		if first := fragments[name.Value]; first != nil {
			v.report("UniqueFragmentNames", `There can be only one fragment named "`+name.Value+`".`,
				first.Loc, name.Loc)
			continue
		}
		fragments[name.Value] = name
	}
}

// reachBudget limits the number of fragments that the operations of a document reach in total. A
// fragment counts once for each operation. A document within the token limit can have hundreds of
// operations that each reach hundreds of fragments.
const reachBudget = 20_000

// reach calls fn for each fragment that d spreads, directly or through other fragments, each once.
// visit is a number that [validator.nextVisit] returned for this traversal. When the budget is used
// up, it returns early. The caller compares v.reached with reachBudget, because the visited
// fragments are then incomplete.
func (v *validator) reach(d *definition, visit int, fn func(*fragment)) {
	for _, f := range d.spread {
		// Numbers of visits replace a set of visited fragments, which each operation would have to
		// allocate.
		if f.visit == visit || v.reached > reachBudget {
			continue
		}
		v.reached++
		f.visit = visit
		fn(f)
		v.reach(&f.definition, visit, fn)
	}
}

// unusedFragments implements section 5.5.1.4. It follows operationVariables, which marks used
// fragments. The mark is looked up by name: of several fragments with one name, only the last is
// ever marked.
func (v *validator) unusedFragments() {
	for _, f := range v.fragments {
		name := f.node.Name.Value
		if !v.byName[name].used {
			v.report("NoUnusedFragments", `Fragment "`+name+`" is never used.`, f.node.Loc)
		}
	}
}
