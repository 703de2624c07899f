package resourcetest_test

import (
	"context"
	"iter"

	"github.com/stoa-go/stoa/resource/feed"
)

// changeSeq is the result of Watch.
type changeSeq = iter.Seq2[*feed.Change[thing], error]

// passing returns a wrapper that has fn yield in place of each that Watch yields. n counts them, from 0.
func passing(fn func(n int, c *feed.Change[thing], err error, yield func(*feed.Change[thing], error) bool) bool) func(o ops) ops {
	return rewatch(func(_ feed.Cursor, seq changeSeq) changeSeq {
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
func rewatch(fn func(after feed.Cursor, seq changeSeq) changeSeq) func(o ops) ops {
	return func(o ops) ops {
		watch := o.Watch
		o.Watch = func(ctx context.Context, after feed.Cursor) changeSeq { return fn(after, watch(ctx, after)) }
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
		o.Watch = func(ctx context.Context, after feed.Cursor) changeSeq {
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
		o.Watch = func(ctx context.Context, after feed.Cursor) changeSeq {
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
	swapping := rewatch(func(_ feed.Cursor, seq changeSeq) changeSeq {
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
		{bug: "watch ignores the given cursor", want: []string{"watch-begin", "watch-resume", "watch-expired"},
			wrap: func(o ops) ops {
				watch := o.Watch
				o.Watch = func(ctx context.Context, _ feed.Cursor) changeSeq { return watch(ctx, feed.Cursor{}) }
				return o
			}},
		{bug: "a change omits Before", want: []string{"watch-changes"},
			wrap: spoilt(func(c *feed.Change[thing]) { c.Before = nil })},
		{bug: "a change has After in Before", want: []string{"watch-changes"}, wrap: spoilt(func(c *feed.Change[thing]) {
			if c.Kind == feed.Updated {
				c.Before = c.After
			}
		})},
		{bug: "a change has another revision", want: []string{"watch-changes"},
			wrap: spoilt(func(c *feed.Change[thing]) { c.Rev += "x" })},
		{bug: "a deletion is omitted", want: []string{"watch-changes"},
			wrap: skipping(func(_ int, c *feed.Change[thing]) bool { return c.Kind == feed.Deleted })},
		{bug: "a change is yielded twice", want: []string{"watch-changes", "watch-resume"},
			wrap: passing(func(_ int, c *feed.Change[thing], err error, yield func(*feed.Change[thing], error) bool) bool {
				return yield(c, err) && (err != nil || c.Kind == feed.Bookmark || yield(c, nil))
			})},
		{bug: "a resumed watch skips a change", want: []string{"watch-resume"},
			wrap: skipping(func(n int, c *feed.Change[thing]) bool { return n == 1 && c.Kind == feed.Updated })},
		{bug: "a bookmark is missing", want: []string{"watch-resume"},
			wrap: skipping(func(n int, c *feed.Change[thing]) bool { return n > 0 && c.Kind == feed.Bookmark })},
		{bug: "any cursor is accepted", want: []string{"watch-expired"}, wrap: anyPlace},
		{bug: "the end of the context is an error", want: []string{"watch-end"}, wrap: ending},
		{bug: "changes are reordered", want: []string{"watch-race"}, wrap: swapping},
	}
}
