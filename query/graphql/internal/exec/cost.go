package exec

import (
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/fault"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// mostCost is where counting ends, before it overflows.
const mostCost = 1 << 40

// tooMuch refuses a run that may ask for more objects than it should.
func (r *run) tooMuch() *fault.Error {
	cost := r.cost(r.plan.root)
	if cost <= r.e.cfg.Cost {
		return nil
	}
	return &fault.Error{Code: fault.BadUserInput, Message: fmt.Sprintf(
		"The operation may ask for %d objects; at most %d are accepted. Ask for smaller pages.", cost, r.e.cfg.Cost)}
}

// cost is how many objects are fetched at most for one object of a set, or for the page of a connection but for its
// items.
func (r *run) cost(s *set) int {
	total := 0
	for i := range s.loads {
		if l := &s.loads[i]; r.active(l) {
			total = min(total+r.costOf(l.node), mostCost)
		}
	}
	return total
}

// costOf is the cost of one node.
func (r *run) costOf(n *node) int {
	count := 1
	switch n.field.Source {
	case model.TotalCount:
		return 1
	case model.Related:
		count = max(n.field.Limit, 1)
	case model.List:
		count = r.pageSize(n)
	case model.Computed, model.Custom:
		return n.field.Custom.Cost
	case model.Invoke:
		return 1
	}
	return min(count*(1+r.cost(n.sub)), mostCost)
}

// pageSize is how many items a list may give. What is more than the resource gives is refused by the list itself, with a
// better word for it.
func (r *run) pageSize(n *node) int {
	policy := n.field.Resource.Policy()
	args, _ := r.args(n)
	for _, name := range [...]string{"first", "last"} {
		if size, ok := args[name].(int); ok {
			return min(max(size, 0), policy.MaxPageSize)
		}
	}
	return policy.PageSize
}
