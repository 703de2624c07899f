package resource

// Restoring deleted items, for collections that are a Restorer. Called by write.go. It calls
// write_hooks.go and publish.go.

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/fielderr"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// Restore makes a deleted item exist again and returns it. It has the value with which it was deleted,
// except for fields with the tag set:"modified" or set:"modifiedBy", and another revision.
//
// Restore requires Options.Restore. It is one transaction: Scope and Authorize for OpGet decide whether
// the caller may see the item, as it was deleted. Then Before and Authorize get [OpRestore] with the item
// before and after. Subscribers receive feed.Created, because feed.Deleted has removed the item from what
// they have. WriteOptions.If does not apply, since there is no current item.
//
// The error is [ErrNotFound] if the id was never used or the caller may not see the item, [ErrExists] if
// the item is not deleted, and [Taken] if another item has the value of a unique field. The last is
// ErrNotFound, too, for a view and with Scope or Authorize, which cannot decide about the item then. A value
// that hooks or stamps change must fit the schema; otherwise the error is a problem of the kind Conflict.
func (r *Resource) Restore(ctx context.Context, id string, opts *WriteOptions) (Entry, error) {
	w := writeRequest{r: r, op: OpRestore, id: id, opts: opts.orZero()}
	err := w.run(ctx)
	return w.shown(), err
}

// notDeleted returns ErrExists for Restore. Each call has its own problem, which a caller may change.
func notDeleted() error {
	return fmt.Errorf("%w: %w", problem.New(problem.Exists, "The item is not deleted."), ErrExists)
}

// attemptRestore is one attempt of Restore, in a transaction: an error of hook or policy rolls back what
// the collection has restored.
func (w *writeRequest) attemptRestore(ctx context.Context) error {
	r, c := w.r, w.r.core
	if _, err := c.scopeOf(ctx); err != nil { // first: it must not depend on whether the item exists
		return err
	}
	if !c.id.Canonical(w.id) {
		return ErrNotFound
	}
	var before any
	id := w.id // w itself would be moved to the heap, also by other writes
	e, err := c.write(ctx, storeChange{kind: feed.Created, id: id,
		restore: func(ctx context.Context) (e *Entry, err error) {
			e, before, err = r.restoreItem(ctx, id)
			return e, err
		}})
	if err != nil {
		return err
	}
	c.afterCommit(ctx, OpRestore, before, e.stored)
	w.entry = r.entryOf(e)
	return nil
}

// restoreItem restores an item in the collection. Stamps and the Before hook may change it, which is a second
// write. before is the item as it was deleted.
func (r *Resource) restoreItem(ctx context.Context, id string) (e *Entry, before any, err error) {
	c := r.core
	e, err = c.ops.restore(ctx, id)
	if errors.Is(err, ErrExists) {
		if _, err := r.find(ctx, id, nil); err != nil {
			return nil, nil, err // the caller may not know the item
		}
		return nil, nil, notDeleted()
	}
	if err = r.restorable(ctx, id, e, err); err != nil {
		return nil, nil, err
	}
	before = e.stored
	after, err := r.revived(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	if c.ops.replace != nil && !c.typ.Equal(before, after) {
		e, err = c.ops.replace(ctx, id, e.Rev, after)
	}
	return e, before, err
}

// restorable returns ErrNotFound if the caller may not see the deleted item, and otherwise err, the error
// of the collection. An error has no item that a policy could decide about. So it must not reveal the item
// to a caller with restricted access.
func (r *Resource) restorable(ctx context.Context, id string, e *Entry, err error) error {
	c := r.core
	restricted := c.scope != nil || c.ops.authorize != nil || r.projection != c.projections[0]
	if restricted && refuses(err) {
		return ErrNotFound
	}
	if !c.hideGone && c.authorizeGone != nil && c.authorizeGone(ctx, id) != nil {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	scope, err := c.scopeOf(ctx)
	if err == nil {
		err = c.visible(ctx, e, &scope)
	}
	if err != nil {
		return err
	}
	shown := r.entryOf(e)
	if shown.Value != nil {
		return nil
	}
	if err := r.Raw().NotShown(&shown); err != nil {
		return err
	}
	return ErrNotFound // the projection does not have it
}

// refuses reports whether an error of the collection is about the value of the item.
func refuses(err error) bool {
	var details *problem.Details
	return errors.As(err, new(*fielderr.Error)) ||
		errors.As(err, &details) && details.StatusCode() < http.StatusInternalServerError
}

// revived returns the value that a restored item gets. Hook and policy have accepted it. If nothing
// changes the value, it need not fit the schema, as that of other items that were stored earlier.
func (r *Resource) revived(ctx context.Context, before any) (after any, err error) {
	c := r.core
	if len(c.stamps) == 0 && c.ops.before == nil {
		return before, c.authorize(ctx, OpRestore, before, before)
	}
	after, err = c.clone(before)
	if err == nil {
		err = r.checkWrite(ctx, OpRestore, before, after)
	}
	var bad schema.Violations
	if errors.As(err, &bad) { // the request has no document that these could be about
		return nil, problem.New(problem.Conflict, "The deleted item does not fit the current schema: "+
			bad.Error())
	}
	return after, err
}
