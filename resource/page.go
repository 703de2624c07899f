package resource

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// Position says where in a list a page lies. The zero value is its beginning; at most one field is set. Both are
// cursors that an earlier page of the same list gave out.
type Position struct {
	After  string // the page behind this place
	Before string // the page in front of it
}

// Page is one page of a list. It holds memory that is used again: call Release when done, and keep nothing of it.
type Page struct {
	Entries []Entry
	// Next and Prev are cursors to the neighbouring pages, and empty where there is none: Position{After: Next} and
	// Position{Before: Prev}.
	Next, Prev string
	// Last is a cursor to the last page, Position{Before: Last}, and empty for a store of natural order.
	Last string

	batch batch
}

// Release gives the memory of the page back. The zero Page may be released, too.
func (p *Page) Release() {
	if p.batch != nil {
		p.batch.release()
		*p = Page{}
	}
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
	binding := r.binding(q)
	w, err := r.window(ctx, q)
	if err != nil {
		return Page{}, err
	}
	if w.q.Limit == 0 {
		w.q.Limit = r.hub.pageSize
	}
	if err := w.moveTo(at, binding); err != nil {
		return Page{}, err
	}
	p, err := w.fetch(ctx)
	if err != nil {
		return Page{}, err
	}
	if w.next != nil {
		p.Next = w.next.Encode(binding)
	}
	if w.prev != nil {
		p.Prev = w.prev.Encode(binding)
	}
	if !r.hub.query.Natural {
		p.Last = query.Cursor{}.Encode(binding)
	}
	return p, nil
}

// binding is what a cursor is good for: this list in this shape, in this order, with this filter.
func (r *Resource) binding(q query.Query) string {
	if q.Filter.IsZero() && len(q.Sort) == 0 {
		return r.shape.name + "\x00" + r.hub.name
	}
	q.Limit, q.Fields = 0, nil
	return r.shape.name + "\x00" + r.hub.name + "\x00" + q.Values().Encode()
}

// window is a list as the collection is asked for it, page by page.
type window struct {
	r        *Resource
	q        query.Query // in the hub's names; Limit is the size of the page
	backward bool        // the page before a place: the order is turned round for the store, and the page afterwards
	next     *query.Cursor
	prev     *query.Cursor
}

func (r *Resource) window(ctx context.Context, q query.Query) (*window, error) {
	hubQ, err := r.hubQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	h := r.hub
	if !h.query.Natural {
		if i := slices.IndexFunc(hubQ.Sort, func(o query.Order) bool { return o.Field == h.id.Name }); i >= 0 {
			hubQ.Sort = hubQ.Sort[:i+1]
		} else {
			hubQ.Sort = append(slices.Clip(hubQ.Sort), query.Order{Field: h.id.Name})
		}
	}
	hubQ.After, hubQ.Token = nil, ""
	hubQ.Fields = r.hint(hubQ)
	return &window{r: r, q: hubQ}, nil
}

// hint tells the store which fields will be looked at, where that is known.
func (r *Resource) hint(q query.Query) []string {
	if q.Fields == nil || r.shape.down != nil || r.hub.ops.authorize != nil {
		return nil
	}
	fields := slices.Clone(q.Fields)
	for _, o := range q.Sort {
		if !slices.Contains(fields, o.Field) {
			fields = append(fields, o.Field)
		}
	}
	if !slices.Contains(fields, r.hub.id.Name) {
		fields = append(fields, r.hub.id.Name)
	}
	return fields
}

// moveTo places the window where at says.
func (w *window) moveTo(at Position, binding string) error {
	text := at.After
	if at.Before != "" {
		text, w.backward = at.Before, true
	}
	if text == "" {
		return nil
	}
	c, err := query.DecodeCursor(text, binding)
	if err != nil {
		return err
	}
	if w.r.hub.query.Natural {
		if w.backward || c.Values != nil {
			return errCursor("this list goes forward only")
		}
		w.q.Token = c.Token
		return nil
	}
	if w.backward {
		w.q.Sort = slices.Clone(w.q.Sort)
		for i := range w.q.Sort {
			w.q.Sort[i].Desc = !w.q.Sort[i].Desc
		}
	}
	if w.backward && c.Values == nil && c.Token == "" { // in front of the end
		return nil
	}
	if len(c.Values) != len(w.q.Sort) {
		return errCursor("the cursor belongs to another list")
	}
	for i, v := range c.Values {
		if !fits(w.r.hub.typ.Field(w.q.Sort[i].Field), v) {
			return errCursor("the cursor belongs to another list")
		}
	}
	w.q.After = c.Values
	return nil
}

func errCursor(detail string) error { return &query.Error{Code: "invalidCursor", Detail: detail} }

// fits reports whether v, from a cursor that anyone may have made up, is of the field's kind.
func fits(f *schema.Field, v any) bool {
	switch v.(type) {
	case nil:
		return f.Nullable || f.OmitZero || f.OmitEmpty
	case int64, uint64:
		return f.Type.Kind == schema.Integer
	case float64:
		return f.Type.Kind == schema.Number
	case bool:
		return f.Type.Kind == schema.Boolean
	case time.Time:
		return f.Type.Kind == schema.String && f.Type.Format == "date-time"
	case string:
		return f.Type.Kind == schema.String && f.Type.Format != "date-time" || f.Type.Kind == schema.Any
	}
	return false
}

// fetch reads the page under the window and finds its neighbours. Where policy hides all of it, it goes on until
// something is seen: a cursor is no secret, so none may hold the place of an item that the caller may not see.
func (w *window) fetch(ctx context.Context) (Page, error) {
	h, size, q := w.r.hub, w.q.Limit, w.q
	if !h.query.Natural {
		q.Limit++ // to see whether there is more
	}
	for {
		p := Page{batch: h.ops.newBatch()}
		if err := h.ops.list(ctx, q, p.batch); err != nil {
			p.Release()
			return Page{}, err
		}
		rows := p.batch.entries()
		more := len(rows) > size
		if more {
			rows = rows[:size]
		}
		onward := w.behind(rows, more)
		if w.backward {
			slices.Reverse(rows)
		}
		kept, err := w.r.showAll(ctx, rows)
		if err != nil {
			p.Release()
			return Page{}, err
		}
		if len(kept) > 0 || onward == nil {
			w.findNeighbours(kept, more)
			p.Entries = kept
			return p, nil
		}
		p.Release()
		q.After, q.Token = onward.Values, onward.Token
	}
}

// behind returns the place behind rows as the store gave them, and nil at the end of the list. It is asked only where
// policy may hide all of them.
func (w *window) behind(rows []Entry, more bool) *query.Cursor {
	if w.r.hub.ops.authorize == nil || len(rows) == 0 {
		return nil
	}
	last := &rows[len(rows)-1]
	if w.r.hub.query.Natural {
		if last.Next == "" {
			return nil
		}
		return &query.Cursor{Token: last.Next}
	}
	if !more {
		return nil
	}
	return &query.Cursor{Values: w.position(last)}
}

func (w *window) findNeighbours(rows []Entry, more bool) {
	w.next, w.prev = nil, nil
	if len(rows) == 0 {
		return
	}
	first, last := &rows[0], &rows[len(rows)-1]
	if w.r.hub.query.Natural {
		if last.Next != "" {
			w.next = &query.Cursor{Token: last.Next}
		}
		return
	}
	began := w.q.After != nil
	if more || w.backward && began {
		w.next = &query.Cursor{Values: w.position(last)}
	}
	if w.backward && more || !w.backward && began {
		w.prev = &query.Cursor{Values: w.position(first)}
	}
	if w.backward && !began { // the last page has nothing behind it
		w.next = nil
	}
}

func (w *window) position(e *Entry) []any {
	values := make([]any, len(w.q.Sort))
	for i, o := range w.q.Sort {
		values[i] = w.r.hub.typ.Field(o.Field).Get(e.hub)
	}
	return values
}

// showAll leaves out what the caller may not see and gives the rest the shape. The store has applied scope and Where.
func (r *Resource) showAll(ctx context.Context, rows []Entry) ([]Entry, error) {
	if r.hub.ops.authorize == nil && r.shape.down == nil {
		return rows, nil
	}
	kept := rows[:0]
	for i := range rows {
		switch err := r.hub.readable(ctx, &rows[i]); {
		case errors.Is(err, ErrNotFound):
			continue
		case err != nil:
			return nil, err
		}
		v, err := r.shape.lower(rows[i].hub)
		if err != nil {
			return nil, err
		}
		e := rows[i]
		e.Value = v
		kept = append(kept, e)
	}
	return kept, nil
}

// exportPage is how many items All asks for at a time.
const exportPage = 500

// All returns every item that q asks for and the caller may see, beginning at at, in constant memory: page by page, so
// that no lock and no connection is held meanwhile. An item that stays throughout is there once; one that comes, goes or
// moves meanwhile may or may not be. Each Entry is valid until the next one is asked for. The iterator is used once.
func (r *Resource) All(ctx context.Context, q query.Query, at Position) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for page, err := range r.pages(ctx, q, at) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// pages is All, page by page.
func (r *Resource) pages(ctx context.Context, q query.Query, at Position) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		w, err := r.window(ctx, q)
		if err == nil {
			err = w.moveTo(at, r.binding(q))
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
	for i := range rows {
		err := r.hub.visible(ctx, &rows[i])
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
	found, err := r.listBy(ctx, field, keys, limit)
	if err != nil {
		return nil, r.wrap(OpList, "", err)
	}
	return found, nil
}

func (r *Resource) listBy(ctx context.Context, field string, keys []string, limit int) (map[string][]Entry, error) {
	h := r.hub
	w, err := r.window(ctx, query.Query{Limit: limit})
	if err != nil {
		return nil, err
	}
	hubName := r.shape.hubField(field)
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
