package resource

// Links of relations with Relation.Through: the writes that link and unlink two items. Called by protocols.
// It calls write.go.

import (
	"context"
	"errors"

	"github.com/stoa-go/stoa/resource/schema"
)

// Link makes a link of a relation with Relation.Through: it stores the item of that resource for the
// two ids, like [Resource.Put] of a document without members, with its policy, hooks and events. made
// reports whether there was no link before. An existing link keeps its other members: after the
// preconditions nothing is written. Both items must exist and be visible to the caller; otherwise the
// error is [ErrNotFound] or [ErrGone]. The entry is the item of Through.
//
// opts may be nil. [Resource.LinkedBy] must not be nil, and the collection of its resource must be an
// [Inserter].
func (r *Resource) Link(
	ctx context.Context, relation, id, target string, opts *WriteOptions,
) (e Entry, made bool, err error) {
	l, err := r.boundRelation(relation)
	if err != nil {
		return Entry{}, false, err
	}
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
// opts may be nil. [Resource.LinkedBy] must not be nil, and its resource must support OpDelete.
func (r *Resource) Unlink(ctx context.Context, relation, id, target string, opts *WriteOptions) error {
	l, err := r.boundRelation(relation)
	if err != nil {
		return err
	}
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
