package resourcetest_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// ask returns a wrapper that changes the queries.
func ask(fn func(q *query.Query)) func(o ops) ops {
	return func(o ops) ops {
		list := o.List
		o.List = func(ctx context.Context, q query.Query) seq { fn(&q); return list(ctx, q) }
		return o
	}
}

// askFilter returns a wrapper that changes comparisons.
func askFilter(fn func(f query.Filter) query.Filter) func(o ops) ops {
	return ask(func(q *query.Query) {
		q.Filter, _ = q.Filter.Map(func(f query.Filter) (query.Filter, error) { return fn(f), nil })
	})
}

// listMutants returns mutants with bugs in order, pages and filters.
func listMutants() []mutant {
	return []mutant{
		{bug: "the order ignores desc", want: []string{"list-sort"}, wrap: ask(func(q *query.Query) {
			q.Sort = slices.Clone(q.Sort)
			for i := range q.Sort {
				q.Sort[i].Desc = false
			}
		})},
		{bug: "null sorts last", want: []string{"list-sort"}, wrap: nullsLast},
		{bug: "text sorts without regard to case", want: []string{"list-sort"}, wrap: sortFolded},
		{bug: "decimals sort as text", want: []string{"list-sort"}, wrap: sortText("price")},
		{bug: "durations sort as text", want: []string{"list-sort"}, wrap: sortText("lasts")},
		{bug: "an element of a list is not compared", want: []string{"filter-comparisons"},
			wrap: askFilter(func(f query.Filter) query.Filter {
				if f.Field == "tags" && f.Op == query.Contains {
					return query.Filter{}
				}
				return f
			})},
		{bug: "decimals are rounded to integers", want: []string{"filter-comparisons"},
			wrap: askFilter(func(f query.Filter) query.Filter {
				if d, ok := f.Value.(query.Decimal); ok {
					whole, _, _ := strings.Cut(d.String(), ".")
					f.Value, _ = query.ParseDecimal(whole)
				}
				return f
			})},
		{bug: "one more than the limit", want: []string{"list-limit"}, wrap: ask(func(q *query.Query) {
			if q.Limit > 0 {
				q.Limit++
			}
		})},
		{bug: "a page continues by the first key alone", want: []string{"page-walk"}, wrap: firstKeyAlone},
		{bug: "after is ignored", want: []string{"page-walk", "page-deleted", "page-changes"},
			wrap: ask(func(q *query.Query) { q.After = nil })},
		{bug: "a page begins at its position", want: []string{"page-walk"}, wrap: beginsAt},
		{bug: "a position is the item it was taken from", want: []string{"page-deleted"}, wrap: needsItem},
		{bug: "pages count rows", want: []string{"page-changes"}, wrap: countsRows},
		{bug: "ne leaves null out", want: []string{"filter-comparisons"}, wrap: askFilter(func(f query.Filter) query.Filter {
			if f.Op == query.Ne || f.Op == query.NotIn {
				return query.And(f, query.Where(f.Field, query.IsNull, false))
			}
			return f
		})},
		{bug: "an underscore matches anything", want: []string{"filter-comparisons"},
			wrap: askFilter(func(f query.Filter) query.Filter {
				if f.Op == query.Contains && f.Value == "_" {
					return query.Not(query.Where(f.Field, query.Eq, ""))
				}
				return f
			})},
		{bug: "an empty list of values selects all", want: []string{"filter-comparisons"},
			wrap: askFilter(func(f query.Filter) query.Filter {
				if list, ok := f.Value.([]any); ok && len(list) == 0 {
					return query.Filter{}
				}
				return f
			})},
		{bug: "lte is lt", want: []string{"filter-comparisons"}, wrap: askFilter(func(f query.Filter) query.Filter {
			if f.Op == query.Lte {
				f.Op = query.Lt
			}
			return f
		})},
		{bug: "or without parentheses", want: []string{"filter-trees"}, wrap: ask(func(q *query.Query) {
			q.Filter = unbracket(q.Filter)
		})},
		{bug: "the list continues after an error", want: []string{"cancel-list"}, wrap: func(o ops) ops {
			list := o.List
			o.List = func(ctx context.Context, q query.Query) seq {
				return func(yield func(item, error) bool) {
					for it, err := range list(context.WithoutCancel(ctx), q) {
						if !yield(it, cmp.Or(err, ctx.Err())) {
							return
						}
					}
				}
			}
			return o
		}},
		{bug: "a canceled list ends without an error", want: []string{"cancel-list"}, wrap: func(o ops) ops {
			list := o.List
			o.List = func(ctx context.Context, q query.Query) seq {
				return func(yield func(item, error) bool) {
					for it, err := range list(ctx, q) {
						if err != nil || !yield(it, nil) {
							return
						}
					}
				}
			}
			return o
		}},
		{bug: "a stopped list leaks a goroutine", want: []string{"list-stop"}, wrap: func(o ops) ops {
			list := o.List
			o.List = func(ctx context.Context, q query.Query) seq { return throughChannel(ctx, list(ctx, q)) }
			return o
		}},
	}
}

// each passes every item through fn.
func each(s seq, fn func(it *item)) seq {
	return func(yield func(item, error) bool) {
		for it, err := range s {
			if err == nil {
				fn(&it)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// first ends a sequence after n items, if n is positive.
func first(s seq, n int) seq {
	return func(yield func(item, error) bool) {
		left := n
		for it, err := range s {
			if !yield(it, err) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// throughChannel has a goroutine produce the items, and forgets it when the consumer stops.
func throughChannel(ctx context.Context, s seq) seq {
	return func(yield func(item, error) bool) {
		type pair struct {
			it  item
			err error
		}
		items := make(chan pair)
		go func() {
			defer close(items)
			for it, err := range s {
				select {
				case items <- pair{it, err}:
				case <-ctx.Done():
					return
				}
			}
		}()
		for p := range items {
			if !yield(p.it, p.err) {
				return
			}
		}
	}
}

// unbracket converts and(a, or(b, c)) to or(and(a, b), c), as SQL that was concatenated without
// parentheses means.
func unbracket(f query.Filter) query.Filter {
	parts := slices.Clone(f.Filters)
	for i := range parts {
		parts[i] = unbracket(parts[i])
	}
	f.Filters = parts
	if f.Op != query.AndOp {
		return f
	}
	for i, part := range parts {
		if part.Op == query.OrOp && len(part.Filters) > 1 {
			head := append(slices.Clone(parts[:i]), part.Filters[0])
			tail := append(slices.Clone(part.Filters[1:]), parts[i+1:]...)
			return query.Or(query.And(head...), query.And(tail...))
		}
	}
	return f
}

// reorder returns a wrapper that lists everything and puts it into an order of its own.
func reorder(o ops, less func(a, b *item, by query.Order) int) ops {
	list := o.List
	o.List = func(ctx context.Context, q query.Query) seq {
		if len(q.Sort) == 0 || q.After != nil || q.Limit > 0 {
			return list(ctx, q)
		}
		return func(yield func(item, error) bool) {
			var items []item
			for it, err := range list(ctx, q) {
				if err != nil {
					yield(it, err)
					return
				}
				items = append(items, it)
			}
			slices.SortStableFunc(items, func(a, b item) int { return less(&a, &b, q.Sort[0]) })
			for _, it := range items {
				if !yield(it, nil) {
					return
				}
			}
		}
	}
	return o
}

func nullsLast(o ops) ops {
	return reorder(o, func(a, b *item, by query.Order) int {
		null := func(it *item) int {
			if query.FieldOf(&it.Value, by.Field) == nil {
				return 1
			}
			return 0
		}
		return cmp.Compare(null(a), null(b))
	})
}

// sortText returns a wrapper that sorts by the text of a field.
func sortText(field string) func(o ops) ops {
	return func(o ops) ops {
		return reorder(o, func(a, b *item, by query.Order) int {
			if by.Field != field {
				return 0
			}
			text := func(it *item) string { return fmt.Sprint(query.FieldOf(&it.Value, field)) }
			c := strings.Compare(text(a), text(b))
			if by.Desc {
				return -c
			}
			return c
		})
	}
}

func sortFolded(o ops) ops {
	return reorder(o, func(a, b *item, by query.Order) int {
		if by.Field != "name" || by.Desc {
			return 0
		}
		return cmp.Compare(strings.ToLower(a.Value.Name), strings.ToLower(b.Value.Name))
	})
}

// beginsAt repeats the last item of the page before, as >= for > does.
func beginsAt(o ops) ops {
	list := o.List
	o.List = func(ctx context.Context, q query.Query) seq {
		if q.After == nil {
			return list(ctx, q)
		}
		return func(yield func(item, error) bool) {
			id := q.After[len(q.After)-1]
			if it, err := o.Get(ctx, fmt.Sprint(id)); err == nil && !yield(it, nil) {
				return
			}
			for it, err := range list(ctx, q) {
				if !yield(it, err) {
					return
				}
			}
		}
	}
	return o
}

// firstKeyAlone skips all that ties with the position in the first key.
func firstKeyAlone(o ops) ops {
	list := o.List
	o.List = func(ctx context.Context, q query.Query) seq {
		after, limit := q.After, q.Limit
		if after == nil {
			return list(ctx, q)
		}
		q.After, q.Limit = nil, 0
		return first(func(yield func(item, error) bool) {
			for it, err := range list(ctx, q) {
				c := query.Compare(query.FieldOf(&it.Value, q.Sort[0].Field), after[0])
				if q.Sort[0].Desc {
					c = -c
				}
				if c > 0 && !yield(it, err) {
					return
				}
			}
		}, limit)
	}
	return o
}

// needsItem looks the item up from which a position was taken, and gives nothing if it is gone.
func needsItem(o ops) ops {
	list := o.List
	o.List = func(ctx context.Context, q query.Query) seq {
		if q.After != nil {
			if _, err := o.Get(ctx, fmt.Sprint(q.After[len(q.After)-1])); err != nil {
				return func(func(item, error) bool) {}
			}
		}
		return list(ctx, q)
	}
	return o
}

// countsRows remembers how far it was when it gave an item out, and skips that many rows.
func countsRows(o ops) ops {
	list := o.List
	offsets := map[string]int{}
	var mu sync.Mutex
	o.List = func(ctx context.Context, q query.Query) seq {
		return func(yield func(item, error) bool) {
			skip := 0
			mu.Lock()
			if q.After != nil {
				skip = offsets[fmt.Sprint(q.After[len(q.After)-1])]
			}
			mu.Unlock()
			limit := q.Limit
			q.After, q.Limit = nil, 0
			n := 0
			for it, err := range list(ctx, q) {
				if n++; n <= skip {
					continue
				}
				mu.Lock()
				offsets[it.ID] = n
				mu.Unlock()
				if !yield(it, err) || n == skip+limit {
					return
				}
			}
		}
	}
	return o
}

// naturalOptions are those of a store with an order of its own.
func naturalOptions() *resourcetest.Options[thing] {
	opts := smallOptions()
	opts.Support = query.Support{Filter: thingSupport.Filter, Natural: true}
	return opts
}

// inNaturalOrder lists in the order of ids as strings, with the id as the token. The position is
// exclusive unless inclusive, which is a bug.
func inNaturalOrder(inclusive bool) func(o ops) ops {
	return func(o ops) ops {
		list := o.List
		o.List = func(ctx context.Context, q query.Query) seq {
			token, limit := q.Token, q.Limit
			q.Token, q.Limit, q.Sort = "", 0, []query.Order{{Field: "id"}}
			return first(func(yield func(item, error) bool) {
				for it, err := range list(ctx, q) {
					it.Next = it.ID
					if (err != nil || it.ID > token || inclusive && it.ID == token) && !yield(it, err) {
						return
					}
				}
			}, limit)
		}
		return o
	}
}

func TestNaturalReferencePasses(t *testing.T) {
	t.Parallel()
	resourcetest.RunOps(t, func(*testing.T) ops {
		return inNaturalOrder(false)(resource.OpsOf(newTable("")))
	}, naturalOptions())
}

// naturalMutants returns mutants with bugs in natural order.
func naturalMutants() []mutant {
	return []mutant{
		{bug: "a token begins with its own item", want: []string{"page-natural"}, wrap: inNaturalOrder(true),
			opts: naturalOptions()},
	}
}
