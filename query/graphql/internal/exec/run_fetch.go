package exec

import (
	"context"
	"sync"
	"time"

	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/tx"
)

// loaded is what was fetched for a field.
type loaded struct {
	err    error
	page   resource.Page     // Related
	conn   *fetch.Connection // List
	total  int               // TotalCount
	values []any             // Computed
	value  any               // Invoke and Custom
	item   [1]resource.Entry // of what gives one
	found  bool              // that it did
	asked  bool              // that the catalog was asked at all

	// Memory that is used again.
	beside *sync.WaitGroup // of what is fetched beside it
	spans  []span          // of the entries of page, if some are there several times; else empty
}

// release gives the memory of pages back, to be used by the next who ask.
func (l *loaded) release() {
	l.page.Release()
	if l.conn != nil {
		l.conn.Page.Release()
	}
	*l = loaded{beside: l.beside, spans: l.spans[:0]}
}

// source is what something is fetched for: the items of a level, or a connection. At a root it is nothing.
type source struct {
	of   *resource.Resource
	list []resource.Entry
	conn *fetch.Connection
	via  *model.Field // that has the connection
}

// loadRoot fetches everything. Fields of a query may be fetched in any order; those of a mutation wait for each other,
// with all that is selected from them (section 6.2.2).
//
// A transaction belongs to one goroutine, and its connection to one statement at a time.
func (r *run) loadRoot(ctx context.Context) {
	if r.free.Store(int32(r.e.cfg.Parallel - 1)); tx.Active(ctx) {
		r.free.Store(0)
	}
	if r.plan.Kind != parser.OperationMutation {
		r.loadAll(ctx, r.plan.root, source{})
		return
	}
	for i := range r.plan.root.ops {
		s := &r.plan.root.ops[i]
		if r.on[s.when] && s.write != constant {
			r.load(ctx, s.field, source{})
		}
	}
}

// loadAll fetches what a set needs for all objects that it is selected from. The last of it needs no goroutine, and most
// sets have no other.
func (r *run) loadAll(ctx context.Context, s *selectionSet, from source) {
	var last *field
	var others *sync.WaitGroup
	for i := range s.fetches {
		l := &s.fetches[i]
		if !r.active(l) {
			continue
		}
		if last != nil {
			others = r.loadBeside(ctx, others, last, from)
		}
		last = l.field
	}
	if last != nil {
		r.load(ctx, last, from)
	}
	if others != nil {
		others.Wait()
	}
}

// worthwhile is how many nanoseconds it takes to fetch something for which a goroutine is worthwhile. What is in memory is
// there before another processor has begun to look for it.
const worthwhile = 200_000

// loadBeside fetches a field in a goroutine of the group, if it is known to be slow, or not known at all, and there may be
// one more; else here. The group may be nil as long as nobody is in it.
func (r *run) loadBeside(ctx context.Context, group *sync.WaitGroup, n *field, from source) *sync.WaitGroup {
	if took := n.took.Load(); took > 0 && took < worthwhile {
		r.load(ctx, n, from)
		return group
	}
	if r.free.Add(-1) < 0 {
		r.free.Add(1)
		r.load(ctx, n, from)
		return group
	}
	if group == nil {
		if group = r.loaded[n.fetchIndex].beside; group == nil {
			group = new(sync.WaitGroup)
			r.loaded[n.fetchIndex].beside = group
		}
	}
	group.Add(1)
	go func() {
		defer group.Done()
		defer r.free.Add(1)
		r.load(ctx, n, from)
	}()
	return group
}

// load fetches one field for all objects, and then what is selected from it. It runs the code of others, so that here is
// where panics end.
func (r *run) load(ctx context.Context, n *field, from source) {
	if f := n.def; len(from.list) == 0 && (f.Source == model.Related || f.Source == model.Computed) {
		return // of an empty list
	}
	l, start := &r.loaded[n.fetchIndex], time.Now()
	if r.attempt.Whole && r.broken {
		l.err = errSkipped
		return
	}
	defer func() {
		n.timed(time.Since(start))
		if v := recover(); v != nil {
			l.err = r.panicked(ctx, v)
			r.stop()
		}
	}()
	args, err := r.args(n)
	// A store may not look at its context; nobody is asked for anything once nobody waits for it.
	if err == nil && ctx.Err() != nil {
		err = errEnded
	}
	var next source
	if err == nil {
		l.asked = true
		next, err = r.fetchOne(ctx, n, l, from, args)
	}
	if err != nil {
		l.err = ended(ctx, err)
		r.stop()
		return
	}
	if len(next.list) > 0 || next.conn != nil {
		r.loadAll(ctx, n.sub, next)
	}
}

// stop ends what is done as a whole.
func (r *run) stop() {
	if r.attempt.Whole {
		r.broken = true
	}
}

// timed remembers how long a field took. To be slow now and then is to be slow: a store that answers from a cache most of
// the time is still worth a goroutine for the rest of it.
func (n *field) timed(took time.Duration) {
	before := n.took.Load()
	n.took.Store(max(int64(took), before-before/4, 1))
}

// fetchOne asks for what a field shows, with one call of the catalog, and returns what is to be asked for next.
func (r *run) fetchOne(ctx context.Context, n *field, l *loaded, from source,
	args map[string]any) (source, error) {
	f, get := n.def, r.e.fetch
	var err error
	switch f.Source {
	case model.Related:
		l.page, err = r.e.cfg.Catalog.Follow(ctx, from.of, f.Relation, from.list, n.sub.columns)
		l.share(len(from.list))
		return source{of: n.sub.typ.Resource, list: l.page.Entries}, err
	case model.List:
		list := get.List
		if r.placed(n.sub) {
			list = get.WatchedList
		}
		if l.conn, err = list(ctx, f, args, n.sub.columns); err != nil {
			return source{}, err
		}
		return source{of: n.sub.typ.Resource, list: l.conn.Page.Entries, conn: l.conn, via: f}, nil
	case model.TotalCount:
		l.total, err = from.conn.Count(ctx, from.via.Resource)
	case model.ChangeItem:
		return l.one(n, r.change.After, nil)
	case model.Computed:
		// The function may keep the slice, so it is not one that is used again.
		items := make([]any, len(from.list))
		for i := range from.list {
			items[i] = from.list[i].Value
		}
		l.values, err = get.Compute(ctx, f, items, args)
	case model.Invoke, model.Custom:
		l.value, err = get.Invoke(ctx, f, args)
	case model.Get, model.Lookup:
		e, err := get.Item(ctx, f, args)
		return l.one(n, e, err)
	default:
		e, err := get.Create(ctx, f, args, r.attempt.NewID)
		return l.one(n, e, err)
	}
	return source{}, err
}

// placed reports whether somebody asks where the changes of a list go on.
func (r *run) placed(s *selectionSet) bool {
	for i := range s.ops {
		if st := &s.ops[i]; st.write == connectionPlace && r.on[st.when] {
			return true
		}
	}
	return false
}

// one takes over what a field gives that leads to one item, if there is one.
func (l *loaded) one(n *field, e *resource.Entry, err error) (source, error) {
	if err != nil || e == nil {
		return source{}, err
	}
	l.item[0], l.found = *e, true
	return source{of: n.sub.typ.Resource, list: l.item[:]}, nil
}
