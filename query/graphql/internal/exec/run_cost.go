package exec

import (
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// The cost of an operation is how many objects it may ask for: the items of its lists, as many as there may be, with
// those that relations lead to from each. It is known before anything is fetched, from the arguments alone. What is within
// an object, structs and lists of them, comes with it and costs nothing.

// mostCost is where counting ends, before it overflows.
const mostCost = 1 << 40

// Introspection costs nothing to fetch, and a list in it is as long as the schema is large. So it is not counted before but
// while it is written: a document of a few aliases could be answered with a thousand times its size. describable is how
// many objects introspection knows, each once; a tool that asks for everything sees each a few times, as the type of
// something.
func describable(s *model.Schema) int {
	n := 0
	for _, t := range s.Types {
		n += 1 + len(t.Fields) + len(t.Inputs) + len(t.Values)
		for _, f := range t.Fields {
			n += len(f.Args)
		}
	}
	return n
}

// checkCost refuses a run that may ask for more objects than it should.
func (r *run) checkCost() *gqlerror.Error {
	cost := r.cost(r.plan.root)
	if cost <= r.e.cfg.Cost {
		return nil
	}
	return &gqlerror.Error{Code: gqlerror.BadUserInput, Message: fmt.Sprintf(
		"The operation may ask for %d objects; at most %d are accepted. Ask for smaller pages, or for "+
			"less at once.", cost, r.e.cfg.Cost)}
}

// tooLong is the error of an answer that is.
func (r *run) tooLong() *gqlerror.Error {
	return &gqlerror.Error{Code: gqlerror.BadUserInput, Message: fmt.Sprintf(
		"The answer is longer than %d bytes, which is all that is given. Ask for less at once.",
		r.e.cfg.Answer)}
}

// cost is how many objects are fetched at most for one object of a set.
func (r *run) cost(s *selectionSet) int {
	total := 0
	for i := range s.fetches {
		if l := &s.fetches[i]; r.active(l) && l.def.Source != model.TotalCount {
			total = min(total+r.costOf(l.field), mostCost)
		}
	}
	return total
}

// costOf is the cost of one field.
func (r *run) costOf(n *field) int {
	switch n.def.Source {
	case model.Related:
		return r.times(max(n.def.Limit, 1), n.sub)
	case model.List:
		return r.times(r.pageSize(n), n.sub) + r.counts(n.sub)
	case model.Computed, model.Custom:
		return n.def.Custom.Cost
	case model.Invoke:
		return n.def.Command.Cost()
	}
	return r.times(1, n.sub)
}

// times is the cost of so many objects, with all that is below them.
func (r *run) times(count int, s *selectionSet) int { return min(count*(1+r.cost(s)), mostCost) }

// counts returns how often a connection is to be counted. A count is no object, but may be as much work as one.
func (r *run) counts(s *selectionSet) int {
	n := 0
	for i := range s.fetches {
		if l := &s.fetches[i]; l.def.Source == model.TotalCount && r.active(l) {
			n++
		}
	}
	return n
}

// pageSize is how many items a list may give. What is more than the resource gives is refused by the list itself, with a
// better word for it.
func (r *run) pageSize(n *field) int {
	policy := n.def.Resource.Policy()
	args, _ := r.args(n) // an error is one of the field, which then has no items
	for _, name := range [...]string{"first", "last"} {
		if size, ok := args[name].(int); ok {
			return min(max(size, 0), policy.MaxPageSize)
		}
	}
	return policy.PageSize
}
