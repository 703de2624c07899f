package exec

// The first phase: it calls the catalog through package fetch, once for each field and level, and
// stores the results in run.loaded. It writes no response and builds no paths. run_level.go joins the
// relations of a level that lead to one resource.

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/observe"
	"github.com/stoa-go/stoa/resource/tx"
)

// loaded is the result of fetching a field. Which members are set depends on the source.
type loaded struct {
	err    error
	page   resource.Page     // Related
	conn   *fetch.Connection // List and RelatedPage
	total  int               // TotalCount
	values []any             // Computed
	value  any               // Invoke and Custom
	item   [1]resource.Entry // of sources with one item
	found  bool              // there is an item
	asked  bool              // the catalog was called
	nodes  []nodeRef         // of ByID and ByIDs
	part   relatedPart       // of RelatedPage, while it is written
	below  *level            // what to fetch next, in a plan with levels

	// Memory that is reused.
	group *sync.WaitGroup // for concurrent fetches
	// positions of the entries of page in the response, if entries occur several times; otherwise empty
	spans []span
}

// release returns the memory of pages to their pool.
func (l *loaded) release() {
	l.page.Release()
	if l.conn != nil {
		l.conn.Page.Release()
	}
	*l = loaded{group: l.group, spans: l.spans[:0]}
}

// source is the parent of a fetch: the items of a level, or a connection. It is zero for root
// fields.
type source struct {
	of   *resource.Resource
	list []resource.Entry
	conn *fetch.Connection
	via  *model.Field // the field of the connection
}

// loadRoot fetches all fields. Root fields of a query may be fetched in any order. Those of a
// mutation are executed serially, each with its subfields (section 6.2.2).
//
// In a transaction nothing is fetched concurrently, because it has a single connection.
func (r *run) loadRoot(ctx context.Context) {
	if r.change == nil {
		r.rec = observe.From(ctx)
	}
	if r.free.Store(int32(r.e.cfg.Parallel - 1)); tx.Active(ctx) {
		r.free.Store(0)
	}
	if r.plan.Kind != parser.OperationMutation {
		r.loadAll(ctx, r.plan.root, source{})
		r.loadLevels(ctx, r.plan.root.fetches...)
		return
	}
	// The order is that of the response: a field is executed at its first occurrence.
	for i := range r.plan.root.ops {
		s := &r.plan.root.ops[i]
		if r.on[s.when] && s.write != constant {
			r.load(ctx, task{field: s.field})
			r.loadLevels(ctx, fetchOp{field: s.field})
		}
	}
}

// loadAll fetches the fields of a selection set for all its objects. The last field is fetched in
// this goroutine.
func (r *run) loadAll(ctx context.Context, s *selectionSet, from source) {
	var last *field
	var others *sync.WaitGroup
	for i := range s.fetches {
		l := &s.fetches[i]
		if !r.active(l) {
			continue
		}
		if last != nil {
			others = r.loadConcurrently(ctx, others, task{field: last, from: from})
		}
		last = l.field
	}
	if last != nil {
		r.load(ctx, task{field: last, from: from})
	}
	if others != nil {
		others.Wait()
	}
}

// minConcurrent is the duration in nanoseconds from which a fetch gets its own goroutine. Faster
// fetches, such as those from memory, take less time than starting one.
const minConcurrent = 200_000

// loadConcurrently fetches a field in a goroutine of group, if its duration is long or unknown and
// the limit allows another goroutine, and otherwise in this one. group may be nil as long as it is
// empty. A goroutine does not wait for a free place: the fetch then runs in this one, so nested
// fetches cannot block each other.
func (r *run) loadConcurrently(ctx context.Context, group *sync.WaitGroup, t task) *sync.WaitGroup {
	// The duration is that of earlier runs of the same plan, in any request.
	if took := t.took.Load(); took > 0 && took < minConcurrent {
		r.load(ctx, t)
		return group
	}
	if r.free.Add(-1) < 0 {
		r.free.Add(1)
		r.load(ctx, t)
		return group
	}
	if group == nil {
		if group = r.loaded[t.fetchIndex].group; group == nil {
			group = new(sync.WaitGroup)
			r.loaded[t.fetchIndex].group = group
		}
	}
	group.Add(1)
	go func() {
		defer group.Done()
		defer r.free.Add(1)
		r.load(ctx, t)
	}()
	return group
}

// load fetches one field for all objects, and then its subfields. It recovers from panics in code
// of the application. Errors are stored for the second phase, and the other fields continue.
func (r *run) load(ctx context.Context, t task) {
	n, from := t.field, t.from
	if len(from.list) == 0 {
		switch n.def.Source {
		case model.Related, model.RelatedPage, model.Computed:
			return // no parents
		}
	}
	l, start := &r.loaded[n.fetchIndex], time.Now()
	if r.attempt.Whole && r.broken || r.aborted.Load() {
		r.setError(t, errSkipped)
		return
	}
	// A panic must not leave this goroutine: net/http recovers only those of its own.
	defer func() {
		n.timed(time.Since(start))
		if v := recover(); v != nil {
			r.setError(t, r.panicked(ctx, v))
		}
	}()
	args, err := r.args(n)
	// A store may ignore its context, so it is not called after the context is done.
	if err == nil && ctx.Err() != nil {
		err = errEnded
	}
	var next source
	switch {
	case err != nil:
	case t.all != nil:
		r.loadTogether(ctx, t.all)
		return
	default:
		l.asked = true
		next, err = r.fetchOne(ctx, n, l, from, args)
	}
	if err != nil {
		r.setError(t, contextError(ctx, err))
		return
	}
	r.rec.AddItems(len(next.list))
	if len(next.list) > 0 || next.conn != nil {
		r.loadBelow(ctx, n, n.sub, next)
	}
}

// stop prevents further fetches of a run with Attempt.Whole. Without such a run, an error affects
// its own field only.
func (r *run) stop() {
	if r.attempt.Whole {
		r.broken = true
	}
}

// timed records the duration of a fetch. It decreases slowly, so that a store that is fast because
// of a cache still gets a goroutine for its slow calls. Concurrent runs may overwrite the value of
// each other, which only changes the estimate.
func (n *field) timed(took time.Duration) {
	before := n.took.Load()
	n.took.Store(max(int64(took), before-before/4, 1))
}

// fetchOne makes the call of the catalog for a field and returns the parent for its subfields.
func (r *run) fetchOne(ctx context.Context, n *field, l *loaded, from source,
	args map[string]any) (source, error) {
	f, get := n.def, r.e.fetch
	var err error
	switch f.Source {
	case model.Related:
		// One call for all parents. share notes the positions of items that several parents have.
		l.page, err = from.of.Follow(ctx, f.Relation, from.list, n.sub.columns)
		l.share(len(from.list))
		return source{of: n.sub.typ.Resource, list: l.page.Entries}, err
	case model.List:
		list := get.List
		// The position of the feed is read before the list, so that no change between them is lost.
		if r.selectsEventCursor(n.sub) {
			list = get.WatchedList
		}
		if l.conn, err = list(ctx, f, args, n.sub.columns); err != nil {
			return source{}, err
		}
		return source{of: n.sub.typ.Resource, list: l.conn.Page.Entries, conn: l.conn, via: f}, nil
	case model.RelatedPage:
		return r.loadPages(ctx, n, l, from, args)
	case model.ByID, model.ByIDs:
		return source{}, r.loadNodes(ctx, n, l, args)
	case model.TotalCount:
		if from.conn.Related { // counted with the pages
			return source{}, nil
		}
		l.total, err = from.conn.Count(ctx, from.via.Resource)
	case model.ChangeItem:
		return l.one(n, r.change.After, nil)
	case model.Computed:
		// a new slice, because the function may keep it
		items := make([]any, len(from.list))
		for i := range from.list {
			items[i] = from.list[i].Value
		}
		l.values, err = get.Compute(ctx, f, items, args)
	case model.Invoke, model.Custom:
		l.value, err = get.Invoke(ctx, f, args)
	case model.Aggregate:
		l.value, err = get.Aggregate(ctx, f, args, r.aggregates(nil, n.sub))
	case model.Get, model.Lookup:
		e, err := get.Item(ctx, f, args)
		return l.one(n, e, err)
	default:
		e, err := get.Create(ctx, f, args, r.attempt.NewID)
		return l.one(n, e, err)
	}
	return source{}, err
}

// aggregates adds the aggregates that are selected from groups to list.
func (r *run) aggregates(list []query.Aggregate, s *selectionSet) []query.Aggregate {
	for i := range s.ops {
		n := s.ops[i].field
		switch {
		case !r.on[s.ops[i].when]:
		case n.def.Aggregate != nil && !slices.Contains(list, *n.def.Aggregate):
			list = append(list, *n.def.Aggregate)
		case n.sub != nil:
			list = r.aggregates(list, n.sub)
		}
	}
	return list
}

// selectsEventCursor reports whether the field eventCursor of a list is selected.
func (r *run) selectsEventCursor(s *selectionSet) bool {
	for i := range s.ops {
		if st := &s.ops[i]; st.write == connectionEventCursor && r.on[st.when] {
			return true
		}
	}
	return false
}

// one stores the result of a field with a single item.
func (l *loaded) one(n *field, e *resource.Entry, err error) (source, error) {
	if err != nil || e == nil {
		return source{}, err
	}
	l.item[0], l.found = *e, true
	return source{of: n.sub.typ.Resource, list: l.item[:]}, nil
}
