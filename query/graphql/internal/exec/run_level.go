package exec

// Levels: relations by id of one level that lead to the same resource are one call of it. Called by
// run_fetch.go for plans that have such relations, in which each level waits for the one above it. In other
// plans a field waits for its parent only.

import (
	"context"
	"slices"
	"sync"

	"github.com/stoa-go/stoa/resource"
)

// task is a field to fetch for all objects of a source.
type task struct {
	*field
	from source
	all  []task // if there are several relations to fetch in one call: all of them
}

// level is a selection set with its objects, which are fetched.
type level struct {
	set  *selectionSet
	from source
}

// loadBelow fetches the fields of a selection set for the objects of n. In a plan with levels it leaves
// them to loadLevels.
func (r *run) loadBelow(ctx context.Context, n *field, s *selectionSet, next source) {
	if r.plan.levels {
		r.loaded[n.fetchIndex].below = &level{s, next}
		return
	}
	r.loadAll(ctx, s, next)
}

// loadLevels fetches what is below fetched fields, level by level, in a plan with levels.
func (r *run) loadLevels(ctx context.Context, above ...fetchOp) {
	var tasks []task
	for _, l := range above {
		tasks = r.addBelow(tasks, l.field)
	}
	for len(tasks) > 0 {
		var others *sync.WaitGroup
		last := len(tasks) - 1
		for _, t := range tasks[:last] {
			others = r.loadConcurrently(ctx, others, t)
		}
		r.load(ctx, tasks[last])
		if others != nil {
			others.Wait()
		}
		var next []task
		for _, t := range tasks {
			for _, u := range t.all {
				next = r.addBelow(next, u.field)
			}
			if t.all == nil {
				next = r.addBelow(next, t.field)
			}
		}
		tasks = next
	}
}

// addBelow adds the fields below a fetched field to the tasks of a level.
func (r *run) addBelow(tasks []task, n *field) []task {
	for _, part := range n.parts {
		tasks = r.addBelow(tasks, part)
	}
	below := r.loaded[n.fetchIndex].below
	if below == nil {
		return tasks
	}
	for i := range below.set.fetches {
		l := &below.set.fetches[i]
		if !r.active(l) || l.byID && len(below.from.list) == 0 {
			continue
		}
		t := task{field: l.field, from: below.from}
		at := slices.IndexFunc(tasks, func(u task) bool {
			return l.byID && u.byID && u.def.Resource == l.def.Resource
		})
		switch {
		case at < 0:
			tasks = append(tasks, t)
		case tasks[at].all == nil:
			tasks[at].all = []task{tasks[at], t}
		default:
			tasks[at].all = append(tasks[at].all, t)
		}
	}
	return tasks
}

// loadTogether makes the call for several relations.
func (r *run) loadTogether(ctx context.Context, all []task) {
	steps := make([]resource.Step, len(all))
	for i, u := range all {
		steps[i] = resource.Step{Resource: u.from.of, Relation: u.def.Relation, From: u.from.list}
	}
	all[0].def.Resource.FollowTogether(ctx, steps)
	for i, u := range all {
		if steps[i].Err != nil {
			r.setError(u, contextError(ctx, steps[i].Err))
			continue
		}
		l := &r.loaded[u.fetchIndex]
		l.page = steps[i].Page
		l.share(len(u.from.list))
		r.rec.AddItems(len(l.page.Entries))
		if len(l.page.Entries) > 0 {
			r.loadBelow(ctx, u.field, u.sub, source{of: u.sub.typ.Resource, list: l.page.Entries})
		}
	}
}

// setError stores the error of a task for the second phase.
func (r *run) setError(t task, err error) {
	r.loaded[t.fetchIndex].err = err
	for _, u := range t.all {
		r.loaded[u.fetchIndex].err = err
	}
	r.stop()
}
