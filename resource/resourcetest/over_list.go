package resourcetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

const (
	overPage = 50 // page size unless the limit is smaller
	overIDs  = 20 // ids in one URL
)

// list follows the pages of the server. It continues after a position with the server's cursor, if
// it has one, so that pages of the test are pages of the server. Otherwise it searches from the
// beginning.
func (o *over[T]) list(ctx context.Context, q query.Query) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		cursor, known := o.cursor(q, q.After)
		n := 0
		for {
			asked := q
			asked.Limit = overPage
			if q.Limit > 0 && (known || q.After == nil) {
				asked.Limit = min(overPage, q.Limit-n)
			}
			p, err := o.page(ctx, asked, cursor)
			if err != nil {
				yield(resource.Item[T]{}, err)
				return
			}
			o.remember(q, p)
			for _, v := range p.Items {
				if !known && !o.follows(q, v) {
					continue
				}
				it, err := o.get(ctx, o.id.Text(&v))
				if errors.Is(err, resource.ErrNotFound) || errors.Is(err, resource.ErrGone) {
					continue // deleted after the page was read
				}
				if n++; !yield(it, err) || err != nil || n == q.Limit {
					return
				}
			}
			if p.Next != "" && p.Next == cursor {
				yield(resource.Item[T]{},
					fmt.Errorf("the page after cursor %s ends at the same cursor", cursor))
				return
			}
			if cursor = p.Next; cursor == "" {
				return
			}
		}
	}
}

// follows reports whether an item follows the position of q.
func (o *over[T]) follows(q query.Query, v T) bool {
	return len(query.Select(query.Query{Sort: q.Sort, After: q.After}, []T{v}, o.field)) > 0
}

func (o *over[T]) field(v *T, name string) any { return o.typ.Field(name).Get(v) }

// cursor returns the server's cursor of a position.
func (o *over[T]) cursor(q query.Query, after []any) (cursor string, known bool) {
	return o.cursorAt(positionKey(q, after))
}

func (o *over[T]) cursorAt(key string) (cursor string, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	cursor, known = o.cursors[key]
	return cursor, known
}

// remember stores the server's cursor for the end of a page.
func (o *over[T]) remember(q query.Query, p listPage[T]) {
	if p.Next == "" || len(p.Items) == 0 {
		return
	}
	var after []any
	for _, order := range q.Sort {
		after = append(after, o.field(&p.Items[len(p.Items)-1], order.Field))
	}
	o.rememberAt(positionKey(q, after), p.Next)
}

func (o *over[T]) rememberAt(key, cursor string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cursors[key] = cursor
}

// positionKey returns a key for one position in one list.
func positionKey(q query.Query, after []any) string {
	list := query.Query{Filter: q.Filter, Sort: q.Sort}
	return list.Values().Encode() + fmt.Sprintf("%q", after)
}

// getMany requests several ids at a time, because the length of a URL is limited.
func (o *over[T]) getMany(ctx context.Context, ids []string) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		for some := range slices.Chunk(ids, overIDs) {
			values := make([]any, 0, len(some))
			for _, id := range some {
				if v, err := o.id.Parse(id); err == nil {
					values = append(values, v)
				}
			}
			for it, err := range o.list(ctx, query.Query{Filter: query.Where(o.id.Name, query.In, values)}) {
				if !yield(it, err) || err != nil {
					return
				}
			}
		}
	}
}
