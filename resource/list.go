package resource

import (
	"context"
	"errors"
	"iter"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/keys"
)

// Position says where in a list a page lies. The zero value is its beginning; at most one field is set. After and Before
// are cursors that an earlier page of the same list gave out.
type Position struct {
	After  string // the page behind this place
	Before string // the page in front of it
	AtEnd  bool   // the last page, which a list of natural order does not have
}

// Page is one page of a list. It holds memory that is used again: call Release when done, and keep nothing of it.
type Page struct {
	Entries []Entry
	// Next and Prev are cursors to the neighbouring pages, and empty where there is none: Position{After: Next} and
	// Position{Before: Prev}.
	Next, Prev string
	// Last is a cursor to the last page, Position{Before: Last}, and empty for a store of natural order.
	Last string

	buffer  buffer
	ends    *keys.Join // of Follow
	query   *pageQuery // of List
	binding string     // of the cursors
}

// Release gives the memory of the page back. The zero Page may be released, too.
func (p *Page) Release() {
	if p.buffer != nil {
		p.buffer.release()
	}
	if p.ends != nil {
		p.ends.Release()
	}
	*p = Page{}
}

// Cursor returns a cursor of the item at index i of a page that List returned: Position{After: it} is what lies behind the
// item and Position{Before: it} what lies in front of it, in the same list as Next and Prev. In a store of natural order it
// leads onward only, and is empty where the store gave no token (Item.Next). It is made when it is asked for. The items of
// other pages have none.
func (p *Page) Cursor(i int) string {
	if p.query == nil {
		return ""
	}
	c := p.query.cursorAt(&p.Entries[i])
	if c == nil {
		return ""
	}
	return c.Encode(p.binding)
}

// List returns one page of the items that q asks for and the caller may see. q is in the field names of the shape, as
// a client gave it: its After and Token are not used, at is. The limit is q.Limit, or the page size where that is zero.
func (r *Resource) List(ctx context.Context, q query.Query, at Position) (Page, error) {
	p, err := r.list(ctx, q, at)
	if err != nil {
		return Page{}, r.wrap(OpList, "", err)
	}
	return p, nil
}

func (r *Resource) list(ctx context.Context, q query.Query, at Position) (Page, error) {
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
	p, err := w.fetch(ctx)
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

// showAll leaves out what the caller may not see and gives the rest the shape. The store has applied scope and Where.
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
		kept = append(kept, e)
	}
	return kept, nil
}

// exportPage is how many items Pages reads at a time.
const exportPage = 500

// Pages returns all items that q selects and the caller may see, from at on, in pages. Between two pages no lock and no
// connection is held, so an item that is created, deleted or moved during the iteration may be missing, and all others are
// returned once. at.Before is rejected. Each page is valid until the next one is requested. The iterator is used once, and
// yields nothing after an error.
func (r *Resource) Pages(ctx context.Context, q query.Query, at Position) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		w, err := r.newPageQuery(ctx, q)
		if err == nil {
			err = w.seek(at, r.binding(ctx, q))
		}
		if err == nil && w.backward {
			err = errCursor("a whole list is given forward only")
		}
		for left := q.Limit; err == nil; left -= w.q.Limit {
			w.q.Limit = exportPage
			if q.Limit > 0 {
				w.q.Limit = min(left, exportPage)
			}
			var p Page
			if p, err = w.fetch(ctx); err != nil {
				break
			}
			more := yield(p.Entries, nil)
			p.Release()
			if !more || w.next == nil || q.Limit > 0 && left <= w.q.Limit {
				return
			}
			w.q.After, w.q.Token = w.next.Values, w.next.Token
		}
		yield(nil, r.wrap(OpList, "", err))
	}
}
