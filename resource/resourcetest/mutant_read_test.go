package resourcetest_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// change returns a wrapper that passes every value through fn before it is stored.
func change(fn func(v *thing)) func(o ops) ops {
	return func(o ops) ops {
		create, insert, replace := o.Create, o.Insert, o.Replace
		o.Create = func(ctx context.Context, v thing) (item, error) { fn(&v); return create(ctx, v) }
		o.Insert = func(ctx context.Context, id string, v thing) (item, error) { fn(&v); return insert(ctx, id, v) }
		o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
			fn(&v)
			return replace(ctx, id, expect, v)
		}
		return o
	}
}

// getID returns a wrapper that changes the ids of Get.
func getID(fn func(id string) (string, error)) func(o ops) ops {
	return func(o ops) ops {
		get := o.Get
		o.Get = func(ctx context.Context, id string) (item, error) {
			id, err := fn(id)
			if err != nil {
				return item{}, err
			}
			return get(ctx, id)
		}
		return o
	}
}

// readMutants returns mutants with bugs in the items that they return.
func readMutants() []mutant {
	return []mutant{
		{bug: "get of an unknown id returns a zero item", want: []string{"get-unknown"}, wrap: func(o ops) ops {
			get := o.Get
			o.Get = func(ctx context.Context, id string) (item, error) {
				it, err := get(ctx, id)
				if errors.Is(err, resource.ErrNotFound) {
					return item{ID: id, Rev: "1", Value: thing{ID: id}}, nil
				}
				return it, err
			}
			return o
		}},
		{bug: "get of an id over 255 bytes fails", want: []string{"get-unknown"}, wrap: getID(func(id string) (string, error) {
			if len(id) > 255 {
				return "", errors.New("file name too long")
			}
			return id, nil
		})},
		{bug: "get of a dot segment fails", want: []string{"get-unknown"}, wrap: getID(func(id string) (string, error) {
			if id == ".." {
				return "", errors.New("is a directory")
			}
			return id, nil
		})},
		{bug: "an id ends at U+0000", want: []string{"get-unknown"}, wrap: getID(func(id string) (string, error) {
			id, _, _ = strings.Cut(id, "\x00")
			return id, nil
		})},
		{bug: "an id is cleaned like a path", want: []string{"get-unknown"}, wrap: getID(func(id string) (string, error) {
			return path.Clean(id), nil
		})},
		{bug: "the id disagrees with the value", want: []string{"create-get"}, wrap: func(o ops) ops {
			get := o.Get
			o.Get = func(ctx context.Context, id string) (item, error) {
				it, err := get(ctx, id)
				it.Value.ID = strings.ToUpper(it.Value.ID) + " "
				return it, err
			}
			return o
		}},
		{bug: "integers pass through float64", want: []string{"value-edges"}, wrap: change(func(v *thing) {
			v.Size = int64(float64(v.Size) * (1 - 1e-18))
		})},
		{bug: "text is cut at 255 bytes", want: []string{"value-edges"}, wrap: change(func(v *thing) {
			v.Name = v.Name[:min(len(v.Name), 255)]
		})},
		{bug: "text ends at U+0000", want: []string{"value-hard"}, wrap: change(func(v *thing) {
			v.Name, _, _ = strings.Cut(v.Name, "\x00")
		})},
		{bug: "text is trimmed", want: []string{"value-edges"}, wrap: change(func(v *thing) {
			v.Name = strings.TrimSpace(v.Name)
		})},
		{bug: "null becomes empty", want: []string{"list-get"}, wrap: func(o ops) ops {
			list := o.List
			o.List = func(ctx context.Context, q query.Query) seq {
				return each(list(ctx, q), func(it *item) {
					if it.Value.Note == nil {
						it.Value.Note = new(string)
					}
				})
			}
			return o
		}},
		{bug: "list omits the revision", want: []string{"list-get"}, wrap: func(o ops) ops {
			list := o.List
			o.List = func(ctx context.Context, q query.Query) seq {
				return each(list(ctx, q), func(it *item) { it.Rev = "1" })
			}
			return o
		}},
		{bug: "returns a cached value", want: []string{"alias-returned"}, wrap: func(o ops) ops {
			get := o.Get
			var cache sync.Map
			o.Get = func(ctx context.Context, id string) (item, error) {
				it, err := get(ctx, id)
				if err == nil {
					held, _ := cache.LoadOrStore(it.Rev, it)
					it = held.(item)
				}
				return it, err
			}
			return o
		}},
		{bug: "getmany repeats", want: []string{"getmany-get"}, wrap: func(o ops) ops {
			many := o.GetMany
			o.GetMany = func(ctx context.Context, ids []string) seq {
				return many(ctx, append(slices.Clone(ids), ids...))
			}
			return o
		}},
		{bug: "getmany fails for a missing id", want: []string{"getmany-get"}, wrap: func(o ops) ops {
			o.GetMany = func(ctx context.Context, ids []string) seq {
				return func(yield func(item, error) bool) {
					for _, id := range ids {
						if it, err := o.Get(ctx, id); !yield(it, err) || err != nil {
							return
						}
					}
				}
			}
			return o
		}},
		{bug: "listby limits all keys together", want: []string{"listby-list"}, wrap: func(o ops) ops {
			by := o.ListByKeys
			o.ListByKeys = func(ctx context.Context, field string, keys []string, q query.Query) seq {
				return first(by(ctx, field, keys, q), q.Limit)
			}
			return o
		}},
		{bug: "countby ignores the filter", want: []string{"countby-list"}, wrap: func(o ops) ops {
			by := o.CountByKeys
			o.CountByKeys = func(
				ctx context.Context, field string, keys []string, _ query.Query,
			) (map[string]int, error) {
				return by(ctx, field, keys, query.Query{})
			}
			return o
		}},
		{bug: "countby counts all keys together", want: []string{"countby-list"}, wrap: func(o ops) ops {
			by := o.CountByKeys
			o.CountByKeys = func(
				ctx context.Context, field string, keys []string, q query.Query,
			) (map[string]int, error) {
				counts, err := by(ctx, field, keys, q)
				sum := 0
				for _, n := range counts {
					sum += n
				}
				for key := range counts {
					counts[key] = sum
				}
				return counts, err
			}
			return o
		}},
		{bug: "countby counts keys that were not requested", want: []string{"countby-list"},
			wrap: func(o ops) ops {
				by := o.CountByKeys
				o.CountByKeys = func(
					ctx context.Context, field string, keys []string, q query.Query,
				) (map[string]int, error) {
					counts, err := by(ctx, field, keys, q)
					if counts != nil {
						counts["of another list"] = 1
					}
					return counts, err
				}
				return o
			}},
		{bug: "count ignores the filter", want: []string{"count-list"}, wrap: func(o ops) ops {
			count := o.Count
			o.Count = func(ctx context.Context, _ query.Query) (int, error) { return count(ctx, query.Query{}) }
			return o
		}},
		aggregateBug("groups ignore the filter", "aggregate-groups",
			func(a *query.Aggregation) { a.Filter = query.Filter{} }, nil),
		aggregateBug("groups ignore having", "aggregate-pages",
			func(a *query.Aggregation) { a.Having = query.Filter{} }, nil),
		aggregateBug("groups ignore the position", "aggregate-pages",
			func(a *query.Aggregation) { a.After = nil }, nil),
		aggregateBug("groups ignore the order", "aggregate-pages", func(a *query.Aggregation) {
			if a.After == nil {
				a.Sort = nil
			}
		}, nil),
		aggregateBug("groups ignore the limit", "aggregate-pages", func(a *query.Aggregation) { a.Limit = 0 }, nil),
		aggregateBug("null is in no group", "aggregate-groups", nil, func(_ query.Aggregation, g query.Group) bool {
			return !slices.Contains(g.Keys, nil)
		}),
		aggregateBug("nothing is no group", "aggregate-groups", nil, func(a query.Aggregation, g query.Group) bool {
			return query.Compare(a.ValueOf(g, "count"), 0) != 0
		}),
		aggregateBug("sums wrap", "aggregate-exact", nil, func(a query.Aggregation, g query.Group) bool {
			for i, v := range a.Aggregates {
				d, ok := g.Values[i].(query.Decimal)
				if n, isInt := new(big.Int).SetString(d.String(), 10); ok && isInt && v.Func == query.Sum {
					g.Values[i] = int64(n.Uint64())
				}
			}
			return true
		}),
		aggregateBug("the sum of nothing is zero", "aggregate-groups", nil, replaceValue(query.Sum, nil, int64(0))),
		aggregateBug("null is a different value", "aggregate-groups", nil,
			replaceValue(query.Distinct, int64(0), int64(1))),
		aggregateBug("numbers of values are decimals", "aggregate-groups", nil,
			func(a query.Aggregation, g query.Group) bool {
				for i, v := range a.Aggregates {
					if n, ok := g.Values[i].(int64); ok && v.Func == query.Distinct {
						g.Values[i], _ = query.ParseDecimal(strconv.FormatInt(n, 10))
					}
				}
				return true
			}),
		aggregateBug("extremes are rounded", "aggregate-groups", nil, func(a query.Aggregation, g query.Group) bool {
			for i, v := range a.Aggregates {
				if f, ok := g.Values[i].(float64); ok && v.Func == query.Max {
					g.Values[i] = math.Nextafter(f, 1e300)
				}
			}
			return true
		}),
		aggregateBug("means are truncated", "aggregate-groups", nil, func(a query.Aggregation, g query.Group) bool {
			for i, v := range a.Aggregates {
				if d, ok := g.Values[i].(query.Decimal); ok && v.Func == query.Avg {
					whole, _, _ := strings.Cut(d.String(), ".")
					g.Values[i], _ = query.ParseDecimal(whole)
				}
			}
			return true
		}),
	}
}

// replaceValue replaces one value of a function in each group.
func replaceValue(f query.Func, from, to any) func(query.Aggregation, query.Group) bool {
	return func(a query.Aggregation, g query.Group) bool {
		for i, v := range a.Aggregates {
			if v.Func == f && g.Values[i] == from {
				g.Values[i] = to
			}
		}
		return true
	}
}

// aggregateBug returns a mutant that changes each aggregation, or its groups: keep returns false for those
// that are missing.
func aggregateBug(
	bug, want string, change func(*query.Aggregation), keep func(query.Aggregation, query.Group) bool,
) mutant {
	return mutant{bug: bug, want: []string{want}, wrap: func(o ops) ops {
		aggregate := o.Aggregate
		o.Aggregate = func(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error] {
			if change != nil {
				change(&a)
			}
			return func(yield func(query.Group, error) bool) {
				for g, err := range aggregate(ctx, a) {
					if err == nil && keep != nil && !keep(a, g) {
						continue
					}
					if !yield(g, err) {
						return
					}
				}
			}
		}
		return o
	}}
}
