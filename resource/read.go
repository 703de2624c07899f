package resource

// Reading items with Scope and Authorize. Called by resource.go, list.go, relation.go and write.go.
// It calls the store.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/deadline"
	"github.com/stoa-go/stoa/resource/tx"
)

// limited calls read within Options.ReadTimeout. Drivers return different errors after the end of a
// context, so the error is made from the context.
func (c *core) limited(ctx context.Context, read func(ctx context.Context) error) error {
	if c.readTimeout == 0 || tx.Active(ctx) {
		return read(ctx)
	}
	inner := deadline.WithTimeout(ctx, c.readTimeout)
	defer inner.Cancel()
	err := read(inner)
	if err != nil && ctx.Err() == nil && inner.Err() != nil {
		return fmt.Errorf("%w: read took longer than %v: %v", ErrUnavailable, c.readTimeout, err)
	}
	return err
}

// limitedRevision calls getRevision of the collection within Options.ReadTimeout.
func (c *core) limitedRevision(ctx context.Context, id string) (rev Rev, modified time.Time, err error) {
	err = c.limited(ctx, func(ctx context.Context) (err error) {
		rev, modified, err = c.ops.getRevision(ctx, id)
		return err
	})
	return rev, modified, err
}

// fetchMany reads items into b, in one call if the collection is a [MultiGetter], otherwise one by
// one.
func (c *core) fetchMany(ctx context.Context, ids []string, b buffer) error {
	if len(ids) == 0 {
		return nil
	}
	if c.ops.getMany != nil {
		return c.ops.getMany(ctx, ids, b)
	}
	for _, id := range ids {
		_, err := c.ops.get(ctx, id, b)
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone) {
			return err
		}
	}
	return nil
}

// fetchBy reads the first items of each key into b, in one call if the collection is a
// [BatchLister], otherwise key by key.
func (c *core) fetchBy(ctx context.Context, field string, keys []string, q query.Query, b buffer) error {
	if c.ops.listByKeys != nil {
		return c.ops.listByKeys(ctx, field, keys, q, b)
	}
	f := c.typ.Field(field)
	for _, key := range keys {
		v, err := f.Parse(key)
		if err != nil {
			continue // no item can have this key
		}
		one := q
		one.Filter = query.And(q.Filter, query.Where(field, query.Eq, v))
		if err := c.ops.list(ctx, one, b); err != nil {
			return err
		}
	}
	return nil
}

// load returns one item that the caller may see. An id that is not in canonical form is not found,
// without a call of the store. The entry is in b and valid until b is released; if b is nil, it has
// memory of its own.
func (c *core) load(ctx context.Context, id string, b buffer) (*Entry, error) {
	scope, err := c.scopeOf(ctx) // first: its error must not depend on whether the item exists
	if err != nil {
		return nil, err
	}
	if !c.id.Canonical(id) {
		return nil, ErrNotFound
	}
	e, err := c.ops.get(ctx, id, b)
	if err != nil {
		return nil, c.absent(ctx, id, err)
	}
	if e.ID != id {
		return nil, storeFault("returned item %q for the id %q", e.ID, id)
	}
	if c.scope == nil && c.ops.authorize == nil {
		return e, nil
	}
	return e, c.visible(ctx, e, &scope)
}

// absent returns ErrGone if the item was deleted and the caller may know that, and otherwise that
// it is not found.
func (c *core) absent(ctx context.Context, id string, err error) error {
	switch {
	case errors.Is(err, ErrNotFound) && c.deletions.Has(id):
		if c.authorizeGone != nil && c.authorizeGone(ctx, id) != nil {
			return err
		}
		return errRemembered
	case errors.Is(err, ErrGone):
	case errors.Is(err, ErrNotFound) && c.ops.deleted != nil:
		switch _, dead := c.ops.deleted(ctx, id); {
		case errors.Is(dead, ErrNotFound):
			return ErrNotFound
		case dead != nil:
			return dead
		}
	default:
		return err
	}
	if c.authorizeGone != nil && c.authorizeGone(ctx, id) != nil {
		return errHiddenGone
	}
	return ErrGone
}

// errRemembered is ErrGone for a deletion that the process remembers and the collection does not. The
// id can be used again.
var errRemembered = fmt.Errorf("%w: remembered by the process", ErrGone)

// Hidden items are not found. Put distinguishes them from free ids, because it must not create
// them.
var (
	errHidden     = fmt.Errorf("%w: hidden from the caller", ErrNotFound)
	errHiddenGone = fmt.Errorf("%w: deletion hidden from the caller", ErrNotFound)
)

// hidden returns errHidden for an item that exists. It asks for a tombstone as absent does, so that the time
// of the response, and the error of a store that cannot answer, do not reveal the item.
func (c *core) hidden(ctx context.Context, id string) error {
	if c.ops.deleted == nil {
		return errHidden
	}
	_, err := c.ops.deleted(ctx, id)
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrGone) {
		return errHidden
	}
	return err
}

// visible returns errHidden if Scope or Authorize hides the item from the caller.
func (c *core) visible(ctx context.Context, e *Entry, scope *query.Filter) error {
	if c.scope != nil && !query.Match(*scope, c.values(e.stored)) {
		return errHidden
	}
	return c.readable(ctx, e)
}

// readable is visible without Scope, for lists, because their query contains the scope.
func (c *core) readable(ctx context.Context, e *Entry) error {
	if c.ops.authorize == nil {
		return nil
	}
	err := c.ops.authorize(ctx, OpGet, e.stored, nil)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return errHidden
	}
	return err
}

// values returns a function that returns the fields of v by name, for [query.Match].
func (c *core) values(v any) func(string) any {
	return func(name string) any {
		if f := c.typ.Field(name); f != nil {
			return f.Get(v)
		}
		return nil
	}
}
