package validate

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// spreads returns the fragments that a selection set spreads, each once, in the order in which they stand.
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

// eachSpread calls fn with every spread in a selection set, spread fragments themselves not entered.
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

// cycles finds fragments that lead back to themselves (section 5.5.2.2). Each fragment is gone through once.
func (v *validator) cycles() {
	c := cycleFinder{v: v}
	for _, f := range v.fragments {
		if v.byName[f.node.Name.Value] == f {
			c.from(f)
		}
	}
}

type cycleFinder struct {
	v    *validator
	path []*parser.FragmentSpread
}

// from follows all spreads in a fragment. One that stands on the path already closes a circle.
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
		if target.entered >= 0 {
			c.report(s.Name.Value, c.path[target.entered:])
		} else {
			c.from(target)
		}
		c.path = c.path[:len(c.path)-1]
	})
	f.entered = -1
}

// report names the way round, or as much of it as anyone wants to read.
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
	places := make([]*parser.Location, 0, most)
	for _, s := range path[:min(len(path), most)] {
		places = append(places, s.Loc)
	}
	c.v.report("NoFragmentCycles", message+".", places...)
}

// names checks that operations and fragments can be told apart (sections 5.2.1.1, 5.2.2.1 and 5.5.1.1).
func (v *validator) names() {
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

// reachBudget is how many fragments all operations of a document may reach, a fragment counted for each operation.
const reachBudget = 20_000

// reach calls fn with every fragment that a definition spreads, or that those spread, each once. The visit tells one
// traversal from the others.
func (v *validator) reach(d *definition, visit int, fn func(*fragment)) {
	for _, f := range d.spread {
		if f.visit == visit || v.reached > reachBudget {
			continue
		}
		v.reached++
		f.visit = visit
		fn(f)
		v.reach(&f.definition, visit, fn)
	}
}

// unusedFragments is section 5.5.1.4. Operations have marked the others by then.
func (v *validator) unusedFragments() {
	for _, f := range v.fragments {
		name := f.node.Name.Value
		if !v.byName[name].used {
			v.report("NoUnusedFragments", `Fragment "`+name+`" is never used.`, f.node.Loc)
		}
	}
}
