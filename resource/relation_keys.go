package resource

// Relations by keys: the target lists the items of each key, which is that of a field of the items, or of
// links that lead to them. Called by relation_page.go and relation_through.go. It calls read.go.

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/keys"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// keyedLink is a relation with the field By, from which the target reads the items of each key.
type keyedLink struct {
	*link
	field *schema.Field // By
	links *query.Links  // the items of Relation.Through that the caller may use; nil without
}

// byKeys returns the relation if the target can list its items by keys, and nil if it cannot.
func (l *link) byKeys(ctx context.Context) (*keyedLink, error) {
	switch {
	case l.By == "":
		return nil, nil
	case l.through == nil:
		return &keyedLink{link: l, field: l.target.core.typ.Field(l.By)}, nil
	case l.through.joined == nil:
		return nil, nil
	}
	links, err := l.through.links(ctx)
	return &keyedLink{link: l, field: l.through.join.target.core.typ.Field(l.By), links: links}, err
}

// links returns the links that count for the caller. A zero in the field To may refer to no item.
func (t *through) links(ctx context.Context) (*query.Links, error) {
	q, err := t.join.target.storeQuery(ctx, query.Query{})
	if to := t.to.field.Field; excludesZero(to) {
		q.Filter = query.And(q.Filter, query.Where(to.Name, query.Ne, 0))
	}
	return &query.Links{Join: t.joined, Filter: q.Filter, Unique: t.sorted}, err
}

// canRefer reports whether a key can be in the field By. A zero is none if the JSON leaves it out.
func (l *link) canRefer(key string) bool {
	by := l.by
	if l.through != nil {
		by = l.through.join.by
	}
	return key != "0" || !excludesZero(by.Field)
}

// canonical returns the keys that can be in the field By. A link with the key 1 does not lead from 01, but
// the keys of items are compared as values.
func (l *keyedLink) canonical(ask []string) []string {
	var v any
	if l.links != nil {
		v = reflect.New(l.through.join.target.core.typ.GoType).Interface()
	}
	return slices.DeleteFunc(ask, func(key string) bool {
		return !l.canRefer(key) || v != nil && (l.field.SetText(v, key) != nil || l.field.Text(v) != key)
	})
}

// values returns the values of the field By for the keys of the entry at index i. No item can have a key
// that is no value of the field.
func (l *keyedLink) values(j *keys.Join, i int) []any {
	var ask []string
	for _, slot := range j.Slots(i) {
		ask = append(ask, j.Name(slot))
	}
	var values []any
	for _, key := range l.canonical(ask) {
		if v, err := l.field.Parse(key); err == nil {
			values = append(values, v)
		}
	}
	return values
}

// keyFilter returns the filter for items of the target with one of the keys.
func (l *keyedLink) keyFilter(values []any) query.Filter {
	any := make([]query.Filter, len(values)) // In may not be declared
	for i, v := range values {
		any[i] = query.Where(l.By, query.Eq, v)
	}
	f := query.Or(any...)
	if l.links == nil {
		return f
	}
	return query.Filter{Op: query.SomeOp, Field: l.Name, Value: l.links.Join,
		Filters: []query.Filter{query.And(l.links.Filter, f)}}
}

// slot returns the slot in j of the key of an item. In Item.Keys it follows the computed sort keys.
func (l *keyedLink) slot(j *keys.Join, e *Entry, computed int) (slot int32, ok bool) {
	if l.links == nil {
		return l.by.Find(j, e.stored)
	}
	if len(e.keys) != computed+1 {
		return 0, false
	}
	key, _ := e.keys[computed].(string)
	return j.Find(key)
}

// keyRead is what read returns for a key.
type keyRead struct {
	ends   []int32 // the indexes in the page of the first items that the caller may see, at most the limit
	more   bool    // the caller may see another one
	rows   int     // how many items the store returned
	hidden int     // how many of them the caller may not see
}

// read reads the first items of each key into the page, in one call if the target is a [BatchLister]. The
// result is indexed by slot, the index that j gives to each distinct key. An item with several keys is in the
// page once. q.Limit is limit, or one more if keyRead.more is needed. Keys with hidden items, for which the
// store may have more, are read again with a larger limit, up to maxRelatedItems hidden items.
func (l *keyedLink) read(
	ctx context.Context, j *keys.Join, ask []string, q query.Query, limit int, p *Page,
) ([]keyRead, error) {
	if q.Links = l.links; q.Links == nil && q.Fields != nil && !slices.Contains(q.Fields, l.By) {
		q.Fields = append(slices.Clip(q.Fields), l.By)
	}
	read := make([]keyRead, j.Len())
	places := map[string]int32{} // of items that may come again, in the page; -1 is hidden
	for wanted := q.Limit; len(ask) > 0; {
		b := l.target.core.ops.newBuffer()
		err := l.target.core.fetchBy(ctx, l.By, ask, q, b)
		var rows []Entry
		if err == nil {
			rows, err = l.shownOf(ctx, j, b.entries(), q, limit, read, places, len(p.Entries))
		}
		if err != nil {
			b.release()
			return nil, err
		}
		p.add(rows, b)
		ask = nil
		hidden, most := 0, 0 // of all keys, and of a key in ask
		for slot := range read {
			of := &read[slot]
			hidden += of.hidden
			found := len(of.ends)
			if of.more {
				found++
			}
			if of.hidden > 0 && found < wanted && of.rows >= q.Limit {
				ask, most = append(ask, j.Name(int32(slot))), max(most, of.hidden)
				*of = keyRead{}
			}
		}
		if len(ask) == 0 {
			break
		}
		more := min(4*most, (maxRelatedItems-hidden)/len(ask))
		if more <= 0 {
			return nil, errRelatedLimit()
		}
		q.Limit += more
		for i := range p.Entries {
			places[p.Entries[i].ID] = int32(i)
		}
	}
	return read, nil
}

// errRelatedLimit reports that too many related items would be read for a page.
func errRelatedLimit() error {
	return problem.New(problem.Unavailable, "The related items could not be read within the limits of one "+
		"request; request fewer items, or hide items by Options.Scope in the server.")
}

// shownOf adds rows to the results of their keys. It returns the items that the caller may see and that are
// not in the page, which has n items before them.
func (l *keyedLink) shownOf(
	ctx context.Context, j *keys.Join, rows []Entry, q query.Query, limit int,
	read []keyRead, places map[string]int32, n int,
) ([]Entry, error) {
	r := l.target
	isField := func(o query.Order) bool { return !isComputed(o) }
	computed := len(slices.DeleteFunc(slices.Clone(q.Sort), isField))
	kept := rows[:0]
	for i := range rows {
		slot, ok := l.slot(j, &rows[i], computed)
		if !ok && l.links != nil {
			return nil, fmt.Errorf("store returned the item %q without its key at the end of "+
				"Item.Keys; if it does not read query.Links, Joins must reject a Key", rows[i].ID)
		}
		if !ok {
			continue // the store returned an item that was not requested
		}
		of := &read[slot]
		if of.rows++; of.rows > q.Limit {
			continue
		}
		if len(of.ends) == limit && r.core.ops.authorize == nil {
			of.more = true
			continue
		}
		id := rows[i].ID
		place, again := places[id]
		if !again {
			shown, err := r.showAll(ctx, rows[i:i+1])
			if err != nil {
				return nil, err
			}
			if place = -1; len(shown) == 1 {
				place = int32(n + len(kept))
				kept = append(kept, shown[0])
			}
			if l.links != nil {
				places[id] = place
			}
		}
		switch {
		case place < 0:
			of.hidden++
		case len(of.ends) == limit:
			of.more = true
		default:
			of.ends = append(of.ends, place)
		}
	}
	return kept, nil
}
