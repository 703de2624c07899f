package resource

// Paging: cursors, the query that the store gets for a page, and the cursors of neighboring pages.
// Called by list.go and relation.go. It calls the store's List.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// binding identifies the list that a cursor belongs to: contract, projection, resource, filter and
// order.
func (r *Resource) binding(ctx context.Context, q query.Query) string {
	if q.Filter.IsZero() && len(q.Sort) == 0 && q.Search.IsZero() {
		return r.bindingOf(ctx, "")
	}
	q.Limit, q.Fields = 0, nil
	return r.bindingOf(ctx, q.Values().Encode())
}

// bindingOf is binding for the parameters of a list.
func (r *Resource) bindingOf(ctx context.Context, parameters string) string {
	list := r.projection.name + "\x00" + r.core.name
	if name := contract.From(ctx).Name(); name != "" {
		list = name + "\x00" + list
	}
	if parameters != "" {
		list += "\x00" + parameters
	}
	return boundTo(list)
}

// boundTo returns a binding for a text that identifies a list.
func boundTo(list string) string {
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
	encoded  bool        // entries have JSON and no values
	cache    *cache.Cache
	cached   bool // the JSON is read from the cache, and not only stored in it
	fill     bool // hidden items do not shorten the page; otherwise it has at least one item
	left     *int // how many rows can still be read, including hidden ones; nil for the limit maxHidden
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
	if !q.Search.IsZero() && len(q.Sort) == 0 {
		storeQ.Sort = []query.Order{{Field: query.Rank, Desc: true}}
	}
	if !r.core.query.Natural {
		storeQ.Sort = r.core.totalOrder(storeQ.Sort)
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
		if !isComputed(o) && !slices.Contains(fields, o.Field) {
			fields = append(fields, o.Field)
		}
	}
	for _, name := range r.core.key {
		if !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	return fields
}

// isComputed reports whether the value of a sort key is in Item.Keys, and not in a field of the item.
func isComputed(key query.Order) bool { return key.Field == query.Rank || key.Joined != nil }

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
	switch {
	case w.backward && c.Values == nil && c.Token == "": // the last page
		return nil
	case !w.backward && c.Token == startToken: // the first page
		return nil
	}
	if len(c.Values) != len(w.q.Sort) {
		return errCursor("the cursor is damaged or belongs to another list")
	}
	for i, v := range c.Values {
		if !w.fits(w.q.Sort[i], v) {
			return errCursor("the cursor is damaged or belongs to another list")
		}
	}
	w.q.After = c.Values
	return nil
}

// startToken is the token of a cursor for the first page of a list without natural order.
const startToken = "first"

func errCursor(detail string) error { return &query.Error{Code: "invalidCursor", Detail: detail} }

// fits reports whether v can be the value of a sort key.
func (w *pageQuery) fits(key query.Order, v any) bool {
	switch {
	case key.Field == query.Rank:
		rank, ok := v.(float64)
		return ok && rank == rank // not NaN
	case key.Joined != nil:
		return v == nil || fits(w.r.joinedField(key.Joined), v)
	}
	return fits(w.r.core.typ.Field(key.Field), v)
}

// fits reports whether v has the kind of the field. Cursors are not authenticated, so v can be
// anything.
func fits(f *schema.Field, v any) bool {
	switch v.(type) {
	case nil: // also of a decimal or a duration that the store has not set
		return f.Nullable || f.OmitZero || f.OmitEmpty || f.IsDecimal() || f.IsDuration()
	case query.Decimal:
		return f.IsDecimal()
	case query.Duration:
		return f.IsDuration()
	case int64, uint64:
		return f.Type.Kind == schema.Integer
	case float64:
		return f.Type.Kind == schema.Number
	case bool:
		return f.Type.Kind == schema.Boolean
	case time.Time:
		return f.Type.Kind == schema.String && f.Type.Format == "date-time"
	case string:
		hasOther := f.Type.Format == "date-time" || f.IsDecimal() || f.IsDuration()
		return f.Type.Kind == schema.String && !hasOther || f.Type.Kind == schema.Any
	}
	return false
}

// fetch reads the page and sets the cursors of its neighbors.
func (w *pageQuery) fetch(ctx context.Context) (Page, error) {
	c, q := w.r.core, w.q
	if c.ops.authorize != nil {
		return w.fetchVisible(ctx)
	}
	if !c.query.Natural {
		q.Limit++ // one more shows whether there is a next page
	}
	for {
		p := Page{buffer: c.ops.newBuffer()}
		rows, err := w.read(ctx, q, p.buffer)
		if err == nil {
			err = w.spend(min(len(rows), w.q.Limit))
		}
		if err != nil {
			p.Release()
			return Page{}, err
		}
		more := c.query.Natural
		if len(rows) > w.q.Limit {
			rows, more = rows[:w.q.Limit], true
		}
		if w.backward {
			slices.Reverse(rows)
		}
		if w.cached {
			ok, err := w.fromCache(ctx, rows, &p)
			if !ok {
				p.Release()
			}
			if err != nil {
				return Page{}, err
			}
			if !ok { // read the items, and store them for the next list
				w.cached, w.encoded = false, w.r.core.ops.listJSON != nil
				continue
			}
		} else if w.cache != nil {
			w.keep(rows)
		}
		p.Entries, err = w.r.showAll(ctx, rows)
		if err == nil {
			err = w.setNeighbours(p.Entries, more)
		}
		if err != nil {
			p.Release()
			if !w.encoded {
				return Page{}, err
			}
			// The JSON of an item cannot be decoded; its value can be read.
			w.encoded, w.cached, w.cache = false, false, nil
			continue
		}
		return p, nil
	}
}

// fetchVisible implements fetch if Authorize can hide items. It reads on past those: with fill until the
// page and one more item are complete, because a shorter page, or a next page without an item, would reveal
// that a hidden item matches. Cursors have values of visible items only.
func (w *pageQuery) fetchVisible(ctx context.Context) (p Page, err error) {
	c, q := w.r.core, w.q
	wanted := 1
	if w.fill {
		wanted = w.q.Limit + 1
	}
	if w.fill || !c.query.Natural {
		q.Limit++
	}
	defer func() {
		if err != nil {
			p.Release()
			p = Page{}
		}
	}()
	var onward *query.Cursor
	for hidden := 0; ; {
		b := c.ops.newBuffer()
		rows, err := w.read(ctx, q, b)
		read := len(rows)
		if err == nil {
			err = w.spend(read)
		}
		if err == nil {
			onward, err = w.onward(rows, q.Limit)
		}
		if err == nil {
			rows, err = w.r.showAll(ctx, rows)
		}
		if err != nil {
			b.release()
			return p, err
		}
		hidden += read - len(rows)
		p.add(p.unseen(rows), b)
		if len(p.Entries) >= wanted || onward == nil {
			break
		}
		if w.left == nil && hidden > maxHidden {
			return p, problem.New(problem.Unavailable, fmt.Sprintf("The list could not be read within the "+
				"limits of one request: Options.Authorize hides more than %d items. Use a more specific "+
				"filter, or hide the items by Options.Scope in the server.", maxHidden))
		}
		q.After, q.Token = onward.Values, onward.Token
		q.Limit = wanted - len(p.Entries) + min(4*hidden, exportPage)
	}
	more := !w.fill && onward != nil
	if len(p.Entries) > w.q.Limit {
		p.Entries, more = p.Entries[:w.q.Limit], true
	}
	if w.backward {
		slices.Reverse(p.Entries)
	}
	return p, w.setNeighbours(p.Entries, more)
}

// read reads the items of q into b, and returns them in the order of the store.
func (w *pageQuery) read(ctx context.Context, q query.Query, b buffer) (_ []Entry, err error) {
	ops := &w.r.core.ops
	switch {
	case !q.Search.IsZero():
		err = ops.search(ctx, q, b)
	case w.cached:
		err = ops.listRevisions(ctx, q, b)
	case w.encoded:
		err = ops.listJSON(ctx, q, b)
	default:
		err = ops.list(ctx, q, b)
	}
	return b.entries(), err
}

// spend counts rows that were read.
func (w *pageQuery) spend(rows int) error {
	if w.left == nil {
		return nil
	}
	if *w.left -= rows; *w.left < 0 {
		return errRowLimit
	}
	return nil
}

// errRowLimit reports that pageQuery.left is exceeded.
var errRowLimit = errors.New("too many rows")

// maxHidden limits how many items are read for a page that the caller may not see.
const maxHidden = 10_000

// onward returns the cursor after the last of the rows that the store returned for a limit, and nil at the
// end of the list.
func (w *pageQuery) onward(rows []Entry, limit int) (*query.Cursor, error) {
	if len(rows) == 0 || len(rows) < limit && !w.r.core.query.Natural {
		return nil, nil
	}
	return w.cursorAt(&rows[len(rows)-1])
}

// cursorAt returns the cursor of an item, and nil if the store returned no token.
func (w *pageQuery) cursorAt(e *Entry) (*query.Cursor, error) {
	if !w.r.core.query.Natural {
		values, err := w.sortValues(e)
		if err != nil {
			return nil, err
		}
		return &query.Cursor{Values: values}, nil
	}
	if e.Next == "" {
		return nil, nil
	}
	return &query.Cursor{Token: e.Next}, nil
}

// setNeighbours sets the cursors of the pages before and after rows. more reports that there may be items
// beyond them in the direction of reading.
func (w *pageQuery) setNeighbours(rows []Entry, more bool) (err error) {
	w.next, w.prev = nil, nil
	if len(rows) == 0 {
		// The items beyond the cursor were deleted. Those on its other side are the last page or the first.
		switch {
		case w.q.After == nil:
		case w.backward:
			w.next = &query.Cursor{Token: startToken}
		default:
			w.prev = &query.Cursor{}
		}
		return nil
	}
	first, last := &rows[0], &rows[len(rows)-1]
	if w.r.core.query.Natural {
		if more {
			w.next, err = w.cursorAt(last)
		}
		return err
	}
	began := w.q.After != nil
	// The last page has no next page.
	if more && !w.backward || w.backward && began {
		if w.next, err = w.cursorAt(last); err != nil {
			return err
		}
	}
	if w.backward && more || !w.backward && began {
		w.prev, err = w.cursorAt(first)
	}
	return err
}

// sortValues returns the values of the sort keys of an item.
func (w *pageQuery) sortValues(e *Entry) ([]any, error) {
	if w.encoded {
		values, err := w.decodedValues(e)
		if err != nil {
			return nil, storeFault("returned the item %q as JSON that is not one: %v", e.ID, err)
		}
		return values, nil
	}
	values := make([]any, len(w.q.Sort))
	keys := e.keys
	for i, o := range w.q.Sort {
		if !isComputed(o) {
			values[i] = w.r.core.typ.Field(o.Field).Get(e.stored)
			continue
		}
		if len(keys) == 0 {
			return nil, storeFault("returned the item %q without Item.Keys, which %s needs", e.ID, o.Field)
		}
		values[i], keys = keys[0], keys[1:]
	}
	return values, nil
}

// needsValues returns why lists of the resource need the values of items, for the start-up report. It is
// empty if they do not.
func (r *Resource) needsValues() string {
	switch {
	case r.core.ops.authorize != nil:
		return "Options.Authorize is called with the value of each item"
	case r.projection.down != nil:
		return "the view converts the value of each item"
	}
	return ""
}

// readsJSON reports whether the page can be read without values: the collection encodes the items, or
// the cache may have them. Cursors need the fields of the order, which must be among the members.
func (w *pageQuery) readsJSON(ctx context.Context, fields []string) bool {
	c := w.r.core
	if slices.ContainsFunc(w.q.Sort, isComputed) || !w.q.Search.IsZero() || w.r.needsValues() != "" ||
		len(w.q.Fields) != len(fields) {
		return false
	}
	if c.ops.listRevisions != nil && fields == nil {
		if w.cache = c.cacheFor(ctx); w.cache != nil && c.isCold() {
			w.cache = nil
		}
	}
	if c.ops.listJSON == nil && w.cache == nil {
		return false
	}
	return !slices.ContainsFunc(w.q.Sort, func(o query.Order) bool {
		f := c.typ.Field(o.Field)
		return f.OmitEmpty || f.OmitZero // an absent member may have had several values
	})
}

// decodedValues returns the values of the sort keys of an item that the collection has encoded. The id is
// known; other keys are decoded, and only those at the ends of a page are needed.
func (w *pageQuery) decodedValues(e *Entry) ([]any, error) {
	c := w.r.core
	if len(w.q.Sort) == 1 && w.q.Sort[0].Field == c.id.Name && c.id.Key == nil {
		v, err := c.id.Parse(e.ID)
		return []any{v}, err
	}
	v, err := c.typ.Decode(e.JSON, &schema.DecodeOptions{Mode: schema.Stored})
	if err != nil {
		return nil, err
	}
	values := make([]any, len(w.q.Sort))
	for i, o := range w.q.Sort {
		values[i] = c.typ.Field(o.Field).Get(v)
	}
	return values, nil
}
