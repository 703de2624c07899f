package resource

// Lists: one page, or all pages. Called by protocols. It calls list_cursor.go for the query and the
// cursors, and read.go for what the caller may see.

import (
	"context"
	"errors"
	"iter"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/keys"
)

// Position selects a page of a list. The zero value is the first page. Set at most one field; if
// both After and Before are set, Before is used. They are cursors of an earlier page of the same
// list. Any other text is a client error (400), as are Before and AtEnd in natural order.
type Position struct {
	After  string // the page after this cursor
	Before string // the page before this cursor
	AtEnd  bool   // the last page
}

// Page is one page of a list. Its memory is pooled: call Release when done, and do not use the page
// or its values afterwards.
type Page struct {
	Entries []Entry
	// Next and Prev are cursors of the neighboring pages, for Position{After: Next} and
	// Position{Before: Prev}. They are empty if there is no such page. A page without items, because those
	// beyond its cursor were deleted, leads to the last page or, if it was read backwards, to the first.
	Next, Prev string
	// Last is a cursor of the end of the list: Position{Before: Last} is the last page, like AtEnd.
	// It is empty for stores with a natural order.
	Last string
	// JSON is the JSON of all Entries, joined by commas, if [Raw.ListJSON] has found the whole page
	// in the cache. Otherwise it is nil. The caller must not change it.
	JSON []byte

	hashed  []byte // the state of the hash of Digest, or nil
	buffer  buffer
	ends    *keys.Join // of Follow
	lists   [][]int32  // instead of ends, if joined is set
	joined  bool       // of FollowPages, and of Follow with followKeyed
	related *relatedPages
	query   *pageQuery // of List
	binding string     // of the cursors
}

// Release returns the memory of the page to the pool. It accepts the zero Page, and a second call
// does nothing. Copies of the page must not be released.
func (p *Page) Release() {
	if p.buffer != nil {
		p.buffer.release()
	}
	if p.ends != nil {
		p.ends.Release()
	}
	*p = Page{}
}

// Cursor returns a cursor of the item at index i of a page of List: Position{After: cursor} is the
// page after the item, and Position{Before: cursor} the page before it. With a natural order only
// After is supported, and the cursor is empty if the store returned no token (Item.Next). Pages of
// other methods have no cursors.
func (p *Page) Cursor(i int) string {
	if p.query == nil {
		return ""
	}
	c, err := p.query.cursorAt(&p.Entries[i])
	if err != nil || c == nil {
		return ""
	}
	return c.Encode(p.binding)
}

// List returns one page of the items that q selects and the caller may see. q is in the field names
// of the Resource. Its After and Token are ignored; at selects the page. The limit is q.Limit, or
// Options.PageSize if that is zero. The caller checks q: List does not compare it with
// Description.Query and MaxPageSize.
func (r *Resource) List(ctx context.Context, q query.Query, at Position) (Page, error) {
	p, err := r.list(ctx, q, at, false)
	if err != nil {
		return Page{}, r.wrap(OpList, "", err)
	}
	return p, nil
}

// ListJSON is [Resource.List] for a caller that needs the JSON of the items alone. If the collection is a
// [JSONLister], or a [RevisionLister] with items in the cache, and nothing else needs the values, Entry.JSON
// is set: an object with the members q.Fields, or all members if that is nil. Entries without JSON are
// those of List, and the caller encodes their values.
func (raw Raw) ListJSON(ctx context.Context, q query.Query, at Position) (Page, error) {
	r := raw.r
	p, err := r.list(ctx, q, at, true)
	if err != nil {
		return Page{}, r.wrap(OpList, "", err)
	}
	return p, nil
}

// PagesJSON is [Resource.Pages] with entries as in [Raw.ListJSON].
func (raw Raw) PagesJSON(ctx context.Context, q query.Query, at Position) iter.Seq2[[]Entry, error] {
	return raw.r.pages(ctx, q, at, true)
}

// list reads one page. q.Limit is 0 for the default size. The binding ties the cursors of the page
// to this list and caller. encoded is set by ListJSON.
func (r *Resource) list(ctx context.Context, q query.Query, at Position, encoded bool) (Page, error) {
	ctx = r.inCatalog(ctx)
	binding := r.binding(ctx, q)
	w, err := r.newPageQuery(ctx, q)
	if err != nil {
		return Page{}, err
	}
	if w.q.Limit == 0 {
		w.q.Limit = r.core.pageSize
	}
	if err := w.seek(at, binding); err != nil {
		return Page{}, err
	}
	if w.encoded = encoded && w.readsJSON(ctx, q.Fields); !w.encoded {
		w.cache = nil
	}
	w.cached, w.fill = w.cache != nil, true
	var p Page
	err = r.core.limited(ctx, func(ctx context.Context) (err error) {
		p, err = w.fetch(ctx)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	p.query, p.binding = w, binding
	if w.next != nil {
		p.Next = w.next.Encode(binding)
	}
	if w.prev != nil {
		p.Prev = w.prev.Encode(binding)
	}
	if !r.core.query.Natural {
		p.Last = query.Cursor{}.Encode(binding)
	}
	return p, nil
}

// showAll removes the items that the caller may not see and converts the others to this projection.
// The store has applied Scope and Where.
func (r *Resource) showAll(ctx context.Context, rows []Entry) ([]Entry, error) {
	if r.core.ops.authorize == nil && r.projection.down == nil {
		return rows, nil
	}
	kept := rows[:0]
	for i := range rows {
		switch err := r.core.readable(ctx, &rows[i]); {
		case errors.Is(err, ErrNotFound):
			continue
		case err != nil:
			return nil, err
		}
		v, err := r.projection.fromStored(rows[i].stored)
		if err != nil {
			return nil, err
		}
		e := rows[i]
		e.Value = v
		r.projection.conceal(&e, true)
		kept = append(kept, e)
	}
	return kept, nil
}

// exportPage is the number of items that Pages reads at a time.
const exportPage = 500

// Pages returns all items that q selects and the caller may see, from at on and at most q.Limit if
// that is not zero, in pages. Between two pages no lock and no connection is held, so an item that
// is created, deleted or moved during the iteration may be missing, and all others are returned
// once. at.Before is rejected. Each page is valid until the next one is requested. The iterator is
// used once, and yields nothing after an error.
func (r *Resource) Pages(ctx context.Context, q query.Query, at Position) iter.Seq2[[]Entry, error] {
	return r.pages(ctx, q, at, false)
}

// pages implements Pages and PagesJSON.
func (r *Resource) pages(
	ctx context.Context, q query.Query, at Position, encoded bool,
) iter.Seq2[[]Entry, error] {
	ctx = r.inCatalog(ctx)
	return func(yield func([]Entry, error) bool) {
		w, err := r.newPageQuery(ctx, q)
		if err == nil {
			err = w.seek(at, r.binding(ctx, q))
		}
		if err == nil && w.backward {
			err = errCursor("an unlimited list is read forward only; use after")
		}
		if err == nil {
			// A long export would replace everything in the cache.
			w.encoded = encoded && r.core.ops.listJSON != nil && w.readsJSON(ctx, q.Fields)
			w.cache = nil
		}
		for left := q.Limit; err == nil; {
			w.q.Limit = exportPage
			if q.Limit > 0 {
				w.q.Limit = min(left, exportPage)
			}
			var p Page
			if p, err = w.fetch(ctx); err != nil {
				break
			}
			left -= len(p.Entries)
			more := yield(p.Entries, nil)
			p.Release()
			if !more || w.next == nil || q.Limit > 0 && left <= 0 {
				return
			}
			w.q.After, w.q.Token = w.next.Values, w.next.Token
		}
		yield(nil, r.wrap(OpList, "", err))
	}
}
