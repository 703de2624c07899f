package resourcetest_test

import (
	"context"
	"iter"

	"github.com/stoa-go/stoa/resource/feed"
)

// told is the result of Watch.
type told = iter.Seq2[*feed.Change[thing], error]

// passing returns a wrapper that has fn yield in place of each that Watch yields. n counts them, from 0.
func passing(fn func(n int, c *feed.Change[thing], err error, yield func(*feed.Change[thing], error) bool) bool) func(o ops) ops {
	return rewatch(func(_ feed.Cursor, seq told) told {
		return func(yield func(*feed.Change[thing], error) bool) {
			n := 0
			for c, err := range seq {
				if !fn(n, c, err, yield) {
					return
				}
				n++
			}
		}
	})
}

// rewatch returns a wrapper of Watch.
func rewatch(fn func(after feed.Cursor, seq told) told) func(o ops) ops {
	return func(o ops) ops {
		watch := o.Watch
		o.Watch = func(ctx context.Context, after feed.Cursor) told { return fn(after, watch(ctx, after)) }
		return o
	}
}

// spoilt returns a wrapper that changes the changes.
func spoilt(fn func(c *feed.Change[thing])) func(o ops) ops {
	return passing(func(_ int, c *feed.Change[thing], err error, yield func(*feed.Change[thing], error) bool) bool {
		if err == nil && c.Kind != feed.Bookmark {
			fn(c)
		}
		return yield(c, err)
	})
}

// skipping returns a wrapper that keeps silent about some.
func skipping(fn func(n int, c *feed.Change[thing]) bool) func(o ops) ops {
	return passing(func(n int, c *feed.Change[thing], err error, yield func(*feed.Change[thing], error) bool) bool {
		return err == nil && fn(n, c) || yield(c, err)
	})
}

// watchMutants returns mutants with bugs in their change feeds.
func watchMutants() []mutant {
	anyPlace := func(o ops) ops {
		watch := o.Watch
		o.Watch = func(ctx context.Context, after feed.Cursor) told {
			for _, err := range watch(ctx, after) {
				if err != nil {
					return watch(ctx, feed.Cursor{})
				}
				break
			}
			return watch(ctx, after)
		}
		return o
	}
	ending := func(o ops) ops {
		watch := o.Watch
		o.Watch = func(ctx context.Context, after feed.Cursor) told {
			return func(yield func(*feed.Change[thing], error) bool) {
				for c, err := range watch(ctx, after) {
					if !yield(c, err) {
						return
					}
				}
				yield(nil, ctx.Err())
			}
		}
		return o
	}
	swapping := rewatch(func(_ feed.Cursor, seq told) told {
		return func(yield func(*feed.Change[thing], error) bool) {
			var held *feed.Change[thing]
			for c, err := range seq {
				if err == nil && held == nil && c.Kind == feed.Updated {
					held = c
					continue
				}
				if held != nil {
					c.Cursor, held.Cursor = held.Cursor, c.Cursor
				}
				if !yield(c, err) || held != nil && !yield(held, nil) {
					return
				}
				held = nil
			}
		}
	})
	return []mutant{
		{bug: "watch begins without a bookmark", want: []string{"watch-begin"},
			wrap: skipping(func(n int, _ *feed.Change[thing]) bool { return n == 0 })},
		{bug: "watch begins where the store is, whatever the place", want: []string{"watch-begin", "watch-resume", "watch-expired"},
			wrap: func(o ops) ops {
				watch := o.Watch
				o.Watch = func(ctx context.Context, _ feed.Cursor) told { return watch(ctx, feed.Cursor{}) }
				return o
			}},
		{bug: "a change does not say what was", want: []string{"watch-changes"},
			wrap: spoilt(func(c *feed.Change[thing]) { c.Before = nil })},
		{bug: "a change says twice what is", want: []string{"watch-changes"}, wrap: spoilt(func(c *feed.Change[thing]) {
			if c.Kind == feed.Updated {
				c.Before = c.After
			}
		})},
		{bug: "the revision of a change is another", want: []string{"watch-changes"},
			wrap: spoilt(func(c *feed.Change[thing]) { c.Rev += "x" })},
		{bug: "a deletion is not told", want: []string{"watch-changes"},
			wrap: skipping(func(_ int, c *feed.Change[thing]) bool { return c.Kind == feed.Deleted })},
		{bug: "a change is told twice", want: []string{"watch-changes", "watch-resume"},
			wrap: passing(func(_ int, c *feed.Change[thing], err error, yield func(*feed.Change[thing], error) bool) bool {
				return yield(c, err) && (err != nil || c.Kind == feed.Bookmark || yield(c, nil))
			})},
		{bug: "what is behind a place begins one late", want: []string{"watch-resume"},
			wrap: skipping(func(n int, c *feed.Change[thing]) bool { return n == 1 && c.Kind == feed.Updated })},
		{bug: "nothing says that all was told", want: []string{"watch-resume"},
			wrap: skipping(func(n int, c *feed.Change[thing]) bool { return n > 0 && c.Kind == feed.Bookmark })},
		{bug: "any place will do", want: []string{"watch-expired"}, wrap: anyPlace},
		{bug: "the end of the context is an error", want: []string{"watch-end"}, wrap: ending},
		{bug: "changes are told in another order", want: []string{"watch-race"}, wrap: swapping},
	}
}
