package resource

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// GetMany returns the items with these ids that are there and that the caller may see. The order of ids does not
// matter, and repetitions do no harm.
func (r *Resource) GetMany(ctx context.Context, ids []string) (map[string]Entry, error) {
	found, err := r.getMany(ctx, ids)
	if err != nil {
		return nil, r.wrap(OpGet, strings.Join(ids, ","), err)
	}
	return found, nil
}

func (r *Resource) getMany(ctx context.Context, ids []string) (map[string]Entry, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return !r.hub.canonical(id) })
	found := make(map[string]Entry, len(ids))
	rows, err := r.hub.fetchMany(ctx, ids)
	if err != nil {
		return nil, err
	}
	scope, err := r.hub.scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		err := r.hub.visible(ctx, &rows[i], &scope)
		if err == nil {
			err = r.shape.show(&rows[i])
		}
		switch {
		case err == nil:
			found[rows[i].ID] = rows[i]
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
	}
	return found, nil
}

// fetchMany asks once if the collection can, else once for each id.
func (h *hub) fetchMany(ctx context.Context, ids []string) ([]Entry, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if h.ops.getMany != nil {
		b := h.ops.newBatch() // not released: the entries outlive this call
		err := h.ops.getMany(ctx, ids, b)
		return b.entries(), err
	}
	var rows []Entry
	for _, id := range ids {
		switch e, err := h.ops.get(ctx, id, nil); {
		case err == nil:
			rows = append(rows, *e)
		case !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone):
			return nil, err
		}
	}
	return rows, nil
}

// ListBy returns for each key the first items, limit at most and ordered by id, whose field, in the names of the shape,
// holds that key. field must be declared for query.Eq. It is one call if the collection is a [Grouper], else one list
// for each key.
func (r *Resource) ListBy(ctx context.Context, field string, keys []string, limit int) (map[string][]Entry, error) {
	return r.listByHub(ctx, r.shape.hubField(field), keys, limit)
}

// listByHub is ListBy for a field in the names of the hub.
func (r *Resource) listByHub(ctx context.Context, field string, keys []string, limit int) (map[string][]Entry, error) {
	found, err := r.listBy(ctx, field, keys, limit)
	if err != nil {
		return nil, r.wrap(OpList, "", err)
	}
	return found, nil
}

func (r *Resource) listBy(ctx context.Context, hubName string, keys []string, limit int) (map[string][]Entry, error) {
	h := r.hub
	w, err := r.window(ctx, query.Query{Limit: limit})
	if err != nil {
		return nil, err
	}
	f := h.typ.Field(hubName)
	keys = slices.Clone(keys)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	found := make(map[string][]Entry, len(keys))
	if h.ops.listBy != nil {
		b := h.ops.newBatch() // not released: the entries outlive this call
		if err := h.ops.listBy(ctx, hubName, keys, w.q, b); err != nil {
			return nil, err
		}
		return found, r.group(ctx, b.entries(), f, found)
	}
	for _, key := range keys {
		v, err := f.Parse(key)
		if err != nil {
			continue // no item can have this key
		}
		q := w.q
		q.Filter = query.And(q.Filter, query.Where(hubName, query.Eq, v))
		b := h.ops.newBatch()
		if err := h.ops.list(ctx, q, b); err != nil {
			return nil, err
		}
		if err := r.group(ctx, b.entries(), f, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (r *Resource) group(ctx context.Context, rows []Entry, by *schema.Field, found map[string][]Entry) error {
	rows, err := r.showAll(ctx, rows)
	for _, e := range rows {
		key := by.Text(e.hub)
		found[key] = append(found[key], e)
	}
	return err
}
