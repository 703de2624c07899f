package resource

// Pages of related items: a filter, an order, a limit and totals for each item of a page. Called by
// protocols. It calls relation.go for the keys, and list_cursor.go.
//
// With Relation.By a level is one call of the target, whatever the number of items, and with
// Relation.Through if the target joins that resource. Other relations read all related items of the level,
// and relation_page_ids.go selects from them.

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/keys"
	"github.com/stoa-go/stoa/resource/problem"
)

// RelatedQuery selects a page of the related items of each entry.
type RelatedQuery struct {
	// Query has the filter, the order, the fields and the limit of each page, in the field names of the
	// target. The default limit is Relation.Limit. After and Token are ignored. As in [Resource.List],
	// the caller compares it with Description.Query and MaxPageSize of the target.
	Query query.Query
	// After continues the page of a single entry: a cursor of [Page.NextOf] or [Page.Cursor] of the same
	// relation, filter and order.
	After string
	// Total counts the items on all pages of each entry. Description.Counts of the target must be true.
	Total bool
	// NoItems reads no items. It is for callers that need totals alone.
	NoItems bool
}

// relatedPages has what a page of [Resource.FollowPages] has for each entry.
type relatedPages struct {
	more   []bool
	totals []int // nil without RelatedQuery.Total
}

// maxSingleReads limits the entries for which the target is asked one by one.
const maxSingleReads = 100

// maxLinks limits the ids of one entry, and maxAllLinks those of all entries together. They are read as a
// whole, because only the target knows its order.
const (
	maxLinks    = 1_000
	maxAllLinks = 10_000
)

// NextOf returns the cursor of the page after that of the entry at index i of the entries passed to
// [Resource.FollowPages]. It is empty if there is none, or if the page has no items.
func (p *Page) NextOf(i int) string {
	if p.related == nil || !p.related.more[i] || len(p.lists[i]) == 0 {
		return ""
	}
	return p.Cursor(int(p.lists[i][len(p.lists[i])-1]))
}

// MoreOf reports whether more items follow the page of the entry at index i.
func (p *Page) MoreOf(i int) bool { return p.related != nil && p.related.more[i] }

// TotalOf returns the number of related items on all pages of the entry at index i, and 0 without
// RelatedQuery.Total.
func (p *Page) TotalOf(i int) int {
	if p.related == nil || p.related.totals == nil {
		return 0
	}
	return p.related.totals[i]
}

// Paged reports whether [Resource.FollowPages] supports a relation of a bound resource: it is one to many,
// and the target is not in natural order.
func (r *Resource) Paged(relation string) bool {
	l := r.env.relations[relation]
	return l != nil && l.Many && !l.target.core.query.Natural
}

// FollowPages returns, for each entry of from, a page of the items that a relation to many leads to.
// [Page.Ends] returns the items of an entry in the order of the query, [Page.NextOf] the cursor of the
// next page of the entry, and [Page.TotalOf] its total.
//
// For Relation.By, the target is called once for the items if it is a [BatchLister], and once for the totals
// if it is a [BatchCounter]. Otherwise it is called for each entry, of which there may be 100. The same
// applies to Relation.Through if the target is a BatchLister and a [Joiner] that joins that resource. Other
// relations to many read all related items, at most 1,000 of an entry and 10,000 together, with one call of
// the target and, for Relation.Through, one of that resource. Beyond these limits, or with After and several
// entries, the error is a client error (400).
//
// The policy of the target, and of Relation.Through, applies as in [Resource.Follow]. The caller must call
// [Page.Release]. It is a mistake to call FollowPages if [Resource.Paged] is false.
func (r *Resource) FollowPages(
	ctx context.Context, relation string, from []Entry, q RelatedQuery,
) (Page, error) {
	ctx = r.inCatalog(ctx)
	l, err := r.boundRelation(relation)
	if err != nil {
		return Page{}, err
	}
	if !r.Paged(relation) {
		return Page{}, fmt.Errorf("resource: %s has no relation %q to many with pages", r.Name(), relation)
	}
	p, err := l.followPages(ctx, r, from, &q)
	if err != nil {
		p.Release()
		return Page{}, l.target.wrap(OpList, "", err)
	}
	return p, nil
}

// followPages implements FollowPages. The page must be released also after an error.
func (l *link) followPages(ctx context.Context, r *Resource, from []Entry, q *RelatedQuery) (Page, error) {
	p := Page{joined: true, lists: make([][]int32, len(from))}
	p.related = &relatedPages{more: make([]bool, len(from))}
	if q.Total {
		p.related.totals = make([]int, len(from))
	}
	if q.After != "" && len(from) > 1 {
		return p, errCursor(fmt.Sprintf("a cursor continues the %s of one item, but the response has %d "+
			"items; request a single item", l.Name, len(from)))
	}
	isRank := func(o query.Order) bool { return o.Field == query.Rank }
	if !q.Query.Search.IsZero() || slices.ContainsFunc(q.Query.Sort, isRank) {
		return p, &query.Error{Parameter: "q", Code: "unsupportedSearch",
			Detail: "related items cannot be searched"}
	}
	w, err := l.target.newPageQuery(ctx, q.Query)
	if err != nil {
		return p, err
	}
	if w.q.Limit == 0 {
		w.q.Limit = l.Limit
	}
	p.query = w
	source := "\x00" + r.binding(ctx, query.Query{}) + "\x00" + l.Name
	p.binding = boundTo(l.target.binding(ctx, q.Query) + source)
	if err := w.seek(Position{After: q.After}, p.binding); err != nil || len(from) == 0 {
		return p, err
	}
	k, err := l.byKeys(ctx)
	switch {
	case err != nil:
	case k != nil:
		err = k.pages(ctx, from, q, &p)
	default:
		err = l.pagesByID(ctx, from, q, &p)
	}
	return p, err
}

// pages fills in the pages of all entries.
func (l *keyedLink) pages(ctx context.Context, from []Entry, q *RelatedQuery, p *Page) error {
	j, ask := l.gather(from, maxLinks)
	defer j.Release()
	ask = l.canonical(ask)
	if len(ask) == 0 {
		return nil
	}
	return l.target.core.limited(ctx, func(ctx context.Context) error {
		if q.Total {
			if err := l.countBy(ctx, j, ask, p); err != nil {
				return err
			}
		}
		if q.NoItems {
			return nil
		}
		if len(from) == 1 {
			return l.pageOf(ctx, j, 0, p)
		}
		return l.pagesOf(ctx, j, ask, p)
	})
}

// pagesOf reads the pages of several entries in one call. Those of an entry with several keys are read
// one by one, because their lists would have to be merged.
func (l *keyedLink) pagesOf(ctx context.Context, j *keys.Join, ask []string, p *Page) error {
	r, w := l.target, p.query
	if r.core.ops.listByKeys == nil && len(ask) > maxSingleReads {
		return l.tooMany(len(ask), "list")
	}
	merged := 0
	for i := range p.lists {
		if len(j.Slots(i)) > 1 {
			merged++
		}
	}
	if merged > maxSingleReads {
		return l.tooMany(merged, "list")
	}
	if merged > 0 {
		ask = l.canonical(askedOnce(j, len(p.lists)))
	}
	left := maxRelatedItems // of the items that are read for single entries
	w.left = &left
	q := w.q
	q.Limit++ // one more shows whether there is a next page
	read, err := l.read(ctx, j, ask, q, w.q.Limit, p)
	if err != nil {
		return err
	}
	for i := range p.lists {
		slots := j.Slots(i)
		if len(slots) > 1 {
			if err := l.pageOf(ctx, j, i, p); err != nil {
				return err
			}
		} else if len(slots) == 1 {
			p.lists[i], p.related.more[i] = read[slots[0]].ends, read[slots[0]].more
		}
	}
	return nil
}

// askedOnce returns the keys of entries that have one key.
func askedOnce(j *keys.Join, entries int) (ask []string) {
	seen := map[int32]bool{}
	for i := range entries {
		if slots := j.Slots(i); len(slots) == 1 && !seen[slots[0]] {
			seen[slots[0]] = true
			ask = append(ask, j.Name(slots[0]))
		}
	}
	return ask
}

// pageOf reads the page of the entry at index i, from the position of the query on.
func (l *keyedLink) pageOf(ctx context.Context, j *keys.Join, i int, p *Page) error {
	one := *p.query
	values := l.values(j, i)
	if len(values) == 0 {
		return nil
	}
	one.fill = true
	one.q.Filter = query.And(one.q.Filter, l.keyFilter(values))
	part, err := one.fetch(ctx)
	if errors.Is(err, errRowLimit) {
		return errRelatedLimit()
	}
	if err != nil {
		return err
	}
	first := len(p.Entries)
	for k := range part.Entries {
		p.lists[i] = append(p.lists[i], int32(first+k))
	}
	p.related.more[i] = one.next != nil
	if part.buffer != nil {
		p.add(part.Entries, part.buffer)
	}
	return nil
}

// countBy counts the items of each entry.
func (l *keyedLink) countBy(ctx context.Context, j *keys.Join, ask []string, p *Page) error {
	ops := &l.target.core.ops
	of := query.Query{Filter: p.query.q.Filter}
	together := ops.countByKeys != nil && len(p.lists) > 1
	// Links may lead from two keys of an entry to one item, which counts once.
	isSingle := func(i int) bool { return !together || l.links != nil && len(j.Slots(i)) > 1 }
	if together {
		byKeys := of
		byKeys.Links = l.links
		counts, err := ops.countByKeys(ctx, l.By, ask, byKeys)
		if err != nil {
			return err
		}
		for i := range p.lists {
			for _, slot := range j.Slots(i) {
				p.related.totals[i] += counts[j.Name(slot)]
			}
		}
	}
	var single []int
	for i := range p.lists {
		if isSingle(i) {
			single = append(single, i)
		}
	}
	if len(single) > maxSingleReads {
		return l.tooMany(len(single), "count")
	}
	for _, i := range single {
		p.related.totals[i] = 0
		values := l.values(j, i)
		if len(values) == 0 {
			continue
		}
		n, err := ops.count(ctx, query.Query{Filter: query.And(of.Filter, l.keyFilter(values))})
		if err != nil {
			return err
		}
		p.related.totals[i] = n
	}
	return nil
}

// tooMany returns the error for more entries than the target is asked for one by one.
func (l *link) tooMany(n int, verb string) error {
	return problem.New(problem.InvalidParameter, fmt.Sprintf("%s cannot %s the %s of many items at once, "+
		"so at most %d items can be requested with them, and there are %d.", l.target.Name(), verb, l.Name,
		maxSingleReads, n))
}
