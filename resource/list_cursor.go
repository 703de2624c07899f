package resource

// Paging: cursors, the query that the store gets for a page, and the cursors of neighboring pages.
// Called by list.go and relation.go. It calls the store's List.

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/version"
)

// binding identifies the list that a cursor belongs to: contract, projection, resource, filter and
// order.
func (r *Resource) binding(ctx context.Context, q query.Query) string {
	list := r.projection.name + "\x00" + r.core.name
	if contract := version.From(ctx).Contract(); contract != "" {
		list = contract + "\x00" + list
	}
	if q.Filter.IsZero() && len(q.Sort) == 0 {
		return list
	}
	q.Limit, q.Fields = 0, nil
	list += "\x00" + q.Values().Encode()
	if len(list) > longBinding {
		sum := sha256.Sum256([]byte(list))
		return string(sum[:])
	}
	return list
}

// longBinding is the length above which a binding is replaced by its hash. Each cursor hashes its
// binding, and a page has a cursor for every item.
const longBinding = 512

// pageQuery is the query of a list for the collection, page by page.
type pageQuery struct {
	r        *Resource
	q        query.Query // in the names of the stored type; Limit is the page size
	backward bool        // read in reverse order, and reversed afterwards
	next     *query.Cursor
	prev     *query.Cursor
}

// newPageQuery returns the query for the store. Its order ends with the id, because a cursor needs
// a total order; keys after the id would have no effect.
func (r *Resource) newPageQuery(ctx context.Context, q query.Query) (*pageQuery, error) {
	storeQ, err := r.storeQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	h := r.core
	if !h.query.Natural {
		byID := func(o query.Order) bool { return o.Field == h.id.Name }
		if i := slices.IndexFunc(storeQ.Sort, byID); i >= 0 {
			storeQ.Sort = storeQ.Sort[:i+1]
		} else {
			storeQ.Sort = append(slices.Clip(storeQ.Sort), query.Order{Field: h.id.Name})
		}
	}
	storeQ.After, storeQ.Token = nil, ""
	storeQ.Fields = r.hint(storeQ)
	return &pageQuery{r: r, q: storeQ}, nil
}

// hint returns the fields that the caller needs, or nil for all.
func (r *Resource) hint(q query.Query) []string {
	if q.Fields == nil || r.projection.down != nil || r.core.ops.authorize != nil {
		return nil
	}
	fields := slices.Clone(q.Fields)
	for _, o := range q.Sort {
		if !slices.Contains(fields, o.Field) {
			fields = append(fields, o.Field)
		}
	}
	if !slices.Contains(fields, r.core.id.Name) {
		fields = append(fields, r.core.id.Name)
	}
	return fields
}

// seek sets the start of the page.
func (w *pageQuery) seek(at Position, binding string) error {
	text := at.After
	if at.Before != "" {
		text, w.backward = at.Before, true
	}
	if text == "" && !at.AtEnd {
		return nil
	}
	var c query.Cursor // zero is the end of the list
	w.backward = w.backward || at.AtEnd
	if text != "" {
		var err error
		if c, err = query.DecodeCursor(text, binding); err != nil {
			return err
		}
	}
	if w.r.core.query.Natural {
		if w.backward || c.Values != nil {
			return errCursor("this list is read forward only; use after")
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
	if w.backward && c.Values == nil && c.Token == "" { // the last page
		return nil
	}
	if len(c.Values) != len(w.q.Sort) {
		return errCursor("the cursor is damaged or belongs to another list")
	}
	for i, v := range c.Values {
		if !fits(w.r.core.typ.Field(w.q.Sort[i].Field), v) {
			return errCursor("the cursor is damaged or belongs to another list")
		}
	}
	w.q.After = c.Values
	return nil
}

func errCursor(detail string) error { return &query.Error{Code: "invalidCursor", Detail: detail} }

// fits reports whether v has the kind of the field. Cursors are not authenticated, so v can be
// anything.
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

// fetch reads the page and sets the cursors of its neighbors. If policy hides the whole page, it
// reads on until it finds a visible item, because a cursor must not contain values of an item that
// the caller may not see.
func (w *pageQuery) fetch(ctx context.Context) (Page, error) {
	h, size, q := w.r.core, w.q.Limit, w.q
	if !h.query.Natural {
		q.Limit++ // one more shows whether there is a next page
	}
	for round := 0; ; round++ {
		if round == maxHidden {
			return Page{}, problem.New(problem.Unavailable,
				"The list could not be read within the limits of one request; use a more specific filter.")
		}
		p := Page{buffer: h.ops.newBuffer()}
		if err := h.ops.list(ctx, q, p.buffer); err != nil {
			p.Release()
			return Page{}, err
		}
		rows := p.buffer.entries()
		more := len(rows) > size
		if more {
			rows = rows[:size]
		}
		onward := w.onward(rows, more)
		if w.backward {
			slices.Reverse(rows)
		}
		kept, err := w.r.showAll(ctx, rows)
		if err != nil {
			p.Release()
			return Page{}, err
		}
		if len(kept) > 0 || onward == nil {
			if over := len(kept) - w.q.Limit; over > 0 { // later rounds read more than a page
				more = true
				if w.backward {
					kept = kept[over:]
				} else {
					kept = kept[:w.q.Limit]
				}
			}
			w.setNeighbours(kept, more)
			p.Entries = kept
			return p, nil
		}
		p.Release()
		q.After, q.Token = onward.Values, onward.Token
		if !h.query.Natural {
			size = exportPage
			q.Limit = size + 1
		}
	}
}

// maxHidden limits how many pages in a row may be hidden. All but the first have exportPage items.
const maxHidden = 20

// onward returns the cursor after rows as the store returned them, and nil at the end of the list.
// It is needed only if policy can hide all of them.
func (w *pageQuery) onward(rows []Entry, more bool) *query.Cursor {
	if w.r.core.ops.authorize == nil || len(rows) == 0 {
		return nil
	}
	last := &rows[len(rows)-1]
	if !more && !w.r.core.query.Natural {
		return nil
	}
	return w.cursorAt(last)
}

// cursorAt returns the cursor of an item, and nil if the store returned no token.
func (w *pageQuery) cursorAt(e *Entry) *query.Cursor {
	if !w.r.core.query.Natural {
		return &query.Cursor{Values: w.sortValues(e)}
	}
	if e.Next == "" {
		return nil
	}
	return &query.Cursor{Token: e.Next}
}

// setNeighbours sets the cursors of the pages before and after rows. more reports that the store
// has rows beyond them in the direction of reading.
func (w *pageQuery) setNeighbours(rows []Entry, more bool) {
	w.next, w.prev = nil, nil
	if len(rows) == 0 {
		return
	}
	first, last := &rows[0], &rows[len(rows)-1]
	if w.r.core.query.Natural {
		w.next = w.cursorAt(last)
		return
	}
	began := w.q.After != nil
	if more || w.backward && began {
		w.next = w.cursorAt(last)
	}
	if w.backward && more || !w.backward && began {
		w.prev = w.cursorAt(first)
	}
	if w.backward && !began { // the last page has no next page
		w.next = nil
	}
}

// sortValues returns the values of the sort keys of an item.
func (w *pageQuery) sortValues(e *Entry) []any {
	values := make([]any, len(w.q.Sort))
	for i, o := range w.q.Sort {
		values[i] = w.r.core.typ.Field(o.Field).Get(e.stored)
	}
	return values
}
