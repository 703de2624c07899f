package resource

// Links of relations with Relation.Through: finding the resources, and the writes that link and unlink
// two items. Called by catalog.go and by protocols. It calls write.go.

import (
	"context"
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/resource/internal/keys"
	"github.com/stoa-go/stoa/resource/schema"
)

// resolveThrough finds the resource of Through and its fields.
func (c *Catalog) resolveThrough(r *Resource, l *link) {
	at := "resource: relation " + l.Name + " of " + r.Name() + ": "
	join := c.mustFind("relation "+l.Name+" of "+r.Name(), l.relation.Through)
	t := &through{join: &link{relation: l.relation, target: join}}
	t.join.by = byReader(at, join, l.By)
	to := join.core.typ.Field(l.To)
	if why := keys.Unfit(to, false); why != "" {
		panic(fmt.Sprintf("%sTo names %q of %s, %s", at, l.To, join.Name(), why))
	}
	toTarget := &relation{Name: l.Name, Limit: 1, field: keys.NewReader(to)}
	t.to = &link{relation: toTarget, target: l.target}
	if l.field == nil && l.keysOf == nil && !join.projection.needsMore() {
		t.order = linkOrder(join.core.key, l.By, l.To)
	}
	t.setJoined(l)
	ops := &join.core.ops
	changes := ops.insert != nil && ops.delete != nil
	if t.order != nil && changes && ops.deleted != nil && !join.core.allowRecreate {
		panic(fmt.Sprintf("%sa link that was removed could not be made again, because %s remembers "+
			"deletions; set Options.AllowRecreate, and Recreate of its store", at, join.Name()))
	}
	l.through = t
}

// LinkedBy returns the resource of Relation.Through if [Catalog.Link] and [Catalog.Unlink] can change the
// links: its id consists of the fields By and To, a new item needs no other member, and the relation has
// neither Field nor Keys. Otherwise join is nil. by is the JSON name of By, or "" if join has no such member.
func (c *Catalog) LinkedBy(r *Resource, relation string) (join *Resource, by string) {
	if l := c.links[r][relation]; l != nil && l.through != nil && l.through.order != nil {
		join = l.through.join.target
		by = join.projection.fieldOf(l.By)
	}
	return join, by
}

// Link makes a link of a relation with Relation.Through: it stores the item of that resource for the
// two ids, like [Resource.Put] of a document without members, with its policy, hooks and events. made
// reports whether there was no link before. An existing link keeps its other members: after the
// preconditions nothing is written. Both items must exist and be visible to the caller; otherwise the
// error is [ErrNotFound] or [ErrGone]. The entry is the item of Through.
//
// opts may be nil. [Catalog.LinkedBy] must not be nil, and the collection of its resource must be an
// [Inserter].
func (c *Catalog) Link(
	ctx context.Context, r *Resource, relation, id, target string, opts *WriteOptions,
) (e Entry, made bool, err error) {
	l := c.links[r][relation]
	key, err := l.linkID(ctx, r, id, target)
	if err == nil {
		_, err = l.target.Get(ctx, target)
	}
	if err != nil {
		return Entry{}, false, err
	}
	w := writeRequest{r: l.through.join.target, op: OpReplace, id: key, doc: []byte("{}"), keep: true,
		opts: opts.orZero()}
	w.opts.Existing = false
	err = w.run(ctx)
	return w.shown(), w.created, err
}

// Unlink removes a link of a relation with Relation.Through: it deletes the item of that resource for
// the two ids, with its policy, hooks and events. If there is no link, nothing happens. The item id
// must exist and be visible to the caller.
//
// opts may be nil. [Catalog.LinkedBy] must not be nil, and its resource must support OpDelete.
func (c *Catalog) Unlink(
	ctx context.Context, r *Resource, relation, id, target string, opts *WriteOptions,
) error {
	l := c.links[r][relation]
	key, err := l.linkID(ctx, r, id, target)
	if err != nil {
		return err
	}
	o := opts.orZero()
	_, err = l.through.join.target.Delete(ctx, key, &o)
	if !o.If.any() && (errors.Is(err, ErrNotFound) || errors.Is(err, ErrGone)) {
		return nil
	}
	return err
}

// linkID returns the id of the item of Through for two ids, if the caller may see the first item.
func (l *link) linkID(ctx context.Context, r *Resource, id, target string) (string, error) {
	if _, err := r.Get(ctx, id); err != nil {
		return "", err
	}
	if !l.target.ValidID(target) {
		return "", l.target.wrap(OpGet, target, ErrNotFound)
	}
	texts := []string{id, target}
	return schema.JoinKey([]string{texts[l.through.order[0]], texts[l.through.order[1]]}), nil
}
