package resource

// Pages of related items. Called by protocols. It calls relation_page.go.

import (
	"context"
	"fmt"
)

// Paged reports whether [Catalog.FollowPages] supports a relation: it is one to many, and the target is not
// in natural order.
func (c *Catalog) Paged(r *Resource, relation string) bool {
	l := c.links[r][relation]
	return l != nil && l.Many && !l.target.core.query.Natural
}

// FollowPages returns, for each entry of from, a page of the items that a relation to many of r leads to.
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
// The policy of the target, and of Relation.Through, applies as in [Catalog.Follow]. The caller must call
// [Page.Release]. It is a mistake to call FollowPages if [Catalog.Paged] is false.
func (c *Catalog) FollowPages(
	ctx context.Context, r *Resource, relation string, from []Entry, q RelatedQuery,
) (Page, error) {
	if !c.Paged(r, relation) {
		return Page{}, fmt.Errorf("resource: %s has no relation %q to many with pages", r.Name(), relation)
	}
	l := c.links[r][relation]
	p, err := l.followPages(ctx, r, from, &q)
	if err != nil {
		p.Release()
		return Page{}, l.target.wrap(OpList, "", err)
	}
	return p, nil
}
