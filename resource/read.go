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
func (h *core) limited(ctx context.Context, read func(ctx context.Context) error) error {
	if h.readTimeout == 0 || tx.Active(ctx) {
		return read(ctx)
	}
	inner := deadline.WithTimeout(ctx, h.readTimeout)
	defer inner.Cancel()
	err := read(inner)
	if err != nil && ctx.Err() == nil && inner.Err() != nil {
		return fmt.Errorf("%w: read took longer than %v: %v", ErrUnavailable, h.readTimeout, err)
	}
	return err
}

// limitedRevision calls getRevision of the collection within Options.ReadTimeout.
func (h *core) limitedRevision(ctx context.Context, id string) (rev Rev, modified time.Time, err error) {
	err = h.limited(ctx, func(ctx context.Context) (err error) {
		rev, modified, err = h.ops.getRevision(ctx, id)
		return err
	})
	return rev, modified, err
}

// fetchMany reads items into b, in one call if the collection is a [MultiGetter], otherwise one by
// one.
func (h *core) fetchMany(ctx context.Context, ids []string, b buffer) error {
	if len(ids) == 0 {
		return nil
	}
	if h.ops.getMany != nil {
		return h.ops.getMany(ctx, ids, b)
	}
	for _, id := range ids {
		_, err := h.ops.get(ctx, id, b)
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone) {
			return err
		}
	}
	return nil
}

// fetchBy reads the first items of each key into b, in one call if the collection is a
// [BatchLister], otherwise key by key.
func (h *core) fetchBy(ctx context.Context, field string, keys []string, q query.Query, b buffer) error {
	if h.ops.listByKeys != nil {
		return h.ops.listByKeys(ctx, field, keys, q, b)
	}
	f := h.typ.Field(field)
	for _, key := range keys {
		v, err := f.Parse(key)
		if err != nil {
			continue // no item can have this key
		}
		one := q
		one.Filter = query.And(q.Filter, query.Where(field, query.Eq, v))
		if err := h.ops.list(ctx, one, b); err != nil {
			return err
		}
	}
	return nil
}

// load returns one item that the caller may see. An id that is not in canonical form is not found,
// without a call of the store. The entry is in b and valid until b is released; if b is nil, it has
// memory of its own.
func (h *core) load(ctx context.Context, id string, b buffer) (*Entry, error) {
	scope, err := h.scopeOf(ctx) // first: its error must not depend on whether the item exists
	if err != nil {
		return nil, err
	}
	if !h.id.Canonical(id) {
		return nil, ErrNotFound
	}
	e, err := h.ops.get(ctx, id, b)
	if err != nil {
		return nil, h.absent(ctx, id, err)
	}
	if e.ID != id {
		return nil, storeFault("returned item %q for the id %q", e.ID, id)
	}
	if h.scope == nil && h.ops.authorize == nil {
		return e, nil
	}
	return e, h.visible(ctx, e, &scope)
}

// absent returns ErrGone if the item was deleted and the caller may know that, and otherwise that
// it is not found.
func (h *core) absent(ctx context.Context, id string, err error) error {
	switch {
	case errors.Is(err, ErrNotFound) && h.deletions.Has(id):
		if h.authorizeGone != nil && h.authorizeGone(ctx, id) != nil {
			return err
		}
		return errRemembered
	case errors.Is(err, ErrGone):
	case errors.Is(err, ErrNotFound) && h.ops.deleted != nil:
		switch _, dead := h.ops.deleted(ctx, id); {
		case errors.Is(dead, ErrNotFound):
			return ErrNotFound
		case dead != nil:
			return dead
		}
	default:
		return err
	}
	if h.authorizeGone != nil && h.authorizeGone(ctx, id) != nil {
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
func (h *core) hidden(ctx context.Context, id string) error {
	if h.ops.deleted == nil {
		return errHidden
	}
	_, err := h.ops.deleted(ctx, id)
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrGone) {
		return errHidden
	}
	return err
}

// visible returns errHidden if Scope or Authorize hides the item from the caller.
func (h *core) visible(ctx context.Context, e *Entry, scope *query.Filter) error {
	if h.scope != nil && !query.Match(*scope, h.values(e.stored)) {
		return errHidden
	}
	return h.readable(ctx, e)
}

// readable is visible without Scope, for lists, because their query contains the scope.
func (h *core) readable(ctx context.Context, e *Entry) error {
	if h.ops.authorize == nil {
		return nil
	}
	err := h.ops.authorize(ctx, OpGet, e.stored, nil)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return errHidden
	}
	return err
}

// values returns a function that returns the fields of v by name, for [query.Match].
func (h *core) values(v any) func(string) any {
	return func(name string) any {
		if f := h.typ.Field(name); f != nil {
			return f.Get(v)
		}
		return nil
	}
}
