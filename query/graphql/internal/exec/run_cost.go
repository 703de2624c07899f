package exec

// Limits of an operation before it is executed. Called by run.prepare and, for the length of the
// response, by write.go.

import (
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// The cost of an operation is the number of objects it may fetch: items of lists at their maximum
// size, multiplied by those of nested relations. It is computed from the arguments before anything
// is fetched. Structs within an item have no cost. A search reads many more items than it returns, so each
// of its calls of the store costs searchCost in addition.
//
// maxCost caps sums to prevent overflow.

// maxCost is where counting ends, before it overflows.
const maxCost = 1 << 40

// Introspection needs no fetch, and its lists are as long as the schema is large. Therefore its
// objects are counted while they are written. Without a limit, a few aliases could produce a
// response a thousand times the size of the document.
//
// introspectionSize returns the number of objects that introspection of s has. A query of the whole
// schema returns most of them several times, as types of fields.
func introspectionSize(s *model.Schema) int {
	n := 0
	for _, t := range s.Types {
		n += 1 + len(t.Fields) + len(t.Inputs) + len(t.Values)
		for _, f := range t.Fields {
			n += len(f.Args)
		}
	}
	return n
}

// checkCost rejects a run if its cost exceeds the limit.
func (r *run) checkCost() *gqlerror.Error {
	cost := r.cost(r.plan.root)
	if cost <= r.e.cfg.Cost {
		return nil
	}
	message := fmt.Sprintf("The operation can return %d objects; at most %d are allowed. Request smaller "+
		"pages or fewer fields.", cost, r.e.cfg.Cost)
	if slices.ContainsFunc(r.plan.root.fetches, func(l fetchOp) bool {
		return r.active(&l) && r.searchCostOf(l.field) > 0
	}) {
		message += fmt.Sprintf(" A search counts as %d objects.", r.e.searchCost())
	}
	return &gqlerror.Error{Code: gqlerror.BadUserInput, Message: message}
}

// searchCost returns the cost of a search: 5,000, about the objects that are read in the time of a search of
// a large table. A tenth of the limit is the most, so that a small limit does not reject every search.
func (e *Engine) searchCost() int { return min(5_000, e.cfg.Cost/10) }

// searchCostOf returns the cost of the search of a list or of groups, and 0 if there is none.
func (r *run) searchCostOf(n *field) int {
	args, _ := r.args(n) // an error is reported by the field, which then does not search
	if text, _ := args["search"].(string); text == "" {
		return 0
	}
	return r.e.searchCost()
}

// tooLong returns the error for a response that exceeds the limit.
func (r *run) tooLong() *gqlerror.Error {
	return &gqlerror.Error{Code: gqlerror.BadUserInput, Message: fmt.Sprintf(
		"The response is longer than the limit of %d bytes. Request less data at once.",
		r.e.cfg.Answer)}
}

// cost returns the maximum number of objects fetched below one object of a set. Items that several
// parents share count for each of them, because that is not known in advance.
func (r *run) cost(s *selectionSet) int {
	total := 0
	for i := range s.fetches {
		if l := &s.fetches[i]; r.active(l) && l.def.Source != model.TotalCount {
			total = min(total+r.costOf(l.field), maxCost)
		}
	}
	return total
}

// costOf returns the cost of one field. The application declares the cost of its functions.
func (r *run) costOf(n *field) int {
	switch n.def.Source {
	case model.Related:
		return r.times(max(n.def.Limit, 1), n.sub)
	case model.List, model.RelatedPage:
		counts := r.counts(n.sub) // each of them searches again
		return r.times(r.pageSize(n), n.sub) + counts + r.searchCostOf(n)*(1+counts)
	case model.Aggregate:
		return r.times(r.pageSize(n), n.sub) + r.searchCostOf(n)
	case model.ByID, model.ByIDs:
		return r.nodesCost(n)
	case model.Computed, model.Custom:
		return n.def.Custom.Cost
	case model.Invoke:
		return n.def.Command.Cost()
	}
	return r.times(1, n.sub)
}

// times returns the cost of count objects with their subfields.
func (r *run) times(count int, s *selectionSet) int { return min(count*(1+r.cost(s)), maxCost) }

// counts returns the number of total counts of a connection. A count may be as expensive as an
// object.
func (r *run) counts(s *selectionSet) int {
	n := 0
	for i := range s.fetches {
		if l := &s.fetches[i]; l.def.Source == model.TotalCount && r.active(l) {
			n++
		}
	}
	return n
}

// pageSize returns the maximum number of items of a list. A larger page is rejected by the list
// with a better message. Package fetch uses the same arguments for the limit of the page.
func (r *run) pageSize(n *field) int {
	policy := n.def.Resource.Describe()
	args, _ := r.args(n) // an error is reported by the field, which then has no items
	for _, name := range [...]string{"first", "last"} {
		if size, ok := args[name].(int); ok {
			return min(max(size, 0), policy.MaxPageSize)
		}
	}
	if n.def.Source == model.RelatedPage {
		return n.def.Limit
	}
	return policy.PageSize
}
