package resourcetest_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

type foundSeq = iter.Seq2[resource.Item[thing], error]

// askSearch returns a wrapper that changes the queries of searches, and of their counts.
func askSearch(fn func(q *query.Query)) func(o ops) ops {
	return func(o ops) ops {
		search, count := o.Search, o.Count
		o.Search = func(ctx context.Context, q query.Query) foundSeq { fn(&q); return search(ctx, q) }
		o.Count = func(ctx context.Context, q query.Query) (int, error) { fn(&q); return count(ctx, q) }
		return o
	}
}

// askTerms returns a wrapper that changes the terms of searches.
func askTerms(fn func(t query.Term) []query.Term) func(o ops) ops {
	return askSearch(func(q *query.Query) {
		q.Search.Any = slices.Clone(q.Search.Any)
		for i, terms := range q.Search.Any {
			var changed []query.Term
			for _, t := range terms {
				changed = append(changed, fn(t)...)
			}
			q.Search.Any[i] = changed
		}
	})
}

// rerank returns a wrapper that changes the ranks.
func rerank(fn func(o ops, rank float64) float64) func(o ops) ops {
	return func(o ops) ops {
		search := o.Search
		o.Search = func(ctx context.Context, q query.Query) foundSeq {
			return func(yield func(resource.Item[thing], error) bool) {
				for f, err := range search(ctx, q) {
					if err == nil && len(f.Keys) > 0 {
						f.Keys = []any{fn(o, f.Keys[0].(float64))}
					}
					if !yield(f, err) {
						return
					}
				}
			}
		}
		return o
	}
}

// searchMutants returns mutants with bugs in searches.
func searchMutants() []mutant {
	one := func(t query.Term) []query.Term { return []query.Term{t} }
	return []mutant{
		{bug: "the words of a phrase may be anywhere", want: []string{"search-match"},
			wrap: askTerms(func(t query.Term) (terms []query.Term) {
				if t.Not || t.Prefix {
					return one(t)
				}
				for _, w := range t.Words {
					terms = append(terms, query.Term{Words: []string{w}})
				}
				return terms
			})},
		{bug: "a prefix is a word", want: []string{"search-match"},
			wrap: askTerms(func(t query.Term) []query.Term {
				t.Prefix = false
				return one(t)
			})},
		{bug: "each word is a prefix", want: []string{"search-match"},
			wrap: askTerms(func(t query.Term) []query.Term {
				t.Prefix = true
				return one(t)
			})},
		{bug: "a search has ASCII words only", want: []string{"search-match"},
			wrap: askTerms(func(t query.Term) []query.Term {
				if strings.ContainsFunc(strings.Join(t.Words, ""), func(r rune) bool { return r >= utf8.RuneSelf }) {
					t.Words = []string{"none"}
				}
				return one(t)
			})},
		{bug: "excluded words are found", want: []string{"search-match"},
			wrap: askTerms(func(t query.Term) []query.Term {
				if t.Not {
					return nil
				}
				return one(t)
			})},
		{bug: "a search has its first alternative only", want: []string{"search-match"},
			wrap: askSearch(func(q *query.Query) { q.Search.Any = q.Search.Any[:min(1, len(q.Search.Any))] })},
		{bug: "a search ignores the filter", want: []string{"search-match"},
			wrap: askSearch(func(q *query.Query) {
				if !q.Search.IsZero() {
					q.Filter = query.Filter{}
				}
			})},
		{bug: "a search ignores the second field", want: []string{"search-match"},
			wrap: askSearch(func(q *query.Query) { q.Search.Fields = q.Search.Fields[:min(1, len(q.Search.Fields))] })},
		{bug: "a count ignores the search", want: []string{"search-match"},
			wrap: func(o ops) ops {
				count := o.Count
				o.Count = func(ctx context.Context, q query.Query) (int, error) {
					q.Search = query.Search{}
					return count(ctx, q)
				}
				return o
			}},
		{bug: "groups ignore the search", want: []string{"search-groups"},
			wrap: func(o ops) ops {
				aggregate := o.Aggregate
				o.Aggregate = func(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error] {
					a.Search = query.Search{}
					return aggregate(ctx, a)
				}
				return o
			}},
		{bug: "the worst match is first", want: []string{"search-rank"},
			wrap: askSearch(func(q *query.Query) {
				q.Sort = slices.Clone(q.Sort)
				for i := range q.Sort {
					q.Sort[i].Desc = q.Sort[i].Desc != (q.Sort[i].Field == query.Rank)
				}
			})},
		{bug: "a search starts at the beginning", want: []string{"search-rank"},
			wrap: askSearch(func(q *query.Query) { q.After = nil })},
		{bug: "ranks are rounded", want: []string{"search-rank"},
			wrap: rerank(func(_ ops, rank float64) float64 { return float64(int(rank*8)) / 8 })},
		{bug: "ranks depend on all items", want: []string{"search-changes"},
			wrap: rerank(func(o ops, rank float64) float64 {
				n, _ := o.Count(context.Background(), query.Query{})
				return rank * float64(n)
			})},
		{bug: "a search finds the texts of its first use", want: []string{"search-write"},
			wrap: func(o ops) ops {
				search := o.Search
				first := map[string]thing{}
				o.Search = func(ctx context.Context, q query.Query) foundSeq {
					return func(yield func(resource.Item[thing], error) bool) {
						for it, err := range o.List(ctx, query.Query{}) {
							if _, known := first[it.ID]; !known && err == nil {
								first[it.ID] = it.Value
							}
						}
						for f, err := range search(ctx, q) {
							old := first[f.ID]
							_, ok := q.Search.Match(func(field string) any { return query.FieldOf(&old, field) })
							if err == nil && !ok {
								continue
							}
							if !yield(f, err) {
								return
							}
						}
					}
				}
				return o
			}},
	}
}
